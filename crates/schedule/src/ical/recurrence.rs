//! Recurrences (RRULE) of events, and the time zones that decide on which date a value falls.
//!
//! [`EventClocks`] read the values of an event as dates on its clocks.

use std::ops::RangeInclusive;

use chrono::{Datelike, NaiveDate, TimeDelta, Weekday};
use dayshift_text::number;

use crate::{
    ical::{
        Budget, CalendarError, CalendarReason,
        lines::{ContentLine, WrittenDate, parse_duration},
    },
    local::{Local, day_number},
    tzdata::Tzdata,
    zone::Zone,
};

/// A recurrence rule. Parts about hours, minutes and seconds are ignored.
#[derive(Debug)]
pub(crate) struct Recurrence {
    frequency: Frequency,
    interval: i32,
    count: Option<u32>,
    until: Option<i32>,
    months: Vec<i32>,
    month_days: Vec<i32>,
    year_days: Vec<i32>,
    /// Weekdays, with their ordinal in the month or year; 0 means each of them.
    week_days: Vec<(i32, Weekday)>,
    positions: Vec<i32>,
    week_start: Weekday,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frequency {
    Day,
    Week,
    Month,
    Year,
}

/// The maximum interval, a century of days.
const MAX_INTERVAL: u32 = 36_600;

impl Recurrence {
    /// Parses the value of `RRULE`. `until` parses the value of `UNTIL` on the clocks of the
    /// event.
    pub(crate) fn from_line(
        line: &ContentLine,
        until: impl Fn(&str) -> Option<i32>,
    ) -> Result<Self, CalendarError> {
        let mut frequency = None;
        let mut rule = Self {
            frequency: Frequency::Day,
            interval: 1,
            count: None,
            until: None,
            months: Vec::new(),
            month_days: Vec::new(),
            year_days: Vec::new(),
            week_days: Vec::new(),
            positions: Vec::new(),
            week_start: Weekday::Mon,
        };
        for part in line.value().split(';').filter(|part| !part.is_empty()) {
            let bad = || line.error(part, CalendarReason::BadRule);
            let (name, value) = part.split_once('=').ok_or_else(bad)?;
            match name.trim().to_ascii_uppercase().as_str() {
                "FREQ" => {
                    let found = match value.to_ascii_uppercase().as_str() {
                        "DAILY" => Frequency::Day,
                        "WEEKLY" => Frequency::Week,
                        "MONTHLY" => Frequency::Month,
                        "YEARLY" => Frequency::Year,
                        "HOURLY" | "MINUTELY" | "SECONDLY" => {
                            return Err(line.error(part, CalendarReason::Unsupported));
                        }
                        _ => return Err(bad()),
                    };
                    frequency = Some(found);
                }
                "INTERVAL" => {
                    let interval =
                        parse_positive(value).filter(|interval| *interval <= MAX_INTERVAL);
                    rule.interval = interval.ok_or_else(bad)?.cast_signed();
                }
                "COUNT" => rule.count = Some(parse_positive(value).ok_or_else(bad)?),
                "UNTIL" => rule.until = Some(until(value.trim()).ok_or_else(bad)?),
                "BYMONTH" => rule.months = parse_numbers(value, 1, 12).ok_or_else(bad)?,
                "BYMONTHDAY" => rule.month_days = parse_numbers(value, -31, 31).ok_or_else(bad)?,
                "BYYEARDAY" => rule.year_days = parse_numbers(value, -366, 366).ok_or_else(bad)?,
                "BYSETPOS" => rule.positions = parse_numbers(value, -366, 366).ok_or_else(bad)?,
                "BYDAY" => {
                    rule.week_days = value
                        .split(',')
                        .map(parse_week_day)
                        .collect::<Option<_>>()
                        .ok_or_else(bad)?;
                }
                "WKST" => {
                    rule.week_start = parse_week_day(value)
                        .filter(|day| day.0 == 0)
                        .ok_or_else(bad)?
                        .1;
                }
                "BYHOUR" | "BYMINUTE" | "BYSECOND" => {}
                // These values are the default (RFC 7529).
                "RSCALE" if value.eq_ignore_ascii_case("GREGORIAN") => {}
                "SKIP" if value.eq_ignore_ascii_case("OMIT") => {}
                "BYWEEKNO" | "RSCALE" | "SKIP" => {
                    return Err(line.error(part, CalendarReason::Unsupported));
                }
                _ => return Err(bad()),
            }
        }
        rule.frequency =
            frequency.ok_or_else(|| line.error(line.value(), CalendarReason::BadRule))?;
        let has_ordinals = rule.week_days.iter().any(|(ordinal, _)| *ordinal != 0);
        if has_ordinals && matches!(rule.frequency, Frequency::Day | Frequency::Week) {
            return Err(line.error(line.value(), CalendarReason::BadRule));
        }
        Ok(rule)
    }

