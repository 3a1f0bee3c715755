//! The text below a chart: hours, counts, overrides, and excluded dates of a group of workloads.

use std::collections::HashMap;

use chrono::{DateTime, Datelike, NaiveDate, TimeDelta, Utc, Weekday};
use dayshift_manifest::plan::{
    Beginning, Period, Plan, PlannedState, PlannedStep, StartsAfter, WorkloadPlan, next_applied,
    timeline,
};
use dayshift_operations::status::{date_and_time, span};
use dayshift_schedule::{Action, Boundary, CalendarName, ClockChange, ExcludedDates, Zone};
use dayshift_text::{cut_chars, first_names, printable};
use dayshift_workload::{
    CountKind, Origin, Override, Pause, Replicas, ScheduleSpec, TEAM_CONFIG_MAP, savings::Saved,
};

use crate::cli::output::{chart::day::state_glyph, plan::plan_bill, terminal::Style};

/// Workloads with equal schedules, in the order of the plan.
pub(super) struct ScheduleGroup<'p> {
    pub(super) spec: &'p ScheduleSpec,
    pub(super) members: Vec<&'p WorkloadPlan>,
}

impl<'p> ScheduleGroup<'p> {
    /// The groups of all workloads with a valid schedule.
    pub(super) fn all(plan: &'p Plan) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        let mut known = HashMap::new();
        for member in &plan.workloads {
            let Some(spec) = member.spec() else {
                continue;
            };
            let overrides = &spec.overrides;
            let key = (
                &spec.schedule,
                spec.replicas,
                (spec.stop_replicas, spec.counts),
                spec.jitter,
                member.origin,
                overrides.sets(),
                (spec.stop_after, spec.planned_start),
            );
            let at = *known.entry(key).or_insert(groups.len());
            match groups.get_mut(at) {
                Some(group) => group.members.push(member),
                None => groups.push(Self {
                    spec,
                    members: vec![member],
                }),
            }
        }
        groups
    }

    pub(super) fn origin(&self) -> Origin {
        let first = self.members.first();
        first.map_or(Origin::Own, |member| member.origin)
    }

    /// The smallest and the largest delay of the starts by jitter.
    pub(super) fn delays(&self) -> (TimeDelta, TimeDelta) {
        let delays = || self.members.iter().map(|member| member.delay());
        (
            delays().min().unwrap_or_default(),
            delays().max().unwrap_or_default(),
        )
    }

    /// The count that a start restores, if it is known and the same for all members.
    pub(super) fn restored_count(&self) -> Option<Replicas> {
        let mut counts = self.members.iter().map(|member| member.restored_count());
        let first = counts.next()??;
        counts.all(|count| count == Some(first)).then_some(first)
    }
}

const WEEK: i64 = 7 * 86_400;

/// Seconds in each state.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals([i64; PlannedState::COUNT]);

impl Totals {
    pub(super) fn add(&mut self, step: &PlannedStep) {
        self.0[step.state as usize] += (step.until - step.from).num_seconds();
    }

    fn seconds(&self, states: &[PlannedState]) -> i64 {
        states.iter().map(|state| self.0[*state as usize]).sum()
    }
}

/// The running hours and savings of a period in which overrides apply from `since`. `None` if the
/// schedule only starts or only stops.
pub(super) fn running(
    group: &ScheduleGroup<'_>,
    totals: &Totals,
    period: Period,
    since: DateTime<Utc>,
) -> Option<String> {
    let spec = group.spec;
    match spec.only_action() {
        Some(_) => None,
        None => Some(hours(totals, spec) + &saved(group, period, since)),
    }
}

