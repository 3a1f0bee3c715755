//! A plan as a table of boundaries, and as a summary of the next stops in each namespace.

use std::io::{self, Write};

use chrono::{DateTime, NaiveDate, Utc};
use dayshift_manifest::plan::{
    Holiday, NamespaceSummary, Period, Plan, PlannedBoundary, StopSummary, WorkloadPlan,
};
use dayshift_operations::status::{short_time, time_of_day};
use dayshift_schedule::{Action, Zone};
use dayshift_text::{counted, cut_chars, printable};
use dayshift_workload::{
    Key, Kind, Origin, Prefix, Replicas,
    savings::{Bill, Saved},
};

use crate::cli::output::{
    documents::{ApiVersion, NamedSummary, SummaryDocument, Unread},
    table::{Cell, Table},
    terminal::{Paint, Style},
};

/// A limit for memory. It is more than a reader can use.
const MAX_BOUNDARIES: usize = 1_000_000;

/// In characters.
const MAX_NAME: usize = 40;

/// Writes a row for each boundary and for each workload with an invalid schedule. The column FROM
/// is shown if a schedule is inherited.
///
/// # Errors
/// If it cannot be written, or would have more than a million rows.
pub(crate) fn write_plan_table(out: &mut impl Write, plan: &Plan, style: Style) -> io::Result<()> {
    let is_inherited = |workload: &WorkloadPlan| workload.origin != Origin::Own;
    let table = plan_table(plan)?;
    if plan.workloads.iter().any(is_inherited) {
        table.write(out, style)
    } else {
        table.write_columns(out, style, &[0, 1, 2, 3, 4])
    }
}

fn plan_table(plan: &Plan) -> io::Result<Table<6>> {
    let mut table = Table::new(["NAMESPACE", "NAME", "TIME", "ACTION", "REPLICAS", "FROM"]);
    let mut room = MAX_BOUNDARIES;
    let mut push = |of: &WorkloadPlan, [time, action, count]: [Cell; 3]| {
        let (namespace, name) = (of.namespace().into(), of.short_name().into());
        let from = of.origin.name().into();
        table.push([namespace, name, time, action, count, from]);
    };
    for workload in &plan.workloads {
        let mut marked = marked_dates(workload).into_iter().peekable();
        for boundary in workload.boundaries() {
            let date = boundary.at.date_naive();
            while let Some((_, row)) = marked.next_if(|marked| marked.0 <= date) {
                push(workload, row);
            }
            room = room.checked_sub(1).ok_or_else(|| {
                io::Error::other(format!(
                    "the plan would have over {MAX_BOUNDARIES} starts and stops; show fewer days, or use -o json"
                ))
            })?;
            push(workload, boundary_row(&boundary, workload));
        }
        for (_, row) in marked {
            push(workload, row);
        }
        if !workload.problems().is_empty() {
            let refused = Cell::from("rejected").painted(Paint::Red);
            push(workload, ["".into(), refused, "".into()]);
        }
    }
    Ok(table)
}

/// Writes the savings, if a workload has resource requests or a price is given.
///
/// `shown` is the period of a chart for a zone, and the time from which overrides apply, so that a table and
/// a chart of the same plan show the same savings.
pub(crate) fn write_saved(
    out: &mut impl Write,
    plan: &Plan,
    shown: impl Fn(Zone) -> (Period, DateTime<Utc>),
) -> io::Result<()> {
    let saved = || {
        plan.workloads.iter().filter_map(|workload| {
            let (period, since) = shown(workload.spec()?.schedule.zone());
            Some((workload, workload.saved_in(period, since)?))
        })
    };
    let total: Saved = saved().map(|(_, saved)| saved).sum();
    let first = plan.workloads.first();
    if total.requests_any() || first.is_some_and(|workload| workload.price.is_some()) {
        let members = saved().map(|(member, _)| member);
        writeln!(out, "\nSaves {}.", plan_bill(total, members))?;
    }
    Ok(())
}

/// Writes the Services that wake each workload with `wake-on-request`.
pub(crate) fn write_requests(out: &mut impl Write, plan: &Plan, style: Style) -> io::Result<()> {
    let asking = plan.workloads.iter();
    let asking = asking.filter_map(|workload| Some((workload, workload.on_request.as_ref()?)));
    for (index, (workload, coverage)) in asking.enumerate() {
        if index == 0 {
            writeln!(out)?;
        }
        let text = format!("On request: {workload}: {coverage}");
        writeln!(out, "{}", style.paint(Paint::Plain, &printable(&text)))?;
    }
    Ok(())
}

/// The savings of these workloads as text, with the number of workloads whose requests are unknown.
pub(super) fn plan_bill<'p>(
    saved: Saved,
    members: impl Iterator<Item = &'p WorkloadPlan> + Clone,
) -> String {
    let price = members
        .clone()
        .find_map(|workload| workload.price.as_deref());
    let complete = members.map(|workload| workload.footprint.requests.are_complete());
    Bill::new(saved, price).with_incomplete(complete)
}

