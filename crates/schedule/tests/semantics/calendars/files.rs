//! Which days a calendar file has, and which errors.

use dayshift_schedule::{Calendar, CalendarReason};

use super::reading::{dates, event};

#[test]
fn parses_all_forms_of_all_day_events() {
    for (lines, expected) in [
        ("DTSTART;VALUE=DATE:20261225", &["2026-12-25"][..]),
        // Some programs omit the parameter.
        ("DTSTART:20261225", &["2026-12-25"]),
        ("dtstart;value=date:20261225", &["2026-12-25"]),
        // Ends are exclusive, but an end on the first day means that day.
        (
            "DTSTART:20261230\r\nDTEND:20270102",
            &["2026-12-30", "2026-12-31", "2027-01-01"],
        ),
        ("DTSTART:20261225\r\nDTEND:20261225", &["2026-12-25"]),
        (
            "DTSTART:20261225\r\nDURATION:P2D",
            &["2026-12-25", "2026-12-26"],
        ),
        (
            "DTSTART:20261225\r\nDURATION:PT48H",
            &["2026-12-25", "2026-12-26"],
        ),
        // If dates end at a time of day, the day of the end is included.
        (
            "DTSTART;VALUE=DATE:20261225\r\nDTEND:20261225T235959",
            &["2026-12-25"],
        ),
        (
            "DTSTART;VALUE=DATE:20261225\r\nDTEND;TZID=Nowhere:20261226T120000",
            &["2026-12-25", "2026-12-26"],
        ),
        (
            "DTSTART:20261225\r\nDTEND:20261227T000000Z",
            &["2026-12-25", "2026-12-26"],
        ),
        ("DTSTART:20261225\r\nDURATION:PT5H", &["2026-12-25"]),
        // A time of day that is declared to be a date.
        (
            "DTSTART;VALUE=DATE:20261225T000000\r\nDTEND;VALUE=DATE:20261226T000000",
            &["2026-12-25"],
        ),
        ("DTSTART;VALUE=DATE:20261225T000000", &["2026-12-25"]),
        // From midnight to midnight is an all-day event in any zone, known or not.
        (
            "DTSTART;TZID=Europe/Berlin:20261225T000000\r\nDTEND;TZID=Europe/Berlin:20261227T000000",
            &["2026-12-25", "2026-12-26"],
        ),
        (
            "DTSTART;TZID=\"Mars: Olympus;Mons\":20261225T000000\r\nDTEND;TZID=X:20261226T000000",
            &["2026-12-25"],
        ),
        ("DTSTART:20261225T000000Z\r\nDURATION:P1D", &["2026-12-25"]),
        (
            "DTSTART:20261225\r\nRRULE:FREQ=DAILY;COUNT=4\r\nEXDATE:20261226\r\nEXDATE;VALUE=DATE:20261228,20261230",
            &["2026-12-25", "2026-12-27"],
        ),
        (
            "DTSTART:20261225\r\nRDATE;VALUE=DATE:20260403,20270326\r\nRDATE;VALUE=PERIOD:20270501T000000Z/P1D",
            &["2026-04-03", "2026-12-25", "2027-03-26", "2027-05-01"],
        ),
        // A period lasts as long as it specifies. At a time of day it does not count.
        (
            "DTSTART:20261225\r\nRDATE;VALUE=PERIOD:20270501T000000/20270503T000000,20270601T090000/PT1H",
            &["2026-12-25", "2027-05-01", "2027-05-02"],
        ),
        // An event that ends before it begins has no days, and calendarlabs.com writes empty
        // rules.
        (
            "DTSTART:20261225\r\nRRULE:FREQ=DAILY;UNTIL=20261224\r\nRDATE:20270101",
            &["2027-01-01"],
        ),
        (
            "DTSTART:20261225\r\nDTEND:20261225\r\nRRULE:\r\nEXDATE:\r\nRDATE:",
            &["2026-12-25"],
        ),
        // This is the default (RFC 7529).
        (
            "DTSTART:20260101\r\nRRULE:RSCALE=GREGORIAN;FREQ=YEARLY;SKIP=OMIT",
            &["2026-01-01", "2027-01-01"],
        ),
        // Some programs continue text without folding.
        (
            "DESCRIPTION:closed\r\nuntil tomorrow\r\nhttp://example.com\r\nat nine\r\nDTSTART:20261225",
            &["2026-12-25"],
        ),
        (
            "DTSTART:20261225\r\nRRULE:FREQ=DAILY;UNTIL=20261226T235959Z",
            &["2026-12-25", "2026-12-26"],
        ),
        (
            "DTSTART:20200101\r\nRRULE:FREQ=YEARLY",
            &["2026-01-01", "2027-01-01"],
        ),
        // Free and private events count, and irrelevant properties are ignored.
        (
            "DTSTART:20261225\r\nTRANSP:TRANSPARENT\r\nCLASS:PRIVATE\r\nX-ANY;A=\"b:c\":d",
            &["2026-12-25"],
        ),
        // An alarm within an event has its own duration.
        (
            "DTSTART:20261225\r\nBEGIN:VALARM\r\nTRIGGER:-PT15M\r\nDURATION:nonsense\r\nEND:VALARM",
            &["2026-12-25"],
        ),
        // Days outside of the years of schedules are dropped, but not the part of an event within
        // them.
        (
            "DTSTART:16000101\r\nRRULE:FREQ=YEARLY",
            &["2026-01-01", "2027-01-01"],
        ),
    ] {
        let expected: Vec<_> = expected.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(dates(&event(lines)), Ok(expected.clone()), "{lines}");
        // Lines can end in LF, and a file can begin with a byte order mark and be folded anywhere.
        let plain = format!("\u{feff}{}", event(lines).replace("\r\n", "\n"));
        assert_eq!(dates(&plain), Ok(expected.clone()), "{lines}");
        let folded: String = event(lines)
            .split("\r\n")
            .map(|line| {
                let characters: Vec<_> = line.chars().collect();
                let parts = characters.chunks(3).map(|it| it.iter().collect::<String>());
                parts.collect::<Vec<_>>().join("\r\n ") + "\r\n"
            })
            .collect();
        assert_eq!(dates(&folded), Ok(expected), "{lines}");
    }
}

