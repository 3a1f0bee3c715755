//! Weekly times in minutes from Monday 00:00, and their texts in dayshift's syntax: the annotations for
//! desired running times, weekly and between dates.

use std::{collections::BTreeSet, ops::Range};

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, TimeDelta, Timelike, Utc};
use dayshift_schedule::{Action, ExcludedDates, Hours, Schedule, ScheduleRule, Times, Zone};
use dayshift_workload::Key;

/// Minutes of a day.
pub(crate) const DAY: u32 = 1440;

/// Minutes of a week.
const WEEK: u32 = 7 * DAY;

const NAMES: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// Parses the abbreviation of a day, where 0 is Monday.
pub(crate) fn day(name: &str) -> Option<u32> {
    let at = NAMES
        .iter()
        .position(|known| known.eq_ignore_ascii_case(name))?;
    u32::try_from(at).ok()
}

/// The number of replicas that should run in each minute of the week. For a schedule without counts
/// it is 1 while the workload should run and 0 while it should be stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WeekCounts {
    /// Each minute, from 0 on, at which another count begins, with that count.
    steps: Vec<(u32, u64)>,
}

/// Stopped in the whole week.
impl Default for WeekCounts {
    fn default() -> Self {
        Self::constant(0)
    }
}

impl WeekCounts {
    pub(crate) fn constant(count: u64) -> Self {
        let steps = vec![(0, count)];
        Self { steps }
    }

    /// The whole week.
    pub(crate) fn always() -> Self {
        Self::constant(1)
    }

    /// Running in a range of one day, of which the end is exclusive.
    pub(crate) fn on(day: u32, from: u32, to: u32) -> Self {
        let steps = [(0, 0), (day * DAY + from, 1), (day * DAY + to, 0)];
        Self::new(if from < to { &steps } else { &steps[..1] })
    }

    /// `count` from each start to the next end, otherwise 0. If a start and an end are in the same minute,
    /// the start wins.
    pub(crate) fn between(starts: &[u32], ends: &[u32], count: u64) -> Self {
        let each = |minutes: &[u32], count| -> Vec<_> {
            minutes.iter().map(|minute| (*minute, count)).collect()
        };
        let mut steps = [each(ends, 0), each(starts, count)].concat();
        steps.sort_by_key(|step| step.0);
        let last = steps.last().map_or(0, |last| last.1);
        steps.insert(0, (0, last));
        Self::new(&steps)
    }

    /// If several steps are in one minute, the last one applies.
    fn new(all: &[(u32, u64)]) -> Self {
        let mut steps: Vec<(u32, u64)> = Vec::new();
        for (minute, count) in all.iter().filter(|(minute, _)| *minute < WEEK) {
            steps.pop_if(|last| last.0 == *minute);
            if steps.last().is_none_or(|last| last.1 != *count) {
                steps.push((*minute, *count));
            }
        }
        Self { steps }
    }

    fn at(&self, minute: u32) -> u64 {
        let next = self.steps.partition_point(|step| step.0 <= minute);
        self.steps
            .get(next.saturating_sub(1))
            .map_or(0, |step| step.1)
    }

    fn combine(&self, other: &Self, count: impl Fn(u64, u64) -> u64) -> Self {
        let both = self.steps.iter().chain(&other.steps);
        let minutes: BTreeSet<_> = both.map(|step| step.0).collect();
        let minutes = minutes.into_iter();
        let steps: Vec<_> = minutes
            .map(|minute| (minute, count(self.at(minute), other.at(minute))))
            .collect();
        Self::new(&steps)
    }

    /// The higher count of both.
    #[must_use]
    pub(crate) fn union(&self, other: &Self) -> Self {
        self.combine(other, u64::max)
    }

    /// These counts, but 0 while the other week runs.
    #[must_use]
    pub(crate) fn without(&self, other: &Self) -> Self {
        self.combine(other, |count, other| if other > 0 { 0 } else { count })
    }

    /// Whether both weeks run at the same time in any minute.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.without(other) != *self
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn is_always(&self) -> bool {
        *self == Self::always()
    }

    pub(crate) fn contains(&self, minute: u32) -> bool {
        self.at(minute) > 0
    }

    /// The minutes at which the count changes, with the new count. The last minute of the week is
    /// followed by its first.
    pub(crate) fn changes(&self) -> Vec<(u32, u64)> {
        let last = self.steps.last().map(|last| last.1);
        let is_change = |step: &&(u32, u64)| step.0 > 0 || Some(step.1) != last;
        self.steps.iter().filter(is_change).copied().collect()
    }

    /// The minutes at which it starts to run.
    pub(crate) fn begins(&self) -> Vec<u32> {
        let changes = self.changes().into_iter();
        let starts = changes.filter(|(_, count)| *count > 0);
        starts.map(|(minute, _)| minute).collect()
    }

