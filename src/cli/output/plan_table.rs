//! A plan as a table.

use std::io::{self, Write};

use chrono::{DateTime, NaiveDate};
use dayshift_manifest::plan::{Holiday, Plan, PlannedBoundary, StartsAfter, WorkloadPlan};
use dayshift_operations::status::time_of_day;
use dayshift_schedule::{Action, Zone};
use dayshift_text::{cut_chars, printable};
use dayshift_workload::{
    CountKind, Key, Origin, Replicas,
    savings::{Bill, Saved},
};

use super::{
    style::{Paint, Style},
    table::{Cell, Table},
};

/// More starts and stops than anyone reads, and than memory should hold.
const MAX_BOUNDARIES: usize = 1_000_000;

/// A day with more of them is folded: one row for each thing that happens again and again.
const MAX_OF_A_DAY: usize = 24;

/// How many characters of a holiday's name are shown.
const MAX_NAME: usize = 40;

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    #[error(
        "the plan would have over {MAX_BOUNDARIES} starts and stops; show fewer days, or use -o json"
    )]
    TooLong,
    #[error("cannot write the plan: {0}")]
    Write(#[from] io::Error),
}

/// Writes a row for each boundary (a day with many of them is folded), and one for each object that something is wrong with. Where the
/// schedules come from is said as soon as one is inherited.
pub(crate) fn write_table(
    out: &mut impl Write,
    plan: &Plan,
    style: Style,
) -> Result<(), WriteError> {
    let is_inherited = |it: &WorkloadPlan| it.origin() != Origin::Own;
    let table = table(plan)?;
    if plan.workloads.iter().any(is_inherited) {
        table.write(out, style)?;
    } else {
        table.write_columns(out, style, &[0, 1, 2, 3, 4])?;
    }
    Ok(())
}

fn table(plan: &Plan) -> Result<Table<6>, WriteError> {
    let mut table = Table::new(["NAMESPACE", "NAME", "TIME", "ACTION", "REPLICAS", "FROM"]);
    let mut room = MAX_BOUNDARIES;
    let mut push = |of: &WorkloadPlan, [time, action, count]: [Cell; 3]| {
        let (namespace, name) = (of.namespace().into(), of.short_name().into());
        let from = of.origin().name().into();
        table.push([namespace, name, time, action, count, from]);
    };
    for workload in &plan.workloads {
        let counts = workload.spec().map(|spec| spec.counts);
        let mut marked = marked_dates(workload).into_iter().peekable();
        let mut boundaries = workload.boundaries().peekable();
        while let Some(date) = boundaries.peek().map(|it| it.at.date_naive()) {
            while let Some((_, row)) = marked.next_if(|it| it.0 <= date) {
                push(workload, row);
            }
            let mut day = Day::default();
            while let Some(boundary) = boundaries.next_if(|it| it.at.date_naive() == date) {
                room = room.checked_sub(1).ok_or(WriteError::TooLong)?;
                day.add(boundary);
            }
            for row in day.rows(counts.unwrap_or_default(), workload.after()) {
                push(workload, row);
            }
        }
        for (_, row) in marked {
            push(workload, row);
        }
        if !workload.problems().is_empty() {
            let refused = Cell::from("refused").painted(Paint::Red);
            push(workload, ["".into(), refused, "".into()]);
        }
    }
    Ok(table)
}

/// Says under the table what is saved, where its rows request anything or a price is given.
pub(crate) fn write_saved(out: &mut impl Write, plan: &Plan) -> io::Result<()> {
    let saved = || {
        plan.workloads
            .iter()
            .filter_map(|it| Some((it, it.saved()?)))
    };
    let total: Saved = saved().map(|(_, saved)| saved).sum();
    let first = plan.workloads.first();
    if total.requests_any() || first.is_some_and(|it| it.price().is_some()) {
        let members = saved().map(|(member, _)| member);
        writeln!(out, "\nSaves {}.", plan_bill(total, members))?;
    }
    Ok(())
}

/// Says under the rows what requests to Services come to, of each workload that asks to be woken by them.
pub(crate) fn write_requests(out: &mut impl Write, plan: &Plan, style: Style) -> io::Result<()> {
    let asking = plan.workloads.iter();
    let asking = asking.filter_map(|it| Some((it, it.on_request()?)));
    for (index, (workload, coverage)) in asking.enumerate() {
        if index == 0 {
            writeln!(out)?;
        }
        let text = format!("On request: {workload}: {coverage}");
        writeln!(out, "{}", style.paint(Paint::Plain, &printable(&text)))?;
    }
    Ok(())
}

/// What these save together, and how many of them are not all in it.
pub(super) fn plan_bill<'p>(
    saved: Saved,
    members: impl Iterator<Item = &'p WorkloadPlan> + Clone,
) -> String {
    let price = members.clone().find_map(WorkloadPlan::price);
    let complete = members.map(|it| it.footprint().requests.are_complete());
    Bill::new(saved, price).with_incomplete(complete)
}