#[test]
fn ignores_timed_and_canceled_events() {
    let rest = "END:VEVENT\r\nBEGIN:VEVENT\r\nDTSTART:20261225";
    for (lines, timed) in [
        ("DTSTART:20260101T090000\r\nDTEND:20260101T170000", 1),
        ("DTSTART;TZID=Nowhere/Land:20260101T090000", 1),
        // An event at midnight without an end has no duration.
        ("DTSTART:20260101T000000", 1),
        ("DTSTART:20260101T000000Z\r\nDTEND:20260101T120000Z", 1),
        // Its recurrence is then irrelevant.
        ("DTSTART:20260101T090000\r\nRRULE:FREQ=SECONDLY", 1),
        ("DTSTART:20260101\r\nSTATUS:CANCELLED", 0),
        (
            "DTSTART:20260101\r\nstatus:cancelled\r\nRRULE:FREQ=DAILY",
            0,
        ),
    ] {
        let file = event(&format!("{lines}\r\n{rest}"));
        assert_eq!(dates(&file), Ok(vec!["2026-12-25".to_owned()]), "{lines}");
        let calendar = Calendar::parse(file.as_bytes()).unwrap();
        assert_eq!(calendar.timed_events(), timed, "{lines}");
    }
}

#[test]
fn event_can_move_or_cancel_one_recurrence() {
    let file = event(
        "UID:a\r\nDTSTART:20260101\r\nRRULE:FREQ=MONTHLY;COUNT=4\r\nEND:VEVENT\r\n\
         BEGIN:VEVENT\r\nUID:a\r\nRECURRENCE-ID;VALUE=DATE:20260201\r\nDTSTART:20260203\r\nEND:VEVENT\r\n\
         BEGIN:VEVENT\r\nUID:a\r\nRECURRENCE-ID:20260301\r\nDTSTART:20260301\r\nSTATUS:CANCELLED\r\nEND:VEVENT\r\n\
         BEGIN:VEVENT\r\nUID:b\r\nDTSTART:20260101\r\nRRULE:FREQ=MONTHLY;COUNT=1",
    );
    let expected = ["2026-01-01", "2026-02-03", "2026-04-01"].map(str::to_owned);
    assert_eq!(dates(&file), Ok(expected.to_vec()));
    for (changed, expected) in [
        // An override makes one recurrence longer.
        (
            "RECURRENCE-ID:20260201\r\nDTSTART:20260201\r\nDTEND:20260203",
            &["2026-01-01", "2026-02-01", "2026-02-02"][..],
        ),
        // A meeting replaces one day, not all following days.
        (
            "RECURRENCE-ID:20260201\r\nDTSTART:20260201T100000Z",
            &["2026-01-01"],
        ),
        (
            "RECURRENCE-ID;RANGE=THISANDFUTURE:20260201\r\nDTSTART:20260201T100000Z",
            &["2026-01-01", "2026-02-01"],
        ),
    ] {
        let file = event(&format!(
            "UID:a\r\nDTSTART:20260101\r\nRRULE:FREQ=MONTHLY;COUNT=2\r\nEND:VEVENT\r\n\
             BEGIN:VEVENT\r\nUID:a\r\n{changed}"
        ));
        let expected = expected.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(dates(&file), Ok(expected), "{changed}");
    }
}