    /// The minutes at which it stops.
    pub(crate) fn ends(&self) -> Vec<u32> {
        let changes = self.changes().into_iter();
        let stops = changes.filter(|(_, count)| *count == 0);
        stops.map(|(minute, _)| minute).collect()
    }

    /// The minutes at which it starts to run; each midnight if it always does.
    pub(crate) fn begins_or_midnights(&self) -> Vec<u32> {
        match self.is_always() {
            true => (0..7).map(|day| day * DAY).collect(),
            false => self.begins(),
        }
    }

    /// Whether it runs, or is stopped, for a single minute.
    pub(crate) fn has_lone_minute(&self) -> bool {
        let changes = self.changes();
        let next = changes.iter().cycle().skip(1);
        let mut pairs = changes.iter().zip(next);
        pairs.any(|((minute, _), (next, _))| (next + WEEK - minute) % WEEK == 1)
    }

    /// The value of `scale`; empty if the count never changes.
    pub(crate) fn scale(&self) -> String {
        let mut minutes_of: Vec<(u64, Vec<u32>)> = Vec::new();
        for (minute, count) in self.changes() {
            match minutes_of.iter_mut().find(|(known, _)| *known == count) {
                Some((_, minutes)) => minutes.push(minute),
                None => minutes_of.push((count, vec![minute])),
            }
        }
        let items = minutes_of.iter().flat_map(|(count, minutes)| {
            let times = times(minutes);
            let items = times.split("; ").map(|time| format!("{time} = {count}"));
            items.collect::<Vec<_>>()
        });
        items.collect::<Vec<_>>().join("; ")
    }

    /// The value of `hours`; empty for an empty set.
    pub(crate) fn hours(&self) -> String {
        if self.is_always() {
            return "00:00-24:00".to_owned();
        }
        let mut windows = Vec::new();
        let ends = self.ends();
        for from in self.begins() {
            let end = ends.iter().find(|end| **end > from);
            let to = end.or(ends.first()).map_or(
                from,
                |end| {
                    if *end > from { *end } else { end + WEEK }
                },
            );
            let (mut day, mut from, mut to) = (from / DAY, from % DAY, to - from / DAY * DAY);
            // A window can end on the next day, but not a day later.
            while to > DAY && to - from >= DAY {
                windows.push((day % 7, (from, DAY)));
                (day, from, to) = (day + 1, 0, to - DAY);
            }
            windows.push((day % 7, (from, if to > DAY { to - DAY } else { to })));
        }
        list(windows, |(from, to)| {
            format!("{}-{}", clock(from), clock(to))
        })
    }
}

/// Formats minutes of the week as a value of `start` or `stop`.
pub(crate) fn times(minutes: &[u32]) -> String {
    let on_days = minutes
        .iter()
        .map(|minute| (minute / DAY % 7, minute % DAY));
    list(on_days.collect(), clock)
}

/// Formats days and times: `Mon-Fri 08:00,12:00; Sat 10:00`
pub(crate) fn list<T: Copy + Ord>(
    mut on_days: Vec<(u32, T)>,
    text: impl Fn(T) -> String,
) -> String {
    on_days.sort_unstable();
    let mut values: Vec<T> = on_days.iter().map(|pair| pair.1).collect();
    values.sort_unstable();
    values.dedup();
    let mut groups: Vec<(u8, Vec<T>)> = Vec::new();
    for it in values {
        let on = on_days.iter().filter(|(_, values)| *values == it);
        let days = on.fold(0, |days, (day, _)| days | 1 << day);
        match groups.iter_mut().find(|(known, _)| *known == days) {
            Some((_, all)) => all.push(it),
            None => groups.push((days, vec![it])),
        }
    }
    groups.sort_by_key(|(days, _)| days.trailing_zeros());
    let items = groups.into_iter().map(|(on, values)| {
        let values: Vec<_> = values.into_iter().map(&text).collect();
        let space = if on == EVERY_DAY { "" } else { " " };
        format!("{}{space}{}", days(on), values.join(","))
    });
    items.collect::<Vec<_>>().join("; ")
}

const EVERY_DAY: u8 = 0b111_1111;

/// Formats days: `Mon-Fri`, or nothing for every day. Bit 0 is Monday.
pub(crate) fn days(days: u8) -> String {
    if days == EVERY_DAY {
        return String::new();
    }
    let has = |day: usize| days >> (day % 7) & 1 == 1;
    let name = |day: usize| NAMES[day % 7];
    let mut ranges = Vec::new();
    for day in (0..7).filter(|day| has(*day) && !has(day + 6)) {
        let length = (1..7).find(|length| !has(day + length)).unwrap_or(7);
        ranges.push(match length {
            1 => name(day).to_owned(),
            _ => format!("{}-{}", name(day), name(day + length - 1)),
        });
    }
    ranges.join(",")
}

/// Formats a time of day: `08:00`
pub(crate) fn clock(minute: u32) -> String {
    format!("{:02}:{:02}", minute / 60, minute % 60)
}

