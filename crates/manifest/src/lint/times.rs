//! Warnings that come from the calendar: gaps, ties, and times that are over.
//!
//! Warnings about what comes at the same time, or almost.
//!
//! Cron with both fields of days, of which either will do.
//!
//! What is legal and surely not meant: windows of a minute, and zones of a fixed offset.
//!
//! CronJobs that are suspended at each of their times.

use std::ops::Range;

use chrono::{DateTime, DurationRound as _, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Utc};
use dayshift_schedule::{
    Action, Boundary, Direction, DstGap, Hours, Schedule, ScheduleRule, Times, Zone, list_items,
};
use dayshift_text::quote;
use dayshift_workload::{Inputs, Key, ParseContext, ParsedInputs, Prefix, ScheduleSpec, read};

use crate::{
    lint::{
        object::ObjectFindings,
        rule::LintRule,
        schedule_finding::{ScheduleFinding, right_line},
    },
    objects::workload::CronTimes,
};

/// The time that is looked at, and where clocks are that nothing is said of.
#[derive(Clone, Debug)]
pub(crate) struct CheckPeriod {
    pub(crate) from: DateTime<Utc>,
    pub(crate) until: DateTime<Utc>,
    pub(crate) context: ParseContext,
}

/// One schedule that is looked at.
pub(crate) struct ScheduleCheck<'l> {
    pub(crate) inputs: &'l Inputs,
    pub(crate) prefix: &'l Prefix,
    pub(crate) span: &'l CheckPeriod,
    pub(crate) zone: Zone,
}

/// More than any two lists of times of day have in a year; a bound for lists of seconds.
pub(crate) const MAX_STEPS: usize = 2_000;

impl ScheduleCheck<'_> {
    pub(crate) fn parse<T, E>(
        &self,
        key: Key,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        self.inputs.text(key).and_then(|text| parse(text).ok())
    }

    /// A finding about some bytes of the text of a key.
    pub(crate) fn at(
        &self,
        key: Key,
        span: Range<usize>,
        rule: LintRule,
        message: String,
        help: String,
    ) -> ScheduleFinding {
        ScheduleFinding::on(key, self.inputs, rule, message, help).at(span)
    }

    pub(crate) fn local(&self, at: DateTime<Utc>) -> NaiveDateTime {
        at.with_timezone(&self.zone).naive_local()
    }

    pub(crate) fn gap(
        &self,
        key: Key,
        gaps: &[DstGap],
        schedule: &Schedule,
        found: &mut Vec<ScheduleFinding>,
    ) {
        let Some(text) = self.inputs.text(key).filter(|_| !gaps.is_empty()) else {
            return;
        };
        for (span, item) in list_items(text) {
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
            for gap in gaps {
                let Some(at) = next(just_before(gap.from)).filter(|at| *at < gap.to) else {
                    continue;
                };
                // Where something happens at the gap's end anyway, nothing is moved.
                if next(just_before(gap.to)) == Some(gap.to) {
                    continue;
                }
                let Some(what) = gap_effect(schedule, self.zone.instant(gap.to), at.date()) else {
                    continue;
                };
                let (from, to) = (gap.from.format("%H:%M"), gap.to.format("%H:%M"));
                let message = format!(
                    "{} does not exist in {}, where clocks go from {from} to {to}; {what} on that day",
                    shown(at),
                    self.zone,
                );
                let help = format!("write a time before {from} or from {to} on");
                found.push(self.at(key, span, LintRule::ClockChangeGap, message, help));
                break;
            }
        }
    }

    /// A `*` in the field of minutes or seconds, where surely one of them was meant.
    pub(crate) fn too_often(&self, key: Key, found: &mut Vec<ScheduleFinding>) {
        for (span, item) in list_items(self.inputs.text(key).unwrap_or_default()) {
            let Ok(times) = Times::parse(without_count(item)) else {
                continue;
            };
            // From the beginning of an hour on, or less is found of the one that is half over.
            let now = self.local(self.span.from);
            let hour = now.duration_trunc(TimeDelta::hours(1)).unwrap_or(now);
            let Some(first) = times.next_local(just_before(hour)) else {
                continue;
            };
            let hour = std::iter::successors(Some(first), |at| times.next_local(*at))
                .take(3600)
                .take_while(|at| *at - first < TimeDelta::hours(1));
            let count = hour.count();
            if count < OFTEN {
                continue;
            }
            let text = quote(item);
            let message = format!("`{text}` runs {count} times an hour, not once");
            let help = once_an_hour(item).map_or_else(
                || "write fewer times".to_owned(),
                |once| format!("write for example `{once}`"),
            );
            found.push(self.at(key, span, LintRule::TooOften, message, help));
        }
    }

    pub(crate) fn never_again(
        &self,
        spec: &ScheduleSpec,
        start: Option<Times>,
        stop: Option<Times>,
        found: &mut Vec<ScheduleFinding>,
    ) {
        let help = |key| {
            format!(
                "write times that repeat, such as {}",
                right_line(self.prefix, key)
            )
        };
        let none = |schedule: &Schedule| {
            schedule
                .next_after(self.span.from, TimeDelta::zero())
                .is_none()
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
            if self.inputs.text(key).is_some() && none(&spec.schedule) {
                found.push(ScheduleFinding::on(
                    key,
                    self.inputs,
                    LintRule::NeverAgain,
                    message.to_owned(),
                    help(key),
                ));
            }
        }
        let alone = |start, stop| {
            let rule = ScheduleRule::start_and_stop(start, stop);
            let except = spec.schedule.except().clone();
            Schedule::new(rule, except, self.zone)
                .with_treated_dates(spec.schedule.treated().clone())
        };
        for (key, schedule) in [
            (Key::Start, start.map(|times| alone(Some(times), None))),
            (Key::Stop, stop.map(|times| alone(None, Some(times)))),
        ] {
            if schedule.as_ref().is_some_and(none) {
                let message = format!(
                    "there is no further {key} after {}",
                    shown(self.local(self.span.from))
                );
                found.push(ScheduleFinding::on(
                    key,
                    self.inputs,
                    LintRule::NeverAgain,
                    message,
                    help(key),
                ));
            }
        }
    }
}