/// The dates that need a row: dates that are treated as another weekday, and holidays.
fn marked_dates(workload: &WorkloadPlan) -> Vec<(NaiveDate, [Cell; 3])> {
    let treated = workload.treated_dates.iter();
    let treated = treated.map(|treated| {
        let action = Cell::from(format!("counts as {}", treated.day)).painted(Paint::Faint);
        (treated.date, [day(treated.date), action, "".into()])
    });
    let holidays = workload.holidays.iter();
    let mut marked: Vec<_> = treated
        .chain(holidays.map(|holiday| (holiday.date, holiday_row(holiday))))
        .collect();
    marked.sort_by_key(|(date, _)| *date);
    marked
}

fn day(date: NaiveDate) -> Cell {
    date.format("%a %Y-%m-%d").to_string().into()
}

/// A date without a start and its name in the calendar. A name can contain any character, so it is
/// escaped.
fn holiday_row(holiday: &Holiday) -> [Cell; 3] {
    let name = printable(cut_chars(&holiday.name, MAX_NAME));
    let separator = if name.is_empty() { "" } else { " " };
    let action = format!("no start:{separator}{name} (calendar:{})", holiday.calendar);
    let action = Cell::from(action).painted(Paint::Faint);
    [day(holiday.date), action, "".into()]
}

fn boundary_row(boundary: &PlannedBoundary, workload: &WorkloadPlan) -> [Cell; 3] {
    let counts = workload.spec().map(|spec| spec.counts).unwrap_or_default();
    let at = boundary.at;
    let format = format!("%a %Y-%m-%d {} %Z", time_of_day(&at));
    let time = at.format(&format).to_string();
    let count = match boundary.replicas {
        _ if !boundary.applied => "<unchanged>".to_owned(),
        // A start resumes it, unless a user turned it off.
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
    let after = workload.after.as_ref().filter(|_| is_start);
    let after = after.map_or_else(String::new, |after| {
        format!(", after {}", printable(&after.objects.join(", ")))
    });
    let action = format!("{}{why}{after}", boundary.action.name());
    let paint = match boundary.action {
        _ if !boundary.applied => Paint::Faint,
        Action::Start => Paint::Green,
        Action::Stop => Paint::Blue,
        Action::Scale(_) => Paint::Yellow,
    };
    let action = Cell::from(action).painted(paint);
    [time.into(), action, count.into()]
}

/// Writes a row for each namespace with a schedule, a sum, and remedies for the blockers.
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
        "REJECTED",
    ]);
    for (namespace, row) in summary.namespaces() {
        table.push(summary_cells(namespace, row, now));
    }
    let all = summary.all();
    table.push(summary_cells("(all)", &all, now));
    table.write(out, style)?;
    for line in remedies(summary, &all, prefix) {
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

impl<'s> SummaryDocument<'s> {
    pub(crate) fn new(summary: &'s StopSummary, unread: Vec<Unread>) -> Self {
        let namespaces = summary.namespaces();
        let named = namespaces.map(|(namespace, summary)| NamedSummary { namespace, summary });
        Self {
            api_version: ApiVersion::V1,
            namespaces: named.collect(),
            all: summary.all(),
            unread,
        }
    }
}

fn summary_cells(name: &str, row: &NamespaceSummary, now: DateTime<Utc>) -> [Cell; 10] {
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

fn remedies(summary: &StopSummary, all: &NamespaceSummary, prefix: &Prefix) -> Vec<String> {
    let mut lines = Vec::new();
    for (owner, count, kinds) in summary.owned() {
        let (name, cure) = (owner.name(), owner.fix(&kinds, prefix));
        let counted = counted(count, "workload");
        lines.push(format!("{name} sets the count of {counted} too: {cure}."));
    }
    let operating: Vec<_> = summary.operating().collect();
    if !operating.is_empty() {
        let kinds: Vec<_> = operating.iter().map(Kind::name).collect();
        lines.push(format!(
            "OPERATED: an operator sets the count again. Schedule its resource instead: {}.",
            kinds.join(", ")
        ));
    }
    let copies = summary.with_scheduled_owner();
    if copies > 0 {
        lines.push(format!(
            "OPERATED: {} to an operator's resource that has a schedule itself. `{}: \"true\"` on the workload leaves its count to the operator.",
            match copies {
                1 => "1 workload belongs".to_owned(),
                copies => format!("{copies} workloads belong"),
            },
            prefix.annotation(Key::Exclude)
        ));
    }
    if all.lose_volumes > 0 {
        lines.push(format!(
            "LOSE VOLUMES: a stop would delete their volumes (whenScaled: Delete). dayshift rejects them unless {} is \"true\".",
            prefix.annotation(Key::AllowVolumeDeletion)
        ));
    }
    if all.refused > 0 {
        lines.push(
            "REJECTED: their schedules are invalid, so they stay as they are. `dayshift plan -n NAMESPACE` shows why.".to_owned(),
        );
    }
    lines
}
