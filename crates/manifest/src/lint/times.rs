//! Checks of the times of a schedule: ties, DST gaps, times that occur too often or never again, and
//! windows that are too short.

use std::{iter, ops::Range};

use chrono::{DateTime, DurationRound as _, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Utc};
use dayshift_schedule::{
    Action, Boundary, Direction, Hours, Schedule, ScheduleRule, Times, Zone, list_items,
};
use dayshift_text::quote;
use dayshift_workload::{Inputs, Key, WakeOnRequest, read};

use crate::{
    lint::{
        rule::LintRule,
        schedule_finding::{CheckPeriod, ScheduleCheck, ScheduleFinding, valid_line},
    },
    objects::workload::CronTimes,
};

/// The maximum number of boundaries to check. Two lists of times of day have fewer in a year; lists of
/// seconds have more.
const MAX_BOUNDARIES: usize = 2_000;

/// The times of an item of `scale`, or the whole item of another list.
pub(crate) fn without_count(item: &str) -> &str {
    item.split_once('=').map_or(item, |(times, _)| times)
}

fn just_before(at: NaiveDateTime) -> NaiveDateTime {
    at - TimeDelta::seconds(1)
}

/// `2026-12-24 18:00`, with seconds only if there are any.
fn shown(at: NaiveDateTime) -> String {
    let second = at.format("%S").to_string();
    let form = if second == "00" {
        "%Y-%m-%d %H:%M"
    } else {
        "%Y-%m-%d %H:%M:%S"
    };
    at.format(form).to_string()
}

/// A start and a stop at the same time.
pub(crate) fn same_instant(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    if let Some((at, actions)) = first_tie(check)
        && !matches!(*actions, [Action::Scale(_), Action::Scale(_), ..])
    {
        let message = format!(
            "start and stop are both at {} in {}; the start wins, and this stop does nothing",
            shown(at),
            check.zone()
        );
        let line = valid_line(check.prefix, Key::Stop);
        let help = format!("write another time, such as {line}");
        let count = actions.get(1).and_then(|action| action.count());
        let finding = check.on(Key::Stop, LintRule::SameInstant, message, help);
        found.push(finding.at(item_at(check, Key::Stop, at, count)));
    }
}

/// Two counts at the same time.
pub(crate) fn two_counts(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    if let Some((at, actions)) = first_tie(check)
        && let [Action::Scale(wins), Action::Scale(loses), ..] = *actions
    {
        let message = format!(
            "two steps set {wins} and {loses} at {} in {}; the larger count wins",
            shown(at),
            check.zone()
        );
        let span = item_at(check, Key::Scale, at, Some(loses));
        let item = check.text(Key::Scale).get(span.clone());
        let help = match item {
            Some(item) => format!(
                "remove `{}`, or the day and time {} from it",
                quote(item.trim()),
                at.format("%a %H:%M")
            ),
            None => "remove one of the two steps".to_owned(),
        };
        let finding = check.on(Key::Scale, LintRule::TwoCounts, message, help);
        found.push(finding.at(span));
    }
}

/// The first tie on a date that is not treated as another day.
fn first_tie(check: &ScheduleCheck<'_>) -> Option<(NaiveDateTime, Vec<Action>)> {
    let schedule = &check.spec?.schedule;
    let mut after = check.period.from;
    loop {
        let (at, actions) = schedule.next_tie(after, check.period.until)?;
        if schedule.treated().day_of_week(at.date()).is_none() {
            return Some((at, actions));
        }
        let tomorrow = at.date().succ_opt()?.and_time(NaiveTime::MIN);
        let next = check.zone().instant(just_before(tomorrow));
        after = next.max(after + TimeDelta::seconds(1));
    }
}

/// The bytes of the item that occurs at a time, and sets this count if there is one.
fn item_at(
    check: &ScheduleCheck<'_>,
    key: Key,
    at: NaiveDateTime,
    count: Option<u32>,
) -> Range<usize> {
    let mut items = list_items(check.text(key));
    let item = items.find(|(_, item)| {
        let times = without_count(item);
        let sets_count = || {
            let text = item.get(times.len() + 1..).unwrap_or_default();
            text.trim().parse().ok() == count
        };
        let is_at = |times: Times| times.next_local(just_before(at)) == Some(at);
        Times::parse(times).is_ok_and(is_at) && (count.is_none() || sets_count())
    });
    item.map_or(0..0, |(span, _)| span)
}