/// What becomes of a time in a gap that ends at an instant, on a date; `None` where it does nothing on
/// any clock: the date is excepted, or other hours go on there.
fn gap_effect(schedule: &Schedule, end: DateTime<Utc>, date: NaiveDate) -> Option<String> {
    let latest = schedule.latest_at(end, TimeDelta::zero());
    if latest.is_some_and(|boundary| boundary.at == end) {
        let end = end.with_timezone(&schedule.zone());
        return Some(format!("it happens at {}", end.format("%H:%M")));
    }
    let goes_on = schedule
        .action_at(end, TimeDelta::zero())
        .is_some_and(Action::is_up);
    (!goes_on && !schedule.except().contains(date))
        .then(|| "what begins and ends in between does not happen".to_owned())
}

/// How many times in an hour nobody starts or stops a workload on purpose.
const OFTEN: usize = 30;

/// A text of cron with `0` in place of a `*` for minutes and seconds.
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

/// The times of an item of `scale`, and of any other all of it.
pub(crate) fn without_count(item: &str) -> &str {
    item.split_once('=').map_or(item, |(times, _)| times)
}

pub(crate) fn just_before(at: NaiveDateTime) -> NaiveDateTime {
    at - TimeDelta::seconds(1)
}

pub(crate) fn shown(at: NaiveDateTime) -> String {
    let second = at.format("%S").to_string();
    let form = if second == "00" {
        "%Y-%m-%d %H:%M"
    } else {
        "%Y-%m-%d %H:%M:%S"
    };
    at.format(form).to_string()
}

