//! What an error proposes can be read where it is to stand, and means what the text meant: each
//! row says by itself when that happens.

use std::collections::BTreeSet;

use chrono::{Datelike, NaiveDate, NaiveDateTime, TimeDelta, Timelike, Utc};
use dayshift::schedule::{
    ExceptedDates, Hours, Meant, TextError, Times, Zone, parse_grace, parse_jitter, parse_moment,
    parse_scale,
};

/// Some weeks from a Monday on, over a turn of the month.
const WEEKS: i64 = 5;

fn monday() -> NaiveDateTime {
    "2026-11-23T00:00:00".parse().unwrap()
}

fn end() -> NaiveDateTime {
    monday() + TimeDelta::weeks(WEEKS)
}

/// When something happens, in words of the test alone.
#[derive(Clone, Copy, Debug)]
enum When {
    /// On the days of a week, as `MTWTF--`, at a time of day with its seconds.
    On(&'static str, &'static str),
    /// So many seconds apart, from midnight on.
    Every(i64),
    /// Once.
    Once(&'static str),
}
use When::{Every, On, Once};

fn is_on(sketch: &str, date: NaiveDate) -> bool {
    let day = date.weekday().num_days_from_monday() as usize;
    sketch.as_bytes()[day] != b'-'
}

fn expected(all: &[When]) -> BTreeSet<NaiveDateTime> {
    let mut found = BTreeSet::new();
    let seconds = (end() - monday()).num_seconds();
    for when in all {
        match *when {
            On(sketch, time) => {
                let time = time.parse::<chrono::NaiveTime>().unwrap();
                let days = monday().date().iter_days().take(7 * WEEKS as usize);
                let days = days.filter(|day| is_on(sketch, *day));
                found.extend(days.map(|day| day.and_time(time)));
            }
            Every(step) => found.extend(
                (0..seconds)
                    .step_by(usize::try_from(step).unwrap())
                    .map(|second| monday() + TimeDelta::seconds(second)),
            ),
            Once(at) => {
                found.insert(at.parse().unwrap());
            }
        }
    }
    found
}

fn happens(times: &str) -> BTreeSet<NaiveDateTime> {
    let times = Times::parse(times).unwrap_or_else(|error| panic!("{times}: {error}"));
    let first = times.next_local(monday() - TimeDelta::seconds(1));
    std::iter::successors(first, |at| times.next_local(*at))
        .take_while(|at| *at < end())
        .collect()
}

/// The minutes of those weeks that windows hold: days, beginning and end.
fn covered(windows: &[(&str, &str, &str)]) -> BTreeSet<NaiveDateTime> {
    let minute_of = |text: &str| {
        let (hour, minute) = text.split_once(':').unwrap();
        hour.parse::<i64>().unwrap() * 60 + minute.parse::<i64>().unwrap()
    };
    let mut found = BTreeSet::new();
    for (sketch, from, to) in windows {
        let (from, to) = (minute_of(from), minute_of(to));
        let to = if to > from { to } else { to + 24 * 60 };
        for day in monday().date().iter_days().take(7 * WEEKS as usize) {
            if is_on(sketch, day) {
                let midnight = day.and_time(chrono::NaiveTime::MIN);
                found.extend((from..to).map(|minute| midnight + TimeDelta::minutes(minute)));
            }
        }
    }
    // The first day shows what began before, which is not there to be counted.
    found
        .into_iter()
        .filter(|at| *at >= monday() + TimeDelta::days(1) && *at < end())
        .collect()
}

fn covered_by(hours: &str) -> BTreeSet<NaiveDateTime> {
    let hours = Hours::parse(hours).unwrap_or_else(|error| panic!("{hours}: {error}"));
    // On from one edge to the next; every test begins outside of windows, at midnight of a Tuesday.
    let mut found = BTreeSet::new();
    let mut edges = Vec::new();
    let mut at = monday() - TimeDelta::days(7);
    while let Some(edge) = hours
        .next_edge(at)
        .filter(|edge| *edge < end() + TimeDelta::days(8))
    {
        edges.push(edge);
        at = edge;
    }
    // The week before shows which edges are beginnings: more than one window may cross midnight, and
    // the one after the longest break is a beginning in all rows.
    let longest = edges
        .windows(2)
        .enumerate()
        .max_by_key(|(_, pair)| pair[1] - pair[0])
        .unwrap();
    let first = (longest.0 + 1) % 2;
    for pair in edges[first..].chunks_exact(2) {
        let minutes = (pair[1] - pair[0]).num_minutes();
        found.extend((0..minutes).map(|minute| pair[0] + TimeDelta::minutes(minute)));
    }
    found
        .into_iter()
        .filter(|at| *at >= monday() + TimeDelta::days(1) && *at < end())
        .collect()
}

fn meant_by<T: std::fmt::Debug>(text: &str, read: Result<T, TextError>) -> Option<Meant> {
    let error = match read {
        Ok(read) => panic!("{text} is right: {read:?}"),
        Err(error) => error,
    };
    let meant = error.meant().cloned();
    // What is proposed is what is said, and nothing else is.
    match &meant {
        Some(meant) if meant.to_string().len() < 60 => {
            assert!(error.to_string().ends_with(&meant.to_string()), "{error}");
        }
        _ => {}
    }
    meant
}

/// The whole text that is proposed for another one.
fn instead<T: std::fmt::Debug>(text: &str, read: Result<T, TextError>) -> String {
    let meant = meant_by(text, read).unwrap_or_else(|| panic!("{text}: nothing is proposed"));
    meant
        .applied_to(text)
        .unwrap_or_else(|| panic!("{text}: {meant:?}"))
}

fn proposed_times(text: &str) -> String {
    instead(text, Times::parse(text))
}

#[test]
fn times_that_are_proposed_are_those_that_were_meant() {
    let daily = "MTWTFSS";
    for (text, when) in [
        // Days.
        ("Mon-Fry 09:00", vec![On("MTWTF--", "09:00:00")]),
        ("Mon/Wed/Fri 09:00", vec![On("M-W-F--", "09:00:00")]),
        ("Mon Wed 09:00", vec![On("M-W----", "09:00:00")]),
        ("Mon & Wed 09:00", vec![On("M-W----", "09:00:00")]),
        ("Mon, Wed and Fri at 9:00", vec![On("M-W-F--", "09:00:00")]),
        ("Monday to Friday 09:00", vec![On("MTWTF--", "09:00:00")]),
        ("Mondays 09:00", vec![On("M------", "09:00:00")]),
        ("Tues,Thurs 09:00", vec![On("-T-T---", "09:00:00")]),
        ("Wendesday 09:00", vec![On("--W----", "09:00:00")]),
        ("weekday 09:00", vec![On("MTWTF--", "09:00:00")]),
        ("Weekend 10:00", vec![On("-----SS", "10:00:00")]),
        ("everyday 09:00", vec![On(daily, "09:00:00")]),
        ("every day at 09:00", vec![On(daily, "09:00:00")]),
        ("Mon\u{2013}Fri 09:00", vec![On("MTWTF--", "09:00:00")]),
        ("Fri~Mon 09:00", vec![On("M---FSS", "09:00:00")]),
        ("09:00 Mon-Fri", vec![On("MTWTF--", "09:00:00")]),
        ("09:00 on Sat and Sun", vec![On("-----SS", "09:00:00")]),
        ("Mon. 09:00", vec![On("M------", "09:00:00")]),
        (
            "Mon 09:00, Tue 10:00",
            vec![On("M------", "09:00:00"), On("-T-----", "10:00:00")],
        ),
        (
            "Mon 09:00,13:00, Tue 10:00",
            vec![
                On("M------", "09:00:00"),
                On("M------", "13:00:00"),
                On("-T-----", "10:00:00"),
            ],
        ),
        // Times of day.
        ("9am", vec![On(daily, "09:00:00")]),
        ("12am", vec![On(daily, "00:00:00")]),
        ("12pm", vec![On(daily, "12:00:00")]),
        ("Mon-Fri 7:30 PM", vec![On("MTWTF--", "19:30:00")]),
        ("Mon-Fri 7:30 p.m.", vec![On("MTWTF--", "19:30:00")]),
        ("Monday 9", vec![On("M------", "09:00:00")]),
        ("900", vec![On(daily, "09:00:00")]),
        ("1930", vec![On(daily, "19:30:00")]),
        ("9.30", vec![On(daily, "09:30:00")]),
        ("9h30", vec![On(daily, "09:30:00")]),
        ("18 Uhr", vec![On(daily, "18:00:00")]),
        ("9:5", vec![On(daily, "09:05:00")]),
        ("noon", vec![On(daily, "12:00:00")]),
        ("midnight", vec![On(daily, "00:00:00")]),
        (
            "\u{ff10}\u{ff19}\u{ff1a}\u{ff10}\u{ff10}",
            vec![On(daily, "09:00:00")],
        ),
        ("\"09:00\"", vec![On(daily, "09:00:00")]),
        ("Mon 24:00", vec![On("-T-----", "00:00:00")]),
        ("Mon-Fri 24:00", vec![On("-TWTFS-", "00:00:00")]),
        ("18:00:00", vec![On(daily, "18:00:00")]),
        ("18:00:30", vec![On(daily, "18:00:30")]),
        ("Mon-Wed,Fri 18:00:30", vec![On("MTW-F--", "18:00:30")]),
        ("Fri-Mon 18:00:30", vec![On("M---FSS", "18:00:30")]),
        // Lists.
        ("09:00;", vec![On(daily, "09:00:00")]),
        ("; 09:00", vec![On(daily, "09:00:00")]),
        (
            "09:00;;10:00",
            vec![On(daily, "09:00:00"), On(daily, "10:00:00")],
        ),
        (
            "Mon 09:00\u{ff1b}Tue 10:00",
            vec![On("M------", "09:00:00"), On("-T-----", "10:00:00")],
        ),
        // Dates.
        ("12/24/2026 18:00", vec![Once("2026-12-24T18:00:00")]),
        ("24/12/2026 6pm", vec![Once("2026-12-24T18:00:00")]),
        ("24.12.2026 18:00", vec![Once("2026-12-24T18:00:00")]),
        ("05.12.2026 18:00", vec![Once("2026-12-05T18:00:00")]),
        ("2026/12/24 18:00", vec![Once("2026-12-24T18:00:00")]),
        ("2026-12-5 18:00", vec![Once("2026-12-05T18:00:00")]),
        ("20261224 18:00", vec![Once("2026-12-24T18:00:00")]),
        ("Dec 24, 2026 18:00", vec![Once("2026-12-24T18:00:00")]),
        (
            "24th December 2026 18:00",
            vec![Once("2026-12-24T18:00:00")],
        ),
        ("Thu 24 Dec 2026 18:00", vec![Once("2026-12-24T18:00:00")]),
        ("2026年12月24日 18:00", vec![Once("2026-12-24T18:00:00")]),
        ("2026-12-24T18:00", vec![Once("2026-12-24T18:00:00")]),
        ("2026-12-24T18:00:00", vec![Once("2026-12-24T18:00:00")]),
        ("2026-12-24 6:00 PM", vec![Once("2026-12-24T18:00:00")]),
        ("2026-12-24 9:05:00", vec![Once("2026-12-24T09:05:00")]),
        ("18:00 2026-12-24", vec![Once("2026-12-24T18:00:00")]),
        // Cron.
        ("0 9 * * fri-mon", vec![On("M---FSS", "09:00:00")]),
        ("0 9 * * Sat-Mon", vec![On("M----SS", "09:00:00")]),
        ("0 9 * * Fri-Sun", vec![On("----FSS", "09:00:00")]),
        ("0 9 * * 5-1", vec![On("M---FSS", "09:00:00")]),
        ("0 9 * * 5-1/2", vec![On("----F-S", "09:00:00")]),
        (
            "0 22-1 * * *",
            vec![
                On(daily, "22:00:00"),
                On(daily, "23:00:00"),
                On(daily, "00:00:00"),
                On(daily, "01:00:00"),
            ],
        ),
        (
            "58-1 9 * * *",
            vec![
                On(daily, "09:58:00"),
                On(daily, "09:59:00"),
                On(daily, "09:00:00"),
                On(daily, "09:01:00"),
            ],
        ),
        ("0 9 * * Monday", vec![On("M------", "09:00:00")]),
        ("0 9 * * Mon-Fry", vec![On("MTWTF--", "09:00:00")]),
        ("0 9 * * weekdays", vec![On("MTWTF--", "09:00:00")]),
        ("0 9 * * Mon\u{2013}Fri", vec![On("MTWTF--", "09:00:00")]),
        ("0 9 24 December *", vec![Once("2026-12-24T09:00:00")]),
        ("0 9 ? * MON-FRI *", vec![On("MTWTF--", "09:00:00")]),
        ("cron(0 9 ? * MON-FRI *)", vec![On("MTWTF--", "09:00:00")]),
        ("cron(0 9 ? * 2-6 *)", vec![On("MTWTF--", "09:00:00")]),
        ("cron(0 9 ? * 1 *)", vec![On("------S", "09:00:00")]),
        ("cron(0/30 * * * ? *)", vec![Every(1800)]),
        ("0 0 9 ? * MON-FRI *", vec![On("MTWTF--", "09:00:00")]),
        ("0 9 24 12 ? 2026", vec![Once("2026-12-24T09:00:00")]),
        ("0 0 9 24 Dec ? 2026", vec![Once("2026-12-24T09:00:00")]),
        ("0 9 * * Mon#1", vec![Once("2026-12-07T09:00:00")]),
        ("0 9 L * ?", vec![Once("2026-11-30T09:00:00")]),
        ("frist Mon 09:00", vec![Once("2026-12-07T09:00:00")]),
        (
            "1st Monday of the month at 9am",
            vec![Once("2026-12-07T09:00:00")],
        ),
        ("last workday 18h", vec![Once("2026-11-30T18:00:00")]),
        ("@every 5m", vec![Every(300)]),
        ("@every 1m", vec![Every(60)]),
        ("@every 30s", vec![Every(30)]),
        ("@every 1h", vec![Every(3600)]),
        ("@every 6h", vec![Every(6 * 3600)]),
        ("@every 24h", vec![On(daily, "00:00:00")]),
        ("@every 0h15m0s", vec![Every(900)]),
        ("every 10 minutes", vec![Every(600)]),
        ("rate(5 minutes)", vec![Every(300)]),
        ("@dayly", vec![On(daily, "00:00:00")]),
        ("hourly", vec![Every(3600)]),
    ] {
        let proposed = proposed_times(text);
        assert_eq!(happens(&proposed), expected(&when), "{text}: {proposed}");
        // The same as one item of several.
        let among = format!("Sun 23:59; {text}");
        if !text.contains([';', '；']) {
            let proposed = proposed_times(&among);
            let mut when = when;
            when.push(On("------S", "23:59:00"));
            assert_eq!(happens(&proposed), expected(&when), "{among}: {proposed}");
        }
    }
}

/// Every way to write days, with every way to write a time.
#[test]
fn days_and_times_in_any_spelling_are_proposed_in_ours() {
    let days = [
        ("Mon-Fri", "MTWTF--"),
        ("Mon to Fri", "MTWTF--"),
        ("monday - friday", "MTWTF--"),
        ("MONDAY THROUGH FRIDAY", "MTWTF--"),
        ("Mon\u{2014}Fri", "MTWTF--"),
        ("weekday", "MTWTF--"),
        ("Sat/Sun", "-----SS"),
        ("Sat+Sun", "-----SS"),
        ("sat and sun", "-----SS"),
        ("Saturdays, Sundays", "-----SS"),
        ("Satuday", "-----S-"),
        ("Fri till Mon", "M---FSS"),
        ("tues,thur", "-T-T---"),
        ("", "MTWTFSS"),
    ];
    let times = [
        ("9 am", "09:00:00"),
        ("9:00am", "09:00:00"),
        ("09:00 AM", "09:00:00"),
        ("9 P.M.", "21:00:00"),
        ("12:15 am", "00:15:00"),
        ("12.15 pm", "12:15:00"),
        ("0915", "09:15:00"),
        ("21h", "21:00:00"),
        ("21h05", "21:05:00"),
        ("7:08:09", "07:08:09"),
        ("\u{ff12}\u{ff11}:00", "21:00:00"),
    ];
    let mut count = 0;
    for (day, sketch) in days {
        for (time, at) in times {
            for text in [
                format!("{day} {time}"),
                format!("{day} at {time}"),
                format!("{time} {day}"),
                format!("{time} on {day}"),
            ] {
                if text.ends_with("on ") {
                    continue;
                }
                let proposed = proposed_times(&text);
                assert_eq!(
                    happens(&proposed),
                    expected(&[On(sketch, at)]),
                    "{text}: {proposed}"
                );
                count += 1;
            }
        }
    }
    assert!(count > 500, "{count}");
}

#[test]
fn nothing_is_proposed_where_a_text_could_mean_two_things() {
    for text in [
        "2026-12-24 9:05:30", // no kind of text has a date and seconds
        "0 9 * * 1-5 2026",
        "0 0 9 * * 2-6 *", // Quartz counts from Sunday, others from Monday
        "0 0 9 * * 1-5 2026",
        "05/12/2026 18:00",
        "05-12-2026 18:00",
        "Fri 24 Dec 2026 18:00", // it is a Thursday
        "2026-12-24T18:00:00Z",
        "2026-12-24 18:00 +09:00",
        "2026-02-30 18:00",
        "2026-12-24",
        "Mon midnight",
        "Mon",
        "Mun 09:00 oder so",
        "Don 09:00", // German for Thursday
        "S 09:00",
        "T 09:00",
        "13pm",
        "25:00",
        "9:61",
        "Mon 09:00 Tue",
        "09:00 Mon 10:00",
        "@every 7m",
        "@every 90m",
        "@every 48h",
        "@every",
        "@reboot",
        "rate(0 minutes)",
        "* * * *",
        "60 9 * * *",
        "*/0 * * * *",
        "*-5 * * * *",
        "0 0 30 2 *",
        "0 9 1 * +Mon",
        "0 9 15W * *",
        "0 9 15 * FriL",
        "0 9 * * 5L",
        "first Mon,Fri 09:00",
        "first Mon-Wed 09:00",
        "first Mon 24:00",
        "every month 09:00",
        "every other day 09:00",
        "fifth Mon 09:00",
        "sometimes",
        "09:00 and so on",
        "5-9 of 10",
        "Mon 09:00-17:00; Mon 18:00", // a window among times
        "\u{1b}[2J",
        "......",
        "日曜 09:00",
    ] {
        assert_eq!(meant_by(text, Times::parse(text)), None, "{text}");
    }
    for text in [
        "9-5",
        "9-5pm",
        "1am-5",
        "09:00-09:00",
        "Mon-Fri 09:00",
        "Mon-Fri",
        "09:00-17:00:30",
        "0 9 * * 1-5",
        "2026-12-24 09:00-17:00",
        "Mon midnight-06:00",
        "Mon 08:00-Mon 18:00",
        "Mon-Tue 08:00-Fri 18:00",
        "Mon 08:00-Fri 18:00; Sat 10:00-14:00",
        "always",
        "25:00-26:00",
    ] {
        assert_eq!(meant_by(text, Hours::parse(text)), None, "{text}");
    }
}

#[test]
fn hours_that_are_proposed_are_those_that_were_meant() {
    for (text, windows) in [
        (
            "Mon-Fri 09:00-17:00, Sat 10:00-14:00",
            vec![("MTWTF--", "09:00", "17:00"), ("-----S-", "10:00", "14:00")],
        ),
        (
            "Mon-Fri 9:00 AM - 5:00 PM",
            vec![("MTWTF--", "09:00", "17:00")],
        ),
        ("Mon-Fri 9am-5pm", vec![("MTWTF--", "09:00", "17:00")]),
        (
            "9 am to 5 pm on Mon/Wed/Fri",
            vec![("M-W-F--", "09:00", "17:00")],
        ),
        ("Mon-Fri 9-17", vec![("MTWTF--", "09:00", "17:00")]),
        ("Mon-Fri 9-17 Uhr", vec![("MTWTF--", "09:00", "17:00")]),
        (
            "Mon-Fri from 09:00 until 17:00",
            vec![("MTWTF--", "09:00", "17:00")],
        ),
        ("Mon-Fri 09:00..17:00", vec![("MTWTF--", "09:00", "17:00")]),
        (
            "Mon-Fri 09:00\u{2013}17:00",
            vec![("MTWTF--", "09:00", "17:00")],
        ),
        (
            "Mon-Fri 09:00\u{301c}17:00",
            vec![("MTWTF--", "09:00", "17:00")],
        ),
        ("Mon-Fri 0900-1700", vec![("MTWTF--", "09:00", "17:00")]),
        (
            "Mon-Fri 09:00:00-17:00:00",
            vec![("MTWTF--", "09:00", "17:00")],
        ),
        ("Fri 10pm-6am", vec![("----F--", "22:00", "06:00")]),
        ("Fri 22-6", vec![("----F--", "22:00", "06:00")]),
        ("Fri 18:00-midnight", vec![("----F--", "18:00", "24:00")]),
        ("Fri noon-6pm", vec![("----F--", "12:00", "18:00")]),
        ("Fri 24:00-06:00", vec![("-----S-", "00:00", "06:00")]),
        ("Mon-Fry 09:00-17:00", vec![("MTWTF--", "09:00", "17:00")]),
        ("09:00-17:00 Mon-Fri", vec![("MTWTF--", "09:00", "17:00")]),
        (
            "Mon-Fri 09:00-12:00 and 13:00-17:00",
            vec![("MTWTF--", "09:00", "12:00"), ("MTWTF--", "13:00", "17:00")],
        ),
        ("Mon-Fri 09:00-17:00;", vec![("MTWTF--", "09:00", "17:00")]),
        (
            "Mon-Fri \u{ff10}\u{ff19}\u{ff1a}\u{ff10}\u{ff10}-17:00",
            vec![("MTWTF--", "09:00", "17:00")],
        ),
    ] {
        let proposed = instead(text, Hours::parse(text));
        assert_eq!(
            covered_by(&proposed),
            covered(&windows),
            "{text}: {proposed}"
        );
    }
}

#[test]
fn what_belongs_into_other_annotations_is_proposed_for_them() {
    let text = "Mon 08:00-Fri 18:00";
    for read in [Hours::parse(text).map(drop), Times::parse(text).map(drop)] {
        let Some(Meant::StartAndStop { start, stop }) = meant_by(text, read) else {
            panic!("nothing is proposed");
        };
        assert_eq!(happens(&start), expected(&[On("M------", "08:00:00")]));
        assert_eq!(happens(&stop), expected(&[On("----F--", "18:00:00")]));
    }
    for text in ["Mon-Fri 09:00-17:00", "Mon-Fri 9am-5pm"] {
        let Some(Meant::Hours(hours)) = meant_by(text, Times::parse(text)) else {
            panic!("nothing is proposed for {text}");
        };
        assert_eq!(
            covered_by(&hours),
            covered(&[("MTWTF--", "09:00", "17:00")])
        );
    }
    for text in [
        "TZ=Asia/Tokyo 0 9 * * 1-5",
        "CRON_TZ=Asia/Tokyo 0 9 * * Monday-Fri",
    ] {
        let Some(Meant::InZone { times, timezone }) = meant_by(text, Times::parse(text)) else {
            panic!("nothing is proposed for {text}");
        };
        assert_eq!(happens(&times), expected(&[On("MTWTF--", "09:00:00")]));
        assert_eq!(&*timezone, "Asia/Tokyo");
    }
    assert_eq!(
        meant_by("TZ=Mars 0 9 * * *", Times::parse("TZ=Mars 0 9 * * *")),
        None
    );
}

#[test]
fn counts_that_are_proposed_are_those_that_were_meant() {
    let steps = |text: &str| {
        let steps = parse_scale(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let steps = steps.iter();
        let steps = steps.map(|step| {
            (
                step.action.count().unwrap(),
                step.times.next_local(monday()),
            )
        });
        steps
            .map(|(count, at)| format!("{count} {}", at.unwrap().format("%a %H:%M")))
            .collect::<Vec<_>>()
    };
    for (text, expected) in [
        ("08:00 = 5, 12:00 = 6", vec!["5 Mon 08:00", "6 Mon 12:00"]),
        ("Mon-Fri 8am = 5", vec!["5 Mon 08:00"]),
        ("Tues 08:00 = 5 replicas", vec!["5 Tue 08:00"]),
        ("08:00 = 3.0", vec!["3 Mon 08:00"]),
        ("08:00 = +3", vec!["3 Mon 08:00"]),
        ("08:00 = \u{ff13}", vec!["3 Mon 08:00"]),
        (
            "0 9 * * 1,2 = 3, 0 10 * * 5-1 = 4",
            vec!["3 Mon 09:00", "4 Mon 10:00"],
        ),
        ("08:00 = 5;", vec!["5 Mon 08:00"]),
    ] {
        assert_eq!(steps(&instead(text, parse_scale(text))), expected, "{text}");
    }
    for text in [
        "08:00",
        "08:00 = -1",
        "08:00 = 1.5",
        "08:00 = 2147483648",
        "08:00-19:00 = 5",
        "08:00 = 5 = 6",
        "=",
        "08:00 = 50%",
    ] {
        assert_eq!(meant_by(text, parse_scale(text)), None, "{text}");
    }
}

#[test]
fn dates_that_are_proposed_are_those_that_were_meant() {
    for (text, from, to) in [
        ("12/24/2026", "2026-12-24", "2026-12-24"),
        ("24.12.2026", "2026-12-24", "2026-12-24"),
        ("24 Dec 2026", "2026-12-24", "2026-12-24"),
        ("2026-12-24 - 2026-12-26", "2026-12-24", "2026-12-26"),
        ("2026-12-24 to 2026-12-26", "2026-12-24", "2026-12-26"),
        ("2026-12-24/2026-12-26", "2026-12-24", "2026-12-26"),
        ("2026-12-24...2026-12-26", "2026-12-24", "2026-12-26"),
        ("24.12.2026..26.12.2026", "2026-12-24", "2026-12-26"),
        (
            "2026-12-24, 2026-12-25, 26.12.2026",
            "2026-12-24",
            "2026-12-26",
        ),
        ("2026-12-24;", "2026-12-24", "2026-12-24"),
    ] {
        let proposed = instead(text, ExceptedDates::parse(text));
        let dates = ExceptedDates::parse(&proposed).unwrap();
        let (from, to): (NaiveDate, NaiveDate) = (from.parse().unwrap(), to.parse().unwrap());
        for day in "2026-12-01"
            .parse::<NaiveDate>()
            .unwrap()
            .iter_days()
            .take(60)
        {
            assert_eq!(
                dates.contains(day),
                (from..=to).contains(&day),
                "{text}: {proposed}, {day}"
            );
        }
    }
    for text in [
        "2026-12-28..2026-01-03", // of the year after, it seems
        "2026-12-28..",
        "05/12/2026",
        "2026-12-24 18:00",
        "Christmas",
        "2026-12-32",
        "2026-02-29",
        "calendar:de",
    ] {
        assert_eq!(meant_by(text, ExceptedDates::parse(text)), None, "{text}");
    }
}

#[test]
fn moments_and_lengths_that_are_proposed_are_those_that_were_meant() {
    let tokyo = Zone::parse("Asia/Tokyo").unwrap();
    for (text, utc) in [
        ("24.12.2026 18:00", "2026-12-24T09:00:00"),
        ("12/24/2026 6 PM", "2026-12-24T09:00:00"),
        ("2026-12-24T18:00", "2026-12-24T09:00:00"),
        ("2026-12-24T18:00:30", "2026-12-24T09:00:30"),
        ("2026-12-24 18:00 UTC", "2026-12-24T18:00:00"),
        ("2026-12-24T18:00:30+0900", "2026-12-24T09:00:30"),
        ("2026-12-24 18:00+9", "2026-12-24T09:00:00"),
        ("18:00 24 Dec 2026", "2026-12-24T09:00:00"),
    ] {
        let proposed = instead(text, parse_moment(text, tokyo));
        let at = parse_moment(&proposed, tokyo).unwrap().with_timezone(&Utc);
        assert_eq!(at.naive_utc(), utc.parse().unwrap(), "{text}: {proposed}");
        assert_eq!(at.nanosecond(), 0);
    }
    for text in [
        "tomorrow",
        "18:00",
        "2026-12-24",
        "05/12/2026 18:00",
        "2026-12-24 24:30",
        "2026-02-30 10:00",
        "2026-12-24 18:00 EST",
    ] {
        assert_eq!(meant_by(text, parse_moment(text, tokyo)), None, "{text}");
    }
    for (text, seconds) in [("1,5m", 90), ("0,5h", 1800), ("PT5M", 300), ("PT1M30S", 90)] {
        let proposed = instead(text, parse_jitter(text));
        assert_eq!(
            parse_jitter(&proposed).unwrap().num_seconds(),
            seconds,
            "{text}"
        );
    }
    assert_eq!(&instead("PT1H30M", parse_grace("PT1H30M")), "1h30m");
    for text in ["5", "five", "1.0000001m", "1500ms", "2h", "-5m"] {
        assert_eq!(meant_by(text, parse_jitter(text)), None, "{text}");
    }
}
