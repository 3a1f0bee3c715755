//! Compares how three crates read cron expressions.

use std::time::{Duration, Instant};

use chrono::{DateTime, NaiveDateTime, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;
use dayshift_schedule::{ExcludedDates, Schedule, ScheduleRule, Times, Zone};

/// An expression, and the days for which to compare it, in local time of Berlin.
struct Case {
    text: &'static str,
    days: (&'static str, &'static str),
    about: &'static str,
}

const CASES: [Case; 16] = [
    case("0 9 * * 1-5", WEEK, "Monday to Friday"),
    case("0 9 * * 0", WEEK, "Sunday"),
    case("0 9 * * 7", WEEK, "Sunday, as in crontab(5)"),
    case("0 9 25 * Fri", WEEK, "the 25th, and each Friday"),
    case("5/15 9 * * Wed", WEEK, "every 15 minutes from 5"),
    case("@daily", ("2026-11-25", "2026-11-27"), "midnight"),
    case("30 2 * * *", SPRING, "2:30 does not exist on the 28th"),
    case("0,30 2 * * *", SPRING, "the same, two values"),
    case("30 2,3 * * *", SPRING, "2:30 and 3:30"),
    case("30 2 * * *", AUTUMN, "2:30 occurs twice on the 31st"),
    case("30 2-3 * * *", AUTUMN, "the same, a range"),
    case("*/30 2 * * *", AUTUMN, "the same, steps"),
    case("0 0 30 2 *", ("2026-11-23", "2126-11-23"), "30 February"),
    case(", * * * *", WEEK, "no field"),
    case(
        "0 9 L * *",
        ("2026-11-23", "2026-12-01"),
        "not Kubernetes cron",
    ),
    case(
        "0 0 9 * * * 2027",
        ("2027-01-01", "2027-01-03"),
        "not Kubernetes cron: a year field",
    ),
];

const WEEK: (&str, &str) = ("2026-11-23", "2026-11-30");
const SPRING: (&str, &str) = ("2027-03-27", "2027-03-30");
const AUTUMN: (&str, &str) = ("2027-10-30", "2027-11-02");

const fn case(text: &'static str, days: (&'static str, &'static str), about: &'static str) -> Case {
    Case { text, days, about }
}

/// Parses an expression and returns the first instants from a given one on, or an error.
type Reader = fn(&str, DateTime<Utc>) -> Result<Box<dyn Iterator<Item = DateTime<Utc>>>, String>;

/// The maximum number of instants to print.
const MAX_SHOWN: usize = 12;

/// Prints a table with a row for each expression and crate.
pub(crate) fn print() {
    println!(
        "Cron expressions in Europe/Berlin. For cron 0.17, `0` is added as the seconds field.\n"
    );
    for case in &CASES {
        let Case { text, days, about } = case;
        println!("{text:18} {} to {}: {about}", days.0, days.1);
        let readers: [(&str, Reader); 3] = [
            ("dayshift", by_dayshift),
            ("croner 4", by_croner),
            ("cron 0.17", by_cron),
        ];
        for (name, reader) in readers {
            let begun = Instant::now();
            let result = result(case, reader);
            println!("    {name:10} {:>9}  {result}", took(begun.elapsed()));
        }
    }
    println!();
}

fn took(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

fn result(case: &Case, reader: Reader) -> String {
    let [from, until] = [case.days.0, case.days.1].map(midnight);
    match reader(case.text, from) {
        Err(why) => format!("rejected: {}", why.replace('\n', " ")),
        Ok(instants) => {
            let instants: Vec<_> = instants
                .take_while(|at| *at < until)
                .take(MAX_SHOWN)
                .map(|at| {
                    at.with_timezone(&berlin())
                        .format("%a %d %H:%M%:z")
                        .to_string()
                })
                .collect();
            if instants.is_empty() {
                "never".to_owned()
            } else {
                instants.join(", ")
            }
        }
    }
}

fn by_dayshift(
    text: &str,
    from: DateTime<Utc>,
) -> Result<Box<dyn Iterator<Item = DateTime<Utc>>>, String> {
    let times = Times::parse(text).map_err(|error| error.to_string())?;
    let rule = ScheduleRule::start_and_stop(Some(times), None);
    let zone = Zone::parse("Europe/Berlin").unwrap();
    let schedule = Schedule::new(rule, ExcludedDates::default(), zone);
    let mut last = from - TimeDelta::seconds(1);
    Ok(Box::new(std::iter::from_fn(move || {
        last = schedule.next_after(last, TimeDelta::zero())?.at;
        Some(last)
    })))
}

fn by_croner(
    text: &str,
    from: DateTime<Utc>,
) -> Result<Box<dyn Iterator<Item = DateTime<Utc>>>, String> {
    let cron: croner::Cron = text.parse().map_err(|error| format!("{error}"))?;
    let mut last = from.with_timezone(&berlin()) - TimeDelta::seconds(1);
    Ok(Box::new(std::iter::from_fn(move || {
        last = cron.find_next_occurrence(&last, false).ok()?;
        Some(last.to_utc())
    })))
}

fn by_cron(
    text: &str,
    from: DateTime<Utc>,
) -> Result<Box<dyn Iterator<Item = DateTime<Utc>>>, String> {
    let fields = text.split_whitespace().count();
    let text = if fields == 5 {
        format!("0 {text}")
    } else {
        text.to_owned()
    };
    let schedule: cron::Schedule = text.parse().map_err(|error| format!("{error}"))?;
    let from = from.with_timezone(&berlin()) - TimeDelta::seconds(1);
    Ok(Box::new(schedule.after_owned(from).map(|at| at.to_utc())))
}

fn midnight(day: &str) -> DateTime<Utc> {
    let local = NaiveDateTime::parse_from_str(&format!("{day} 00:00"), "%Y-%m-%d %H:%M").unwrap();
    berlin().from_local_datetime(&local).unwrap().to_utc()
}

fn berlin() -> Tz {
    "Europe/Berlin".parse().unwrap()
}
