//! Checks of annotations that belong together (missing counterparts, counts, overrides in the past,
//! annotations that have no effect), and of dates, the calendars that list them, and the time zone.

use dayshift_schedule::{Calendar, ExtraWindows, Times, list_items};
use dayshift_text::quote;
use dayshift_workload::{Annotations, Inputs, Key, Origin, VolumeRetention};

use crate::lint::{
    rule::LintRule,
    schedule_finding::{ScheduleCheck, ScheduleFinding, valid_line},
    times::without_count,
};

/// The workload, or the workloads that inherit the schedule, as messages name them.
fn subject(inputs: &Inputs) -> &'static str {
    match inputs.schedule_origin() {
        Some(Origin::Team | Origin::Namespace | Origin::Controller) => {
            "a workload that inherits it"
        }
        _ => "this workload",
    }
}

pub(crate) fn stop_without_start(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    if check.spec.is_some() && check.has(Key::Stop) && !check.has(Key::Start) {
        let subject = subject(check.inputs);
        found.push(check.on(
            Key::Stop,
            LintRule::StopWithoutStart,
            format!("there is a stop but no start: nothing starts {subject} again"),
            format!("add {}", valid_line(check.prefix, Key::Start)),
        ));
    }
}

pub(crate) fn start_without_stop(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    let has_stop = check.has(Key::Stop) || check.has(Key::StopAfter);
    if check.spec.is_some() && check.has(Key::Start) && !has_stop {
        let subject = subject(check.inputs);
        found.push(check.on(
            Key::Start,
            LintRule::StartWithoutStop,
            format!("there is a start but no stop: nothing stops {subject}"),
            format!("add {}", valid_line(check.prefix, Key::Stop)),
        ));
    }
}

pub(crate) fn stop_not_below_start(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    let Some(spec) = check.spec else { return };
    if let Some(count) = spec.replicas.filter(|count| *count <= spec.stop_replicas) {
        found.push(check.on(
            Key::Replicas,
            LintRule::StopNotBelowStart,
            format!(
                "a start sets {count} and a stop sets {}: a stop does not scale down",
                spec.stop_replicas
            ),
            format!(
                "write a higher count, such as {}",
                valid_line(check.prefix, Key::Replicas)
            ),
        ));
    }
}

/// The values of the Namespace and of the team, with the origin of each.
fn inherited_levels(inputs: &Inputs) -> impl Iterator<Item = (Origin, &Annotations)> {
    let namespace = inputs.defaults();
    let levels = [
        (Origin::Team, namespace.and_then(Annotations::team)),
        (Origin::Namespace, namespace),
    ];
    let known = |(origin, texts): (_, Option<_>)| Some((origin, texts?));
    levels.into_iter().filter_map(known)
}

/// Overrides in the past. dayshift removes them from the workload; those of a Namespace or team stay.
pub(crate) fn past_until(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    let Some(spec) = check.spec else { return };
    let now = check.period.from;
    let help = "remove it, or write a future time";
    for key in spec.overrides.expired_at(now) {
        let message = format!("this {key} is in the past: dayshift removes it at once");
        found.push(check.on(key, LintRule::PastUntil, message, help));
    }
    for (origin, texts) in inherited_levels(check.inputs) {
        let sets = spec.overrides.sets().into_iter();
        let set = sets.filter(|(of, _)| *of == origin);
        for inherited in set.flat_map(|(_, set)| set.all()) {
            let key = inherited.annotation();
            if inherited.until().is_some_and(|until| until <= now) {
                let message = format!("this {key} is in the past, and no longer has an effect");
                found.push(ScheduleFinding {
                    span: 0..texts.text(key).map_or(0, str::len),
                    origin,
                    schedule: None,
                    ..check.on(key, LintRule::PastUntil, message, help)
                });
            }
        }
    }
}

/// Annotations, and those of which each needs one. The last is the example in the help.
const NEEDS: [(Key, &[Key]); 16] = [
    (
        Key::Timezone,
        &[Key::Start, Key::Stop, Key::Scale, Key::Hours],
    ),
    (Key::Replicas, &[Key::Start, Key::Hours]),
    (Key::StopReplicas, &[Key::Stop, Key::Hours]),
    (Key::Jitter, &[Key::Start, Key::Scale, Key::Hours]),
    (Key::Except, &[Key::Start, Key::Scale, Key::Hours]),
    (
        Key::TreatAs,
        &[Key::Start, Key::Stop, Key::Scale, Key::Hours],
    ),
    (Key::Extra, &[Key::Start, Key::Stop, Key::Hours]),
    (Key::After, &[Key::Start, Key::Scale, Key::Hours]),
    (Key::Pause, &[Key::Start, Key::Stop, Key::Scale, Key::Hours]),
    (Key::Enforce, &[Key::Stop, Key::Scale, Key::Hours]),
    (Key::Notice, &[Key::Stop, Key::Scale, Key::Hours]),
    (Key::ReadyWithin, &[Key::Start, Key::Scale, Key::Hours]),
    (Key::StopJobs, &[Key::Stop, Key::Hours]),
    (Key::WakeOnRequest, &[Key::Stop, Key::Scale, Key::Hours]),
    (Key::WakeOnRequestIgnore, &[Key::WakeOnRequest]),
    (Key::WakeOnRequestAnswer, &[Key::WakeOnRequest]),
];

