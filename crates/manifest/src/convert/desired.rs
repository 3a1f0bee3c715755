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
            moments.add(up, Action::Start)?;
        }
        for down in &self.downs {
            moments.add(down, Action::Stop)?;
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

/// The maximum number of dates and times for one span.
const MAX_MOMENTS: usize = 32;

/// The maximum number of days of one span.
const MAX_DAYS: i64 = 400;

fn fails(at: &DatedSpan, reason: &'static str) -> DatedSpanError {
    let at = at.clone();
    DatedSpanError { at, reason }
}

/// The local date and time, if an annotation can name it, or else the reason.
pub(crate) fn local_minute(at: DateTime<Utc>, zone: Zone) -> Result<NaiveDateTime, &'static str> {
    let local = at.with_timezone(&zone).naive_local();
    if local.second() != 0 || local.nanosecond() != 0 {
        return Err("times of a schedule are whole minutes");
    }
    if zone.instant(local) != at {
        return Err("it begins or ends in an hour that a clock change repeats");
    }
    Ok(local)
}

/// Minutes of the week, and dates with a time.
pub(crate) type LocalTimes = (Vec<u32>, BTreeSet<NaiveDateTime>);

/// The annotations of these starts and stops.
pub(crate) fn starts_and_stops(starts: LocalTimes, stops: LocalTimes) -> KeyTexts {
    let mut texts = KeyTexts::new();
    for (key, (weekly, dated)) in [(Key::Start, starts), (Key::Stop, stops)] {
        let weekly = (!weekly.is_empty()).then(|| times(&weekly));
        let dated = dated.into_iter().map(date_and_time);
        let all: Vec<_> = weekly.into_iter().chain(dated).collect();
        if !all.is_empty() {
            texts.push((key, all.join("; ")));
        }
    }
    texts
}

/// Formats a date and time: `2026-12-24 08:00`
pub(crate) fn date_and_time(local: NaiveDateTime) -> String {
    local.format("%Y-%m-%d %H:%M").to_string()
}

/// Starts, stops and excluded dates in addition to the weekly times.
struct Moments<'d> {
    week: &'d WeekCounts,
    weekly: Option<Schedule>,
    zone: Zone,
    now: DateTime<Utc>,
    starts: BTreeSet<NaiveDateTime>,
    stops: BTreeSet<NaiveDateTime>,
    except: BTreeSet<NaiveDate>,
}

impl<'d> Moments<'d> {
    fn new(week: &'d WeekCounts, zone: Zone, now: DateTime<Utc>) -> Self {
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

    /// The state by the weekly times at this time.
    fn state(&self, at: DateTime<Utc>) -> Action {
        let local = at.with_timezone(&self.zone);
        let minute = local.hour() * 60 + local.minute();
        let day = local.weekday().num_days_from_monday();
        match self.week.contains(day * DAY + minute) {
            true => Action::Start,
            false => Action::Stop,
        }
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

    /// Adds a span that begins with a start or a stop, and in which the workload stays in that state.
    fn add(&mut self, span: &DatedSpan, action: Action) -> Result<(), DatedSpanError> {
        let from = span.from.unwrap_or(self.now).max(self.now);
        let to = match span.to {
            Some(to) if to <= from => return Ok(()),
            Some(to) => to,
            // A span without an end is possible only without weekly times.
            None if self.weekly.is_none() => from,
            None => return Err(fails(span, "it has no end, but the weekly times continue")),
        };
        if to - from > TimeDelta::days(MAX_DAYS) {
            return Err(fails(span, "it is longer than a year"));
        }
        let local = |at| local_minute(at, self.zone).map_err(|reason| fails(span, reason));
        let is_different = |at: DateTime<Utc>| {
            let end = at + TimeDelta::seconds(1);
            self.state(at) != action && self.weekly(Action::Start, at, end).is_empty()
        };
        let begins = span.from.filter(|at| *at > self.now && is_different(*at));
        let begins = begins.map(local).transpose()?;
        let ends = span.to.filter(|at| is_different(*at));
        let ends = ends.map(local).transpose()?;
        if action == Action::Stop {
            for start in self.weekly(Action::Start, from, to) {
                let local = start.with_timezone(&self.zone);
                self.except.insert(local.date_naive());
            }
            self.stops.extend(begins);
            self.starts.extend(ends);
            return Ok(());
        }
        let stops = self.weekly(Action::Stop, from, to);
        if stops.len() > MAX_MOMENTS {
            return Err(fails(span, "it contains too many weekly stops"));
        }
        // A start at the same time wins over the weekly stop.
        let starts: Vec<_> = stops.into_iter().map(local).collect::<Result<_, _>>()?;
        self.starts.extend(begins.into_iter().chain(starts));
        self.stops.extend(ends);
        Ok(())
    }

    /// Checks that no excluded date has a start that should happen.
    fn check(&self, downs: &[DatedSpan]) -> Result<(), DatedSpanError> {
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
    fn texts(&self) -> KeyTexts {
        let week = self.week;
        let mut texts = KeyTexts::new();
        if !self.starts.is_empty() || !self.stops.is_empty() {
            let starts = (week.begins(), self.starts.clone());
            let stops = (week.ends(), self.stops.clone());
            texts = starts_and_stops(starts, stops);
        } else if week.is_empty() {
            // The workload never runs: a stop at each midnight ensures that.
            texts.push((Key::Stop, "00:00".to_owned()));
        } else {
            texts.push((Key::Hours, week.hours()));
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