impl ScheduleCheck<'_> {
    /// A start and a stop, or two counts, at the same time.
    pub(crate) fn ties(&self, schedule: &Schedule, found: &mut Vec<ScheduleFinding>) {
        let Some((at, actions)) = self.first_tie(schedule) else {
            return;
        };
        let zone = self.zone;
        let (key, rule, message) = match *actions {
            [Action::Scale(wins), Action::Scale(loses), ..] => (
                Key::Scale,
                LintRule::TwoCounts,
                format!(
                    "two steps set {wins} and {loses} at {} in {zone}; the larger count wins",
                    shown(at)
                ),
            ),
            _ => (
                Key::Stop,
                LintRule::SameInstant,
                format!(
                    "start and stop are both at {} in {zone}; the start wins, and this stop does nothing",
                    shown(at)
                ),
            ),
        };
        let right = right_line(self.prefix, key);
        let help = format!("write another time, such as {right}");
        let span = self.item_at(key, at, actions.get(1).and_then(|action| action.count()));
        found.push(self.at(key, span, rule, message, help));
    }

    /// The first tie on a day that is like others.
    fn first_tie(&self, schedule: &Schedule) -> Option<(NaiveDateTime, Vec<Action>)> {
        let mut after = self.span.from;
        loop {
            let (at, actions) = schedule.next_tie(after, self.span.until)?;
            if schedule.treated().day_of_week(at.date()).is_none() {
                return Some((at, actions));
            }
            let tomorrow = at.date().succ_opt()?.and_time(NaiveTime::MIN);
            after = self
                .zone
                .instant(just_before(tomorrow))
                .max(after + TimeDelta::seconds(1));
        }
    }

    /// Where the item stands that has a time, and a count where there is one.
    fn item_at(&self, key: Key, at: NaiveDateTime, count: Option<u32>) -> Range<usize> {
        let mut items = list_items(self.inputs.text(key).unwrap_or_default());
        let item = items.find(|(_, item)| {
            let times = without_count(item);
            let is_step = || {
                let text = item.get(times.len() + 1..).unwrap_or_default();
                text.trim().parse().ok() == count
            };
            let is_at = |times: Times| times.next_local(just_before(at)) == Some(at);
            Times::parse(times).is_ok_and(is_at) && (count.is_none() || is_step())
        });
        item.map_or(0..0, |(span, _)| span)
    }

    pub(crate) fn jitter_beyond_window(
        &self,
        spec: &ScheduleSpec,
        found: &mut Vec<ScheduleFinding>,
    ) {
        if spec.jitter.is_zero() {
            return;
        }
        let (schedule, none) = (&spec.schedule, TimeDelta::zero());
        let next = |direction, after| {
            let next = schedule.next_boundary(direction, after, none)?;
            (next.at < self.span.until).then_some(next.at)
        };
        let mut after = self.span.from;
        // From one stop that follows a start to the next.
        while let Some(stop) =
            next(Direction::Up, after).and_then(|start| next(Direction::Down, start))
        {
            let start = schedule.latest_at(stop - TimeDelta::seconds(1), none);
            if let Some(start) = start.filter(|start| stop - start.at < spec.jitter) {
                let message = format!(
                    "this is longer than the time from the start at {} to its stop at {}: that start may come only just before its stop",
                    shown(self.local(start.at)),
                    shown(self.local(stop))
                );
                let right = right_line(self.prefix, Key::Jitter);
                found.push(ScheduleFinding::on(
                    Key::Jitter,
                    self.inputs,
                    LintRule::JitterBeyondWindow,
                    message,
                    format!("write a shorter one, such as {right}"),
                ));
                return;
            }
            after = stop;
        }
    }
}

impl ScheduleCheck<'_> {
    /// A day of month beside a day of week, which many take for both at once.
    pub(crate) fn either_day(&self, key: Key, found: &mut Vec<ScheduleFinding>) {
        for (span, item) in list_items(self.inputs.text(key).unwrap_or_default()) {
            let times = without_count(item);
            let Some(cron) = Times::parse(times)
                .ok()
                .and_then(|times| times.either_day_cron())
            else {
                continue;
            };
            let message = format!(
                "`{}` runs on each of its days of the month and on each of its days of the week: \
                    cron takes either",
                quote(times.trim())
            );
            let help = match cron.both_days {
                Some(both) => {
                    let count = item.get(times.trim_end().len()..).unwrap_or_default();
                    format!("for the days that are both, write `{both}{count}`")
                }
                None => "for the days that are both, write them as days within the month, such as \
                    `first Mon 09:00`"
                    .to_owned(),
            };
            found.push(self.at(key, span, LintRule::EitherDay, message, help));
        }
    }
}

