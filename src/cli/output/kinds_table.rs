//! The table of kinds as `dayshift kinds` shows it, and what dayshift has to be allowed of them.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use dayshift_cluster::read::{JOB_VERBS, KindAccess, VERBS};
use dayshift_text::TerminalSafe;
use dayshift_workload::{CountForm, CountKind, Kind, SwitchConstant, pointer};
use serde_json::{Value, json};

use super::{
    style::{Paint, Style},
    table::{Cell, Table},
    yaml::write_yaml,
};

const HEADINGS: [&str; 7] = [
    "KIND",
    "FIELD",
    "STOPPED",
    "RUNNING",
    "LOOKED AT",
    "SERVED",
    "NOT ALLOWED",
];

/// A resource that dayshift writes to, and what is known of it here.
pub(crate) struct KindRow<'a> {
    /// As `--kinds` takes it: `clusters.postgresql.cnpg.io`
    argument: &'a str,
    /// `Cluster`
    name: &'a str,
    path: &'a [&'a str],
    stopped: String,
    running: String,
    /// Whether this command was asked about it.
    is_named: bool,
    /// Whether the cluster has it, where that is known.
    is_served: Option<bool>,
    /// What is not allowed, where the cluster says it.
    lacks: Option<&'a [&'static str]>,
}

impl<'a> KindRow<'a> {
    /// A kind; whether `--kinds` names it; what the cluster says, where it was asked.
    pub(crate) fn of_kind(kind: Kind, is_named: bool, access: Option<&'a KindAccess>) -> Self {
        let (stopped, running) = values(kind);
        Self {
            argument: kind.argument(),
            name: kind.name(),
            path: kind.path(),
            stopped,
            running,
            is_named,
            is_served: access.map(|it| it.is_served),
            lacks: access.and_then(|it| it.lacks.as_deref()),
        }
    }

    /// The Jobs of CronJobs with `stop-jobs`, which every cluster has.
    pub(crate) fn of_jobs(is_named: bool, lacks: Option<&'a [&'static str]>) -> Self {
        Self {
            argument: "jobs",
            name: "Job",
            path: &["spec", "suspend"],
            stopped: "true".to_owned(),
            running: "false".to_owned(),
            is_named,
            is_served: lacks.map(|_| true),
            lacks,
        }
    }

    fn cells(&self) -> [Cell; HEADINGS.len()] {
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

    fn json(&self) -> Value {
        json!({
            "kind": self.argument,
            "name": self.name,
            "field": pointer(self.path),
            "stopped": self.stopped,
            "running": self.running,
            "lookedAt": self.is_named,
            "served": self.is_served,
            "notAllowed": self.lacks,
        })
    }
}

/// What stands in the field of an object that is stopped, and of one that runs.
fn values(kind: Kind) -> (String, String) {
    let text = |constant: SwitchConstant| match constant {
        SwitchConstant::Flag(flag) => flag.to_string(),
        SwitchConstant::Text(text) => text.to_owned(),
        SwitchConstant::Instant => "a time".to_owned(),
    };
    let pair = |stopped: &str, running: &str| (stopped.to_owned(), running.to_owned());
    match kind.form() {
        CountForm::Number(_) if matches!(kind.counts(), CountKind::Exact | CountKind::Runners) => {
            pair("0", "saved count")
        }
        CountForm::Number(_) => pair("stop-replicas", "saved count"),
        CountForm::Suspended => pair("true", "false"),
        CountForm::RestsAt => pair("stop-replicas", "absent"),
        CountForm::Switch(switch) => {
            let running = switch.running.map_or_else(|| "absent".to_owned(), text);
            (text(switch.stopped), format!("saved value, else {running}"))
        }
    }
}

/// Writes a table with a line for each.
///
/// # Errors
/// What the writer says.
pub(crate) fn write_table(
    out: &mut impl Write,
    rows: &[KindRow<'_>],
    style: Style,
) -> io::Result<()> {
    let mut table = Table::new(HEADINGS);
    rows.iter().for_each(|row| table.push(row.cells()));
    table.write(out, style)
}

/// The same for other programs.
///
/// # Errors
/// What the writer says.
pub(crate) fn write_json(out: &mut impl Write, rows: &[KindRow<'_>]) -> io::Result<()> {
    let rows: Vec<Value> = rows.iter().map(KindRow::json).collect();
    serde_json::to_writer_pretty(TerminalSafe(&mut *out), &json!({"kinds": rows}))?;
    writeln!(out)
}

/// Writes the ClusterRole that these kinds take, and Jobs where they are asked for, and its binding; and as a comment what
/// `manifests/policy/scaler.yaml` has to know of kinds that it does not have.
///
/// # Errors
/// What the writer says.
pub(crate) fn write_roles(out: &mut impl Write, kinds: &[Kind], has_jobs: bool) -> io::Result<()> {
    for role in roles(kinds, has_jobs) {
        writeln!(out, "---")?;
        write_yaml(out, &role)?;
    }
    let lines: Vec<String> = kinds.iter().copied().filter_map(policy_line).collect();
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "# The policy of manifests/policy/scaler.yaml, where you use it, refuses dayshift's own stops until its table has:"
    )?;
    lines
        .iter()
        .try_for_each(|line| writeln!(out, "#   {line},"))
}

/// The line of a kind of a user's own in the policy that binds dayshift; none where that needs none.
fn policy_line(kind: Kind) -> Option<String> {
    let mut shipped = Kind::BUILT_IN.into_iter().chain(Kind::of_operators());
    let path = kind.path();
    if path == ["spec", "replicas"] || shipped.any(|it| it == kind) {
        return None;
    }
    let path = path.strip_prefix(&["metadata"]).unwrap_or(path);
    let path: Vec<String> = path.iter().map(|token| format!("'{token}'")).collect();
    Some(format!("'{}': [{}]", kind.resource(), path.join(", ")))
}

/// What dayshift has to be allowed of these kinds, beside what `manifests/dayshift.yaml` allows.
fn roles(kinds: &[Kind], has_jobs: bool) -> [Value; 2] {
    const GROUP: &str = "rbac.authorization.k8s.io";
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for kind in kinds {
        groups.entry(kind.group()).or_default().push(kind.plural());
    }
    let rule = |group: &str, plurals: &[&str], verbs: &[&str]| json!({"apiGroups": [group], "resources": plurals, "verbs": verbs});
    let rules = groups
        .iter()
        .map(|(group, plurals)| rule(group, plurals, &VERBS));
    let of_jobs = has_jobs.then(|| rule("batch", &["jobs"], &JOB_VERBS));
    let rules: Vec<Value> = rules.chain(of_jobs).collect();
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