/// Times within a DST gap. Each item is reported once.
pub(crate) fn clock_change_gap(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    let Some(spec) = check.spec else { return };
    for key in [Key::Start, Key::Stop, Key::Hours, Key::Scale] {
        for (span, item) in list_items(check.text(key)) {
            let next: Box<dyn Fn(NaiveDateTime) -> Option<NaiveDateTime>> = if key == Key::Hours {
                let Ok(hours) = Hours::parse(item) else {
                    continue;
                };
                Box::new(move |after| hours.next_edge(after))
            } else {
                let Ok(times) = Times::parse(without_count(item)) else {
                    continue;
                };
                Box::new(move |after| times.next_local(after))
            };
            for gap in check.gaps {
                let Some(at) = next(just_before(gap.from)).filter(|at| *at < gap.to) else {
                    continue;
                };
                // An item that also occurs at the end of the gap loses nothing.
                if next(just_before(gap.to)) == Some(gap.to) {
                    continue;
                }
                let end = check.zone().instant(gap.to);
                let Some(effect) = gap_effect(&spec.schedule, end, at.date()) else {
                    continue;
                };
                let (from, to) = (gap.from.format("%H:%M"), gap.to.format("%H:%M"));
                let message = format!(
                    "{} does not exist in {}, where clocks go from {from} to {to}; {effect} on that day",
                    shown(at),
                    check.zone(),
                );
                let help = format!("write a time before {from} or from {to} on");
                let finding = check.on(key, LintRule::ClockChangeGap, message, help);
                found.push(finding.at(span));
                break;
            }
        }
    }
}

/// The effect on a time in a DST gap that ends at `end`. `None` if it would have no effect on any
/// clock, because the date is excluded or other hours continue.
fn gap_effect(schedule: &Schedule, end: DateTime<Utc>, date: NaiveDate) -> Option<String> {
    let latest = schedule.latest_at(end, TimeDelta::zero());
    if latest.is_some_and(|boundary| boundary.at == end) {
        let end = end.with_timezone(&schedule.zone());
        return Some(format!("it happens at {}", end.format("%H:%M")));
    }
    let runs = schedule
        .action_at(end, TimeDelta::zero())
        .is_some_and(Action::is_up);
    (!runs && !schedule.except().contains(date))
        .then(|| "windows that begin and end in between are skipped".to_owned())
}

/// A schedule without a future boundary.
pub(crate) fn no_future_boundary(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    let Some(spec) = check.spec else { return };
    let extra_end = spec.schedule.extra().end();
    if extra_end.is_some_and(|end| end > check.local(check.period.from)) {
        // Its starts and stops are over, but those of an additional window are not.
        return;
    }
    let is_over = |schedule: &Schedule| {
        let next = schedule.next_after(check.period.from, TimeDelta::zero());
        next.is_none()
    };
    let mut add = |key, message: String| {
        let line = valid_line(check.prefix, key);
        let help = format!("write times that repeat, such as {line}");
        found.push(check.on(key, LintRule::NoFutureBoundary, message, help));
    };
    for (key, message) in [
        (
            Key::Hours,
            "these hours have no further boundary: nothing will be started or stopped",
        ),
        (
            Key::Scale,
            "these times have no further boundary: nothing will be scaled",
        ),
    ] {
        if check.has(key) && is_over(&spec.schedule) {
            add(key, message.to_owned());
        }
    }
    // Starts and stops are checked separately: one of the two can be over.
    let times = |key| {
        Times::parse(check.text(key))
            .ok()
            .filter(|_| check.has(key))
    };
    let only = |start, stop| {
        let rule = ScheduleRule::start_and_stop(start, stop);
        let except = spec.schedule.except().clone();
        Schedule::new(rule, except, check.zone())
            .with_treated_dates(spec.schedule.treated().clone())
    };
    for (key, schedule) in [
        (
            Key::Start,
            times(Key::Start).map(|start| only(Some(start), None)),
        ),
        (
            Key::Stop,
            times(Key::Stop).map(|stop| only(None, Some(stop))),
        ),
    ] {
        if schedule.as_ref().is_some_and(is_over) {
            let now = shown(check.local(check.period.from));
            add(key, format!("there is no further {key} after {now}"));
        }
    }
}

/// The number of times in an hour from which a `*` is likely meant as `0`.
const OFTEN: usize = 30;

