//! The output of `dayshift kinds`: a table, JSON, or the ClusterRole for the kinds as YAML.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use dayshift_cluster::read::{JOB_VERBS, KindAccess, VERBS};
use dayshift_workload::{CountForm, CountKind, Kind, KindTable, SwitchConstant, pointer};
use serde_json::{Value, json};

use crate::cli::output::{
    documents::{ApiVersion, KindEntry, KindsDocument, write_document},
    table::{Cell, Table},
    terminal::{Paint, Style},
};

const KIND_HEADINGS: [&str; 7] = [
    "KIND",
    "FIELD",
    "STOPPED",
    "RUNNING",
    "LOOKED AT",
    "SERVED",
    "NOT ALLOWED",
];

/// A row of the table: a resource that dayshift writes to.
pub(crate) struct KindRow<'a> {
    /// In the form of `--kinds`: `clusters.postgresql.cnpg.io`.
    argument: &'a str,
    /// For example `Cluster`.
    name: &'a str,
    path: Vec<&'a str>,
    stopped: String,
    running: String,
    /// Whether `--kinds` includes it.
    is_named: bool,
    /// Whether the cluster serves it, if the cluster responded.
    is_served: Option<bool>,
    /// The missing permissions, if the cluster responded.
    lacks: Option<&'a [&'static str]>,
}

impl<'a> KindRow<'a> {
    pub(crate) fn for_kind(kind: &'a Kind, access: Option<&'a KindAccess>) -> Self {
        let (stopped, running) = values(kind);
        Self {
            argument: kind.argument(),
            name: kind.name(),
            path: kind.path().iter().map(String::as_str).collect(),
            stopped,
            running,
            is_named: false,
            is_served: access.map(|access| access.is_served),
            lacks: access.and_then(|access| access.lacks.as_deref()),
        }
    }

    /// The Jobs of CronJobs with `stop-jobs`.
    pub(crate) fn for_jobs(lacks: Option<&'a [&'static str]>) -> Self {
        Self {
            argument: "jobs",
            name: "Job",
            path: vec!["spec", "suspend"],
            stopped: "true".to_owned(),
            running: "false".to_owned(),
            is_named: false,
            is_served: lacks.map(|_| true),
            lacks,
        }
    }

    /// The same row, as named by the flags of the command.
    pub(crate) fn named(self) -> Self {
        Self {
            is_named: true,
            ..self
        }
    }

    fn cells(&self) -> [Cell; KIND_HEADINGS.len()] {
        let yes = |is: bool| if is { "yes" } else { "no" };
        let lacks = match (self.is_served, self.lacks) {
            (Some(true), Some(lacks)) => lacks.join(","),
            (Some(false), _) => String::new(),
            _ => "?".to_owned(),
        };
        let lacks = if self.is_named && self.is_served == Some(true) {
            Cell::from(lacks).painted(Paint::Red)
        } else {
            lacks.into()
        };
        [
            self.argument.into(),
            self.path.join(".").into(),
            self.stopped.as_str().into(),
            self.running.as_str().into(),
            yes(self.is_named).into(),
            self.is_served.map_or("?", yes).into(),
            lacks,
        ]
    }

    fn entry(&self) -> KindEntry {
        let lacks = |lacks: &[&str]| lacks.iter().map(ToString::to_string).collect();
        KindEntry {
            kind: self.argument.to_owned(),
            name: self.name.to_owned(),
            field: pointer(&self.path),
            stopped: self.stopped.clone(),
            running: self.running.clone(),
            looked_at: self.is_named,
            served: self.is_served,
            not_allowed: self.lacks.map(lacks),
        }
    }
}

/// The values of the field while a workload is stopped and while it runs.
fn values(kind: &Kind) -> (String, String) {
    let text = |constant: &SwitchConstant| match constant {
        SwitchConstant::Flag(flag) => flag.to_string(),
        SwitchConstant::Text(text) => text.clone(),
        SwitchConstant::Instant => "a time".to_owned(),
    };
    let pair = |stopped: &str, running: &str| (stopped.to_owned(), running.to_owned());
    match kind.form() {
        CountForm::Number(_) if matches!(kind.counts(), CountKind::Exact | CountKind::Runners) => {
            pair("0", "saved count")
        }
        CountForm::Number(_) => pair("stop-replicas", "saved count"),
        CountForm::Suspended => pair("true", "false"),
        CountForm::PausedReplicas => pair("stop-replicas", "absent"),
        CountForm::Switch(switch) => {
            let running = switch
                .running
                .as_ref()
                .map_or_else(|| "absent".to_owned(), text);
            (
                text(&switch.stopped),
                format!("saved value, else {running}"),
            )
        }
    }
}

