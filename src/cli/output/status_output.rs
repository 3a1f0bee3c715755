//! How `dayshift status` shows what it has found: a table with notes under it, or JSON.

use std::{
    cmp::Ordering,
    collections::BTreeMap,
    io::{self, Write},
};

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::{
    status_notes::Notes,
    style::{Paint, Style},
    table::{Cell, Table},
    terminal::wrapped,
    unread,
};
use crate::{
    events::author_text,
    neighbours::Owner,
    savings::{Bill, HeldDown, Price, amount},
    schedule::Tzdata,
    status::{ScheduleStatus, Unreadable, WorkloadStatus, clock, distance},
    text::TerminalSafe,
    workload::{Origin, Override, Pause, Phase, Prefix, Replicas, WorkloadRef},
};

/// Every column. NEXT is there twice: with how long it is until then, and without.
const HEADINGS: [&str; 14] = [
    "NAMESPACE",
    "NAME",
    "REPLICAS",
    "LAST",
    "SINCE",
    "NEXT",
    "NEXT",
    "OVERRIDE",
    "TIMEZONE",
    "ALSO SET BY",
    "HELD DOWN",
    "CPU",
    "MEMORY",
    "FROM",
];
const NAMESPACE: usize = 0;
const SINCE: usize = 4;
const NEXT: usize = 5;
const SHORT_NEXT: usize = 6;
const OVERRIDE: usize = 7;
/// Those of the table that is not wide, `-o wide` has all but the short NEXT.
const COLUMNS: [usize; 7] = [NAMESPACE, 1, 2, 3, SINCE, NEXT, OVERRIDE];
const WIDE: [usize; 12] = [NAMESPACE, 1, 2, 3, SINCE, NEXT, OVERRIDE, 8, 9, 10, 11, 12];
/// Where the schedules come from, which is said as soon as one is inherited.
const FROM: usize = 13;