/// Annotations that `stop-after` gives an effect too: it stops the workload, and a wake starts it.
const WITH_TIMER: [Key; 9] = [
    Key::Timezone,
    Key::Replicas,
    Key::StopReplicas,
    Key::After,
    Key::Pause,
    Key::Enforce,
    Key::Notice,
    Key::ReadyWithin,
    Key::WakeOnRequest,
];

/// Annotations of the workload itself that have no effect without another one. Those of a
/// Namespace can complete the schedules of its workloads.
pub(crate) fn no_effect_alone(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    for (key, needs) in NEEDS {
        let is_own = check.inputs.is_own(key);
        let is_with_timer = check.has(Key::StopAfter) && WITH_TIMER.contains(&key);
        if is_own && !is_with_timer && !needs.iter().any(|need| check.has(*need)) {
            let names = needs.iter().map(|need| check.prefix.annotation(*need));
            let names = names.collect::<Vec<_>>().join(" or ");
            let example = needs.last().copied().unwrap_or(Key::Hours);
            found.push(check.on(
                key,
                LintRule::NoEffect,
                format!(
                    "{} has no effect without {names}",
                    check.prefix.annotation(key)
                ),
                format!("remove it, or add {}", valid_line(check.prefix, example)),
            ));
        }
    }
}

/// `allow-volume-deletion` if a stop deletes no volume, and annotations that cannot be defaults.
pub(crate) fn no_effect_here(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    let inputs = check.inputs;
    let finding = |key: Key, origin: Origin, text: &str, why: &str| {
        let message = format!("{} {why}", check.prefix.annotation(key));
        ScheduleFinding {
            origin,
            schedule: None,
            span: 0..text.len(),
            ..check.on(key, LintRule::NoEffect, message, "remove it")
        }
    };
    let key = Key::AllowVolumeDeletion;
    if let Some(text) = inputs.own().text(key)
        && inputs.volumes() != VolumeRetention::Delete
    {
        let why = "has no effect here: scaling down deletes no volume";
        found.push(finding(key, Origin::Own, text, why));
    }
    for (key, kind) in [(key, "StatefulSet"), (Key::StopJobs, "CronJob")] {
        for (origin, texts) in inherited_levels(inputs) {
            if let Some(text) = texts.text(key) {
                let why =
                    format!("cannot be a default: it has an effect only on the {kind} itself");
                found.push(finding(key, origin, text, &why));
            }
        }
    }
}

const PAST_DATES: (&str, &str) = (
    "all of these dates are in the past",
    "remove them, or write future dates",
);

/// Excluded dates in the past, and dates in a list of times of which others are in the future. A
/// schedule of which all times are in the past has no future boundary, which is another finding.
pub(crate) fn past_dates(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    let Some(spec) = check.spec else { return };
    let now = check.local(check.period.from);
    let last = spec.schedule.except().last();
    if last.is_some_and(|last| last < now.date()) {
        let (message, help) = PAST_DATES;
        found.push(check.on(Key::Except, LintRule::PastDate, message, help));
    }
    if spec.schedule.extra().end().is_some_and(|end| end <= now) {
        let (message, help) = PAST_DATES;
        found.push(check.on(Key::Extra, LintRule::PastDate, message, help));
    }
    for key in [Key::Start, Key::Stop, Key::Scale, Key::Extra] {
        let items: Vec<_> = list_items(check.text(key)).collect();
        let is_past = |item: &str| {
            if key == Key::Extra {
                let windows = ExtraWindows::parse(item);
                return windows.is_ok_and(|windows| windows.end() <= Some(now));
            }
            let times = Times::parse(without_count(item));
            times.is_ok_and(|times| times.next_local(now).is_none())
        };
        let past: Vec<_> = items.iter().filter(|(_, item)| is_past(item)).collect();
        if past.len() == items.len() {
            continue;
        }
        found.extend(past.into_iter().map(|(span, item)| {
            let message = format!("`{}` is in the past", quote(item));
            let help = "remove it from the list";
            check
                .on(key, LintRule::PastDate, message, help)
                .at(span.clone())
        }));
    }
}

/// The last date that is treated as another day, and whether it is in the past.
fn last_treated_date(check: &ScheduleCheck<'_>) -> Option<(chrono::NaiveDate, bool)> {
    let last = check.spec?.schedule.treated().last()?;
    Some((last, last < check.local(check.period.from).date()))
}

pub(crate) fn past_treated_dates(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    if let Some((_, true)) = last_treated_date(check) {
        let (message, help) = PAST_DATES;
        found.push(check.on(Key::TreatAs, LintRule::PastDate, message, help));
    }
}