pub(crate) fn write_kinds_table(
    out: &mut impl Write,
    rows: &[KindRow<'_>],
    style: Style,
) -> io::Result<()> {
    let mut table = Table::new(KIND_HEADINGS);
    rows.iter().for_each(|row| table.push(row.cells()));
    table.write(out, style)
}

pub(crate) fn write_kinds_json(out: &mut impl Write, rows: &[KindRow<'_>]) -> io::Result<()> {
    let document = KindsDocument {
        api_version: ApiVersion::V1,
        kinds: rows.iter().map(KindRow::entry).collect(),
    };
    write_document(out, &document)
}

/// Whether a role includes the permissions for the Jobs of CronJobs with `stop-jobs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobPermissions {
    Included,
    Omitted,
}

/// Writes the ClusterRole for these kinds and its binding. A comment lists the kinds to add to
/// `manifests/policy/scaler.yaml`.
pub(crate) fn write_roles(
    out: &mut impl Write,
    kinds: &[Kind],
    jobs: JobPermissions,
) -> io::Result<()> {
    for role in roles(kinds, jobs) {
        writeln!(out, "---")?;
        write_yaml(out, &role)?;
    }
    let lines: Vec<String> = kinds.iter().filter_map(policy_line).collect();
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "# The policy of manifests/policy/scaler.yaml, if you use it, rejects dayshift's own stops until its table contains:"
    )?;
    lines
        .iter()
        .try_for_each(|line| writeln!(out, "#   {line},"))
}

/// The entry for a user-defined kind in the policy that restricts dayshift, or `None` if it needs
/// none.
fn policy_line(kind: &Kind) -> Option<String> {
    let table = KindTable::default();
    let mut shipped = Kind::BUILT_IN.iter().chain(table.operators());
    let path = kind.path();
    if path == ["spec", "replicas"] || shipped.any(|known| known == kind) {
        return None;
    }
    let path = match path {
        [metadata, rest @ ..] if metadata == "metadata" => rest,
        path => path,
    };
    let path: Vec<String> = path.iter().map(|token| format!("'{token}'")).collect();
    Some(format!("'{}': [{}]", kind.resource(), path.join(", ")))
}

/// The permissions for these kinds, in addition to `manifests/dayshift.yaml`.
fn roles(kinds: &[Kind], jobs: JobPermissions) -> [Value; 2] {
    const GROUP: &str = "rbac.authorization.k8s.io";
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for kind in kinds {
        groups.entry(kind.group()).or_default().push(kind.plural());
    }
    let rule = |group: &str, plurals: &[&str], verbs: &[&str]| json!({"apiGroups": [group], "resources": plurals, "verbs": verbs});
    let rules = groups
        .iter()
        .map(|(group, plurals)| rule(group, plurals, &VERBS));
    let needs_jobs = jobs == JobPermissions::Included;
    let jobs_rule = needs_jobs.then(|| rule("batch", &["jobs"], &JOB_VERBS));
    let rules: Vec<Value> = rules.chain(jobs_rule).collect();
    let metadata = json!({
        "name": "dayshift-kinds", "labels": {"app.kubernetes.io/name": "dayshift"},
    });
    let version = format!("{GROUP}/v1");
    [
        json!({
            "apiVersion": version, "kind": "ClusterRole", "metadata": metadata, "rules": rules,
        }),
        json!({
            "apiVersion": version, "kind": "ClusterRoleBinding", "metadata": metadata,
            "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": "dayshift-kinds"},
            "subjects": [{"kind": "ServiceAccount", "name": "dayshift", "namespace": "dayshift"}],
        }),
    ]
}

/// Writes a value as a YAML document in block style. Strings are quoted as in JSON, which YAML 1.2
/// accepts, so they are never read as another type and can be escaped for a terminal. (The emitter
/// of kube's YAML crate uses plain and single quotes, in which `\\u` is no escape.)
pub(crate) fn write_yaml(out: &mut impl Write, value: &Value) -> io::Result<()> {
    write_value(out, value, 0)
}

/// Writes a value at `depth` on a line that is already begun.
fn write_value(out: &mut impl Write, value: &Value, depth: usize) -> io::Result<()> {
    let indent = 2 * depth;
    match value {
        Value::Array(items) if !items.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                let indent = if at == 0 { 0 } else { indent };
                write!(out, "{:indent$}- ", "")?;
                write_value(out, item, depth + 1)?;
            }
        }
        Value::Object(fields) if !fields.is_empty() => {
            for (at, (name, field)) in fields.iter().enumerate() {
                let indent = if at == 0 { 0 } else { indent };
                write!(out, "{:indent$}{name}:", "")?;
                let nested = match field {
                    Value::Array(items) => !items.is_empty(),
                    Value::Object(fields) => !fields.is_empty(),
                    _ => false,
                };
                if nested {
                    write!(out, "\n{:width$}", "", width = 2 * (depth + 1))?;
                } else {
                    write!(out, " ")?;
                }
                write_value(out, field, depth + 1)?;
            }
        }
        scalar => writeln!(out, "{scalar}")?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indents_nested_values_and_quotes_strings() {
        let value = json!({"workloads": [
            {"name": "no", "replicas": 3, "next": null, "owners": [], "problems": [
                {"start": 0, "message": "`Fry` is: \"not\"\na day"},
            ]},
            {"name": "web", "override": {"until": null}},
        ]});
        let mut out = Vec::new();
        write_yaml(&mut out, &value).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            r#"workloads:
  - name: "no"
    next: null
    owners: []
    problems:
      - message: "`Fry` is: \"not\"\na day"
        start: 0
    replicas: 3
  - name: "web"
    override:
      until: null
"#
        );
    }
}