/// Describes the effect of a start and of a stop.
pub(super) fn counts(group: &ScheduleGroup<'_>) -> String {
    let spec = group.spec;
    if let Some(largest) = spec.largest_count() {
        return format!(
            "Each time sets its own count, at most {}.",
            spec.counts.with_unit(largest)
        );
    }
    let start = match (spec.counts, spec.replicas, group.restored_count()) {
        (CountKind::Suspend { .. }, ..) => "start lets it run".to_owned(),
        (CountKind::Pause, ..) => "start lets it scale".to_owned(),
        (CountKind::Switch, ..) => "start runs it again".to_owned(),
        (counts, Some(count), _) => format!("start sets {}", counts.with_unit(count)),
        (counts, None, Some(count)) => format!("start restores {}", counts.with_unit(count)),
        (_, None, None) => "start restores the saved count".to_owned(),
    };
    let stop = match (spec.counts, spec.stop_replicas) {
        (CountKind::Suspend { .. }, _) => "stop suspends it".to_owned(),
        (CountKind::Pause, _) => "stop pauses it".to_owned(),
        (CountKind::Switch, _) => "stop shuts it down".to_owned(),
        (_, Replicas::ZERO) => "stop leaves 0".to_owned(),
        (counts, count) => format!("stop leaves {}", counts.with_unit(count)),
    };
    if let Some(after) = spec.stop_after {
        return format!("A {start}, a {stop}. It is stopped {after}.");
    }
    match spec.schedule.only_action() {
        Some(Action::Start) => {
            format!("Starts only: a {start}, and no schedule stops it again.")
        }
        Some(Action::Stop) => {
            format!("Stops only: a {stop}, and no schedule starts it again.")
        }
        _ => format!("A {start}, a {stop}."),
    }
}

/// For example `50 of 168 hours running, 118 stopped (70%)`.
fn hours(totals: &Totals, spec: &ScheduleSpec) -> String {
    let whole: i64 = totals.0.iter().sum();
    let running = totals.seconds(&[PlannedState::Running, PlannedState::Woken]);
    let stopped = totals.seconds(&[PlannedState::Stopped, PlannedState::Slept]);
    let open = totals.seconds(&[PlannedState::AsItIs, PlannedState::Paused]);
    let mut text = format!("{} of {} hours running", hour(running), hour(whole));
    if whole > WEEK + 7200 {
        text += &format!(" ({} a week)", hour(running * WEEK / whole));
    }
    let percent = (stopped * 100 + whole / 2) / whole.max(1);
    text += &match (spec.counts, spec.stop_replicas) {
        (CountKind::Suspend { .. }, _) => format!(", {} suspended ({percent}%)", hour(stopped)),
        (CountKind::Pause, _) => format!(", {} paused ({percent}%)", hour(stopped)),
        (_, Replicas::ZERO) => format!(", {} stopped ({percent}%)", hour(stopped)),
        (counts, count) => {
            format!(
                ", {} at {} ({percent}%)",
                hour(stopped),
                counts.with_unit(count)
            )
        }
    };
    if open > 0 {
        text += &format!(", {} left as they are", hour(open));
    }
    text
}

/// For example `: saves 354 replica-hours, 88.5 CPU core-hours.`, if all counts are known.
fn saved(group: &ScheduleGroup<'_>, period: Period, since: DateTime<Utc>) -> String {
    // Many workloads have the same schedule, so equal results are computed once.
    let mut known = HashMap::new();
    let of = |member: &&WorkloadPlan| {
        let runs = (member.runs, member.beginning);
        let alike = (runs, member.delay(), member.footprint);
        *known
            .entry(alike)
            .or_insert_with(|| member.saved_in(period, since))
    };
    let saved: Option<Vec<Saved>> = group.members.iter().map(of).collect();
    let saved: Option<Saved> = saved.map(|savings| savings.into_iter().sum());
    match saved {
        Some(saved) if saved.replica_hours >= 0.5 => {
            let members = group.members.iter().copied();
            let first = timeline(group.spec, group.delays().0, period, since).next();
            let begins_stopped = first.is_some_and(|step| step.state == PlannedState::Stopped);
            let is_unseen = |member: &&WorkloadPlan| member.beginning != Beginning::Stopped;
            // A schedule never acts on the past: a workload that is not stopped yet continues to
            // run.
            let from = if begins_stopped && group.members.iter().any(is_unseen) {
                " from the first start or stop on"
            } else {
                ""
            };
            format!(": saves {}{from}.", plan_bill(saved, members))
        }
        _ => ".".to_owned(),
    }
}

