//! The columns of `dayshift status`: when each is shown, what a narrow screen does without, and
//! what stands in it.

use chrono::{DateTime, Utc};
use dayshift_operations::status::{ScheduleStatus, WorkloadStatus, distance, short_time};
use dayshift_workload::{
    Origin, Override, Pause, Phase, events::author_text, savings::short_number,
};

use self::{
    Narrow::{LeftOut, LeftOutIfAlike, Replaced, Stays},
    Shown::{Always, IfKnown, Instead, Wide, WideInherited, WithValue},
};
use crate::cli::output::{
    style::Paint,
    table::{Cell, Table},
};

/// The cells of every column, for one row each.
pub(super) type StatusTable = Table<{ COLUMNS.len() }>;

/// One column.
struct Column {
    heading: &'static str,
    shown: Shown,
    narrow: Narrow,
    /// What stands in it of a workload at one moment.
    cell: fn(&WorkloadStatus, DateTime<Utc>) -> Cell,
}

/// In which tables a column is shown.
#[derive(Clone, Copy)]
enum Shown {
    Always,
    /// In every wide table, in others where it has a value.
    WithValue,
    /// In every table where it has a value.
    IfKnown,
    Wide,
    /// In wide tables where some schedule is inherited.
    WideInherited,
    /// In place of the one before it, which takes more room.
    Instead,
}

/// What a narrow screen does to a column; the lowest number gives way first.
#[derive(Clone, Copy)]
enum Narrow {
    LeftOut(u8),
    LeftOutIfAlike(u8),
    /// The next column is shown in its place.
    Replaced(u8),
    Stays,
}

impl Narrow {
    const fn turn(self) -> Option<u8> {
        match self {
            Self::LeftOut(turn) | Self::LeftOutIfAlike(turn) | Self::Replaced(turn) => Some(turn),
            Self::Stays => None,
        }
    }
}

/// Every column. The first two are the names, which each part of a wide table has.
const COLUMNS: [Column; 15] = [
    column("NAMESPACE", Always, LeftOutIfAlike(4), |it, _| {
        (&*it.object.namespace).into()
    }),
    column("NAME", Always, Stays, |it, _| it.object.short_name().into()),
    column("REPLICAS", Always, Stays, |it, _| it.count().into()),
    column("READY", IfKnown, LeftOut(5), |it, _| it.ready().into()),
    column("LAST", Always, Stays, |it, _| last(it)),
    column("SINCE", WithValue, LeftOut(1), |it, now| {
        it.since.map(|at| short_time(at, it.zone, now)).into()
    }),
    column("NEXT", Always, Replaced(2), |it, now| next(it, now, true)),
    column("NEXT", Instead, Stays, |it, now| next(it, now, false)),
    column("OVERRIDE", WithValue, LeftOut(3), laid_over),
    column("TIMEZONE", Wide, Stays, |it, _| it.zone.name().into()),
    column("ALSO SET BY", Wide, Stays, |it, _| owners(it)),
    column("HELD DOWN", Wide, Stays, |it, _| {
        some(it.held_down.replicas as f64, "")
    }),
    column("CPU", Wide, Stays, |it, _| {
        some(it.held_down.cpu_nanos as f64 / 1e9, "")
    }),
    column("MEMORY", Wide, Stays, |it, _| {
        some(it.held_down.memory_bytes as f64 / f64::from(1 << 30), "Gi")
    }),
    column("FROM", WideInherited, Stays, |it, _| {
        it.origin.name().into()
    }),
];

const fn column(
    heading: &'static str,
    shown: Shown,
    narrow: Narrow,
    cell: fn(&WorkloadStatus, DateTime<Utc>) -> Cell,
) -> Column {
    Column {
        heading,
        shown,
        narrow,
        cell,
    }
}

/// A row for each workload.
pub(super) fn table(statuses: &[&WorkloadStatus], now: DateTime<Utc>) -> StatusTable {
    let mut table = Table::new(COLUMNS.map(|it| it.heading));
    for status in statuses {
        table.push(COLUMNS.map(|it| (it.cell)(status, now)));
    }
    table
}

/// The columns of a wide table, in parts that fit, each with the names.
pub(super) fn wide_parts(
    table: &StatusTable,
    statuses: &[&WorkloadStatus],
    width: usize,
) -> Vec<Vec<usize>> {
    let is_inherited = statuses.iter().any(|it| it.origin != Origin::Own);
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

/// The columns of a table that is not wide, on a screen of this many columns.
pub(super) fn fitting(table: &StatusTable, width: Option<usize>) -> Vec<usize> {
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
                let places = columns.iter_mut().filter(|it| **it == column);
                places.for_each(|it| *it += 1);
            }
            LeftOutIfAlike(_) if !table.is_alike(column) => {}
            _ => columns.retain(|it| *it != column),
        }
    }
    columns
}

/// The places of those columns that are to be shown.
fn columns(is_shown: impl Fn(usize, Shown) -> bool) -> Vec<usize> {
    let all = COLUMNS.iter().enumerate();
    all.filter(|(at, it)| is_shown(*at, it.shown))
        .map(|(at, _)| at)
        .collect()
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

/// What is done next and when; where it is long, also how long it is until then.
fn next(status: &WorkloadStatus, now: DateTime<Utc>, is_long: bool) -> Cell {
    let Some(next) = status.next else {
        return "".into();
    };
    // What should have been done and was not: nobody follows the schedule.
    let paint = if next < now {
        Paint::Yellow
    } else {
        Paint::Plain
    };
    let (what, then) = status.next_words();
    let mut text = what + &short_time(next, status.zone, now);
    if is_long {
        text += &format!(" ({}){then}", distance(next, now));
    }
    Cell::from(text).painted(paint)
}

/// The override that holds, until when, and whose it is.
fn laid_over(status: &WorkloadStatus, now: DateTime<Utc>) -> Cell {
    let over = status.laid_over.map(|(_, it)| {
        let until = it.until().map(|at| short_time(at, status.zone, now));
        let until = until.map_or_else(String::new, |at| format!(" until {at}"));
        let author = author_text(&status.author);
        let author = author.map_or_else(String::new, |it| format!(", {it}"));
        format!("{}{until}{author}", verb(it))
    });
    over.into()
}

fn owners(status: &WorkloadStatus) -> Cell {
    let names: Vec<_> = status.owners.iter().map(|it| it.name()).collect();
    names.join(", ").into()
}

/// A number, where it is not 0.
fn some(number: f64, unit: &str) -> Cell {
    (number > 0.0).then(|| short_number(number) + unit).into()
}

pub(super) const fn verb(laid_over: Override) -> &'static str {
    match laid_over {
        Override::Pause(Pause::Forever | Pause::Until(_)) => "pause",
        Override::Wake(_) => "wake",
        Override::Sleep(_) => "sleep",
    }
}
