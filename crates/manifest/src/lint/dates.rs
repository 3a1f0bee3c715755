//! Checks of dates, of the calendars that list them, and of the time zone.

use dayshift_schedule::{Calendar, ExtraWindows, Times, list_items};
use dayshift_text::quote;
use dayshift_workload::Key;

use crate::lint::{
    rule::LintRule,
    schedule_finding::{ScheduleCheck, ScheduleFinding},
    times::without_count,
};

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
