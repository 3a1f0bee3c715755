//! Proposals for hours, counts, dates, date-times and durations.

use super::*;

#[test]
fn proposed_hours_cover_the_intended_times() {
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
fn proposes_the_annotation_in_which_text_belongs() {
    for text in ["Mon-Fri 09:00-17:00", "Mon-Fri 9am-5pm"] {
        let Some(Proposal::Hours(hours)) = intended_by(text, Times::parse(text)) else {
            panic!("no proposal for {text}");
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
        let Some(Proposal::InZone { times, timezone }) = intended_by(text, Times::parse(text))
        else {
            panic!("no proposal for {text}");
        };
        assert_eq!(happens(&times), expected(&[On("MTWTF--", "09:00:00")]));
        assert_eq!(&*timezone, "Asia/Tokyo");
    }
    assert_eq!(
        intended_by("TZ=Mars 0 9 * * *", Times::parse("TZ=Mars 0 9 * * *")),
        None
    );
}

#[test]
fn proposed_counts_are_the_intended_ones() {
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
        assert_eq!(intended_by(text, parse_scale(text)), None, "{text}");
    }
}

#[test]
fn proposed_dates_are_the_intended_ones() {
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
        let proposed = instead(text, ExcludedDates::parse(text));
        let dates = ExcludedDates::parse(&proposed).unwrap();
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
        "2026-12-28..2026-01-03", // probably of the following year
        "2026-12-28..",
        "05/12/2026",
        "2026-12-24 18:00",
        "Christmas",
        "2026-12-32",
        "2026-02-29",
        "calendar:de",
    ] {
        assert_eq!(
            intended_by(text, ExcludedDates::parse(text)),
            None,
            "{text}"
        );
    }
}

#[test]
fn proposal_for_dates_keeps_known_calendars() {
    let calendars = |names: &[&str]| {
        let file = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:20261225\nEND:VEVENT\n\
                    END:VCALENDAR";
        let calendar = std::sync::Arc::new(Calendar::parse(file.as_bytes()).unwrap());
        let names = names.iter().map(|name| CalendarName::parse(name).unwrap());
        Calendars::new(names.map(|name| (name, calendar.clone())))
    };
    for (text, proposed) in [
        (
            "2026-12-24\u{ff1b}calendar:de",
            Some("2026-12-24; calendar:de"),
        ),
        (
            "calendar\u{ff1a}de\u{ff1b} 24.12.2026",
            Some("calendar:de; 2026-12-24"),
        ),
        (
            "calendar:de, 2026-12-24, calendar:makeup",
            Some("calendar:de; 2026-12-24; calendar:makeup"),
        ),
        // If the separators are correct, the unknown calendar is reported.
        ("2026-12-24\u{ff1b}calendar:fr", None),
        ("2026-12-24\u{ff1b}calendar:", None),
        ("24.12.2026; calendar:fr", Some("2026-12-24; calendar:fr")),
    ] {
        let error = ExcludedDates::parse_with(text, &calendars(&["de", "makeup"])).unwrap_err();
        let applied = error.proposal().and_then(|meant| meant.apply_to(text));
        assert_eq!(applied.as_deref(), proposed, "{text}: {error}");
    }
    for (text, proposed) in [
        (
            "2026-10-10 = Mon\u{ff1b}calendar:makeup = Fri",
            Some("2026-10-10 = Mon; calendar:makeup = Fri"),
        ),
        ("2026-10-10 = Mon;", Some("2026-10-10 = Mon")),
        ("2026-10-10 = Mon, calendar:fr = Fri", None),
        ("2026-10-10 = Mon-Fri", None),
        ("2026-10-10 = Mon, 2026-10-10 = Tue", None),
    ] {
        let error = TreatedDates::parse_with(text, &calendars(&["de", "makeup"])).unwrap_err();
        let applied = error.proposal().and_then(|meant| meant.apply_to(text));
        assert_eq!(applied.as_deref(), proposed, "{text}: {error}");
    }
}

#[test]
fn proposed_date_times_and_durations_are_the_intended_ones() {
    let tokyo = Zone::parse("Asia/Tokyo").unwrap();
    for (text, utc) in [
        ("24.12.2026 18:00", "2026-12-24T09:00:00"),
        ("12/24/2026 6 PM", "2026-12-24T09:00:00"),
        ("2026-12-24T18:00", "2026-12-24T09:00:00"),
        ("2026-12-24T18:00:30", "2026-12-24T09:00:30"),
        ("2026-12-24 18:00 UTC", "2026-12-24T18:00:00"),
        ("2026-12-24T18:00:30+0900", "2026-12-24T09:00:30"),
    ] {
        let proposed = instead(text, parse_date_time(text, tokyo));
        let at = parse_date_time(&proposed, tokyo)
            .unwrap()
            .with_timezone(&Utc);
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
        assert_eq!(
            intended_by(text, parse_date_time(text, tokyo)),
            None,
            "{text}"
        );
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
        assert_eq!(intended_by(text, parse_jitter(text)), None, "{text}");
    }
}