/// A `*` for minutes or seconds where `0` was likely meant.
pub(crate) fn too_often(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    if check.spec.is_none() {
        return;
    }
    for key in [Key::Start, Key::Stop, Key::Scale] {
        for (span, item) in list_items(check.text(key)) {
            let Some(count) = times_an_hour(check, item).filter(|count| *count >= OFTEN) else {
                continue;
            };
            let message = format!("`{}` runs {count} times an hour, not once", quote(item));
            let help = once_an_hour(item).map_or_else(
                || "write fewer times".to_owned(),
                |once| format!("write for example `{once}`"),
            );
            let finding = check.on(key, LintRule::TooOften, message, help);
            found.push(finding.at(span));
        }
    }
}

/// How often an item occurs in the first hour in which it occurs, from the start of the current hour.
fn times_an_hour(check: &ScheduleCheck<'_>, item: &str) -> Option<usize> {
    let times = Times::parse(without_count(item)).ok()?;
    let now = check.local(check.period.from);
    let hour = now.duration_trunc(TimeDelta::hours(1)).unwrap_or(now);
    let first = times.next_local(just_before(hour))?;
    let all = iter::successors(Some(first), |at| times.next_local(*at)).take(3600);
    let in_hour = all.take_while(|at| *at - first < TimeDelta::hours(1));
    Some(in_hour.count())
}

/// An item of cron with `0` in place of `*` for minutes and seconds.
fn once_an_hour(item: &str) -> Option<String> {
    let mut fields: Vec<_> = item.split_whitespace().collect();
    let small = match without_count(item).split_whitespace().count() {
        5 => 1,
        6 => 2,
        _ => return None,
    };
    for field in fields.iter_mut().take(small).filter(|field| **field == "*") {
        *field = "0";
    }
    Some(fields.join(" ")).filter(|once| once != item)
}

/// Cron with a day of month and a day of week, which runs on either. Many expect both.
pub(crate) fn either_day(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    if check.spec.is_none() {
        return;
    }
    for key in [Key::Start, Key::Stop, Key::Scale] {
        for (span, item) in list_items(check.text(key)) {
            let text = without_count(item);
            let Some(cron) = Times::parse(text)
                .ok()
                .and_then(|times| times.either_day_cron())
            else {
                continue;
            };
            let message = format!(
                "`{}` runs on each of its days of the month and on each of its days of the week: \
                    cron takes either",
                quote(text.trim())
            );
            let help = match cron.both_days {
                Some(both) => {
                    let count = item.get(text.trim_end().len()..).unwrap_or_default();
                    format!("for the days that are both, write `{both}{count}`")
                }
                None => "for the days that are both, write them as days within the month, such as \
                    `first Mon 09:00`"
                    .to_owned(),
            };
            let finding = check.on(key, LintRule::EitherDay, message, help);
            found.push(finding.at(span));
        }
    }
}

/// A start and a stop one minute apart, such as those of `00:00-23:59`.
pub(crate) fn one_minute(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    let Some(spec) = check.spec else { return };
    let keys = [Key::Hours, Key::Stop];
    let Some(key) = keys.into_iter().find(|key| check.has(*key)) else {
        return;
    };
    // A time that occurs every minute is another finding.
    if found
        .iter()
        .any(|finding| finding.rule == LintRule::TooOften)
    {
        return;
    }
    let period = check.period;
    let all = spec
        .schedule
        .boundaries(period.from, period.until, TimeDelta::zero());
    let mut before: Option<Boundary> = None;
    for boundary in all.take(MAX_BOUNDARIES) {
        let last = before.replace(boundary);
        let Some(last) = last.filter(|last| boundary.at - last.at == TimeDelta::minutes(1)) else {
            continue;
        };
        let (was_up, is_up) = (last.action.is_up(), boundary.action.is_up());
        if was_up == is_up {
            continue;
        }
        let state = if was_up { "it runs" } else { "it is stopped" };
        let from = shown(check.local(last.at));
        let message = format!("{state} for one minute, from {from} on");
        let help = if check.local(boundary.at).time() == NaiveTime::MIN {
            "write 24:00 for the end of the day"
        } else {
            "write times that are further apart, or leave both out"
        };
        found.push(check.on(key, LintRule::OneMinute, message, help));
        return;
    }
}

/// The maximum number of windows to check: one in three minutes of a year.
const MAX_WINDOWS: usize = 200_000;

/// The running windows of the year: the first start after a stop, and the next stop.
fn windows(
    check: &ScheduleCheck<'_>,
    schedule: &Schedule,
) -> impl Iterator<Item = (DateTime<Utc>, DateTime<Utc>)> {
    let period = check.period;
    let next = move |direction, after| {
        let next = schedule.next_boundary(direction, after, TimeDelta::zero())?;
        (next.at < period.until).then_some(next.at)
    };
    let mut after = period.from;
    let window = move || {
        let start = next(Direction::Up, after)?;
        after = next(Direction::Down, start)?;
        Some((start, after))
    };
    iter::from_fn(window).take(MAX_WINDOWS)
}

