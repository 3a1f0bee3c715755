//! Converts desired running times, weekly and between dates, to annotations.

use std::{collections::BTreeSet, ops::Range};

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, TimeDelta, Timelike, Utc};
use dayshift_schedule::{Action, ExcludedDates, Hours, Schedule, ScheduleRule, Zone};
use dayshift_workload::Key;

use crate::convert::week::{DAY, WeekCounts, times};

/// A span between two times, of which the end is exclusive. Either can be open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DatedSpan {
    pub(crate) from: Option<DateTime<Utc>>,
    pub(crate) to: Option<DateTime<Utc>>,
    /// Its bytes in the text.
    pub(crate) span: Range<usize>,
}

impl DatedSpan {
    fn meets(&self, other: &Self) -> bool {
        let begins_before_end =
            |one: &Self, of: &Self| one.from.is_none_or(|from| of.to.is_none_or(|to| from < to));
        begins_before_end(self, other) && begins_before_end(other, self)
    }

    fn contains(&self, at: DateTime<Utc>) -> bool {
        self.from.is_none_or(|from| from <= at) && self.to.is_none_or(|to| at < to)
    }
}

/// When a workload should run: weekly, and in spans between dates.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Desired {
    pub(crate) zone: Option<Zone>,
    pub(crate) week: WeekCounts,
    /// Spans in which it runs in any case.
    pub(crate) ups: Vec<DatedSpan>,
    /// Spans in which it does not run.
    pub(crate) downs: Vec<DatedSpan>,
}

impl Desired {
    /// Converts it to annotations, without spans that ended before `now`.
    ///
    /// # Errors
    /// If a span has no equivalent.
    pub(crate) fn texts(&self, now: DateTime<Utc>) -> Result<KeyTexts, DatedSpanError> {
        let zone = self.zone.unwrap_or(Zone::UTC);
        let mut moments = Moments::new(&self.week, zone, now);
        let all = || self.ups.iter().chain(&self.downs);
        for one in all() {
            let is_other = |other: &&DatedSpan| !std::ptr::eq(one, *other);
            if all().filter(is_other).any(|other| one.meets(other)) {
                return Err(fails(one, "it overlaps another one"));
            }
        }
        for up in &self.ups {
            moments.up(up)?;
        }
        for down in &self.downs {
            moments.down(down)?;
        }
        moments.check(&self.downs)?;
        let mut texts = moments.texts();
        let is_timeless = texts
            .iter()
            .all(|(key, text)| *key == Key::Hours && text == ALWAYS);
        if !is_timeless {
            texts.push((Key::Timezone, zone.name().to_owned()));
        }
        Ok(texts)
    }
}

/// Hours that never stop.
pub(crate) const ALWAYS: &str = "00:00-24:00";

/// Annotations and their values.
pub(crate) type KeyTexts = Vec<(Key, String)>;

/// Why a span between dates cannot be converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DatedSpanError {
    pub(crate) at: DatedSpan,
    pub(crate) reason: &'static str,
}

/// A bounded span.
type Stretch = (DateTime<Utc>, DateTime<Utc>);

/// The maximum number of dates and times for one span.
const MAX_MOMENTS: usize = 32;

/// The maximum number of days of one span.
const MAX_DAYS: i64 = 400;

pub(crate) fn fails(at: &DatedSpan, reason: &'static str) -> DatedSpanError {
    DatedSpanError {
        at: at.clone(),
        reason,
    }
}

/// Starts, stops and excluded dates in addition to the weekly times.
pub(crate) struct Moments<'d> {
    week: &'d WeekCounts,
    weekly: Option<Schedule>,
    zone: Zone,
    now: DateTime<Utc>,
    starts: BTreeSet<NaiveDateTime>,
    stops: BTreeSet<NaiveDateTime>,
    except: BTreeSet<NaiveDate>,
}

impl<'d> Moments<'d> {
    pub(crate) fn new(week: &'d WeekCounts, zone: Zone, now: DateTime<Utc>) -> Self {
        let hours = week.hours();
        let weekly = Hours::parse(&hours)
            .ok()
            .filter(|_| !week.is_always())
            .map(|hours| Schedule::new(ScheduleRule::Hours(hours), ExcludedDates::default(), zone));
        Self {
            week,
            weekly,
            zone,
            now,
            starts: BTreeSet::new(),
            stops: BTreeSet::new(),
            except: BTreeSet::new(),
        }
    }

    /// Whether the weekly times include a time.
    fn runs(&self, at: DateTime<Utc>) -> bool {
        let local = at.with_timezone(&self.zone);
        let minute = local.hour() * 60 + local.minute();
        self.week
            .contains(local.weekday().num_days_from_monday() * DAY + minute)
    }

    /// The weekly starts or stops in `[from, to)`.
    fn weekly(&self, action: Action, from: DateTime<Utc>, to: DateTime<Utc>) -> Vec<DateTime<Utc>> {
        let none = TimeDelta::zero();
        let all = self.weekly.iter();
        let all = all.flat_map(|schedule| schedule.boundaries(from, to, none));
        all.filter(|boundary| boundary.action == action)
            .map(|boundary| boundary.at)
            .collect()
    }

    /// The local date and time, if an annotation can name it.
    fn local(&self, at: DateTime<Utc>, of: &DatedSpan) -> Result<NaiveDateTime, DatedSpanError> {
        let local = at.with_timezone(&self.zone).naive_local();
        if local.second() != 0 || local.nanosecond() != 0 {
            return Err(fails(of, "times of a schedule are whole minutes"));
        }
        if self.zone.instant(local) != at {
            return Err(fails(
                of,
                "it begins or ends in an hour that a clock change repeats",
            ));
        }
        Ok(local)
    }

