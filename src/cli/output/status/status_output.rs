//! How `dayshift status` shows what it has found: a table with notes under it, or JSON.

use std::{
    cmp::Ordering,
    collections::BTreeMap,
    io::{self, Write},
};

use chrono::{DateTime, Utc};
use dayshift_operations::status::{Unreadable, WorkloadStatus};
use dayshift_schedule::Tzdata;
use dayshift_text::TerminalSafe;
use dayshift_workload::{
    Dependency, Phase, Prefix, Replicas, WorkloadRef,
    other_controllers::OtherController,
    savings::{Bill, Price, StoppedCapacity},
};
use serde_json::{Value, json};

use super::{
    columns::{self, verb},
    notes::Notes,
};
use crate::cli::output::{style::Style, terminal::wrapped, unread};

/// What the rows are sorted by; then by what they were before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SortBy {
    /// Problems first
    Problems,
    /// By name, whatever the namespace
    Name,
    /// By namespace, then name
    Namespace,
    /// What starts or stops next first
    Next,
    /// The largest count first
    Replicas,
    /// By state
    State,
}

/// How some workloads stand at one moment.
pub(crate) struct StatusOutput<'a> {
    statuses: Vec<&'a WorkloadStatus>,
    unreadable: &'a [Unreadable],
    now: DateTime<Utc>,
    prefix: &'a Prefix,
    price: Option<&'a Price>,
}

impl<'a> StatusOutput<'a> {
    pub(crate) fn new(
        statuses: impl IntoIterator<Item = &'a WorkloadStatus>,
        unreadable: &'a [Unreadable],
        prefix: &'a Prefix,
        now: DateTime<Utc>,
        sort_by: SortBy,
        price: Option<&'a Price>,
    ) -> Self {
        let mut statuses: Vec<_> = statuses.into_iter().collect();
        statuses.sort_by(|a, b| order(sort_by, a, b));
        Self {
            statuses,
            unreadable,
            now,
            prefix,
            price,
        }
    }

    /// Whether anything is wrong with any of them.
    pub(crate) fn have_problems(&self) -> bool {
        self.statuses.iter().any(|it| it.has_problem())
    }

    /// A row for each, and what is to be said of them under the table. It fits a screen of this
    /// many columns, if that can be: what says least is left out, and so are columns with no value.
    /// Nothing is left out of a wide one: it comes in parts below each other.
    pub(crate) fn write_table(
        &self,
        out: &mut impl Write,
        style: Style,
        wide: bool,
        width: Option<usize>,
    ) -> io::Result<()> {
        if self.statuses.is_empty() {
            return Ok(());
        }
        let table = columns::table(&self.statuses, self.now);
        if wide {
            let width = width.unwrap_or(usize::MAX);
            let parts = columns::wide_parts(&table, &self.statuses, width);
            for (at, part) in parts.iter().enumerate() {
                if at > 0 {
                    writeln!(out)?;
                }
                table.write_columns(out, style, part)?;
            }
            self.write_held_down(out, width)?;
        } else {
            table.write_columns(out, style, &columns::fitting(&table, width))?;
        }
        self.write_notes(out, style, width)
    }

