//! Warnings about the calendars that dates name.
//!
//! Warnings about dates that count as another day of the week.

use dayshift_schedule::{Calendar, ExcludedDates, Schedule, Times, list_items};
use dayshift_text::quote;
use dayshift_workload::Key;

use crate::lint::{
    rule::LintRule,
    schedule_finding::ScheduleFinding,
    times::{ScheduleCheck, without_count},
};

impl ScheduleCheck<'_> {
    /// Calendars that end soon, or of which part does not count.
    pub(crate) fn calendars(&self, schedule: &Schedule, found: &mut Vec<ScheduleFinding>) {
        let soon = self.local(self.span.from + Calendar::ENDS_SOON).date();
        let excepted = schedule
            .except()
            .calendars()
            .map(|calendar| (Key::Except, calendar));
        let treated = schedule
            .treated()
            .calendars()
            .map(|calendar| (Key::TreatAs, calendar));
        for (key, (name, calendar)) in excepted.chain(treated) {
            let text = self.inputs.text(key).unwrap_or_default();
            let (nothing, days) = if key == Key::Except {
                ("nothing is excepted", "only whole days are excepted")
            } else {
                ("no date counts as another day", "only whole days count")
            };
            let mut items = list_items(text);
            let item = items.find(|(_, item)| {
                let named = item.split_once(':');
                named.is_some_and(|(_, item)| {
                    item.split('=').next().map(str::trim) == Some(name.as_str())
                })
            });
            let mut warn = |rule, message, help| {
                let whole = ScheduleFinding::on(key, self.inputs, rule, message, help);
                found.push(match &item {
                    Some((span, _)) => whole.at(span.clone()),
                    None => whole,
                });
            };
            if let Some(last) = calendar.ends_on().filter(|last| *last <= soon) {
                warn(
                    LintRule::CalendarEnds,
                    format!("the last date of the calendar `{name}` is {last}; after it {nothing}"),
                    "give a newer file with --calendar, here and to the scaler".to_owned(),
                );
            }
            let timed = calendar.timed_events();
            if timed > 0 {
                let are = if timed == 1 { "event is" } else { "events are" };
                warn(
                    LintRule::CalendarTimes,
                    format!("{timed} {are} at a time of day in the calendar `{name}`: {days}"),
                    "write them as events of whole days, such as DTSTART;VALUE=DATE:20261225, or remove them".to_owned(),
                );
            }
        }
    }
}

impl ScheduleCheck<'_> {
    /// Dates that are over, or on which the schedule does what it does without them.
    pub(crate) fn treated(&self, schedule: &Schedule, found: &mut Vec<ScheduleFinding>) {
        let Some(last) = schedule.treated().last() else {
            return;
        };
        let [today, until] = [self.span.from, self.span.until].map(|at| self.local(at).date());
        let (rule, message, help) = if last < today {
            (
                LintRule::PastDate,
                "all of these dates are in the past".to_owned(),
                "remove them, or write future dates".to_owned(),
            )
        } else if last < until && !schedule.is_affected_by_treated_dates(today, until) {
            (
                LintRule::UnchangedDates,
                "on these dates the schedule does the same without this annotation".to_owned(),
                "remove it, or write another day of the week; days of the month and days within the month stay those of the calendar".to_owned(),
            )
        } else {
            return;
        };
        found.push(ScheduleFinding::on(
            Key::TreatAs,
            self.inputs,
            rule,
            message,
            help,
        ));
    }

    pub(crate) fn past_dates(&self, except: &ExcludedDates, found: &mut Vec<ScheduleFinding>) {
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
                times.is_ok_and(|times| times.next_local(now).is_none())
            };
            let past: Vec<_> = items.iter().filter(|(_, item)| over(item)).collect();
            // Where all are over, that is a finding of its own.
            if past.len() == items.len() {
                continue;
            }
            found.extend(past.into_iter().map(|(span, item)| {
                let message = format!("`{}` is in the past", quote(item));
                let help = "remove it from the list".to_owned();
                self.at(key, span.clone(), LintRule::PastDate, message, help)
            }));
        }
    }

    /// `Etc/GMT+3`, which is UTC-3, and `EST`, which knows no summer.
    pub(crate) fn fixed_offset(&self, found: &mut Vec<ScheduleFinding>) {
        let name = self.zone.name();
        let written = self.inputs.text(Key::Timezone).unwrap_or_default();
        let (message, help) = match name.strip_prefix("Etc/GMT") {
            Some(offset) if !matches!(offset, "" | "0" | "+0" | "-0") => {
                let turned = match offset.split_at(1) {
                    ("+", hours) => format!("-{hours}"),
                    (_, hours) => format!("+{hours}"),
                };
                (
                    format!(
                        "`{}` is UTC{turned} all year: the sign of an Etc/GMT zone is inverted",
                        quote(written)
                    ),
                    format!(
                        "write the zone of a place, such as Europe/Berlin, or Etc/GMT{turned} if you mean UTC{offset}"
                    ),
                )
            }
            _ => {
                let Some((_, offset, place)) = FIXED.iter().find(|row| row.0 == name) else {
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
        let span = 0..written.len();
        found.push(self.at(Key::Timezone, span, LintRule::FixedOffset, message, help));
    }
}

/// Abbreviations that are zones without a summer, with their offset and a place that has one.
const FIXED: [(&str, &str, &str); 3] = [
    ("EST", "-5", "America/New_York"),
    ("MST", "-7", "America/Denver"),
    ("HST", "-10", "Pacific/Honolulu"),
];
