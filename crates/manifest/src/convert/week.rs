//! Weekly times in minutes from Monday 00:00, and their texts in dayshift's syntax.

use std::collections::BTreeSet;

use dayshift_schedule::{Times, merge_spans};

/// Minutes of a day.
pub(crate) const DAY: u32 = 1440;

/// Minutes of a week.
pub(crate) const WEEK: u32 = 7 * DAY;

const NAMES: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// Parses the abbreviation of a day, where 0 is Monday.
pub(crate) fn day(name: &str) -> Option<u32> {
    let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    let at = names
        .iter()
        .position(|known| known.eq_ignore_ascii_case(name))?;
    u32::try_from(at).ok()
}

/// A set of minutes of the week.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WeekMinutes {
    /// Ranges of minutes, in order and with at least a minute between two.
    parts: Vec<(u32, u32)>,
}

impl WeekMinutes {
    /// The whole week.
    pub(crate) fn always() -> Self {
        Self {
            parts: vec![(0, WEEK)],
        }
    }

    /// A range of one day, of which the end is exclusive.
    pub(crate) fn on(day: u32, from: u32, to: u32) -> Self {
        let parts = if from < to {
            vec![(day * DAY + from, day * DAY + to)]
        } else {
            Vec::new()
        };
        Self { parts }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub(crate) fn is_always(&self) -> bool {
        self.parts == [(0, WEEK)]
    }

    pub(crate) fn contains(&self, minute: u32) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|&(from, to)| (from..to).contains(&minute))
    }

    #[must_use]
    pub(crate) fn union(&self, other: &Self) -> Self {
        let parts = [&self.parts[..], &other.parts].concat();
        Self {
            parts: merge_spans(parts, |end, begin| begin <= end),
        }
    }

    #[must_use]
    pub(crate) fn complement(&self) -> Self {
        let mut from = 0;
        let mut parts = Vec::new();
        for &(begin, end) in &self.parts {
            if from < begin {
                parts.push((from, begin));
            }
            from = end;
        }
        if from < WEEK {
            parts.push((from, WEEK));
        }
        Self { parts }
    }

    #[must_use]
    pub(crate) fn without(&self, other: &Self) -> Self {
        self.complement().union(other).complement()
    }

    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.without(other) != *self
    }

    /// The ranges, with one that crosses the end of the week joined so that it ends after it.
    fn whole_parts(&self) -> Vec<(u32, u32)> {
        let mut parts = self.parts.clone();
        if let [(0, first), .., (_, WEEK)] = parts[..] {
            parts.remove(0);
            if let Some(last) = parts.last_mut() {
                last.1 += first;
            }
        }
        parts
    }

    /// Whether a range, or a gap between two ranges, is one minute long.
    pub(crate) fn has_lone_minute(&self) -> bool {
        let is_lone = |of: &Self| of.whole_parts().iter().any(|(from, to)| to - from == 1);
        is_lone(self) || is_lone(&self.complement())
    }

    /// The minutes at which ranges begin.
    pub(crate) fn begins(&self) -> Vec<u32> {
        if self.is_always() {
            return Vec::new();
        }
        let parts = self.whole_parts();
        parts.into_iter().map(|(from, _)| from).collect()
    }

    /// The minutes at which ranges end.
    pub(crate) fn ends(&self) -> Vec<u32> {
        self.complement().begins()
    }

    /// The value of `hours`; empty for an empty set.
    pub(crate) fn hours(&self) -> String {
        let mut windows = Vec::new();
        for (from, to) in self.whole_parts() {
            let (day, from) = (from / DAY, from % DAY);
            let to = to - day * DAY;
            if to <= DAY || to - from < DAY {
                windows.push((day, (from, if to > DAY { to - DAY } else { to })));
                continue;
            }
            for (nth, begin) in (0..to)
                .step_by(DAY as usize)
                .zip(0..)
                .map(|(begin, n)| (n, begin))
            {
                let first = if nth == 0 { from } else { 0 };
                let part = (first, (to - begin).min(DAY));
                windows.push(((day + nth) % 7, part));
            }
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
    let mut what: Vec<T> = on_days.iter().map(|pair| pair.1).collect();
    what.sort_unstable();
    what.dedup();
    let mut groups: Vec<(u8, Vec<T>)> = Vec::new();
    for it in what {
        let on = on_days.iter().filter(|(_, what)| *what == it);
        let days = on.fold(0, |days, (day, _)| days | 1 << day);
        match groups.iter_mut().find(|(known, _)| *known == days) {
            Some((_, all)) => all.push(it),
            None => groups.push((days, vec![it])),
        }
    }
    groups.sort_by_key(|(days, _)| days.trailing_zeros());
    let items = groups.into_iter().map(|(on, what)| {
        let what: Vec<_> = what.into_iter().map(&text).collect();
        let space = if on == EVERY_DAY { "" } else { " " };
        format!("{}{space}{}", days(on), what.join(","))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn week(parts: &[(u32, u32, u32)]) -> WeekMinutes {
        let parts = parts
            .iter()
            .map(|(day, from, to)| WeekMinutes::on(*day, *from, *to));
        parts.fold(WeekMinutes::default(), |all, part| all.union(&part))
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
                let all: Vec<_> = week(parts)
                    .complement()
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
        assert!(
            WeekMinutes::always().begins().is_empty() && WeekMinutes::always().ends().is_empty()
        );
        let sunday = WeekMinutes::on(6, 0, DAY);
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