    /// The part of a span that is not over; `None` if all of it is.
    fn rest(&self, of: &DatedSpan) -> Result<Option<Stretch>, DatedSpanError> {
        let from = of.from.unwrap_or(self.now).max(self.now);
        let to = match of.to {
            Some(to) => to,
            // A span without an end is possible only without weekly times.
            None if self.weekly.is_none() => return Ok(Some((from, from))),
            None => return Err(fails(of, "it has no end, but the weekly times continue")),
        };
        if to <= from {
            return Ok(None);
        }
        if to - from > TimeDelta::days(MAX_DAYS) {
            return Err(fails(of, "it is longer than a year"));
        }
        Ok(Some((from, to)))
    }

    /// Adds a span in which the workload runs.
    pub(crate) fn up(&mut self, of: &DatedSpan) -> Result<(), DatedSpanError> {
        let Some((from, to)) = self.rest(of)? else {
            return Ok(());
        };
        if of.from.is_some_and(|from| from > self.now) && !self.runs(from) {
            let at = self.local(from, of)?;
            self.starts.insert(at);
        }
        // A start at the same time wins over the weekly stop.
        let stops = self.weekly(Action::Stop, from, to);
        if stops.len() > MAX_MOMENTS {
            return Err(fails(of, "it contains too many weekly stops"));
        }
        for stop in stops {
            let at = self.local(stop, of)?;
            self.starts.insert(at);
        }
        if of.to.is_some() && !self.runs(to) {
            let at = self.local(to, of)?;
            self.stops.insert(at);
        }
        Ok(())
    }

    /// Adds a span in which the workload does not run.
    pub(crate) fn down(&mut self, of: &DatedSpan) -> Result<(), DatedSpanError> {
        let Some((from, to)) = self.rest(of)? else {
            return Ok(());
        };
        let starts = self.weekly(Action::Start, from, to);
        let is_first = starts.first() == Some(&from);
        if of.from.is_some_and(|from| from > self.now) && self.runs(from) && !is_first {
            let at = self.local(from, of)?;
            self.stops.insert(at);
        }
        for start in starts {
            let local = start.with_timezone(&self.zone);
            self.except.insert(local.date_naive());
        }
        let is_weekly = self
            .weekly(Action::Start, to, to + TimeDelta::seconds(1))
            .contains(&to);
        if of.to.is_some() && self.runs(to) && !is_weekly {
            let at = self.local(to, of)?;
            self.starts.insert(at);
        }
        Ok(())
    }

    /// Checks that no excluded date has a start that should happen.
    pub(crate) fn check(&self, downs: &[DatedSpan]) -> Result<(), DatedSpanError> {
        let Some(down) = downs.first() else {
            return Ok(());
        };
        let midnight = |date: NaiveDate| self.zone.instant(date.and_time(Default::default()));
        let is_wanted = |at: &DateTime<Utc>| !downs.iter().any(|down| down.contains(*at));
        for date in &self.except {
            let next = date.succ_opt().unwrap_or(*date);
            let weekly = self.weekly(Action::Start, midnight(*date), midnight(next));
            let has_own = self.starts.iter().any(|start| start.date() == *date);
            if has_own || weekly.iter().any(is_wanted) {
                let reason = "it removes one start of a date but not the others";
                return Err(fails(down, reason));
            }
        }
        Ok(())
    }

    /// The annotations.
    pub(crate) fn texts(&self) -> KeyTexts {
        let week = self.week;
        let mut texts = Vec::new();
        if self.starts.is_empty() && self.stops.is_empty() {
            if week.is_empty() {
                // The workload never runs: a stop at each midnight ensures that.
                texts.push((Key::Stop, "00:00".to_owned()));
            } else {
                texts.push((Key::Hours, week.hours()));
            }
        } else {
            let moment = |moment: &NaiveDateTime| moment.format("%Y-%m-%d %H:%M").to_string();
            let list = |weekly: &[u32], moments: &BTreeSet<NaiveDateTime>| {
                let weekly = (!weekly.is_empty()).then(|| times(weekly));
                let all: Vec<_> = weekly
                    .into_iter()
                    .chain(moments.iter().map(moment))
                    .collect();
                all.join("; ")
            };
            for (key, text) in [
                (Key::Start, list(&week.begins(), &self.starts)),
                (Key::Stop, list(&week.ends(), &self.stops)),
            ] {
                if !text.is_empty() {
                    texts.push((key, text));
                }
            }
        }
        if !self.except.is_empty() {
            texts.push((Key::Except, dates(&self.except)));
        }
        texts
    }
}

/// Formats dates: `2026-12-24..2026-12-26; 2027-01-01`
pub(crate) fn dates(dates: &BTreeSet<NaiveDate>) -> String {
    let mut ranges: Vec<(NaiveDate, NaiveDate)> = Vec::new();
    for date in dates {
        match ranges.last_mut() {
            Some((_, last)) if last.succ_opt() == Some(*date) => *last = *date,
            _ => ranges.push((*date, *date)),
        }
    }
    let range = |(first, last): (NaiveDate, NaiveDate)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}..{last}")
        }
    };
    ranges.into_iter().map(range).collect::<Vec<_>>().join("; ")
}