    /// Whether the rule has neither `COUNT` nor `UNTIL`.
    pub(crate) fn is_endless(&self) -> bool {
        self.count.is_none() && self.until.is_none()
    }

    /// Calls `found` for each day in `span` on which an event begins that first began on `start`,
    /// in order. `start` is always included unless the rule ends before it. Days before `span`
    /// might be included too.
    pub(crate) fn expand(
        mut self,
        start: i32,
        span: RangeInclusive<i32>,
        budget: &mut Budget,
        mut found: impl FnMut(i32) -> Result<(), CalendarReason>,
    ) -> Result<(), CalendarReason> {
        let Some(first) = NaiveDate::from_epoch_days(start) else {
            return Ok(());
        };
        if self.until.is_some_and(|until| until < start) {
            return Ok(());
        }
        self.fill_defaults(first);
        let last = self
            .until
            .map_or(*span.end(), |until| until.min(*span.end()));
        let mut left = self.count.unwrap_or(u32::MAX);
        let mut take = |day| {
            left = left.saturating_sub(1);
            found(day).map(|()| left > 0)
        };
        if !take(start)? {
            return Ok(());
        }
        let mut period = self.period(first);
        // Unless there is a count, periods before the span can be skipped.
        if self.count.is_none() {
            period = period.and_then(|(begin, _)| self.period_before(begin, *span.start()));
        }
        let mut days = Vec::new();
        while let Some((begin, end)) = period {
            budget.spend(1)?;
            if day_number(begin) > last {
                break;
            }
            days.clear();
            self.days_in(begin, end, budget, &mut days)?;
            let is_at = |position: &i32, at: usize| {
                let at = i32::try_from(at).unwrap_or(i32::MAX);
                let count = i32::try_from(days.len()).unwrap_or(i32::MAX);
                *position == at + 1 || *position == at - count
            };
            for (at, day) in days.iter().copied().enumerate() {
                let is_chosen = self.positions.is_empty()
                    || self.positions.iter().any(|position| is_at(position, at));
                if !is_chosen || day <= start {
                    continue;
                }
                if day > last || !take(day)? {
                    return Ok(());
                }
            }
            period = self.next_period(begin);
        }
        Ok(())
    }

    /// Parts that the rule omits are taken from the first day.
    fn fill_defaults(&mut self, first: NaiveDate) {
        let no_days = self.month_days.is_empty() && self.week_days.is_empty();
        match self.frequency {
            Frequency::Year if no_days && self.year_days.is_empty() => {
                if self.months.is_empty() {
                    self.months.push(first.month().cast_signed());
                }
                self.month_days.push(first.day().cast_signed());
            }
            Frequency::Month if no_days => self.month_days.push(first.day().cast_signed()),
            Frequency::Week if self.week_days.is_empty() => {
                self.week_days.push((0, first.weekday()));
            }
            Frequency::Day | Frequency::Week | Frequency::Month | Frequency::Year => {}
        }
    }

    /// The first and the last day of the period that contains a date.
    fn period(&self, date: NaiveDate) -> Option<(NaiveDate, NaiveDate)> {
        match self.frequency {
            Frequency::Day => Some((date, date)),
            Frequency::Week => {
                let week = date.week(self.week_start);
                Some((week.checked_first_day()?, week.checked_last_day()?))
            }
            Frequency::Month => month_bounds(date.year(), date.month()),
            Frequency::Year => {
                let day = |month, day| NaiveDate::from_ymd_opt(date.year(), month, day);
                Some((day(1, 1)?, day(12, 31)?))
            }
        }
    }

    /// The next period, after the one that begins on a date.
    fn next_period(&self, begin: NaiveDate) -> Option<(NaiveDate, NaiveDate)> {
        self.period_after(begin, 1)
    }

