//! The edges of a drawn week that users can drag: for each time in the fields of the form, the places at
//! which the week shows it. A script moves them and writes the time into the field; without it, users type.

use std::{fmt::Write as _, ops::Range};

use chrono::{NaiveDate, NaiveTime, TimeDelta};
use dayshift_manifest::plan::Period;
use dayshift_schedule::{Schedule, Times};
use dayshift_workload::{Inputs, Key};

/// The script. The content security policy allows only its hash.
pub(super) const SCRIPT: &str = include_str!("edges.js");

/// The fields whose times can be dragged.
const DRAGGED: [Key; 3] = [Key::Hours, Key::Start, Key::Stop];
/// The maximum number of edges. If there are more, none can be dragged.
const MAX_EDGES: usize = 100;
const DAY: i64 = 24 * 60;

/// A time of a field on one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Edge {
    key: Key,
    /// Its position among the times in the text. In running hours, starts are even and stops are odd.
    at: usize,
    /// Minutes from the beginning of the period.
    position: i64,
    /// Minutes from the midnight of its day.
    time: i64,
}

/// The edges of the week of a schedule, for the script: `hours,0,1440 hours,1,1440` contains for each its
/// field, its position among the times in the text, and the minutes from the beginning of the period to the
/// midnight from which the time is counted. `None` if there are none, or too many.
pub(super) fn draggable_edges(
    inputs: &Inputs,
    schedule: &Schedule,
    period: Period,
) -> Option<String> {
    let mut edges = Vec::new();
    for key in DRAGGED {
        if let Some(text) = inputs.text(key) {
            add_edges(key, text, schedule, period, &mut edges);
        }
    }
    let all = edges.clone();
    // Windows that touch have no edge there.
    edges.retain(|edge| {
        !all.iter().any(|other| {
            let opposite = edge.at % 2 != other.at % 2;
            edge.key == Key::Hours && opposite && edge.position == other.position
        })
    });
    let mut text = String::new();
    for Edge {
        key,
        at,
        position,
        time,
    } in &edges
    {
        let separator = if text.is_empty() { "" } else { " " };
        // Writing to a string never fails.
        let _ = write!(text, "{separator}{},{at},{}", key.name(), position - time);
    }
    (1..=MAX_EDGES).contains(&edges.len()).then_some(text)
}

/// Adds the edges of a text. A cron expression and a date with a time have none.
fn add_edges(key: Key, text: &str, schedule: &Schedule, period: Period, edges: &mut Vec<Edge>) {
    let zone = schedule.zone();
    let first = period.from().with_timezone(&zone).date_naive();
    let span = (period.until() - period.from()).num_minutes();
    let mut before = 0;
    for item in text.split(';') {
        let times = clock_times(item);
        let earlier = before;
        before += times.len();
        let Some((days, _)) = times
            .first()
            .and_then(|(first, _)| item.split_at_checked(first.start))
        else {
            continue;
        };
        // A window can end on the next day.
        let dates = dates_of(days, first - TimeDelta::days(1), period);
        for date in dates {
            let is_excluded = schedule.except().contains(date);
            if is_excluded || schedule.treated().day_of_week(date).is_some() {
                continue;
            }
            let mut start = None;
            for (at, (_, time)) in times.iter().enumerate() {
                let is_end = key == Key::Hours && at % 2 == 1;
                let next_day = is_end && start.is_some_and(|start| *time <= start);
                let time = if next_day { time + DAY } else { *time };
                start = Some(time);
                let local = date.and_time(NaiveTime::MIN) + TimeDelta::minutes(time);
                let position = (zone.instant(local) - period.from()).num_minutes();
                if (0..=span).contains(&position) {
                    edges.push(Edge {
                        key,
                        at: earlier + at,
                        position,
                        time,
                    });
                }
            }
        }
    }
}

/// The dates until the end of the period on which an item with these days has times.
fn dates_of(days: &str, first: NaiveDate, period: Period) -> Vec<NaiveDate> {
    let Ok(noon) = Times::parse(&format!("{days} 12:00")) else {
        return Vec::new();
    };
    let end = period.until().naive_utc().date() + TimeDelta::days(1);
    let next = |after| noon.next_local(after);
    let noons = std::iter::successors(next(first.and_time(NaiveTime::MIN)), |noon| next(*noon));
    noons
        .map(|noon| noon.date())
        .take_while(|date| *date <= end)
        .collect()
}

/// The times such as `09:00` in a text, with their minutes of the day. The script finds the same ones.
fn clock_times(text: &str) -> Vec<(Range<usize>, i64)> {
    let time = |colon: usize| {
        let hour = text.get(..colon)?;
        let digits = hour.bytes().rev().take_while(u8::is_ascii_digit).count();
        let range = colon - digits.min(2)..colon + 3;
        let number = |range: Range<usize>| {
            let number = text.get(range)?;
            let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            number.parse::<i64>().ok().filter(|_| is_number)
        };
        let (hour, minute) = (number(range.start..colon)?, number(colon + 1..range.end)?);
        Some((range, 60 * hour + minute))
    };
    let colons = text.match_indices(':');
    colons.filter_map(|(colon, _)| time(colon)).collect()
}

