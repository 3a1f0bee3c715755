//! What the next stops take away in each namespace, as a table and as JSON.

use std::io::{self, Write};

use chrono::{DateTime, Utc};
use dayshift_manifest::plan::{NamespaceSummary, StopSummary};
use dayshift_operations::status::short_time;
use dayshift_text::counted;
use dayshift_workload::{Key, Kind, Prefix};
use serde::Serialize;
use serde_json::Value;

use super::{
    style::Style,
    table::{Cell, Table},
};

/// Writes a row for each namespace with a schedule, their sum, and what to do about what stands in
/// the way.
///
/// # Errors
/// What the writer says.
pub(crate) fn write_summary(
    out: &mut impl Write,
    summary: &StopSummary,
    style: Style,
    prefix: &Prefix,
    now: DateTime<Utc>,
) -> io::Result<()> {
    let mut table = Table::new([
        "NAMESPACE",
        "SCHEDULED",
        "NEXT STOP",
        "STOPS",
        "REPLICAS",
        "AUTOSCALED",
        "SET BY OTHERS",
        "OPERATED",
        "LOSE VOLUMES",
        "REFUSED",
    ]);
    for (namespace, row) in summary.namespaces() {
        table.push(cells(namespace, row, now));
    }
    let all = summary.all();
    table.push(cells("(all)", &all, now));
    table.write(out, style)?;
    for line in lines(summary, &all, prefix) {
        writeln!(out, "\n{line}")?;
    }
    let (workloads, namespaces) = summary.without_schedule();
    if workloads > 0 {
        let workloads = counted(workloads, "workload");
        let namespaces = counted(namespaces, "other namespace");
        writeln!(
            out,
            "\nNot shown: {workloads} in {namespaces}, without a schedule."
        )?;
    }
    Ok(())
}

/// What other programs read.
#[derive(Serialize)]
pub(crate) struct SummaryDocument<'s> {
    namespaces: Vec<Named<'s>>,
    all: NamespaceSummary,
    unread: Vec<Value>,
}

#[derive(Serialize)]
struct Named<'s> {
    namespace: &'s str,
    #[serde(flatten)]
    summary: &'s NamespaceSummary,
}

impl<'s> SummaryDocument<'s> {
    /// The same as the table, with what could not be read.
    pub(crate) fn of(summary: &'s StopSummary, unread: Vec<Value>) -> Self {
        let namespaces = summary.namespaces();
        let named = namespaces.map(|(namespace, summary)| Named { namespace, summary });
        Self {
            namespaces: named.collect(),
            all: summary.all(),
            unread,
        }
    }
}

fn cells(name: &str, row: &NamespaceSummary, now: DateTime<Utc>) -> [Cell; 10] {
    let next = row.next_stop;
    let next = next.map(|at| short_time(at.to_utc(), at.timezone(), now));
    let number = |count: usize| Cell::from(count.to_string());
    [
        name.into(),
        format!("{} of {}", row.scheduled, row.workloads).into(),
        next.into(),
        number(row.stops),
        row.replicas.to_string().into(),
        number(row.autoscaled),
        number(row.set_by_others),
        number(row.operated),
        number(row.lose_volumes),
        number(row.refused),
    ]
}

fn lines(summary: &StopSummary, all: &NamespaceSummary, prefix: &Prefix) -> Vec<String> {
    let mut lines = Vec::new();
    for (owner, count, kinds) in summary.owned() {
        let (name, cure) = (owner.name(), owner.fix(&kinds, prefix));
        let counted = counted(count, "workload");
        lines.push(format!("{name} sets the count of {counted} too: {cure}."));
    }
    if all.operated > 0 {
        let kinds: Vec<_> = summary.operating().map(Kind::name).collect();
        lines.push(format!(
            "OPERATED: an operator sets the count again. Schedule what it makes them of: {}.",
            kinds.join(", ")
        ));
    }
    if all.lose_volumes > 0 {
        lines.push(format!(
            "LOSE VOLUMES: a stop would delete their volumes (whenScaled: Delete). dayshift refuses \
             them, unless {} is \"true\".",
            prefix.annotation(Key::AllowVolumeDeletion)
        ));
    }
    if all.refused > 0 {
        lines.push(
            "REFUSED: nothing is done to them. `dayshift plan -n NAMESPACE` says why.".to_owned(),
        );
    }
    lines
}