#[test]
fn error_names_the_line_of_invalid_content() {
    use CalendarReason as Why;
    let whole = |line: usize| line + 2;
    for (lines, line, why) in [
        ("SUMMARY:x", 2, Why::NoStart),
        ("DTSTART:2026-12-25", 1, Why::NotADate),
        ("DTSTART:20260229", 1, Why::NotADate),
        ("DTSTART:20261225T2500", 1, Why::NotADate),
        ("DTSTART:20261225\r\nDTSTART:20261226", 2, Why::Twice),
        ("DTSTART:20261225\r\nDTEND:20261224", 2, Why::BadEnd),
        ("DTSTART:20261225\r\nDTEND:20261224T235959", 2, Why::BadEnd),
        ("DTSTART:20261225\r\nDURATION:-P1D", 2, Why::NotADuration),
        ("DTSTART:20261225\r\nRRULE:YEARLY", 2, Why::BadRule),
        ("DTSTART:20261225\r\nRRULE:COUNT=2", 2, Why::BadRule),
        (
            "DTSTART:20261225\r\nRRULE:FREQ=YEARLY;COUNT=0",
            2,
            Why::BadRule,
        ),
        (
            "DTSTART:20261225\r\nRRULE:FREQ=YEARLY;INTERVAL=0",
            2,
            Why::BadRule,
        ),
        (
            "DTSTART:20261225\r\nRRULE:FREQ=YEARLY;INTERVAL=99999999",
            2,
            Why::BadRule,
        ),
        (
            "DTSTART:20261225\r\nRRULE:FREQ=YEARLY;BYMONTH=13",
            2,
            Why::BadRule,
        ),
        (
            "DTSTART:20261225\r\nRRULE:FREQ=YEARLY;BYDAY=XX",
            2,
            Why::BadRule,
        ),
        (
            "DTSTART:20261225\r\nRRULE:FREQ=YEARLY;BYDAY=0MO",
            2,
            Why::BadRule,
        ),
        (
            "DTSTART:20261225\r\nRRULE:FREQ=YEARLY;BYDAY=日月",
            2,
            Why::BadRule,
        ),
        (
            "DTSTART:20261225\r\nRRULE:FREQ=WEEKLY;BYDAY=1MO",
            2,
            Why::BadRule,
        ),
        (
            "DTSTART:20261225\r\nRRULE:FREQ=YEARLY;BYEASTER=-2",
            2,
            Why::BadRule,
        ),
        (
            "DTSTART:20261225\r\nRRULE:FREQ=YEARLY;BYWEEKNO=1",
            2,
            Why::Unsupported,
        ),
        ("DTSTART:20261225\r\nRRULE:FREQ=HOURLY", 2, Why::Unsupported),
        (
            "DTSTART:20261225\r\nEXRULE:FREQ=YEARLY",
            2,
            Why::Unsupported,
        ),
        (
            "DTSTART:20261225\r\nRECURRENCE-ID;RANGE=THISANDFUTURE:20261225",
            2,
            Why::Unsupported,
        ),
        (
            "DTSTART:20261225\r\nEXDATE:20261225,tomorrow",
            2,
            Why::NotADate,
        ),
        ("DTSTART:20261225\r\nno colon", 2, Why::NotALine),
        ("DTSTART:20261225\r\n\0\0\0", 2, Why::NotALine),
        ("DTSTART:20261225\r\nEND:VTODO", 2, Why::WrongEnd),
        ("DTSTART:20261225\r\nBEGIN:VCALENDAR", 2, Why::NotACalendar),
        ("DTSTART:20261225T090000", 3, Why::NoDates),
        ("DTSTART:20261225\r\nEXDATE:20261225", 4, Why::NoDates),
        ("DTSTART:22000101", 3, Why::NoDates),
    ] {
        assert_eq!(dates(&event(lines)), Err((whole(line), why)), "{lines}");
    }
    for (file, line, why) in [
        ("", 1, Why::NotACalendar),
        ("\r\n\r\n", 1, Why::NotACalendar),
        (
            "<!DOCTYPE html>\n<title>Log in</title>",
            1,
            Why::NotACalendar,
        ),
        ("{\"error\": \"not found\"}", 1, Why::NotACalendar),
        ("B\0E\0G\0I\0N\0:\0V\0", 1, Why::NotACalendar),
        ("BEGIN:VEVENT\nEND:VEVENT", 1, Why::NotACalendar),
        ("BEGIN:VCALENDAR\nEND:VCALENDAR", 2, Why::NoDates),
        (
            "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20261225",
            3,
            Why::Unfinished,
        ),
        (
            "BEGIN:VCALENDAR\nEND:VCALENDAR\nDTSTART:20261225",
            3,
            Why::NotACalendar,
        ),
    ] {
        assert_eq!(dates(file), Err((line, why)), "{file}");
    }
    for (lines, name) in [
        ("UID:a\r\nDTSTART:2026\r\nSUMMARY:Tag\\, der", "`Tag, der`"),
        (
            "DTSTART:2026\r\nSUMMARY;LANGUAGE=de:Tag\r\nSUMMARY;LANGUAGE=en:Day",
            "`Tag`",
        ),
        (
            "EXRULE:x\r\nDTSTART:20261225\r\nSUMMARY: \r\nUID:a@b",
            "`a@b`",
        ),
        (
            "DTSTART:20261225\r\nRRULE:FREQ=DAILY\r\nRDATE:20261225,x\r\nSUMMARY:\u{1b}",
            "`\\u{1b}`",
        ),
    ] {
        let error = Calendar::parse(event(lines).as_bytes()).unwrap_err();
        let message = error.to_string();
        assert!(message.contains(&format!(", event {name}: ")), "{message}");
    }
    let remark = event("DTSTART:20261225") + "X-COMMENT:cached\r\n";
    assert_eq!(dates(&remark), Ok(vec!["2026-12-25".to_owned()]));
    let error = Calendar::parse(event("DTSTART:\u{1b}[2J20261225").as_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 3: `\\u{1b}[2J20261225` is not a date; dates are written as `20261225`"
    );
}