    /// What is held down of all of them, where there is any.
    fn write_held_down(&self, out: &mut impl Write, width: usize) -> io::Result<()> {
        let down = self.statuses.iter().filter(|it| it.held_down.replicas > 0);
        let held: StoppedCapacity = down.clone().map(|it| it.held_down).sum();
        if held.replicas == 0 {
            return Ok(());
        }
        let complete = down.map(|it| it.requests.are_complete());
        let bill = Bill::per_hour(held, self.price).with_incomplete(complete);
        let text = format!("Stopped by schedules now: {bill}.");
        writeln!(out)?;
        for line in wrapped(&text, width, 2) {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    fn write_notes(
        &self,
        out: &mut impl Write,
        style: Style,
        width: Option<usize>,
    ) -> io::Result<()> {
        let mut notes = Notes::new(self.prefix, self.now);
        for status in &self.statuses {
            notes.add(status);
        }
        let lines = notes.lines(style, width);
        if !lines.is_empty() {
            writeln!(out)?;
        }
        for line in lines {
            writeln!(out, "{line}")?;
        }
        let mut owners: BTreeMap<OtherController, Vec<&WorkloadRef>> = BTreeMap::new();
        for status in &self.statuses {
            for owner in &status.owners {
                // Who has followed the advice already needs no more of it.
                if !(status.leaves_count_to_hpa && *owner == OtherController::Hpa) {
                    owners.entry(*owner).or_default().push(&status.object);
                }
            }
        }
        for (owner, objects) in owners {
            writeln!(out)?;
            let advice = owner.advice(&objects, self.prefix);
            // What is to be copied into a file stays as it is.
            let (words, lines) = advice.split_once("\n  ").unwrap_or((&advice, ""));
            match width {
                Some(width) => {
                    for line in wrapped(&words.replace('\n', " "), width, 0) {
                        writeln!(out, "{line}")?;
                    }
                }
                None => writeln!(out, "{words}")?,
            }
            if !lines.is_empty() {
                writeln!(out, "  {lines}")?;
            }
        }
        Ok(())
    }

    /// One document, whose form the long help tells.
    pub(crate) fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(TerminalSafe(&mut *out), &self.document())?;
        writeln!(out)
    }

    fn document(&self) -> Value {
        let workloads: Vec<_> = self.statuses.iter().map(|it| self.json(it)).collect();
        let unread: Vec<_> = self.unreadable.iter().map(unread::of_resource).collect();
        let tzdata = Tzdata::in_use();
        let tzdata = json!({ "version": tzdata.version(), "from": tzdata.source() });
        json!({ "workloads": workloads, "unread": unread, "tzdata": tzdata })
    }

    fn json(&self, status: &WorkloadStatus) -> Value {
        let time =
            |at: Option<DateTime<Utc>>| at.map(|at| at.with_timezone(&status.zone).to_rfc3339());
        let held = status.held_down;
        let problems = status.problems.iter().map(|it| {
            json!({
                "annotation": it.name(self.prefix),
                "message": it.diagnostic.to_string(),
                "start": it.diagnostic.span().start,
                "end": it.diagnostic.span().end,
                "from": it.origin.name(),
            })
        });
        json!({
            "kind": status.object.kind.name(),
            "namespace": &*status.object.namespace,
            "name": &*status.object.name,
            "timezone": status.zone.name(),
            "from": status.origin.name(),
            "replicas": status.replicas.get(),
            "ready": status.is_ready(),
            "readyReplicas": status.readiness.replicas().map(Replicas::get),
            "state": status.phase.map(Phase::name),
            "since": time(status.since),
            "savedReplicas": status.saved.map(Replicas::get),
            "requests": {
                "cpuCores": status.requests.cpu_nanos as f64 / 1e9,
                "memoryBytes": status.requests.memory_bytes,
            },
            "heldDown": {
                "replicas": held.replicas,
                "cpuCores": held.cpu_nanos as f64 / 1e9,
                "memoryBytes": held.memory_bytes,
            },
            "next": time(status.next),
            "nextAction": status.next_action.map(|it| it.to_string()),
            "waitsFor": status.waits_until().map(|until| json!({
                "objects": status.waits_for.iter().map(Dependency::to_string).collect::<Vec<_>>(),
                "until": time(Some(until)),
            })),
            "onRequest": status.on_request.as_ref().map(|it| json!({
                "services": it.services,
                "notCovered": it.not_covered,
            })),
            "override": status.laid_over.map(|(origin, it)| json!({
                "action": verb(it),
                "until": time(it.until()),
                "from": origin.name(),
                "by": status.author.by,
                "reason": status.author.reason,
            })),
            "error": status.error,
            "problems": problems.collect::<Vec<_>>(),
            "overdueSince": time(status.overdue_since()),
            "notes": Notes::new(self.prefix, self.now).texts(status),
            "restore": status.is_left_down().then(|| status.restore(self.prefix)),
            "revertedBy": status.reverted_by.as_ref().map(|by| json!({
                "manager": by.manager.manager,
                "at": time(by.at),
                "cure": status.cure(self.prefix),
            })),
            "owners": status.owners.iter().map(|it| it.name()).collect::<Vec<_>>(),
        })
    }
}

fn order(by: SortBy, a: &WorkloadStatus, b: &WorkloadStatus) -> Ordering {
    let name = |it: &WorkloadStatus| (it.object.namespace.clone(), it.object.name.clone());
    match by {
        SortBy::Problems => {
            (a.condition, a.notes.is_empty()).cmp(&(b.condition, b.notes.is_empty()))
        }
        SortBy::Name => a.object.name.cmp(&b.object.name),
        SortBy::Namespace => name(a).cmp(&name(b)),
        // What has no next comes last.
        SortBy::Next => (a.next.is_none(), a.next).cmp(&(b.next.is_none(), b.next)),
        SortBy::Replicas => b.replicas.cmp(&a.replicas),
        SortBy::State => (a.condition, a.phase).cmp(&(b.condition, b.phase)),
    }
}