/// The dates of which something is to be said, with their rows: those that count as another day of
/// the week, and those of calendars.
fn marked_dates(workload: &WorkloadPlan) -> Vec<(NaiveDate, [Cell; 3])> {
    let treated = workload.treated_dates().iter();
    let treated = treated.map(|it| {
        let action = Cell::from(format!("counts as {}", it.day)).painted(Paint::Faint);
        (it.date, [day(it.date), action, "".into()])
    });
    let holidays = workload.holidays().iter();
    let mut marked: Vec<_> = treated
        .chain(holidays.map(|it| (it.date, holiday_row(it))))
        .collect();
    marked.sort_by_key(|(date, _)| *date);
    marked
}

fn day(date: NaiveDate) -> Cell {
    date.format("%a %Y-%m-%d").to_string().into()
}

/// A date on which nothing starts, and what its calendar calls it: a name may hold anything.
fn holiday_row(holiday: &Holiday) -> [Cell; 3] {
    let name = printable(cut_chars(&holiday.name, MAX_NAME));
    let separator = if name.is_empty() { "" } else { " " };
    let action = format!("no start:{separator}{name} (calendar:{})", holiday.calendar);
    let action = Cell::from(action).painted(Paint::Faint);
    [day(holiday.date), action, "".into()]
}

/// The boundaries of one object on one day.
#[derive(Default)]
struct Day {
    /// The first of them, as many as are not folded.
    first: Vec<PlannedBoundary>,
    /// The same thing again and again, by its first time.
    repeated: Vec<Repeated>,
    count: usize,
}

/// What happens several times on a day, from the first time to the last.
struct Repeated {
    first: PlannedBoundary,
    last: DateTime<Zone>,
    times: usize,
}

impl Day {
    fn add(&mut self, boundary: PlannedBoundary) {
        self.count += 1;
        let at = boundary.at;
        let same = self.repeated.iter_mut().find(|it| {
            let as_then = PlannedBoundary { at, ..it.first };
            as_then == boundary
        });
        match same {
            Some(it) => (it.last, it.times) = (at, it.times + 1),
            None => self.repeated.push(Repeated {
                first: boundary.clone(),
                last: at,
                times: 1,
            }),
        }
        if self.first.len() < MAX_OF_A_DAY {
            self.first.push(boundary);
        }
    }

    fn rows(&self, counts: CountKind, after: Option<&StartsAfter>) -> Vec<[Cell; 3]> {
        let row = |it: &PlannedBoundary, last, times| row(it, last, times, counts, after);
        let all = self.first.iter().map(|it| row(it, it.at, 1));
        if self.count <= MAX_OF_A_DAY {
            return all.collect();
        }
        let folded = self.repeated.iter();
        folded.map(|it| row(&it.first, it.last, it.times)).collect()
    }
}

/// A row for what happens so many times, until `last`.
fn row(
    boundary: &PlannedBoundary,
    last: DateTime<Zone>,
    times: usize,
    counts: CountKind,
    after: Option<&StartsAfter>,
) -> [Cell; 3] {
    let clock = |at: DateTime<Zone>| at.format(time_of_day(&at)).to_string();
    let day = boundary.at.format("%a %Y-%m-%d");
    let zone = last.format("%Z");
    let (time, often) = match times {
        1 => (clock(last), String::new()),
        _ => (
            format!("{} to {}", clock(boundary.at), clock(last)),
            format!(" {times} times"),
        ),
    };
    let time = format!("{day} {time} {zone}");
    let count = match boundary.replicas {
        _ if !boundary.applied => "<unchanged>".to_owned(),
        // A start lets it run, but where somebody turned it off.
        None if counts.is_switch() => counts.short_text(Replicas::ONE),
        None => "<saved>".to_owned(),
        Some(count) => counts.short_text(count),
    };
    let why = match boundary.ends {
        _ if !boundary.applied => ", skipped",
        Some(Key::WakeUntil) => ", end of wake",
        Some(Key::SleepUntil) => ", end of sleep",
        Some(Key::Pause) => ", end of pause",
        _ => "",
    };
    let is_start = boundary.applied && boundary.action.is_up();
    let after = after.filter(|_| is_start).map_or_else(String::new, |it| {
        format!(", after {}", printable(&it.objects.join(", ")))
    });
    let action = format!("{}{often}{why}{after}", boundary.action.name());
    let paint = match boundary.action {
        _ if !boundary.applied => Paint::Faint,
        Action::Start => Paint::Green,
        Action::Stop => Paint::Blue,
        Action::Scale(_) => Paint::Yellow,
    };
    [time.into(), Cell::from(action).painted(paint), count.into()]
}
