//! The table of kinds as `dayshift kinds` shows it, and what dayshift has to be allowed of them.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use serde_json::{Value, json};

use super::{
    style::{Paint, Style},
    table::{Cell, Table},
    yaml::write_yaml,
};
use crate::{
    cluster::{KindAccess, VERBS},
    text::TerminalSafe,
    workload::{CountForm, CountKind, Kind, SwitchConstant},
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

/// One kind, and what is known of it here.
pub(crate) struct KindRow<'a> {
    /// Which one.
    pub(crate) kind: Kind,
    /// Whether `--kinds` names it.
    pub(crate) is_named: bool,
    /// What the cluster says, where it was asked.
    pub(crate) access: Option<&'a KindAccess>,
}

impl KindRow<'_> {
    fn cells(&self) -> [Cell; HEADINGS.len()] {
        let (stopped, running) = values(self.kind);
        let yes = |is: bool| if is { "yes" } else { "no" };
        let served = self.access.map_or("?", |it| yes(it.is_served));
        let lacks = match self.access.map(|it| (it.is_served, &it.lacks)) {
            Some((true, Some(lacks))) => lacks.join(","),
            Some((false, _)) => String::new(),
            _ => "?".to_owned(),
        };
        let lacks = if self.is_named && self.access.is_some_and(|it| it.is_served) {
            Cell::from(lacks).painted(Paint::Red)
        } else {
            lacks.into()
        };
        [
            self.kind.argument().into(),
            self.kind.path().join(".").into(),
            stopped.into(),
            running.into(),
            yes(self.is_named).into(),
            served.into(),
            lacks,
        ]
    }

    fn json(&self) -> Value {
        let (stopped, running) = values(self.kind);
        json!({
            "kind": self.kind.argument(),
            "name": self.kind.name(),
            "field": self.kind.pointer(),
            "stopped": stopped,
            "running": running,
            "lookedAt": self.is_named,
            "served": self.access.map(|it| it.is_served),
            "notAllowed": self.access.and_then(|it| it.lacks.clone()),
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

/// Writes the ClusterRole that these kinds take, and its binding; and as a comment what
/// `manifests/policy/scaler.yaml` has to know of kinds that it does not have.
///
/// # Errors
/// What the writer says.
pub(crate) fn write_roles(out: &mut impl Write, kinds: &[Kind]) -> io::Result<()> {
    for role in roles(kinds) {
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
fn roles(kinds: &[Kind]) -> [Value; 2] {
    const GROUP: &str = "rbac.authorization.k8s.io";
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for kind in kinds {
        groups.entry(kind.group()).or_default().push(kind.plural());
    }
    let rules: Vec<Value> = groups
        .iter()
        .map(|(group, plurals)| json!({"apiGroups": [group], "resources": plurals, "verbs": VERBS}))
        .collect();
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