/// The columns of a table in parts that fit, each with the names.
fn parts(table: &Table<14>, columns: &[usize], width: usize) -> Vec<Vec<usize>> {
    let (names, rest) = columns.split_at(2);
    let mut parts = vec![names.to_vec()];
    for column in rest {
        let part = parts.last().map_or(names, Vec::as_slice);
        let more = [part, &[*column]].concat();
        match parts.last_mut() {
            Some(part) if part.len() == 2 || table.width(&more) <= width => *part = more,
            _ => parts.push([names, &[*column]].concat()),
        }
    }
    parts
}

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
        let mut table = Table::new(HEADINGS);
        for status in &self.statuses {
            table.push(self.row(status));
        }
        if wide {
            let mut columns = WIDE.to_vec();
            if self.statuses.iter().any(|it| it.origin != Origin::Own) {
                columns.push(FROM);
            }
            let width = width.unwrap_or(usize::MAX);
            for (at, part) in parts(&table, &columns, width).iter().enumerate() {
                if at > 0 {
                    writeln!(out)?;
                }
                table.write_columns(out, style, part)?;
            }
            self.write_held_down(out, width)?;
        } else {
            table.write_columns(out, style, &self.columns(&table, width))?;
        }
        self.write_notes(out, style, width)
    }

    /// What is held down of all of them, where there is any.
    fn write_held_down(&self, out: &mut impl Write, width: usize) -> io::Result<()> {
        let down = self.statuses.iter().filter(|it| it.held_down.replicas > 0);
        let held: HeldDown = down.clone().map(|it| it.held_down).sum();
        if held.replicas == 0 {
            return Ok(());
        }
        let complete = down.map(|it| it.requests.are_complete());
        let bill = Bill::now(held, self.price).with_incomplete(complete);
        let text = format!("Held down now: {bill}.");
        writeln!(out)?;
        for line in wrapped(&text, width, 2) {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    /// The columns that are shown.
    fn columns(&self, table: &Table<14>, width: Option<usize>) -> Vec<usize> {
        let mut columns = COLUMNS.to_vec();
        columns.retain(|it| !([SINCE, OVERRIDE].contains(it) && table.is_empty(*it)));
        let Some(width) = width else {
            return columns;
        };
        let namespace = self.statuses.first().map(|it| &it.object.namespace);
        let is_one = |status: &&WorkloadStatus| Some(&status.object.namespace) == namespace;
        for less in [SINCE, NEXT, OVERRIDE, NAMESPACE] {
            if table.width(&columns) <= width {
                break;
            }
            match less {
                NEXT => columns
                    .iter_mut()
                    .filter(|it| **it == NEXT)
                    .for_each(|it| *it = SHORT_NEXT),
                NAMESPACE if !self.statuses.iter().all(is_one) => {}
                column => columns.retain(|it| *it != column),
            }
        }
        columns
    }

    fn row(&self, status: &WorkloadStatus) -> [Cell; 14] {
        let at = |at: DateTime<Utc>| clock(at, status.zone, self.now);
        // What should have been done and was not: nobody follows the schedule.
        let is_late = status.next.is_some_and(|next| next < self.now);
        let paint = if is_late { Paint::Yellow } else { Paint::Plain };
        let is_end_of_wake = status.next_action.is_none() && status.phase == Some(Phase::Woken);
        let next = status.next.map(|next| match status.next_action {
            Some(action) => format!("{action} {}", at(next)),
            None if is_end_of_wake => format!("wake ends {}", at(next)),
            None => at(next),
        });
        let runs_on = match (is_end_of_wake, status.replicas) {
            (false, _) => "",
            (true, Replicas::ZERO) => ", stays at 0",
            (true, _) => ", runs on",
        };
        let long = next.as_ref().zip(status.next);
        let long = long.map(|(text, at)| format!("{text} ({}){runs_on}", distance(at, self.now)));
        let laid_over = status.laid_over.map(|(_, it)| match it.until() {
            Some(until) => format!("{} until {}", verb(it), at(until)),
            None => verb(it).to_owned(),
        });
        let laid_over = laid_over.map(|over| match author_text(&status.author) {
            Some(author) => format!("{over}, {author}"),
            None => over,
        });
        let held = status.held_down;
        let some = |number: f64, unit| (number > 0.0).then(|| amount(number) + unit);
        let owners: Vec<_> = status.owners.iter().map(|it| it.name()).collect();
        [
            (&*status.object.namespace).into(),
            status.object.short_name().into(),
            status.count().into(),
            last(status),
            status.since.map(at).into(),
            Cell::from(long).painted(paint),
            Cell::from(next).painted(paint),
            laid_over.into(),
            status.zone.name().into(),
            owners.join(", ").into(),
            some(held.replicas as f64, "").into(),
            some(held.cpu_nanos as f64 / 1e9, "").into(),
            some(held.memory_bytes as f64 / f64::from(1 << 30), "Gi").into(),
            status.origin.name().into(),
        ]
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
        notes.write(out, style, width)?;
        let mut owners: BTreeMap<Owner, Vec<&WorkloadRef>> = BTreeMap::new();
        for status in &self.statuses {
            for owner in &status.owners {
                // Who has followed the advice already needs no more of it.
                if !(status.leaves_count_to_hpa && *owner == Owner::Hpa) {
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

const fn verb(laid_over: Override) -> &'static str {
    match laid_over {
        Override::Pause(Pause::Forever | Pause::Until(_)) => "pause",
        Override::Wake(_) => "wake",
        Override::Sleep(_) => "sleep",
    }
}

/// What was done last, or what is to be known first.
fn last(status: &WorkloadStatus) -> Cell {
    let paint = match (status.condition, status.phase) {
        (ScheduleStatus::Refused, _) => Paint::Red,
        (ScheduleStatus::Removed, _) | (_, None | Some(Phase::Paused)) => Paint::Yellow,
        (_, Some(Phase::Running | Phase::Woken)) => Paint::Green,
        (_, Some(Phase::Stopped | Phase::Slept)) => Paint::Blue,
        (_, Some(Phase::Adopted)) => Paint::Faint,
    };
    Cell::from(status.state_name()).painted(paint)
}