    /// Starting from the period that begins on `begin`: the last period that begins at or before
    /// `day`, or the first period if `day` is earlier.
    fn period_before(&self, begin: NaiveDate, day: i32) -> Option<(NaiveDate, NaiveDate)> {
        let Some(date) = NaiveDate::from_epoch_days(day) else {
            return self.period(begin);
        };
        let units = match self.frequency {
            Frequency::Day => day - day_number(begin),
            Frequency::Week => (day - day_number(begin)) / 7,
            Frequency::Month => month_number(date) - month_number(begin),
            Frequency::Year => date.year() - begin.year(),
        };
        self.period_after(begin, (units / self.interval).max(0))
    }

    /// The period that is this number of intervals after the one that begins on a date.
    fn period_after(&self, begin: NaiveDate, intervals: i32) -> Option<(NaiveDate, NaiveDate)> {
        let units = self.interval.checked_mul(intervals)?;
        let days = |count: i32| {
            let day = day_number(begin).checked_add(units.checked_mul(count)?)?;
            NaiveDate::from_epoch_days(day)
        };
        let next = match self.frequency {
            Frequency::Day => days(1),
            Frequency::Week => days(7),
            Frequency::Month => {
                let months = month_number(begin).checked_add(units)?;
                let month = months.rem_euclid(12).cast_unsigned() + 1;
                NaiveDate::from_ymd_opt(months.div_euclid(12), month, 1)
            }
            Frequency::Year => NaiveDate::from_ymd_opt(begin.year().checked_add(units)?, 1, 1),
        };
        self.period(next?)
    }

    /// Adds the days of a period that match the rule, in order.
    fn days_in(
        &self,
        begin: NaiveDate,
        end: NaiveDate,
        budget: &mut Budget,
        days: &mut Vec<i32>,
    ) -> Result<(), CalendarReason> {
        let work = self.day_cost();
        let mut date = Some(begin);
        let by_month_days = matches!(self.frequency, Frequency::Month | Frequency::Year)
            && !self.month_days.is_empty()
            && self.week_days.is_empty()
            && self.year_days.is_empty();
        while let Some(day) = date.filter(|day| *day <= end) {
            budget.spend(work)?;
            let month_ends = month_bounds(day.year(), day.month()).map(|(_, last)| last);
            if !self.months.is_empty() && !self.months.contains(&day.month().cast_signed()) {
                date = month_ends.and_then(|last| last.succ_opt());
                continue;
            }
            if by_month_days {
                self.month_days_in(day, month_ends, days);
                date = month_ends.and_then(|last| last.succ_opt());
                continue;
            }
            if self.includes(day, month_ends) {
                days.push(day_number(day));
            }
            date = day.succ_opt();
        }
        Ok(())
    }

    /// Adds the days of a month in order, for a rule that depends only on days of the month.
    fn month_days_in(&self, first: NaiveDate, last: Option<NaiveDate>, days: &mut Vec<i32>) {
        let (first, length) = (
            day_number(first),
            last.map_or(31, |date| date.day().cast_signed()),
        );
        let begin = days.len();
        let from_front = |day: &i32| if *day > 0 { *day } else { length + 1 + day };
        let in_month = self.month_days.iter().map(from_front);
        let in_month = in_month.filter(|day| (1..=length).contains(day));
        days.extend(in_month.map(|day| first + day - 1));
        if let Some(new) = days.get_mut(begin..) {
            new.sort_unstable();
        }
        days.dedup();
    }

    /// The cost of checking one day, which is compared with each value of the rule.
    fn day_cost(&self) -> u32 {
        let values = self.months.len()
            + self.month_days.len()
            + self.year_days.len()
            + self.week_days.len()
            + self.positions.len();
        u32::try_from(values / 8)
            .unwrap_or(u32::MAX)
            .saturating_add(1)
    }

