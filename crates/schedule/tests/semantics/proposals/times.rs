//! Proposals for times.

use super::*;

#[test]
fn proposed_times_happen_at_the_intended_times() {
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
        ("18:00:00", vec![On(daily, "18:00:00")]),
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
        ("2026-12-24T18:00", vec![Once("2026-12-24T18:00:00")]),
        ("2026-12-24T18:00:00", vec![Once("2026-12-24T18:00:00")]),
        ("2026-12-24 6:00 PM", vec![Once("2026-12-24T18:00:00")]),
        ("2026-12-24 9:05:00", vec![Once("2026-12-24T09:05:00")]),
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
        ("0 9 * * Mon\u{2013}Fri", vec![On("MTWTF--", "09:00:00")]),
        ("0 9 24 December *", vec![Once("2026-12-24T09:00:00")]),
        ("0 9 ? * MON-FRI *", vec![On("MTWTF--", "09:00:00")]),
        ("cron(0 9 ? * MON-FRI *)", vec![On("MTWTF--", "09:00:00")]),
        ("0 9 ? * 2-6 *", vec![On("MTWTF--", "09:00:00")]),
        ("0 9 * * ? *", vec![On(daily, "09:00:00")]),
        ("0/30 * * * ? *", vec![Every(1800)]),
        ("cron(0 9 ? * 2-6 *)", vec![On("MTWTF--", "09:00:00")]),
        ("cron(0 9 ? * 1 *)", vec![On("------S", "09:00:00")]),
        ("cron(0/30 * * * ? *)", vec![Every(1800)]),
        ("0 0 9 ? * MON-FRI *", vec![On("MTWTF--", "09:00:00")]),
        ("0 9 24 12 ? 2026", vec![Once("2026-12-24T09:00:00")]),
        ("0 0 9 24 Dec ? 2026", vec![Once("2026-12-24T09:00:00")]),
        ("0 9 * * Mon#1", vec![Once("2026-12-07T09:00:00")]),
        ("0 9 L * ?", vec![Once("2026-11-30T09:00:00")]),
        ("frist Mon 09:00", vec![Once("2026-12-07T09:00:00")]),
        ("1st Monday at 9am", vec![Once("2026-12-07T09:00:00")]),
        ("last workday 18h", vec![Once("2026-11-30T18:00:00")]),
        ("@dayly", vec![On(daily, "00:00:00")]),
        ("hourly", vec![Every(3600)]),
    ] {
        let proposed = proposed_times(text);
        assert_eq!(happens(&proposed), expected(&when), "{text}: {proposed}");
        // The text as one item of several.
        let among = format!("Sun 23:59; {text}");
        if !text.contains([';', '；']) {
            let proposed = proposed_times(&among);
            let mut when = when;
            when.push(On("------S", "23:59:00"));
            assert_eq!(happens(&proposed), expected(&when), "{among}: {proposed}");
        }
    }
}

/// All notations of days with all notations of a time.
#[test]
fn proposes_the_canonical_notation_of_days_and_times() {
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
fn proposes_nothing_for_ambiguous_text() {
    for text in [
        "2026-12-24 9:05:30", // no grammar has a date with seconds
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
        "Mon 24:00", // 00:00 of the next day
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
        assert_eq!(intended_by(text, Times::parse(text)), None, "{text}");
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
        assert_eq!(intended_by(text, Hours::parse(text)), None, "{text}");
    }
}
