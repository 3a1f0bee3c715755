//! The output of `dayshift status`: a table with notes below it, or JSON.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
    io::{self, Write},
};

use chrono::{DateTime, Utc};
use dayshift_operations::status::{
    ScheduleStatus, Unreadable, WorkloadStatus, distance, short_time,
};
use dayshift_schedule::Tzdata;
use dayshift_text::{first_of, printable};
use dayshift_workload::{
    Dependency, Origin, Phase, Prefix, Problem, Replicas, TEAM_CONFIG_MAP, WorkloadRef,
    events::{Condition, Message, author_text},
    other_controllers::OtherController,
    savings::{Bill, Price, StoppedCapacity, short_number},
};

use crate::cli::output::{
    documents::{
        ApiVersion, HeldDownEntry, OverrideEntry, ProblemEntry, RequestsEntry, RevertEntry,
        StatusDocument, StatusEntry, StopAfterEntry, TzdataEntry, Unread, WaitsForEntry,
        write_document,
    },
    status::{
        ColumnVisibility::{Always, IfKnown, Instead, Wide, WideInherited, WithValue},
        NarrowRule::{LeftOut, LeftOutIfAlike, Replaced, Stays},
    },
    table::{Cell, Table},
    terminal::{Paint, Style, wrapped},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SortBy {
    /// Problems first
    Problems,
    /// By name, whatever the namespace
    Name,
    /// By namespace, then name
    Namespace,
    /// The next start or stop first
    Next,
    /// The largest count first
    Replicas,
    /// By state
    State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatusColumns {
    /// Those that fit the terminal
    Fitting,
    /// All, in parts below each other if they are too wide
    Wide,
}

/// The status of workloads at one time, ready to print.
pub(crate) struct StatusOutput<'a> {
    pub(crate) statuses: &'a [WorkloadStatus],
    pub(crate) unreadable: &'a [Unreadable],
    pub(crate) now: DateTime<Utc>,
    pub(crate) prefix: &'a Prefix,
    pub(crate) price: Option<&'a Price>,
    pub(crate) tzdata: &'a Tzdata,
}

/// The message of a problem. It names the schedule and its key if the value is in a named schedule.
fn problem_message(problem: &Problem, prefix: &Prefix) -> String {
    match &problem.schedule {
        Some(_) => format!("{}: {}", problem.name(prefix), problem.diagnostic),
        None => problem.diagnostic.to_string(),
    }
}

impl StatusOutput<'_> {
    pub(crate) fn have_problems(&self) -> bool {
        self.statuses.iter().any(WorkloadStatus::has_problem)
    }

    /// Writes a row for each workload, with notes below. If the table is too wide, the least
    /// important columns and those without a value are left out; a wide table is split instead.
    pub(crate) fn write_table(
        &self,
        out: &mut impl Write,
        style: Style,
        columns: StatusColumns,
        width: Option<usize>,
    ) -> io::Result<()> {
        if self.statuses.is_empty() {
            return Ok(());
        }
        let table = status_table(self.statuses, self.now);
        if columns == StatusColumns::Wide {
            let width = width.unwrap_or(usize::MAX);
            let parts = wide_parts(&table, self.statuses, width);
            for (at, part) in parts.iter().enumerate() {
                if at > 0 {
                    writeln!(out)?;
                }
                table.write_columns(out, style, part)?;
            }
            self.write_stopped(out, width)?;
        } else {
            table.write_columns(out, style, &fitting(&table, width))?;
        }
        self.write_notes(out, style, width)
    }

    /// Writes the total of the stopped replicas.
    fn write_stopped(&self, out: &mut impl Write, width: usize) -> io::Result<()> {
        let statuses = self.statuses.iter();
        let down = statuses.filter(|status| status.stopped_capacity.replicas > 0);
        let held: StoppedCapacity = down.clone().map(|status| status.stopped_capacity).sum();
        if held.replicas == 0 {
            return Ok(());
        }
        let complete = down.map(|status| status.requests.are_complete());
        let bill = Bill::per_hour(held, self.price).with_incomplete(complete);
        let text = format!("Stopped by schedules and overrides now: {bill}.");
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
        for status in self.statuses {
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
        for status in self.statuses {
            for owner in &status.owners {
                // These workloads already follow the advice.
                if !(status.leaves_count_to_hpa && *owner == OtherController::Hpa) {
                    owners.entry(*owner).or_default().push(&status.object);
                }
            }
        }
        for (owner, objects) in owners {
            writeln!(out)?;
            let advice = owner.advice(&objects, self.prefix);
            // YAML that the user should copy is not wrapped.
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

    /// Writes the JSON output.
    pub(crate) fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        let workloads = self.statuses.iter().map(|status| self.entry(status));
        let document = StatusDocument {
            api_version: ApiVersion::V1,
            workloads: workloads.collect(),
            unread: self.unreadable.iter().map(Unread::from).collect(),
            tzdata: TzdataEntry {
                version: self.tzdata.version().to_owned(),
                from: self.tzdata.source().to_string(),
            },
        };
        write_document(out, &document)
    }

    fn entry(&self, status: &WorkloadStatus) -> StatusEntry {
        let time =
            |at: Option<DateTime<Utc>>| at.map(|at| at.with_timezone(&status.zone).to_rfc3339());
        let WorkloadStatus {
            stopped_capacity: held,
            active_override,
            ..
        } = *status;
        let owners = status.owners.iter().map(|owner| owner.name().to_owned());
        let is_left_stopped = status.is_left_stopped();
        let problems = status.problems.iter().map(|problem| ProblemEntry {
            annotation: problem.annotation_name(self.prefix),
            message: problem_message(problem, self.prefix),
            start: problem.diagnostic.span().start,
            end: problem.diagnostic.span().end,
            from: problem.origin.name().to_owned(),
        });
        StatusEntry {
            kind: status.object.kind.name().to_owned(),
            namespace: status.object.namespace.to_string(),
            name: status.object.name.to_string(),
            timezone: status.zone.name().to_owned(),
            from: status.origin.name().to_owned(),
            schedule: status.schedule.clone(),
            replicas: status.replicas.get(),
            ready: status.is_ready(),
            ready_replicas: status.readiness.replicas().map(Replicas::get),
            state: status.phase.map(|phase| phase.name().to_owned()),
            since: time(status.since),
            saved_replicas: status.saved.map(Replicas::get),
            requests: RequestsEntry {
                cpu_cores: status.requests.cpu_nanos as f64 / 1e9,
                memory_bytes: status.requests.memory_bytes,
            },
            held_down: HeldDownEntry {
                replicas: held.replicas,
                cpu_cores: held.cpu_nanos as f64 / 1e9,
                memory_bytes: held.memory_bytes,
            },
            next: time(status.next),
            next_action: status.next_action.map(|action| action.to_string()),
            stop_after: status.stop_after.map(|(after, started)| StopAfterEntry {
                seconds: after.duration.num_seconds(),
                since: after.since.name().to_owned(),
                started: time(started),
            }),
            waits_for: status.waits_for().map(|(needed, until)| WaitsForEntry {
                objects: needed.iter().map(Dependency::to_string).collect(),
                until: time(Some(until)),
            }),
            on_request: status.on_request.clone(),
            active_override: active_override.map(|(origin, active)| OverrideEntry {
                action: active.command().to_owned(),
                until: time(active.until()),
                from: origin.name().to_owned(),
                by: status.author.by.as_deref().map(str::to_owned),
                reason: status.author.reason.as_deref().map(str::to_owned),
            }),
            error: status.error.clone(),
            problems: problems.collect(),
            overdue_since: time(status.overdue_since()),
            notes: Notes::new(self.prefix, self.now).texts(status),
            restore: is_left_stopped.then(|| status.restore(self.prefix)),
            reverted_by: status.reverted_by.as_ref().map(|by| RevertEntry {
                manager: by.manager.manager.clone(),
                at: time(by.at),
                cure: status.fix(self.prefix),
            }),
            owners: owners.collect(),
        }
    }
}

impl SortBy {
    pub(crate) fn order(self, a: &WorkloadStatus, b: &WorkloadStatus) -> Ordering {
        let name = |status: &WorkloadStatus| {
            let object = &status.object;
            (object.namespace.clone(), object.name.clone())
        };
        match self {
            Self::Problems => {
                (a.condition, a.notes.is_empty()).cmp(&(b.condition, b.notes.is_empty()))
            }
            Self::Name => a.object.name.cmp(&b.object.name),
            Self::Namespace => name(a).cmp(&name(b)),
            // Workloads without a next boundary come last.
            Self::Next => (a.next.is_none(), a.next).cmp(&(b.next.is_none(), b.next)),
            Self::Replicas => b.replicas.cmp(&a.replicas),
            Self::State => (a.condition, a.phase).cmp(&(b.condition, b.phase)),
        }
    }
}

pub(crate) type StatusTable = Table<{ COLUMNS.len() }>;

struct StatusColumn {
    heading: &'static str,
    shown: ColumnVisibility,
    narrow: NarrowRule,
    cell: fn(&WorkloadStatus, DateTime<Utc>) -> Cell,
}

/// When a column is shown.
#[derive(Clone, Copy)]
enum ColumnVisibility {
    Always,
    /// In every wide table, and in others if it has a value.
    WithValue,
    /// In every table, if it has a value.
    IfKnown,
    Wide,
    /// In wide tables, if a schedule is inherited.
    WideInherited,
    /// Instead of the previous column, which is wider.
    Instead,
}

/// How a column makes space on a narrow screen; lower numbers come first.
#[derive(Clone, Copy)]
enum NarrowRule {
    LeftOut(u8),
    LeftOutIfAlike(u8),
    /// The next column is shown instead.
    Replaced(u8),
    Stays,
}

impl NarrowRule {
    const fn turn(self) -> Option<u8> {
        match self {
            Self::LeftOut(turn) | Self::LeftOutIfAlike(turn) | Self::Replaced(turn) => Some(turn),
            Self::Stays => None,
        }
    }
}

/// The first two columns identify the workload, so each part of a wide table has them.
const COLUMNS: [StatusColumn; 16] = [
    column("NAMESPACE", Always, LeftOutIfAlike(4), |status, _| {
        (&*status.object.namespace).into()
    }),
    column("NAME", Always, Stays, |status, _| {
        status.object.short_name().into()
    }),
    column("REPLICAS", Always, Stays, |status, _| status.count().into()),
    column("READY", IfKnown, LeftOut(5), |status, _| {
        status.ready().into()
    }),
    column("STATE", Always, Stays, |status, _| state(status)),
    column("SINCE", WithValue, LeftOut(1), |status, now| {
        status
            .since
            .map(|at| short_time(at, status.zone, now))
            .into()
    }),
    column("NEXT", Always, Replaced(2), |status, now| {
        next_with_distance(status, now)
    }),
    column("NEXT", Instead, Stays, next_time),
    column("OVERRIDE", WithValue, LeftOut(3), override_in_force),
    column("SCHEDULE", IfKnown, LeftOut(0), |status, _| {
        status.schedule.as_deref().into()
    }),
    column("TIMEZONE", Wide, Stays, |status, _| {
        status.zone.name().into()
    }),
    column("ALSO SET BY", Wide, Stays, |status, _| owners(status)),
    column("STOPPED", Wide, Stays, |status, _| {
        some(status.stopped_capacity.replicas as f64, "")
    }),
    column("CPU", Wide, Stays, |status, _| {
        some(status.stopped_capacity.cpu_nanos as f64 / 1e9, "")
    }),
    column("MEMORY", Wide, Stays, |status, _| {
        some(
            status.stopped_capacity.memory_bytes as f64 / f64::from(1 << 30),
            "Gi",
        )
    }),
    column("FROM", WideInherited, Stays, |status, _| {
        status.origin.name().into()
    }),
];

const fn column(
    heading: &'static str,
    shown: ColumnVisibility,
    narrow: NarrowRule,
    cell: fn(&WorkloadStatus, DateTime<Utc>) -> Cell,
) -> StatusColumn {
    StatusColumn {
        heading,
        shown,
        narrow,
        cell,
    }
}

pub(crate) fn status_table(statuses: &[WorkloadStatus], now: DateTime<Utc>) -> StatusTable {
    let mut table = Table::new(COLUMNS.map(|column| column.heading));
    for status in statuses {
        table.push(COLUMNS.map(|column| (column.cell)(status, now)));
    }
    table
}

/// The columns of a wide table, split into parts that fit.
pub(crate) fn wide_parts(
    table: &StatusTable,
    statuses: &[WorkloadStatus],
    width: usize,
) -> Vec<Vec<usize>> {
    let is_inherited = statuses.iter().any(|status| status.origin != Origin::Own);
    let columns = columns(|at, shown| match shown {
        Always | WithValue | Wide => true,
        IfKnown => !table.is_empty(at),
        WideInherited => is_inherited,
        Instead => false,
    });
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

/// The columns that fit a screen of this width.
pub(crate) fn fitting(table: &StatusTable, width: Option<usize>) -> Vec<usize> {
    let mut columns = columns(|at, shown| match shown {
        Always => true,
        WithValue | IfKnown => !table.is_empty(at),
        Wide | WideInherited | Instead => false,
    });
    let Some(width) = width else {
        return columns;
    };
    let mut turns: Vec<_> = columns
        .iter()
        .filter_map(|at| Some((COLUMNS[*at].narrow.turn()?, *at)))
        .collect();
    turns.sort_unstable();
    for (_, column) in turns {
        if table.width(&columns) <= width {
            break;
        }
        match COLUMNS[column].narrow {
            Replaced(_) => {
                let places = columns.iter_mut().filter(|place| **place == column);
                places.for_each(|place| *place += 1);
            }
            LeftOutIfAlike(_) if !table.is_alike(column) => {}
            _ => columns.retain(|place| *place != column),
        }
    }
    columns
}

/// The indexes of the columns that are shown.
fn columns(is_shown: impl Fn(usize, ColumnVisibility) -> bool) -> Vec<usize> {
    let all = COLUMNS.iter().enumerate();
    all.filter(|(at, column)| is_shown(*at, column.shown))
        .map(|(at, _)| at)
        .collect()
}

/// The state: the last transition, or a more urgent condition.
fn state(status: &WorkloadStatus) -> Cell {
    let paint = match (status.condition, status.phase) {
        (ScheduleStatus::Rejected, _) => Paint::Red,
        (ScheduleStatus::Removed, _) | (_, None | Some(Phase::Paused)) => Paint::Yellow,
        (_, Some(Phase::Running | Phase::Woken)) => Paint::Green,
        (_, Some(Phase::Stopped | Phase::Slept)) => Paint::Blue,
        (_, Some(Phase::Adopted)) => Paint::Faint,
    };
    Cell::from(status.state_name()).painted(paint)
}

/// The next change, its time, and how long it is until then.
fn next_with_distance(status: &WorkloadStatus, now: DateTime<Utc>) -> Cell {
    let more = |next| format!(" ({}){}", distance(next, now), status.next_text().1);
    next_cell(status, now, more)
}

/// The next change and its time.
fn next_time(status: &WorkloadStatus, now: DateTime<Utc>) -> Cell {
    next_cell(status, now, |_| String::new())
}

fn next_cell(
    status: &WorkloadStatus,
    now: DateTime<Utc>,
    more: impl FnOnce(DateTime<Utc>) -> String,
) -> Cell {
    let Some(next) = status.next else {
        return "".into();
    };
    // A boundary in the past is overdue.
    let paint = if next < now {
        Paint::Yellow
    } else {
        Paint::Plain
    };
    let (action, _) = status.next_text();
    let text = action + &short_time(next, status.zone, now) + &more(next);
    Cell::from(text).painted(paint)
}

/// The active override, its end and its author.
fn override_in_force(status: &WorkloadStatus, now: DateTime<Utc>) -> Cell {
    let over = status.active_override.map(|(_, active)| {
        let until = active.until().map(|at| short_time(at, status.zone, now));
        let until = until.map_or_else(String::new, |at| format!(" until {at}"));
        let author = author_text(&status.author);
        let author = author.map_or_else(String::new, |author| format!(", {author}"));
        format!("{}{until}{author}", active.command())
    });
    over.into()
}

fn owners(status: &WorkloadStatus) -> Cell {
    let names: Vec<_> = status.owners.iter().map(|owner| owner.name()).collect();
    names.join(", ").into()
}

/// A number, or nothing if it is 0.
fn some(number: f64, unit: &str) -> Cell {
    (number > 0.0).then(|| short_number(number) + unit).into()
}

/// A note and the workloads that it applies to.
struct NoteLine {
    paint: Paint,
    level: &'static str,
    objects: Vec<String>,
    message: Message,
}

/// The notes below a table. Equal notes of several workloads are combined.
pub(crate) struct Notes<'a> {
    prefix: &'a Prefix,
    now: DateTime<Utc>,
    lines: Vec<NoteLine>,
}

impl<'a> Notes<'a> {
    pub(crate) const fn new(prefix: &'a Prefix, now: DateTime<Utc>) -> Self {
        let lines = Vec::new();
        Self { prefix, now, lines }
    }

    /// Adds all errors and notes of a workload.
    pub(crate) fn add(&mut self, status: &WorkloadStatus) {
        let object = status.object.full_name();
        let error = match &*status.problems {
            [] => status.error.as_deref(),
            _ => None,
        };
        for error in error.iter().flat_map(|error| error.lines()) {
            self.push("error", Paint::Red, &object, error.to_owned().into());
        }
        for problem in &status.problems {
            let text = format!("{}: {}", problem.name(self.prefix), problem.diagnostic);
            let namespace = format!("Namespace {}", status.object.namespace);
            let team = format!("ConfigMap {}/{TEAM_CONFIG_MAP}", status.object.namespace);
            let object = match problem.origin {
                Origin::Own => &object,
                Origin::Team => &team,
                Origin::Namespace | Origin::Controller => &namespace,
            };
            self.push("error", Paint::Red, object, text.into());
        }
        self.add_notes(status, |_| true);
    }

    /// Adds the notes of a workload that `is_wanted` selects.
    pub(crate) fn add_notes(&mut self, status: &WorkloadStatus, is_wanted: fn(&Condition) -> bool) {
        let object = status.object.full_name();
        for note in status.notes.iter().filter(|note| is_wanted(note)) {
            let level = if note.is_warning() { "warning" } else { "note" };
            let message = status.message(note, self.prefix, self.now);
            self.push(level, Paint::Yellow, &object, message);
        }
    }

    /// The notes of one workload for JSON.
    pub(crate) fn texts(&self, status: &WorkloadStatus) -> Vec<String> {
        let notes = status.notes.iter();
        let messages = notes.map(|note| status.message(note, self.prefix, self.now));
        messages.map(|message| message.to_string()).collect()
    }

    fn push(&mut self, level: &'static str, paint: Paint, object: &str, message: Message) {
        let same = self
            .lines
            .iter_mut()
            .find(|line| line.level == level && line.message.text == message.text);
        match same {
            // Several workloads report the same error of their Namespace.
            Some(line) if line.objects.last().is_some_and(|last| last == object) => {}
            Some(line) => {
                line.objects.push(object.to_owned());
                line.message.also_for(&message);
            }
            None => self.lines.push(NoteLine {
                paint,
                level,
                objects: vec![object.to_owned()],
                message,
            }),
        }
    }

    /// The lines, wrapped to `width`.
    pub(crate) fn lines(&self, style: Style, width: Option<usize>) -> Vec<String> {
        let mut shown = BTreeSet::new();
        let lines = self.lines.iter().flat_map(|line| {
            let objects = first_of(&line.objects);
            let help = line.message.help.as_deref();
            // Equal help, such as the setting of a GitOps tool, is shown once.
            let text = match help.is_none_or(|help| shown.insert(help)) {
                true => format!("{}: {objects}: {}", line.level, line.message),
                false => format!("{}: {objects}: {}", line.level, line.message.text),
            };
            let text = printable(&text);
            let lines = match width {
                Some(width) => wrapped(&text, width, 2),
                None => vec![text],
            };
            lines.into_iter().map(|text| style.paint(line.paint, &text))
        });
        lines.collect()
    }
}
