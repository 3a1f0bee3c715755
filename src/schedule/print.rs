//! Times and hours as texts that read as the same again.

use std::collections::BTreeMap;
use std::fmt;

use super::cron::expression::Cron;
use super::day::Day;
use super::hours::Hours;
use super::text::days::Days;
use super::times::Times;
use super::windows::DAY;
use super::zone::local::Local;

/// In a form of its own: equal times are printed alike, however they were written.
impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut days_at: BTreeMap<u32, Days> = BTreeMap::new();
        for second in self.weekly.iter() {
            let days = days_at.entry(second % DAY).or_insert(Days::NONE);
            *days = days.and(Days::of(second / DAY));
        }
        let mut times_on: BTreeMap<Days, Vec<String>> = BTreeMap::new();
        for (second, days) in days_at {
            times_on.entry(days).or_default().push(clock(second));
        }
        let weekly = times_on
            .into_iter()
            .map(|(days, times)| format!("{days}{}", times.join(",")));
        let monthly = self.monthly.iter().map(|(days, times)| {
            let times: Vec<_> = times.iter().copied().map(clock).collect();
            format!("{days}{}", times.join(","))
        });
        let moments = self.moments.iter().copied().map(moment);
        let crons = self.crons.iter().map(Cron::to_string);
        let items: Vec<_> = weekly.chain(monthly).chain(moments).chain(crons).collect();
        f.write_str(&items.join("; "))
    }
}

/// In a form of its own: equal hours are printed alike, however they were written.
impl fmt::Display for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut days_of: BTreeMap<String, Days> = BTreeMap::new();
        for (number, day) in (0..).zip(&self.days) {
            let windows = windows(day);
            if !windows.is_empty() {
                let days = days_of.entry(windows.join(",")).or_insert(Days::NONE);
                *days = days.and(Days::of(number));
            }
        }
        let weekly = days_of.into_iter();
        let weekly = weekly.map(|(windows, days)| format!("{days}{windows}"));
        let monthly = self.monthly.iter();
        let monthly = monthly.map(|(days, day)| format!("{days}{}", windows(day).join(",")));
        let items: Vec<_> = weekly.chain(monthly).collect();
        f.write_str(&items.join("; "))
    }
}

fn windows(day: &Day) -> Vec<String> {
    let mut windows: Vec<_> = day
        .own
        .iter()
        .map(|(from, to)| format!("{}-{}", clock(*from), clock(*to)))
        .collect();
    if day.tail > 0 {
        // Whatever goes on after midnight covers the minute before it.
        windows.push(format!("23:59-{}", clock(day.tail)));
    }
    windows
}

fn clock(second: u32) -> String {
    format!("{:02}:{:02}", second / 3600, second / 60 % 60)
}

fn moment(local: Local) -> String {
    local
        .to_naive()
        .map(|at| at.format("%Y-%m-%d %H:%M").to_string())
        .unwrap_or_default()
}

/// Six fields, the first of which are the seconds.
impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A star among the days says more than all of its values: the other field alone counts.
        let day = |bits: u64, all: u64| {
            if bits == all && !self.either_day {
                "*".to_owned()
            } else {
                values(bits)
            }
        };
        write!(
            f,
            "{} {} {} {} {} {}",
            values(self.seconds),
            values(self.minutes),
            values(self.hours),
            day(self.days_of_month, u64::from(u32::MAX) & !1),
            values(self.months),
            day(self.days_of_week, 0x7f)
        )
    }
}

/// `0-4,30`
fn values(bits: u64) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for value in (0..64).filter(|value| bits >> value & 1 == 1) {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == value => *last = value,
            _ => runs.push((value, value)),
        }
    }
    let runs: Vec<_> = runs
        .into_iter()
        .map(|(first, last)| {
            if first == last {
                first.to_string()
            } else {
                format!("{first}-{last}")
            }
        })
        .collect();
    runs.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_printed_in_one_form() {
        for (text, printed) in [
            ("daily 09:00", "09:00"),
            ("Wed 9:00; Mon 09:00,8:30", "Mon 08:30; Mon,Wed 09:00"),
            (
                "weekends 10:00; Fri-Mon 22:00",
                "Sat,Sun 10:00; Mon,Fri,Sat,Sun 22:00",
            ),
            (
                "last weekday 9:00; FIRST Monday 09:00; third day 8:00; second Sun 07:00",
                "second Sun 07:00; third day 08:00; first Mon,last weekday 09:00",
            ),
            (
                "first Mon 09:00; last day 10:00,09:00",
                "last day 10:00; first Mon,last day 09:00",
            ),
            ("2026-12-24 18:00; 07:00", "07:00; 2026-12-24 18:00"),
            ("*/20 9-17 * * Mon-Fri", "0 0,20,40 9-17 * 1-12 1-5"),
            ("0 0 1-31 * 1", "0 0 0 1-31 1-12 1"),
            ("15 30 0 13 * 7", "15 30 0 13 1-12 0"),
            ("@monthly", "0 0 0 1 1-12 *"),
        ] {
            let times = Times::parse(text).unwrap();
            assert_eq!(times.to_string(), printed, "{text}");
            assert_eq!(Times::parse(printed), Ok(times), "{text}");
        }
    }

    #[test]
    fn hours_are_printed_in_one_form() {
        for (text, printed) in [
            ("09:00-12:00,12:00-19:00", "09:00-19:00"),
            ("Sat 10:00-14:00; Fri 10:00-14:00", "Fri,Sat 10:00-14:00"),
            ("Mon 00:00-24:00", "Mon 00:00-24:00"),
            (
                "last Fri 22:00-06:00; Mon 09:00-10:00; first day,last Fri 08:00-09:00",
                "Mon 09:00-10:00; first day 08:00-09:00; last Fri 08:00-09:00,22:00-24:00,23:59-06:00",
            ),
            (
                "first Mon 09:00-12:00,11:00-13:00; last day 09:00-13:00",
                "first Mon,last day 09:00-13:00",
            ),
            ("Sun 22:00-06:00", "Sun 22:00-24:00,23:59-06:00"),
            (
                "Tue 00:00-12:00; Tue 10:00-09:00",
                "Tue 00:00-24:00,23:59-09:00",
            ),
        ] {
            let hours = Hours::parse(text).unwrap();
            assert_eq!(hours.to_string(), printed, "{text}");
            assert_eq!(Hours::parse(printed), Ok(hours), "{text}");
        }
    }
}