impl ScheduleCheck<'_> {
    /// A start and a stop a minute apart: `00:00-23:59` ends a minute before the day does.
    pub(crate) fn one_minute(&self, schedule: &Schedule, found: &mut Vec<ScheduleFinding>) {
        let has = |key: &Key| self.inputs.text(*key).is_some();
        let Some(key) = [Key::Hours, Key::Stop].into_iter().find(has) else {
            return;
        };
        // Each minute is a finding of its own.
        if found
            .iter()
            .any(|finding| finding.rule == LintRule::TooOften)
        {
            return;
        }
        let all = schedule.boundaries(self.span.from, self.span.until, TimeDelta::zero());
        let mut before: Option<Boundary> = None;
        for boundary in all.take(MAX_STEPS) {
            let last = before.replace(boundary);
            let Some(last) = last.filter(|last| boundary.at - last.at == TimeDelta::minutes(1))
            else {
                continue;
            };
            let (last_up, up) = (last.action.is_up(), boundary.action.is_up());
            if last_up == up {
                continue;
            }
            let what = if last_up { "it runs" } else { "it is stopped" };
            let message = format!(
                "{what} for one minute, from {} on",
                shown(self.local(last.at))
            );
            let is_midnight = self.is_midnight(boundary.at);
            let help = if is_midnight {
                "write 24:00 where the end of the day is meant"
            } else {
                "write times that are further apart, or leave both out"
            };
            let span = 0..self.inputs.text(key).map_or(0, str::len);
            found.push(self.at(key, span, LintRule::OneMinute, message, help.to_owned()));
            return;
        }
    }

    fn is_midnight(&self, at: DateTime<Utc>) -> bool {
        self.local(at).format("%H:%M").to_string() == "00:00"
    }
}

impl ObjectFindings<'_> {
    /// A CronJob none of whose times fall into its running hours.
    pub(crate) fn report_never_runs(&mut self, cron: &CronTimes) {
        let message = format!(
            "none of the times `{}` fall into its running hours: this CronJob never runs",
            quote(&cron.text)
        );
        let help = "write hours that contain one of its times, or change spec.schedule";
        let place = cron.place.clone();
        self.findings
            .push(self.at(LintRule::NeverRuns, place, message, help.to_owned()));
    }
}

/// Whether none of the times of a CronJob falls into its running hours, as far as anybody can tell.
pub(crate) fn is_never_within(cron: &CronTimes, inputs: &Inputs, span: &CheckPeriod) -> bool {
    let ParsedInputs::Scheduled(spec) = read(inputs, &span.context) else {
        return false;
    };
    is_ever_within(cron, &spec.schedule, span) == Some(false)
}

/// Whether one of the times falls into what the schedule calls running; `None` where nobody can tell.
fn is_ever_within(cron: &CronTimes, schedule: &Schedule, span: &CheckPeriod) -> Option<bool> {
    let times = Times::parse(&cron.text).ok()?;
    // Without a zone it is the one of the controller manager, which is UTC nearly everywhere.
    let zone = cron
        .zone
        .as_deref()
        .map_or(Some(Zone::UTC), |name| Zone::parse(name).ok())?;
    let is_within = |from: DateTime<Utc>, until: DateTime<Utc>| {
        let local = from.with_timezone(&zone).naive_local();
        let next = times.next_local(just_before(local));
        next.is_some_and(|next| zone.instant(next) < until)
    };
    let boundaries = schedule.boundaries(span.from, span.until, TimeDelta::zero());
    let said = schedule.action_at(span.from, TimeDelta::zero());
    let mut up_since = said.is_none_or(Action::is_up).then_some(span.from);
    for (steps, boundary) in boundaries.enumerate() {
        if steps == MAX_STEPS {
            return None;
        }
        if up_since.is_some_and(|from| is_within(from, boundary.at)) {
            return Some(true);
        }
        up_since = boundary.action.is_up().then_some(boundary.at);
    }
    Some(up_since.is_some_and(|from| is_within(from, span.until)))
}
