//! What times mean, in both directions, and what is wrong with them.

use chrono::{DateTime, NaiveDateTime};

use super::days::dates::Dates;
use super::days::treated::TreatedDates;
use super::except::ExceptedDates;
use super::search::Search;
use super::times::Times;
use super::zone::local::Local;

fn next(times: &Times, local: Local) -> Option<Local> {
    searched(times, |search| search.next(local))
}

fn previous(times: &Times, local: Local) -> Option<Local> {
    searched(times, |search| search.previous(local))
}

fn searched(
    times: &Times,
    ask: impl Fn(&Search<'_, std::iter::Once<&Times>>) -> Option<Local>,
) -> Option<Local> {
    let dates = Dates {
        except: &ExceptedDates::default(),
        treated: &TreatedDates::default(),
    };
    ask(&Search::new(std::iter::once(times), dates, false))
}

/// What `text` means from Monday 2026-11-23 00:00 on, in the order of time.
fn first(text: &str, count: usize) -> Vec<String> {
    let times = Times::parse(text).unwrap();
    let mut local = monday().before();
    std::iter::from_fn(|| {
        local = next(&times, local)?;
        Some(
            DateTime::from_timestamp(local.0, 0)?
                .format("%a %d %H:%M")
                .to_string(),
        )
    })
    .take(count)
    .collect()
}

fn monday() -> Local {
    Local::from("2026-11-23T00:00:00".parse::<NaiveDateTime>().unwrap())
}

#[test]
fn reads_what_people_write() {
    for (text, expected) in [
        ("09:00", ["Mon 23 09:00", "Tue 24 09:00", "Wed 25 09:00"]),
        (
            "Mon-Fri 9:00",
            ["Mon 23 09:00", "Tue 24 09:00", "Wed 25 09:00"],
        ),
        (
            "fri-mon 09:00,18:30",
            ["Mon 23 09:00", "Mon 23 18:30", "Fri 27 09:00"],
        ),
        (
            "Mon - Wed , Sat 09:00",
            ["Mon 23 09:00", "Tue 24 09:00", "Wed 25 09:00"],
        ),
        (
            "Mon, Tue, Wed, Thu, Fri 09:00",
            ["Mon 23 09:00", "Tue 24 09:00", "Wed 25 09:00"],
        ),
        (
            "weekends 10:00",
            ["Sat 28 10:00", "Sun 29 10:00", "Sat 05 10:00"],
        ),
        (
            "Tuesday 00:00; daily 00:00",
            ["Mon 23 00:00", "Tue 24 00:00", "Wed 25 00:00"],
        ),
        (
            "2026-11-24 18:00;Sun 23:59",
            ["Tue 24 18:00", "Sun 29 23:59", "Sun 06 23:59"],
        ),
        (
            "FIRST Monday 09:00; second  tue 8:00",
            ["Mon 07 09:00", "Tue 08 08:00", "Mon 04 09:00"],
        ),
        (
            "first day,last weekday 18:00,06:00",
            ["Mon 30 06:00", "Mon 30 18:00", "Tue 01 06:00"],
        ),
        (
            "fourth weekday , last Sun 10:00; Tue 07:00",
            ["Tue 24 07:00", "Sun 29 10:00", "Tue 01 07:00"],
        ),
        (
            "0 9 * * 1-5",
            ["Mon 23 09:00", "Tue 24 09:00", "Wed 25 09:00"],
        ),
        (
            "30 0 9 ? * Sun",
            ["Sun 29 09:00", "Sun 06 09:00", "Sun 13 09:00"],
        ),
        (
            "@weekly; 23:00",
            ["Mon 23 23:00", "Tue 24 23:00", "Wed 25 23:00"],
        ),
        (
            "0 9 * * *\n; 10:00",
            ["Mon 23 09:00", "Mon 23 10:00", "Tue 24 09:00"],
        ),
    ] {
        assert_eq!(first(text, 3), expected, "{text}");
    }
    assert_eq!(
        first("2026-11-24 18:00; 2026-11-24 18:00", 3),
        ["Tue 24 18:00"]
    );
    assert_eq!(first("2025-11-24 18:00", 3), Vec::<String>::new());
}

#[test]
fn says_where_a_text_is_wrong_and_what_to_write() {
    for (item, found, message) in [
        ("Mon-Fry 09:00", "Fry", "is not a day; write Mon,"),
        ("Mon-Frday 09:00", "Frday", "is not a day; write Mon,"),
        ("月曜 09:00", "月曜", "is not a day"),
        ("noon", "noon", "is not a day"),
        (
            "Mon-Fri",
            "Mon-Fri",
            "has no time of day; write for example `Mon-Fri 09:00`",
        ),
        (
            "Mon Wed 09:00",
            "Wed",
            "has no comma before it; write days as `Mon,Wed`",
        ),
        ("Mon-09:00", "09:00", "is not a day"),
        ("frist Mon 09:00", "frist", "is not a day"),
        ("last 09:00", "last", "has no day after it; write"),
        ("last", "last", "has no day after it"),
        ("first,Mon 09:00", "first", "has no day after it"),
        (
            "first weekdays 09:00",
            "weekdays",
            "cannot follow first, second, third, fourth or last",
        ),
        ("last first Fri 09:00", "first", "cannot follow"),
        ("last month 09:00", "month", "as in `first Mon 09:00`"),
        (
            "first Mon-Fri 09:00",
            "first Mon-Fri",
            "is a range, which days within the month cannot have",
        ),
        ("Mon-last Fri 09:00", "Mon-last", "is a range"),
        (
            "first day - last day 09:00",
            "first day - last",
            "is a range",
        ),
        ("first-Mon 09:00", "first", "has no day after it"),
        (
            "first Mon,Wed 09:00",
            "first Mon,Wed",
            "mixes days within the month with days of every week; write two items",
        ),
        ("daily,last Fri 09:00", "daily,last Fri", "mixes"),
        ("first Mon Tue 09:00", "Tue", "has no comma before it"),
        ("Mon first Tue 09:00", "first", "has no comma before it"),
        ("first Mon", "first Mon", "has no time of day"),
        ("fifth Mon 09:00", "fifth", "is not a day"),
        ("weekday 09:00", "weekday", "is not a day"),
        ("09:00 first Mon", "first", "comes after the time"),
        ("Mon, 09:00", ",", "is not expected here"),
        ("Mon- 09:00-", "09:00", "is not a day"),
        ("Mon–Fri 09:00", "–", "is not the plain `-` of the keyboard"),
        (
            "Monday 9",
            "9",
            "is not a time of day; write for example `09:00`",
        ),
        (
            "9am",
            "9am",
            "is not a time of day; write for example `09:00`",
        ),
        (
            "900",
            "900",
            "is not a time of day; write for example `09:00`",
        ),
        ("Mon at 09:00", "at", "is not a time of day"),
        ("\"09:00\"", "\"09:00\"", "is not a time of day"),
        ("Mon 24:00", "24:00", "midnight is `00:00` of the next day"),
        ("Mon 25:00", "25:00", "is not in a day"),
        (
            "09:00:30",
            "09:00:30",
            "has seconds, which a time of day does not take",
        ),
        ("09:00,", ",", "is not expected here"),
        ("09:00 10:00", "10:00", "is not expected here"),
        (
            "09:00 Mon-Fri",
            "Mon",
            "comes after the time; write days first",
        ),
        (
            "Mon-Fri 09:00 Europe/Berlin",
            "Europe/Berlin",
            "does not belong in the times; a time zone belongs in the timezone annotation",
        ),
        ("Mon 09:00-17:00", "09:00-17:00", "is a window"),
        ("09:00 – 17:00", "–", "is not the plain `-`"),
        (
            "2026-12-24",
            "2026-12-24",
            "has no time of day; write for example `2026-12-24",
        ),
        (
            "2026-12-24T18:00",
            "2026-12-24T18:00",
            "is not a local moment",
        ),
        ("2026-12-24 18:00 +09:00", "+09:00", "is not a local moment"),
        ("2026-12-24 18:00Z", "Z", "is not a local moment"),
        (
            "2026-02-30 18:00",
            "2026-02-30",
            "is a date that does not exist",
        ),
        ("0 9 * *", "0 9 * *", "has 4 fields; cron has five"),
        ("9 30 0", "9 30 0", "has 3 fields; cron has five"),
        (
            "0 0 9 * * * 2026",
            "2026",
            "stands where some crons have a year",
        ),
        (
            "0 9 * * Mon-Fry",
            "Fry",
            "is not a day of the week; write 0 to 7",
        ),
    ] {
        let text = format!("weekdays 10:00;\u{3000}{item} ; 2026-12-24 18:00");
        let error = Times::read(&text).unwrap_err();
        assert_eq!(&text[error.span()], found, "{item}: {error}");
        let at = 18 + item.find(found).unwrap();
        assert_eq!(error.span(), at..at + found.len(), "{item}");
        assert!(
            error.to_string().starts_with(&format!("`{found}` ")),
            "{error}"
        );
        assert!(error.to_string().contains(message), "{item}: {error}");
    }
    for (text, span) in [("", 0..0), ("09:00;", 5..6), ("09:00;;10:00", 6..7)] {
        assert_eq!(Times::parse(text).unwrap_err().span(), span, "{text}");
    }
}

#[test]
fn counts_the_same_times_in_both_directions() {
    for text in [
        "Mon 00:00; Sun 23:59",
        "*/7 */5 * * *; 2026-11-24 18:00",
        "0 0 29 2 *",
        "first Mon,last day 00:00,23:59; third weekday 12:00",
    ] {
        let times = Times::parse(text).unwrap();
        let mut forwards = Vec::new();
        let mut local = monday();
        while forwards.len() < 100 {
            let Some(next) = next(&times, local) else {
                break;
            };
            assert_eq!(previous(&times, next), Some(next), "{text}");
            forwards.push(next);
            local = next;
        }
        for pair in forwards.windows(2) {
            assert_eq!(previous(&times, pair[1].before()), Some(pair[0]), "{text}");
            assert_eq!(previous(&times, pair[0].after()), Some(pair[0]), "{text}");
        }
    }
}

#[test]
fn ends_where_schedules_end() {
    for text in [
        "daily 00:00",
        "0 0 * * *",
        "* * * * * *",
        "1970-01-01 00:00; 2199-12-31 23:59",
    ] {
        let times = Times::parse(text).unwrap();
        assert_eq!(
            next(&times, Local(i64::MIN / 2)),
            Some(Local::FIRST),
            "{text}"
        );
        assert_eq!(previous(&times, Local::FIRST.before()), None, "{text}");
        assert_eq!(next(&times, Local::LAST), None, "{text}");
        assert!(
            previous(&times, Local(i64::MAX / 2)) > Some(Local(Local::LAST.0 - 86_400)),
            "{text}"
        );
    }
}
