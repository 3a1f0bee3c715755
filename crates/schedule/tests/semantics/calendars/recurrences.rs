//! Overridden recurrences, and UTC values in events with a zone.

use dayshift_schedule::Calendar;

use super::reading::{dates, event};

/// RFC 5545, 3.8.4.4: an event with a `RECURRENCE-ID` replaces that recurrence, even if it is no
/// longer an all-day event.
#[test]
fn event_can_replace_one_recurrence_by_a_meeting() {
    let lines = "UID:a\r\nDTSTART;VALUE=DATE:20260101\r\nRRULE:FREQ=MONTHLY;COUNT=3\r\nEND:VEVENT\r\n\
         BEGIN:VEVENT\r\nUID:a\r\nRECURRENCE-ID;VALUE=DATE:20260201\r\n\
         DTSTART;TZID=Europe/Berlin:20260201T090000\r\nDTEND;TZID=Europe/Berlin:20260201T100000\r\nEND:VEVENT\r\n\
         BEGIN:VEVENT\r\nUID:b\r\nRECURRENCE-ID;VALUE=DATE:20260301\r\nDTSTART:20260301T090000";
    let expected = ["2026-01-01", "2026-03-01"].map(str::to_owned);
    assert_eq!(dates(&event(lines)), Ok(expected.to_vec()));
    let calendar = Calendar::parse(event(lines).as_bytes()).unwrap();
    assert_eq!(calendar.timed_events(), 2);
}

/// RFC 5545, 3.3.10: if `DTSTART` has a zone, `UNTIL` is in UTC. Berlin is an hour ahead of UTC in
/// winter and two in summer, so that 23:00 UTC is midnight of the next day.
#[test]
fn utc_values_are_converted_to_the_zone_of_the_event() {
    let from = |zone: &str, rest: &str| {
        let begin = format!("DTSTART;TZID={zone}:20261222T000000");
        dates(&event(&format!("{begin}\r\nDURATION:P1D\r\n{rest}")))
    };
    for (zone, rest, expected) in [
        (
            "Europe/Berlin",
            "RRULE:FREQ=DAILY;UNTIL=20261224T230000Z",
            "22 23 24 25",
        ),
        (
            "Europe/Berlin",
            "RRULE:FREQ=DAILY;UNTIL=20261225T225959Z",
            "22 23 24 25",
        ),
        (
            "\"Europe/Berlin\"",
            "RRULE:FREQ=DAILY;UNTIL=20261225T230000Z",
            "22 23 24 25 26",
        ),
        (
            "Asia/Tokyo",
            "RRULE:FREQ=DAILY;UNTIL=20261223T150000Z",
            "22 23 24",
        ),
        (
            "Pacific/Kiritimati",
            "RRULE:FREQ=DAILY;UNTIL=20261223T100000Z",
            "22 23 24",
        ),
        (
            "America/New_York",
            "RRULE:FREQ=DAILY;UNTIL=20261224T050000Z",
            "22 23 24",
        ),
        (
            "America/New_York",
            "RRULE:FREQ=DAILY;UNTIL=20261225T045959Z",
            "22 23 24",
        ),
        (
            "W. Europe Standard Time",
            "RRULE:FREQ=DAILY;UNTIL=20261225T225959Z",
            "22 23 24 25",
        ),
        (
            "/citadel.org/20190914_1/America/Argentina/Buenos_Aires",
            "RRULE:FREQ=DAILY;UNTIL=20261225T025959Z",
            "22 23 24",
        ),
        // If the database does not have the zone, the nearest midnight is assumed, or one second before it.
        (
            "Nowhere/Land",
            "RRULE:FREQ=DAILY;UNTIL=20261224T230000Z",
            "22 23 24 25",
        ),
        (
            "Nowhere/Land",
            "RRULE:FREQ=DAILY;UNTIL=20261225T225959Z",
            "22 23 24 25",
        ),
        (
            "Nowhere/Land",
            "RRULE:FREQ=DAILY;UNTIL=20261225T045959Z",
            "22 23 24",
        ),
        (
            "Eastern Standard Time",
            "RRULE:FREQ=DAILY;UNTIL=20261224T050000Z",
            "22 23 24",
        ),
        (
            "Europe/Berlin",
            "RRULE:FREQ=DAILY;COUNT=4\r\nEXDATE:20261222T230000Z\r\nRDATE:20261230T230000Z",
            "22 24 25 31",
        ),
        // A value without a `Z` is on the same clocks.
        (
            "Europe/Berlin",
            "RRULE:FREQ=DAILY;UNTIL=20261224T230000",
            "22 23 24",
        ),
    ] {
        let expected = expected.split(' ').map(|day| format!("2026-12-{day}"));
        assert_eq!(from(zone, rest), Ok(expected.collect()), "{zone}: {rest}");
    }
    let moved = "UID:a\r\nRRULE:FREQ=DAILY;COUNT=3\r\nEND:VEVENT\r\n\
         BEGIN:VEVENT\r\nUID:a\r\nRECURRENCE-ID:20261222T230000Z\r\n\
         DTSTART;TZID=Europe/Berlin:20261231T000000\r\nDTEND:20261231T230000Z";
    let expected = ["2026-12-22", "2026-12-24", "2026-12-31"].map(str::to_owned);
    assert_eq!(from("Europe/Berlin", moved), Ok(expected.to_vec()));
    // The recurrence is on the clocks of its series, not on those of the event that replaces it.
    let meeting = "UID:a\r\nRRULE:FREQ=DAILY;COUNT=3\r\nEND:VEVENT\r\n\
         BEGIN:VEVENT\r\nUID:a\r\nRECURRENCE-ID:20261222T230000Z\r\nDTSTART:20261231T090000";
    let expected = ["2026-12-22", "2026-12-24"].map(str::to_owned);
    assert_eq!(from("Europe/Berlin", meeting), Ok(expected.to_vec()));
}