#[cfg(test)]
mod tests {
    use dayshift_workload::{ParseContext, ParsedInputs, read};

    use super::*;

    /// The edges in the week from Monday 2026-11-23 in Berlin.
    fn edges(annotations: &[(Key, &str)]) -> String {
        let mut inputs = Inputs::default().with(Key::Timezone, "Europe/Berlin");
        for (key, text) in annotations {
            inputs = inputs.with(*key, text);
        }
        let ParsedInputs::Scheduled(spec) = read(&inputs, &ParseContext::default()) else {
            panic!("{annotations:?} is rejected");
        };
        let monday = "2026-11-22T23:00:00Z".parse().unwrap();
        let period = Period::new(monday, monday + TimeDelta::days(7)).unwrap();
        draggable_edges(&inputs, &spec.schedule, period).unwrap_or_default()
    }

    #[test]
    fn each_time_has_an_edge_on_each_of_its_days() {
        for (annotations, expected) in [
            (
                &[(Key::Hours, "Mon,Wed 9:00-19:00")][..],
                "hours,0,0 hours,1,0 hours,0,2880 hours,1,2880",
            ),
            (
                &[(Key::Hours, "Tue 09:00-12:00,13:00-17:00; Sat 10:00-11:00")],
                "hours,0,1440 hours,1,1440 hours,2,1440 hours,3,1440 hours,4,7200 hours,5,7200",
            ),
            (
                &[
                    (Key::Start, "Mon 09:00"),
                    (Key::Stop, "Mon 18:00; 0 20 * * *"),
                ],
                "start,0,0 stop,0,0",
            ),
            (&[(Key::Hours, "last Mon 09:00-10:00")], ""),
            (
                &[(Key::Hours, "fourth Mon 09:00-10:00")],
                "hours,0,0 hours,1,0",
            ),
            (&[(Key::Start, "0 9 * * *"), (Key::Stop, "@daily")], ""),
        ] {
            assert_eq!(edges(annotations), expected, "{annotations:?}");
        }
    }

    #[test]
    fn windows_at_midnight_have_edges_where_running_begins_and_ends() {
        for (hours, expected) in [
            // From Sunday to Monday, and from Monday to Tuesday.
            (
                "Sun,Mon 22:00-06:00",
                "hours,1,-1440 hours,0,0 hours,1,0 hours,0,8640",
            ),
            // The next Monday begins where the week ends.
            (
                "Mon-Tue 00:00-24:00",
                "hours,0,0 hours,1,1440 hours,0,10080",
            ),
            ("daily 00:00-24:00", ""),
            ("Mon 09:00-12:00,12:00-17:00", "hours,0,0 hours,3,0"),
        ] {
            assert_eq!(edges(&[(Key::Hours, hours)]), expected, "{hours}");
        }
    }

    #[test]
    fn excluded_and_treated_dates_have_no_edges() {
        let hours = (Key::Hours, "Mon-Tue 09:00-10:00");
        for other in [
            (Key::Except, "2026-11-23"),
            (Key::TreatAs, "2026-11-23 = Sun"),
        ] {
            assert_eq!(edges(&[hours, other]), "hours,0,1440 hours,1,1440");
        }
    }

    /// The clock is set back at 03:00 on Sunday 2026-10-25.
    #[test]
    fn an_edge_after_a_clock_change_is_at_its_time() {
        let inputs = Inputs::default()
            .with(Key::Hours, "Sun 01:00-09:00")
            .with(Key::Timezone, "Europe/Berlin");
        let ParsedInputs::Scheduled(spec) = read(&inputs, &ParseContext::default()) else {
            panic!("rejected");
        };
        let sunday = "2026-10-24T22:00:00Z".parse().unwrap();
        let period = Period::new(sunday, sunday + TimeDelta::hours(25)).unwrap();
        let edges = draggable_edges(&inputs, &spec.schedule, period);
        assert_eq!(edges.as_deref(), Some("hours,0,0 hours,1,60"));
    }

    #[test]
    fn a_text_with_many_times_has_no_edges() {
        let windows = (0..15).map(|hour| format!("{hour:02}:00-{hour:02}:30"));
        let windows: Vec<_> = windows.collect();
        assert_eq!(edges(&[(Key::Hours, &windows.join(","))]), "");
        assert!(!edges(&[(Key::Hours, &windows[..7].join(","))]).is_empty());
    }

    #[test]
    fn finds_times_between_other_text() {
        let times = |text| -> Vec<i64> {
            let times = clock_times(text).into_iter();
            times.map(|(_, minutes)| minutes).collect()
        };
        assert_eq!(times("Mon 9:05-24:00,1:30"), [545, 1440, 90]);
        for text in ["", ":", "9:", ":30", "a:00", "09:0", "é:ü0", "::::"] {
            assert_eq!(times(text), [0; 0], "{text}");
        }
    }

    /// It is part of each page with a form.
    #[test]
    fn the_script_is_small() {
        assert!(SCRIPT.len() < 4_500, "{}", SCRIPT.len());
        assert!(!SCRIPT.contains("</"), "it would end the element");
    }
}
