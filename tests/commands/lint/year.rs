//! Problems on some days of the next year: times in a DST gap, and equal or nearly equal times.

use super::program::{found, web};
use crate::program::dayshift_with;

/// In Berlin clocks change from 02:00 to 03:00 on 28 March 2027, so neither time exists that day.
#[test]
fn reports_each_time_in_the_gap() {
    let items = web(&[
        "dayshift/start: 02:30; Sat,Sun 02:45; 05:00; Sun 02:15,03:00",
        "dayshift/stop: '19:00'",
        "dayshift/timezone: Europe/Berlin",
    ]);
    let expected = ["clock-change-gap 6:21", "clock-change-gap 6:28"];
    assert_eq!(found(&items), expected);
}

/// In Berlin the times between 02:00 and 03:00 do not exist on 28 March 2027, a Sunday.
#[test]
fn a_time_without_effect_in_the_gap_is_not_reported() {
    let except = "dayshift/except: '2027-03-28'";
    for (lines, expected) in [
        // Adjacent windows have no boundary between them.
        (&["dayshift/hours: 00:00-02:30; 02:30-08:00"][..], None),
        (&["dayshift/hours: 22:00-08:00; 02:15-02:45"], None),
        // A window that begins on an excluded date is skipped. A window from the day before ends
        // normally.
        (&["dayshift/hours: 02:30-08:00", except], None),
        (&["dayshift/scale: 02:30 = 5; 08:00 = 0", except], None),
        (
            &["dayshift/hours: 22:00-02:30", except],
            Some(
                "2027-03-28 02:30 does not exist in Europe/Berlin, where clocks go from 02:00 to \
                  03:00; it happens at 03:00 on that day",
            ),
        ),
        (
            &["dayshift/scale: 02:30 = 0; 08:00 = 5", except],
            Some("it happens at 03:00 on that day"),
        ),
        (
            &["dayshift/hours: Sun 02:15-02:45; 09:00-10:00"],
            Some(
                "2027-03-28 02:15 does not exist in Europe/Berlin, where clocks go from 02:00 to \
                  03:00; windows that begin and end in between are skipped on that day",
            ),
        ),
    ] {
        let berlin = "dayshift/timezone: Europe/Berlin";
        let text = web(&[lines, &[berlin]].concat());
        let ended = dayshift_with(&[], &["lint", "--from", "2026-11-20", "-"], &text);
        let is_told = ended.out.contains("[clock-change-gap]");
        assert_eq!(is_told, expected.is_some(), "{lines:?}: {ended:?}");
        assert_contains!(ended.out, expected.unwrap_or_default(), "{lines:?}");
    }
}

#[test]
fn steps_that_coincide_once_a_year_are_found() {
    for (text, expected) in [
        (
            web(&[
                "dayshift/start: '0-24/4 * * * *'",
                "dayshift/stop: '2-26/4 * * * *; 0 5 1 10 *'",
            ]),
            vec!["same-instant 7:37"],
        ),
        (
            web(&["dayshift/scale: 'Mon-Fri 08:00 = 5; 19:00 = 0; first day 08:00 = 10'"]),
            vec!["two-counts 6:22"],
        ),
        (
            web(&["dayshift/scale: '0 8 * * Mon = 7; 0 8 1 * * = 5; 19:00 = 0'"]),
            vec!["two-counts 6:39"],
        ),
        (
            web(&["dayshift/scale: '0 8 1 * * = 5; Mon-Fri 19:00 = 0'"]),
            vec![],
        ),
        (
            web(&[
                "dayshift/start: '*/10 * * * *'",
                "dayshift/stop: '5-55/10 * * * *; 1 9 1 10 *'",
                "dayshift/jitter: 2m",
            ]),
            vec!["jitter-beyond-window 8:22"],
        ),
    ] {
        assert_eq!(found(&text), expected, "{text}");
    }
}
