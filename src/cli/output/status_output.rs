//! How `dayshift status` shows what it has found: a table with notes under it, or JSON.

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::{
    style::{Paint, Style},
    table::{Cell, Table},
    time_format::{clock, distance},
};
use crate::{
    status::{Owner, ScheduleStatus, WorkloadStatus},
    text::{TerminalSafe, printable},
    workload::{Override, Pause, Phase, Prefix, Replicas},
};

/// The headings of `-o wide`; the last two stand there alone.
const WIDE: [&str; 10] = [
    "NAMESPACE",
    "NAME",
    "REPLICAS",
    "STATE",
    "SINCE",
    "SAVED",
    "NEXT",
    "OVERRIDE",
    "TIMEZONE",
    "ALSO SET BY",
];

/// How some Deployments stand at one moment, problems first.
pub(crate) struct Standings<'a> {
    statuses: Vec<&'a WorkloadStatus>,
    now: DateTime<Utc>,
    prefix: &'a Prefix,
}

impl<'a> Standings<'a> {
    pub(crate) fn new(
        statuses: impl IntoIterator<Item = &'a WorkloadStatus>,
        prefix: &'a Prefix,
        now: DateTime<Utc>,
    ) -> Self {
        let mut statuses: Vec<_> = statuses.into_iter().collect();
        statuses.sort_by_key(|it| it.condition);
        Self {
            statuses,
            now,
            prefix,
        }
    }

    /// Whether anything is wrong with any of them.
    pub(crate) fn have_errors(&self) -> bool {
        self.statuses.iter().any(|it| it.error.is_some())
    }

    /// A row for each, and what is to be said of them under the table.
    pub(crate) fn write_table(
        &self,
        out: &mut impl Write,
        style: Style,
        wide: bool,
    ) -> io::Result<()> {
        if self.statuses.is_empty() {
            return Ok(());
        }
        if wide {
            self.write_rows(out, style, WIDE, |status| self.wide_row(status))?;
        } else {
            let [a, b, c, d, e, f, g, h, ..] = WIDE;
            let headings = [a, b, c, d, e, f, g, h];
            self.write_rows(out, style, headings, |status| self.row(status))?;
        }
        self.write_notes(out, style)
    }

    fn write_rows<const N: usize>(
        &self,
        out: &mut impl Write,
        style: Style,
        headings: [&'static str; N],
        row: impl Fn(&WorkloadStatus) -> [Cell; N],
    ) -> io::Result<()> {
        let mut table = Table::new(headings);
        for status in &self.statuses {
            table.push(row(status));
        }
        table.write(out, style)
    }

    fn wide_row(&self, status: &WorkloadStatus) -> [Cell; 10] {
        let [a, b, c, d, e, f, g, h] = self.row(status);
        let owners: Vec<_> = status.owners.iter().map(|it| it.name()).collect();
        let zone = status.zone.name().into();
        [a, b, c, d, e, f, g, h, zone, owners.join(", ").into()]
    }

    fn row(&self, status: &WorkloadStatus) -> [Cell; 8] {
        let at = |at: DateTime<Utc>| clock(at, status.zone, self.now);
        let next = status.next.map(|next| {
            let text = format!("{} ({})", at(next), distance(next, self.now));
            // What should have been done and was not: nobody follows the schedule.
            let late = next < self.now;
            Cell::from(text).painted(if late { Paint::Yellow } else { Paint::Plain })
        });
        let laid_over = status.laid_over.map(|it| match it.until() {
            Some(until) => format!("{} until {}", verb(it), at(until)),
            None => verb(it).to_owned(),
        });
        [
            (&*status.object.namespace).into(),
            (&*status.object.name).into(),
            status.replicas.to_string().into(),
            state(status),
            status.since.map(at).into(),
            status.saved.map(|it| it.to_string()).into(),
            next.unwrap_or_else(|| "".into()),
            laid_over.into(),
        ]
    }

    fn write_notes(&self, out: &mut impl Write, style: Style) -> io::Result<()> {
        let mut notes: Vec<(Paint, String)> = Vec::new();
        for status in &self.statuses {
            let object = &status.object;
            for line in status.error.iter().flat_map(|error| error.lines()) {
                notes.push((Paint::Red, format!("error: {object}: {line}")));
            }
            if let Some(saved) = status.saved.filter(|_| status.is_left_down()) {
                let restore = status.restore();
                let text = format!(
                    "warning: {object}: its schedule was removed, and fewer run than are saved; `{restore}` brings it back to {saved}"
                );
                notes.push((Paint::Yellow, text));
            }
            if status.condition == ScheduleStatus::Unseen {
                let text = format!(
                    "note: {object}: no controller has seen it yet; is `dayshift run` running in this cluster?"
                );
                notes.push((Paint::Yellow, text));
            }
        }
        if !notes.is_empty() {
            writeln!(out)?;
        }
        for (paint, note) in notes {
            writeln!(out, "{}", style.paint(paint, &printable(&note)))?;
        }
        let owners: BTreeSet<Owner> = self
            .statuses
            .iter()
            .flat_map(|it| it.owners.iter().copied())
            .collect();
        for owner in owners {
            writeln!(out, "\n{}", owner.advice())?;
        }
        Ok(())
    }

    /// One document, whose form the long help tells.
    pub(crate) fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        let workloads: Vec<_> = self.statuses.iter().map(|it| self.json(it)).collect();
        serde_json::to_writer_pretty(TerminalSafe(&mut *out), &json!({ "workloads": workloads }))?;
        writeln!(out)
    }

    fn json(&self, status: &WorkloadStatus) -> Value {
        let tz = status.zone.tz();
        let time = |at: Option<DateTime<Utc>>| at.map(|at| at.with_timezone(&tz).to_rfc3339());
        let problems = status.problems.iter().map(|it| {
            json!({
                "annotation": self.prefix.full(&it.annotation),
                "message": it.message,
                "start": it.span.start,
                "end": it.span.end,
            })
        });
        json!({
            "kind": status.object.kind.name(),
            "namespace": &*status.object.namespace,
            "name": &*status.object.name,
            "timezone": status.zone.name(),
            "replicas": status.replicas.get(),
            "state": status.phase.map(Phase::name),
            "since": time(status.since),
            "savedReplicas": status.saved.map(Replicas::get),
            "next": time(status.next),
            "override": status.laid_over.map(|it| json!({
                "action": verb(it),
                "until": time(it.until()),
            })),
            "error": status.error,
            "problems": problems.collect::<Vec<_>>(),
            "restore": status.is_left_down().then(|| status.restore()),
            "owners": status.owners.iter().map(|it| it.name()).collect::<Vec<_>>(),
        })
    }
}

const fn verb(laid_over: Override) -> &'static str {
    match laid_over {
        Override::Pause(Pause::Forever | Pause::Until(_)) => "pause",
        Override::Wake(_) => "wake",
        Override::Sleep(_) => "sleep",
    }
}

fn state(status: &WorkloadStatus) -> Cell {
    match (status.condition, status.phase) {
        (ScheduleStatus::Refused, _) => Cell::from("error").painted(Paint::Red),
        (ScheduleStatus::Removed, _) => Cell::from("left down").painted(Paint::Yellow),
        (ScheduleStatus::Unseen, _) | (_, None) => Cell::from("unseen").painted(Paint::Yellow),
        (_, Some(phase)) => Cell::from(phase.name()).painted(match phase {
            Phase::Running | Phase::Woken => Paint::Green,
            Phase::Stopped | Phase::Slept => Paint::Blue,
            Phase::Paused => Paint::Yellow,
            Phase::Adopted => Paint::Faint,
        }),
    }
}