/// Hours with at most two decimals.
fn hour(seconds: i64) -> String {
    let hundredths = (seconds + 18) / 36;
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The source of an inherited schedule.
pub(super) fn origin(group: &ScheduleGroup<'_>) -> Option<String> {
    match group.origin() {
        Origin::Own => None,
        Origin::Team => Some(format!(
            "The schedule comes from the ConfigMap {TEAM_CONFIG_MAP} of the team."
        )),
        Origin::Namespace => Some("The schedule comes from the Namespace.".to_owned()),
        Origin::Controller => Some("The schedule is the default of the controller.".to_owned()),
    }
}

/// The overrides that are active at any time after `since`.
pub(super) fn active_override(
    group: &ScheduleGroup<'_>,
    since: DateTime<Utc>,
    style: Style,
) -> Vec<String> {
    let overrides = &group.spec.overrides;
    let zone = group.spec.schedule.zone();
    let holds =
        |active_override: &Override| active_override.until().is_none_or(|until| until > since);
    let say = |(active_override, origin): (Override, Origin)| {
        let (state, words) = match active_override {
            Override::Pause(Pause::Forever) => (
                PlannedState::Paused,
                "paused until the annotation is removed".to_owned(),
            ),
            Override::Pause(Pause::Until(until)) => {
                let words = format!(
                    "paused until {}: then started if dayshift stopped it and the schedule specifies running; otherwise unchanged until the next boundary",
                    date_and_time(until, zone)
                );
                (PlannedState::Paused, words)
            }
            Override::Wake(until) => {
                let words = format!("awake: runs until {}", date_and_time(until, zone));
                (PlannedState::Woken, words)
            }
            Override::Sleep(until) => {
                let words = format!("asleep: stopped until {}", date_and_time(until, zone));
                (PlannedState::Slept, words)
            }
        };
        let by = match origin {
            Origin::Own => "",
            Origin::Team => ", by its team",
            Origin::Namespace | Origin::Controller => ", by its Namespace",
        };
        let brackets = "; boundaries in brackets are skipped";
        format!("{} {words}{by}{brackets}", state_glyph(state, style).0)
    };
    let sets = overrides.sets().into_iter();
    let all = sets.flat_map(|(origin, set)| set.all().map(move |active| (active, origin)));
    all.filter(|(active, _)| holds(active)).map(say).collect()
}

/// The delay of the starts by jitter.
pub(super) fn jitter(group: &ScheduleGroup<'_>) -> Option<String> {
    match group.delays() {
        (_, most) if most.is_zero() => None,
        (least, most) if least == most => Some(format!(
            "Starts come {} after the written time (jitter).",
            span(most)
        )),
        (least, most) => Some(format!(
            "Starts come {} to {} after the times shown (jitter).",
            span(least),
            span(most)
        )),
    }
}

/// The dependencies of the starts: one line for all members, or one for each group of members with
/// the same dependencies.
pub(super) fn after(group: &ScheduleGroup<'_>) -> Vec<String> {
    let mut lines: Vec<(&StartsAfter, Vec<String>)> = Vec::new();
    for member in &group.members {
        let Some(after) = &member.after else {
            continue;
        };
        let name = printable(&member.to_string());
        match lines.iter_mut().find(|(line, _)| *line == after) {
            Some((_, names)) => names.push(name),
            None => lines.push((after, vec![name])),
        }
    }
    let say = |(after, names): (&StartsAfter, Vec<String>)| {
        let who = match names.len() == group.members.len() {
            true => "Each start".to_owned(),
            false => format!("The start of {}", first_names(names.iter(), MAX_NAMES)),
        };
        let objects = printable(&after.objects.join(", "));
        let are = if after.objects.len() == 1 {
            "is"
        } else {
            "are"
        };
        let within = span(TimeDelta::seconds(after.within_seconds));
        format!("{who} waits until {objects} {are} ready, {within} at most.")
    };
    lines.into_iter().map(say).collect()
}

/// The first boundary after the period.
pub(super) fn next_after(group: &ScheduleGroup<'_>, period: Period) -> Option<Boundary> {
    let before = period.until() - TimeDelta::seconds(1);
    next_applied(group.spec, group.delays().0, before)
}

/// The next boundary, for a period without one.
pub(super) fn coming(next: Option<Boundary>, zone: Zone) -> String {
    match next {
        None => "There is no further boundary.".to_owned(),
        Some(next) => {
            let at = date_and_time(next.at, zone);
            format!("The next boundary is a {} on {at}.", next.action)
        }
    }
}

/// For example `* Sun 25: clocks go back from 03:00 to 02:00`.
pub(super) fn clock_change(date: NaiveDate, change: &ClockChange) -> String {
    let (before, after) = (change.shown_before(), change.shown_after());
    format!(
        "* {}: clocks go {} from {} to {}",
        date.format("%a %-d %b"),
        if after > before { "forward" } else { "back" },
        before.format("%H:%M"),
        after.format("%H:%M"),
    )
}

/// For example `Mon 23 to Sun 29 November 2026`, without repeated months and years.
pub(super) fn dates(first: NaiveDate, last: NaiveDate) -> String {
    let whole = "%a %-d %b %Y";
    if first == last {
        return first.format(whole).to_string();
    }
    let short = match (first.year() == last.year(), first.month() == last.month()) {
        (true, true) => "%a %-d",
        (true, false) => "%a %-d %b",
        (false, _) => whole,
    };
    format!("{} to {}", first.format(short), last.format(whole))
}

/// Dates in order, with consecutive dates as ranges.
pub(super) fn ranges(days: &[NaiveDate]) -> String {
    let follow = |one: &NaiveDate, other: &NaiveDate| one.succ_opt() == Some(*other);
    let ranges = days.chunk_by(follow).filter_map(|range| {
        let (first, last) = (range.first()?, range.last()?);
        let first_text = first.format("%a %-d %b");
        Some(if first == last {
            first_text.to_string()
        } else {
            format!("{first_text} to {}", last.format("%a %-d %b"))
        })
    });
    ranges.collect::<Vec<_>>().join(", ")
}

/// Dates in order with the weekday that each is treated as, with equal consecutive dates as ranges.
pub(super) fn counted_as(treated: &[(NaiveDate, Weekday)]) -> String {
    let follow = |one: &(NaiveDate, Weekday), other: &(NaiveDate, Weekday)| {
        one.0.succ_opt() == Some(other.0) && one.1 == other.1
    };
    let all = treated.chunk_by(follow).filter_map(|days| {
        let (_, weekday) = days.first()?;
        let dates: Vec<_> = days.iter().map(|(date, _)| *date).collect();
        Some(format!("{} as {weekday}", ranges(&dates)))
    });
    all.collect::<Vec<_>>().join(", ")
}

/// The names of excluded dates in their calendars, one line for each range with the same name. A
/// name can contain any character, so it is escaped.
pub(super) fn holidays(except: &ExcludedDates, days: &[NaiveDate]) -> Vec<String> {
    let named = days
        .iter()
        .filter_map(|day| Some((*day, except.holiday(*day)?)));
    let named: Vec<_> = named.collect();
    let are_one = |one: &NamedDate<'_>, other: &NamedDate<'_>| {
        one.0.succ_opt() == Some(other.0) && one.1 == other.1
    };
    let lines = named.chunk_by(are_one).filter_map(|days| {
        let (_, (calendar, name)) = days.first()?;
        let dates: Vec<_> = days.iter().map(|(day, _)| *day).collect();
        let name = printable(cut_chars(name, MAX_NAME));
        let separator = if name.is_empty() { "" } else { " " };
        let dates = ranges(&dates);
        Some(format!("  {dates}:{separator}{name} (calendar:{calendar})"))
    });
    lines.collect()
}

/// A date, and its calendar and name.
type NamedDate<'n> = (NaiveDate, (&'n CalendarName, &'n str));

const MAX_NAMES: usize = 5;

/// In characters.
const MAX_NAME: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_hours_with_the_decimals_that_they_need() {
        for (seconds, expected) in [
            (0, "0"),
            (180_000, "50"),
            (225_000, "62.5"),
            (900, "0.25"),
            (60, "0.02"),
        ] {
            assert_eq!(hour(seconds), expected);
        }
    }
}
