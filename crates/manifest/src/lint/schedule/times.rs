//! Warnings that come from the calendar: gaps, ties, and times that are over.

use std::ops::Range;

use chrono::{DateTime, DurationRound as _, NaiveDate, NaiveDateTime, TimeDelta, Utc};
use dayshift_schedule::{
    Action, DstGap, ExcludedDates, Hours, Schedule, ScheduleRule, Times, Zone, list_items,
};
use dayshift_workload::{Inputs, Key, ParseContext, Prefix, ScheduleSpec};

use crate::lint::{
    rule::LintRule,
    schedule::{examples::right_line, schedule_finding::ScheduleFinding},
};

/// The time that is looked at, and where clocks are that nothing is said of.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) from: DateTime<Utc>,
    pub(crate) until: DateTime<Utc>,
    pub(crate) context: ParseContext,
}

/// One schedule that is looked at.
pub(crate) struct Look<'l> {
    pub(crate) inputs: &'l Inputs,
    pub(crate) prefix: &'l Prefix,
    pub(crate) span: &'l Span,
    pub(crate) zone: Zone,
}

/// More than any two lists of times of day have in a year; a bound for lists of seconds.
pub(crate) const MAX_STEPS: usize = 2_000;

impl Look<'_> {
    pub(crate) fn at_all(
        &self,
        spec: &ScheduleSpec,
        gaps: &[DstGap],
        found: &mut Vec<ScheduleFinding>,
    ) {
        let except = spec.schedule.except();
        let start = self.parse(Key::Start, Times::parse);
        let stop = self.parse(Key::Stop, Times::parse);
        self.ties(&spec.schedule, found);
        for key in [Key::Start, Key::Stop, Key::Hours, Key::Scale] {
            self.gap(key, gaps, &spec.schedule, found);
        }
        for key in [Key::Start, Key::Stop, Key::Scale] {
            self.too_often(key, found);
            self.either_day(key, found);
        }
        self.one_minute(&spec.schedule, found);
        self.fixed_offset(found);
        self.jitter_beyond_window(spec, found);
        self.never_again(spec, start, stop, found);
        self.past_dates(except, found);
        self.treated(&spec.schedule, found);
        self.calendars(&spec.schedule, found);
    }

    fn parse<T, E>(&self, key: Key, parse: impl FnOnce(&str) -> Result<T, E>) -> Option<T> {
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

    fn gap(
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
                let Some(what) = what_happens(schedule, self.zone.instant(gap.to), at.date())
                else {
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
    fn too_often(&self, key: Key, found: &mut Vec<ScheduleFinding>) {
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
            let text = dayshift_text::quote(item);
            let message = format!("`{text}` runs {count} times an hour, not once");
            let help = once_an_hour(item).map_or_else(
                || "write fewer times".to_owned(),
                |once| format!("write for example `{once}`"),
            );
            found.push(self.at(key, span, LintRule::TooOften, message, help));
        }
    }

    fn never_again(
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
            (Key::Start, start.map(|it| alone(Some(it), None))),
            (Key::Stop, stop.map(|it| alone(None, Some(it)))),
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

    fn past_dates(&self, except: &ExcludedDates, found: &mut Vec<ScheduleFinding>) {
        let now = self.local(self.span.from);
        if except.last().is_some_and(|last| last < now.date()) {
            found.push(ScheduleFinding::on(
                Key::Except,
                self.inputs,
                LintRule::PastDate,
                "all of these dates are in the past".to_owned(),
                "remove them, or write future dates".to_owned(),
            ));
        }
        for key in [Key::Start, Key::Stop, Key::Scale] {
            let items: Vec<_> = list_items(self.inputs.text(key).unwrap_or_default()).collect();
            let over = |item: &str| {
                let times = Times::parse(without_count(item));
                times.is_ok_and(|it| it.next_local(now).is_none())
            };
            let past: Vec<_> = items.iter().filter(|(_, item)| over(item)).collect();
            // Where all are over, that is a finding of its own.
            if past.len() == items.len() {
                continue;
            }
            found.extend(past.into_iter().map(|(span, item)| {
                let message = format!("`{}` is in the past", dayshift_text::quote(item));
                let help = "remove it from the list".to_owned();
                self.at(key, span.clone(), LintRule::PastDate, message, help)
            }));
        }
    }
}

/// What becomes of a time in a gap that ends at an instant, on a date; `None` where it does nothing on
/// any clock: the date is excepted, or other hours go on there.
fn what_happens(schedule: &Schedule, end: DateTime<Utc>, date: NaiveDate) -> Option<String> {
    let latest = schedule.latest_at(end, TimeDelta::zero());
    if latest.is_some_and(|it| it.at == end) {
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
    for field in fields.iter_mut().take(small).filter(|it| **it == "*") {
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