/// The maximum number of times of a day to write out.
const MAX_TIMES: usize = 4;

/// The minutes of the week at which a cron expression occurs, if it is weekly.
pub(crate) fn minutes_of_week(cron: &str) -> Option<Vec<u32>> {
    Times::parse(cron).ok()?.minutes_of_week()
}

/// The days of the week of some minutes. Bit 0 is Monday.
pub(crate) fn days_of(minutes: &[u32]) -> u8 {
    let mut days = minutes.iter().map(|minute| minute / DAY);
    days.try_fold(0, |all, day| Some(all | 1_u8.checked_shl(day)?))
        .unwrap_or_default()
}

/// Converts cron with five fields to days and times such as `Mon-Fri 08:00` if it is weekly. Other
/// cron stays as it is; `None` if it is not cron.
pub(crate) fn weekly_text(cron: &str) -> Option<String> {
    let fields: Vec<_> = cron.split_whitespace().collect();
    let cron = fields.join(" ");
    let read = Times::parse(&cron).ok()?;
    let minutes = read.minutes_of_week().filter(|minutes| {
        let times: BTreeSet<_> = minutes.iter().map(|minute| minute % DAY).collect();
        times.len() <= MAX_TIMES
    });
    Some(minutes.map_or(cron, |minutes| times(&minutes)))
}

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
type LocalTimes = (Vec<u32>, BTreeSet<NaiveDateTime>);

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

#[cfg(test)]
mod tests {
    use super::*;

    fn week(parts: &[(u32, u32, u32)]) -> WeekCounts {
        let parts = parts
            .iter()
            .map(|(day, from, to)| WeekCounts::on(*day, *from, *to));
        parts.fold(WeekCounts::default(), |all, part| all.union(&part))
    }

    #[test]
    fn formats_short_texts() {
        let office: Vec<_> = (0..5).map(|day| (day, 480, 1200)).collect();
        let night: Vec<_> = (0..5)
            .flat_map(|day| [(day, 0, 480), (day, 1200, DAY)])
            .collect();
        for (parts, hours, complement) in [
            (
                &office[..],
                "Mon-Fri 08:00-20:00",
                "Mon-Thu 20:00-08:00; Fri 20:00-24:00; Sat-Sun 00:00-24:00; Mon 00:00-08:00",
            ),
            (
                &night,
                "Mon 00:00-08:00; Mon-Thu 20:00-08:00; Fri 20:00-24:00",
                "x",
            ),
            (&[], "", "00:00-24:00"),
            (&[(0, 0, 60), (6, 1380, DAY)], "Sun 23:00-01:00", "x"),
            (
                &[(0, 540, 720), (0, 780, 1020), (2, 540, 720), (2, 780, 1020)],
                "Mon,Wed 09:00-12:00,13:00-17:00",
                "x",
            ),
        ] {
            assert_eq!(week(parts).hours(), hours);
            if complement != "x" {
                let all: Vec<_> = WeekCounts::always()
                    .without(&week(parts))
                    .hours()
                    .split("; ")
                    .map(str::to_owned)
                    .collect();
                let mut expected: Vec<_> = complement.split("; ").map(str::to_owned).collect();
                let mut all = all;
                all.sort();
                expected.sort();
                assert_eq!(all, expected);
            }
        }
        assert_eq!(
            times(&[480, DAY + 480, 5 * DAY + 600]),
            "Mon-Tue 08:00; Sat 10:00"
        );
        assert_eq!(days(0b110_0001), "Sat-Mon");
    }

    #[test]
    fn joins_ranges_across_the_end_of_the_week() {
        let night = week(&[(0, 0, 60), (6, 1380, DAY)]);
        assert_eq!(
            (night.begins(), night.ends()),
            (vec![6 * DAY + 1380], vec![60])
        );
        assert!(WeekCounts::always().begins().is_empty() && WeekCounts::always().ends().is_empty());
        let sunday = WeekCounts::on(6, 0, DAY);
        assert_eq!((sunday.begins(), sunday.ends()), (vec![6 * DAY], vec![0]));
    }

    #[test]
    fn formats_weekly_cron_as_days_and_times() {
        for (cron, expected) in [
            ("0 8 * * 1-5", Some("Mon-Fri 08:00")),
            ("30 20 ? * *", Some("20:30")),
            ("0 8,20 * * SAT,0", Some("Sat-Sun 08:00,20:00")),
            ("*/5 * * * *", Some("*/5 * * * *")),
            ("0 8 1 * *", Some("0 8 1 * *")),
            ("0 8 * * 7", Some("Sun 08:00")),
            ("0 0/6 * * 2", Some("Tue 00:00,06:00,12:00,18:00")),
            ("61 8 * * *", None),
            ("8:00", None),
            ("0 8 * *", None),
        ] {
            let read = weekly_text(cron).filter(|_| cron.split_whitespace().count() == 5);
            assert_eq!(read.as_deref(), expected, "{cron}");
        }
    }
}