/// A jitter that can delay a start until after its stop.
pub(crate) fn jitter_beyond_window(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    let Some(spec) = check.spec.filter(|spec| !spec.jitter.is_zero()) else {
        return;
    };
    let schedule = &spec.schedule;
    let last_start = |(_, stop): (DateTime<Utc>, DateTime<Utc>)| {
        let start = schedule.latest_at(stop - TimeDelta::seconds(1), TimeDelta::zero())?;
        (stop - start.at < spec.jitter).then_some((start.at, stop))
    };
    if let Some((start, stop)) = windows(check, schedule).find_map(last_start) {
        let message = format!(
            "this is longer than the time from the start at {} to its stop at {}: that start \
                might come only just before its stop",
            shown(check.local(start)),
            shown(check.local(stop))
        );
        let line = valid_line(check.prefix, Key::Jitter);
        let help = format!("write a shorter one, such as {line}");
        found.push(check.on(Key::Jitter, LintRule::JitterBeyondWindow, message, help));
    }
}

/// A stop notice that is sent when the workload starts, because it is longer than the time until its stop.
pub(crate) fn notice_beyond_window(check: &ScheduleCheck<'_>, found: &mut Vec<ScheduleFinding>) {
    let spec = check.spec.and_then(|spec| Some((spec, spec.notice?)));
    let Some((spec, notice)) = spec.filter(|(_, notice)| !notice.is_zero()) else {
        return;
    };
    let wake = WakeOnRequest::parse(check.text(Key::WakeOnRequest)).ok();
    let durations = [
        (Key::WakeOnRequest, wake.map(|wake| wake.lasts)),
        (Key::StopAfter, spec.stop_after.map(|after| after.duration)),
    ];
    let shorter = durations
        .into_iter()
        .find(|(_, duration)| duration.is_some_and(|duration| duration < notice));
    let window = windows(check, &spec.schedule).find(|(start, stop)| *stop - *start < notice);
    let limit = match (shorter, window) {
        (Some((key, _)), _) => format!("the duration in {}", check.prefix.annotation(key)),
        (None, Some((start, stop))) => format!(
            "the time from the start at {} to its stop at {}",
            shown(check.local(start)),
            shown(check.local(stop))
        ),
        (None, None) => return,
    };
    let message = format!("this is longer than {limit}: the notice is sent at the start");
    let line = valid_line(check.prefix, Key::Notice);
    let help = format!("write a shorter one, such as {line}");
    found.push(check.on(Key::Notice, LintRule::NoticeBeyondWindow, message, help));
}

/// Whether none of the times of a CronJob is within its running hours. `false` if the files do not
/// show it: the times or the zone cannot be read, or the schedule has too many boundaries.
pub(crate) fn never_runs(cron: &CronTimes, inputs: &Inputs, period: &CheckPeriod) -> bool {
    let spec = read(inputs, &period.context).into_spec();
    spec.is_some_and(|spec| runs_ever(cron, &spec.schedule, period) == Some(false))
}

fn runs_ever(cron: &CronTimes, schedule: &Schedule, period: &CheckPeriod) -> Option<bool> {
    let times = Times::parse(&cron.text).ok()?;
    // Without a zone it is that of the controller manager, which is UTC nearly everywhere.
    let zone = cron.zone.as_deref().map_or(Some(Zone::UTC), |name| {
        period.context.tzdata.parse_zone(name).ok()
    })?;
    let runs_between = |from: DateTime<Utc>, until: DateTime<Utc>| {
        let local = from.with_timezone(&zone).naive_local();
        let next = times.next_local(just_before(local));
        next.is_some_and(|next| zone.instant(next) < until)
    };
    let boundaries = schedule.boundaries(period.from, period.until, TimeDelta::zero());
    let first = schedule.action_at(period.from, TimeDelta::zero());
    let mut up_since = first.is_none_or(Action::is_up).then_some(period.from);
    for (count, boundary) in boundaries.enumerate() {
        if count == MAX_BOUNDARIES {
            return None;
        }
        if up_since.is_some_and(|from| runs_between(from, boundary.at)) {
            return Some(true);
        }
        up_since = boundary.action.is_up().then_some(boundary.at);
    }
    Some(up_since.is_some_and(|from| runs_between(from, period.until)))
}