    /// Whether a date matches all day lists; an empty list matches every date.
    fn includes(&self, date: NaiveDate, month_ends: Option<NaiveDate>) -> bool {
        let in_month = date.day().cast_signed();
        let month_length = month_ends.map_or(31, |last| last.day().cast_signed());
        let in_year = date.ordinal().cast_signed();
        let year_length = if date.leap_year() { 366 } else { 365 };
        // Negative values count from the end.
        let is_in = |wanted: &[i32], at: i32, of: i32| {
            wanted.is_empty()
                || wanted
                    .iter()
                    .any(|number| *number == at || *number == at - of - 1)
        };
        let by_month = self.frequency == Frequency::Month || !self.months.is_empty();
        let (at, of) = if by_month {
            (in_month, month_length)
        } else {
            (in_year, year_length)
        };
        let is_week_day = |(ordinal, week_day): &(i32, Weekday)| {
            let nth = (at - 1) / 7 + 1;
            let nth_last = -((of - at) / 7 + 1);
            *week_day == date.weekday() && [0, nth, nth_last].contains(ordinal)
        };
        is_in(&self.month_days, in_month, month_length)
            && is_in(&self.year_days, in_year, year_length)
            && (self.week_days.is_empty() || self.week_days.iter().any(is_week_day))
    }
}

/// Months since the year 0.
fn month_number(date: NaiveDate) -> i32 {
    date.year() * 12 + date.month0().cast_signed()
}

/// The first and the last day of a month.
fn month_bounds(year: i32, month: u32) -> Option<(NaiveDate, NaiveDate)> {
    let first = NaiveDate::from_ymd_opt(year, month, 1)?;
    let last = match month {
        12 => NaiveDate::from_ymd_opt(year, 12, 31),
        _ => NaiveDate::from_ymd_opt(year, month + 1, 1)?.pred_opt(),
    };
    Some((first, last?))
}

fn parse_positive(text: &str) -> Option<u32> {
    let text = text.trim();
    number(text).filter(|value| *value > 0)
}

/// Parses comma-separated numbers in a range, without 0.
fn parse_numbers(text: &str, least: i32, most: i32) -> Option<Vec<i32>> {
    text.split(',')
        .map(|item| {
            parse_signed(item.trim()).filter(|value| (least..=most).contains(value) && *value != 0)
        })
        .collect()
}

fn parse_signed(text: &str) -> Option<i32> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let value = number::<u32>(digits).filter(|value| *value < 1_000)?;
    Some(sign * value.cast_signed())
}

/// Parses `MO`, `1MO` or `-1MO`.
fn parse_week_day(text: &str) -> Option<(i32, Weekday)> {
    let text = text.trim();
    let (ordinal, name) = text.split_at_checked(text.len().checked_sub(2)?)?;
    let day = match name.to_ascii_uppercase().as_str() {
        "MO" => Weekday::Mon,
        "TU" => Weekday::Tue,
        "WE" => Weekday::Wed,
        "TH" => Weekday::Thu,
        "FR" => Weekday::Fri,
        "SA" => Weekday::Sat,
        "SU" => Weekday::Sun,
        _ => return None,
    };
    let ordinal = match ordinal {
        "" => 0,
        written => {
            parse_signed(written).filter(|ordinal| (-53..=53).contains(ordinal) && *ordinal != 0)?
        }
    };
    Some((ordinal, day))
}

/// The clocks of an event. Values without a `Z` are on these clocks. A UTC value might fall on
/// another date here: RFC 5545, 3.3.10, requires UTC in `UNTIL`.
#[derive(Clone, Debug)]
pub(crate) enum EventClock {
    /// The clocks of the reader, in whatever zone.
    AsWritten,
    Utc,
    /// A zone of the database.
    Zone(Zone),
    /// A zone that the database does not have. A definition in the file (`VTIMEZONE`) is not read.
    Unknown,
}

/// The zone for a `TZID`: its IANA name, perhaps after a prefix of the author
/// (`/freeassociation.sourceforge.net/Europe/Berlin`; RFC 5545, 3.2.19).
fn named_zone(name: &str, tzdata: &Tzdata) -> Option<Zone> {
    let mut endings = std::iter::successors(Some(name), |rest| Some(rest.split_once('/')?.1));
    endings.find_map(|ending| tzdata.zone(ending))
}

const HALF_A_DAY: i64 = 12 * 3600;

/// UTC offsets are whole quarters of an hour.
const QUARTER: i64 = 15 * 60;

impl EventClock {
    /// The clocks of an event with this `DTSTART`.
    pub(crate) fn from_start(line: &ContentLine, tzdata: &Tzdata) -> Self {
        if line.is_date() {
            Self::AsWritten
        } else if line.value().ends_with(['Z', 'z']) {
            Self::Utc
        } else {
            Self::from_zone_name(line, tzdata)
        }
    }

    /// The clocks that the `TZID` of a line names.
    pub(crate) fn from_zone_name(line: &ContentLine, tzdata: &Tzdata) -> Self {
        let Some(name) = line.parameter("TZID") else {
            return Self::AsWritten;
        };
        named_zone(name, tzdata).map_or(Self::Unknown, Self::Zone)
    }

