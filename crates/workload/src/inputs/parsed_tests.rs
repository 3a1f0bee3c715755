//! How overrides and `enforce` are read.

use chrono::TimeDelta;
use dayshift_schedule::Zone;

use super::overrides::{Enforce, OverrideSet, Pause};
use super::parsed::{ParsedInputs, read};
use crate::{Inputs, Key};

fn laid_over(key: Key, text: &str) -> ParsedInputs {
    let inputs = Inputs::default()
        .with(Key::Hours, "09:00-19:00")
        .with(Key::Timezone, "Asia/Tokyo")
        .with(key, text);
    read(&inputs, &Zone::UTC.into())
}

#[test]
fn overrides_are_read_in_the_zone_of_the_object() {
    let at = "2026-12-24T09:00:00Z".parse().ok();
    let none = OverrideSet::default();
    for (key, text, expected) in [
        (
            Key::WakeUntil,
            "2026-12-24 18:00",
            OverrideSet {
                wake_until: at,
                ..none
            },
        ),
        (
            Key::SleepUntil,
            "2026-12-24T10:00:00+01:00",
            OverrideSet {
                sleep_until: at,
                ..none
            },
        ),
        (
            Key::Pause,
            "2026-12-24 18:00",
            OverrideSet {
                pause: at.map(Pause::Until),
                ..none
            },
        ),
        (
            Key::Pause,
            " True",
            OverrideSet {
                pause: Some(Pause::Forever),
                ..none
            },
        ),
        (Key::Pause, "false", none),
    ] {
        match laid_over(key, text) {
            ParsedInputs::Scheduled(spec) => {
                assert_eq!(spec.overrides.own, expected, "{key} {text}");
                assert_eq!(spec.overrides.enforce, Enforce::No);
            }
            other => panic!("{key} {text}: {other:?}"),
        }
    }
}

#[test]
fn enforce_is_on_or_off_or_comes_after_a_grace() {
    for (text, expected) in [
        ("true", Enforce::AtOnce),
        ("false", Enforce::No),
        (" TRUE", Enforce::AtOnce),
        ("30m", Enforce::After(TimeDelta::minutes(30))),
        ("1s", Enforce::After(TimeDelta::seconds(1))),
        ("24h", Enforce::After(TimeDelta::hours(24))),
    ] {
        match laid_over(Key::Enforce, text) {
            ParsedInputs::Scheduled(spec) => {
                assert_eq!(spec.overrides.enforce, expected, "{text}");
                assert_eq!(spec.overrides.own, OverrideSet::default());
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn what_is_wrong_with_an_override_has_a_place_and_a_right_example() {
    for (key, text, span, part) in [
        (Key::Pause, "yes", 0..3, "`yes` is neither `true` nor"),
        (Key::Pause, "2026-12-24", 0..10, "`2026-12-24 18:00`"),
        (Key::WakeUntil, "22:00", 0..5, "write local time such as"),
        (
            Key::SleepUntil,
            "2026-12-24 1800",
            11..15,
            "write `2026-12-24 18:00`",
        ),
        (Key::SleepUntil, "", 0..0, "`2026-12-24 18:00`"),
        (Key::Enforce, "on", 0..2, "write `true`"),
        (Key::Enforce, "0s", 0..2, "from 1s to 24h"),
        (Key::Enforce, "24h1s", 0..5, "from 1s to 24h"),
    ] {
        match laid_over(key, text) {
            ParsedInputs::Invalid(refusal) => {
                let [problem] = refusal.problems() else {
                    panic!("{key} {text}: {refusal}");
                };
                assert_eq!(
                    (&*problem.annotation, problem.diagnostic.span()),
                    (key.name(), span.clone())
                );
                assert!(
                    problem.diagnostic.to_string().contains(part),
                    "{}",
                    problem.diagnostic
                );
            }
            other => panic!("{key} {text}: {other:?}"),
        }
    }
}

#[test]
fn an_override_without_a_schedule_is_an_error_and_a_pause_is_none() {
    for (key, refused) in [
        (Key::WakeUntil, true),
        (Key::SleepUntil, true),
        (Key::Pause, false),
        (Key::Enforce, false),
    ] {
        let inputs = Inputs::default().with(key, "2026-12-24 18:00");
        let parsed = read(&inputs, &Zone::UTC.into());
        assert_eq!(matches!(parsed, ParsedInputs::Invalid(_)), refused, "{key}");
    }
}

#[test]
fn jitter_with_times_more_often_than_once_a_minute_is_refused() {
    let scheduled = |start: &str, jitter: &str| {
        let inputs = Inputs::default().with(Key::Start, start);
        let inputs = inputs
            .with(Key::Stop, "* * * * *")
            .with(Key::Jitter, jitter);
        read(&inputs, &Zone::UTC.into())
    };
    for (start, jitter, refused) in [
        ("* * * * * *", "1h", true),
        ("09:00; 0,30 0 9 1 * *", "5m", true),
        ("0 * * * * *; 30 0 9 * * *", "1h", false),
        ("* * * * *", "1h", false),
        ("* * * * * *", "0s", false),
    ] {
        match scheduled(start, jitter) {
            ParsedInputs::Invalid(refusal) => {
                assert!(refused, "{start}: {refusal}");
                let text = refusal.to_string();
                let expected = format!("dayshift/jitter: `{jitter}` cannot spread times");
                assert!(text.starts_with(&expected), "{text}");
                assert!(text.contains("such as 0 */5 * * * *"), "{text}");
            }
            other => assert!(!refused, "{start}: {other:?}"),
        }
    }
}