/// Dates that are treated as another day, if the schedule is the same without them. If dates lie
/// after the checked year, nothing is known about them.
pub(crate) fn unchanged_dates(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    let (Some(spec), Some((last, false))) = (check.spec, last_treated_date(check)) else {
        return;
    };
    let [today, until] = [check.period.from, check.period.until].map(|at| check.local(at).date());
    if last < until && !spec.schedule.is_affected_by_treated_dates(today, until) {
        found.push(check.on(
            Key::TreatAs,
            LintRule::UnchangedDates,
            "on these dates the schedule does the same without this annotation",
            "remove it, or write another day of the week; days of the month and days within the month stay those of the calendar",
        ));
    }
}

/// The calendars of a schedule: the annotation that names one, its name, and the finding of it,
/// at its item in the list.
fn calendars<'c>(
    check: &'c ScheduleCheck<'_>,
) -> impl Iterator<Item = (Key, &'c str, &'c Calendar)> {
    check.spec.into_iter().flat_map(|spec| {
        let excluded = spec.schedule.except().calendars();
        let treated = spec.schedule.treated().calendars();
        let excluded = excluded.map(|(name, calendar)| (Key::Except, name, calendar));
        let treated = treated.map(|(name, calendar)| (Key::TreatAs, name, calendar));
        excluded
            .chain(treated)
            .map(|(key, name, calendar)| (key, name.as_str(), calendar))
    })
}

/// A finding at the item that names a calendar.
fn at_calendar(check: &ScheduleCheck<'_>, name: &str, finding: ScheduleFinding) -> ScheduleFinding {
    let key = Key::from_name(&finding.name).unwrap_or(Key::Except);
    let mut items = list_items(check.text(key));
    let item = items.find(|(_, item)| {
        let named = item.split_once(':');
        named.is_some_and(|(_, item)| item.split('=').next().map(str::trim) == Some(name))
    });
    match item {
        Some((span, _)) => finding.at(span),
        None => finding,
    }
}

pub(crate) fn calendar_ends(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    let soon = check.local(check.period.from + Calendar::ENDS_SOON).date();
    for (key, name, calendar) in calendars(check) {
        let Some(last) = calendar.ends_on().filter(|last| *last <= soon) else {
            continue;
        };
        let effect = match key {
            Key::Except => "no date is excluded",
            _ => "no date is treated as another day",
        };
        let message =
            format!("the last date of the calendar `{name}` is {last}; after it {effect}");
        let help = "give a newer file with --calendar, here and to the controller";
        let finding = check.on(key, LintRule::CalendarEnds, message, help);
        found.push(at_calendar(check, name, finding));
    }
}

pub(crate) fn calendar_times(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    for (key, name, calendar) in calendars(check) {
        let timed = calendar.timed_events();
        if timed == 0 {
            continue;
        }
        let events = if timed == 1 { "event is" } else { "events are" };
        let days = match key {
            Key::Except => "only whole days are excluded",
            _ => "only whole days are treated as another day",
        };
        let message = format!("{timed} {events} at a time of day in the calendar `{name}`: {days}");
        let help = "write them as events of whole days, such as DTSTART;VALUE=DATE:20261225, or remove them";
        let finding = check.on(key, LintRule::CalendarTimes, message, help);
        found.push(at_calendar(check, name, finding));
    }
}

/// Abbreviations that are zones with a fixed offset, with a place that observes daylight saving time.
const FIXED_ZONES: [(&str, &str, &str); 3] = [
    ("EST", "-5", "America/New_York"),
    ("MST", "-7", "America/Denver"),
    ("HST", "-10", "Pacific/Honolulu"),
];

/// `Etc/GMT+3`, which is UTC-3, and abbreviations such as `EST`.
pub(crate) fn fixed_offset(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    let Some(spec) = check.spec else { return };
    let zone = spec.schedule.zone();
    let written = check.text(Key::Timezone);
    let (message, help) = match zone.name().strip_prefix("Etc/GMT") {
        Some(offset) if !matches!(offset, "" | "0" | "+0" | "-0") => {
            let inverted = match offset.split_at(1) {
                ("+", hours) => format!("-{hours}"),
                (_, hours) => format!("+{hours}"),
            };
            (
                format!(
                    "`{}` is UTC{inverted} all year: the sign of an Etc/GMT zone is inverted",
                    quote(written)
                ),
                format!(
                    "write the zone of a place, such as Europe/Berlin, or Etc/GMT{inverted} if you mean UTC{offset}"
                ),
            )
        }
        _ => {
            let row = FIXED_ZONES.iter().find(|row| row.0 == zone.name());
            let Some((_, offset, place)) = row else {
                return;
            };
            (
                format!(
                    "`{}` is UTC{offset} all year: its clocks never change",
                    quote(written)
                ),
                format!("write the zone of a place, such as {place}"),
            )
        }
    };
    found.push(check.on(Key::Timezone, LintRule::FixedOffset, message, help));
}