    /// The local time for a UTC time.
    pub(crate) fn shown(&self, utc: Local) -> Local {
        match self {
            Self::AsWritten | Self::Utc => utc,
            Self::Zone(zone) => Local(utc.0 + zone.offset(utc.0)),
            // Recurrences begin at midnight, and end at midnight or one second earlier, so the
            // nearest midnight is intended.
            Self::Unknown => {
                let midnight = Local::on(Local(utc.0 + HALF_A_DAY).day(), 0);
                let is_second_before = utc.after().0.rem_euclid(QUARTER) == 0;
                if is_second_before {
                    midnight.before()
                } else {
                    midnight
                }
            }
        }
    }

    /// The local time of these clocks when `others` show `shown`. If either zone is unknown, it is
    /// `shown` as well.
    pub(crate) fn shown_when(&self, others: &Self, shown: Local) -> Local {
        let utc = match (self, others) {
            (Self::AsWritten | Self::Unknown, _) | (_, Self::AsWritten | Self::Unknown) => {
                return shown;
            }
            (_, Self::Utc) => shown,
            (_, Self::Zone(zone)) => Local(zone.second_of(shown)),
        };
        self.shown(utc)
    }
}

/// A date, or a date and time, on the clocks of its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DateValue {
    /// Days since 1970-01-01.
    pub(crate) day: i32,
    /// Seconds since midnight; `None` for a date.
    pub(crate) second: Option<u32>,
}

/// The context in which the values of an event are read.
#[derive(Debug)]
pub(crate) struct EventClocks<'f> {
    pub(crate) event: EventClock,
    /// The zones that other lines of the event can name.
    pub(crate) tzdata: &'f Tzdata,
}

/// Moves a value to the clocks of the event. `others` are the clocks of a value without a `Z`.
fn on_clock(written: WrittenDate, clock: &EventClock, others: &EventClock) -> DateValue {
    if written.second.is_none() {
        return DateValue {
            day: written.day,
            second: None,
        };
    }
    let shown = if written.is_utc {
        clock.shown(written.local())
    } else {
        clock.shown_when(others, written.local())
    };
    DateValue {
        day: shown.day(),
        second: Some(shown.second()),
    }
}

impl DateValue {
    /// Parses a value that is in UTC or on the clocks of its event.
    pub(crate) fn parse(text: &str, clock: &EventClock) -> Option<Self> {
        Some(on_clock(
            WrittenDate::parse(text)?,
            clock,
            &EventClock::AsWritten,
        ))
    }

    /// Parses the value of a line, which is on the clocks of its event, independent of its `TZID`.
    /// Some programs declare a date and write a time.
    pub(crate) fn from_line(line: &ContentLine, clock: &EventClock) -> Result<Self, CalendarError> {
        let value = line.value();
        let read = Self::parse(value, clock);
        let read = read.ok_or_else(|| line.error(value, CalendarReason::NotADate))?;
        Ok(Self {
            second: read.second.filter(|_| !line.is_date()),
            ..read
        })
    }

    pub(crate) fn since(self, other: Self) -> TimeDelta {
        let days = TimeDelta::days(i64::from(self.day) - i64::from(other.day));
        let second = |value: Self| i64::from(value.second.unwrap_or_default());
        days + TimeDelta::seconds(second(self) - second(other))
    }
}

impl EventClocks<'_> {
    /// Parses the values of a line such as `EXDATE`, which can be in another zone.
    pub(crate) fn values(&self, line: &ContentLine) -> Result<Vec<DateValue>, CalendarError> {
        let values = self.periods(line)?;
        Ok(values.into_iter().map(|(value, _)| value).collect())
    }

    /// Parses the values of a line such as `RDATE`, with their durations if given.
    pub(crate) fn periods(
        &self,
        line: &ContentLine,
    ) -> Result<Vec<(DateValue, Option<TimeDelta>)>, CalendarError> {
        let others = EventClock::from_zone_name(line, self.tzdata);
        let on = |written: WrittenDate| on_clock(written, &self.event, &others);
        let items = line.value().split(',').map(|item| {
            let item = item.trim();
            let (begin, end) = match item.split_once('/') {
                Some((begin, end)) => (begin.trim(), Some(end.trim())),
                None => (item, None),
            };
            let fails = || line.error(begin, CalendarReason::NotADate);
            let begin = on(WrittenDate::parse(begin).ok_or_else(fails)?);
            let Some(end) = end else {
                return Ok((begin, None));
            };
            let length =
                parse_duration(end).or_else(|| Some(on(WrittenDate::parse(end)?).since(begin)));
            let fails = || line.error(end, CalendarReason::NotADuration);
            Ok((begin, Some(length.ok_or_else(fails)?)))
        });
        items.collect()
    }
}
