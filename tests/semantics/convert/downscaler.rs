//! `uptime`, `downtime` and the periods, minute by minute.

use chrono_tz::Tz;
use proptest::prelude::*;

use super::clocks::{Minute, PERIODS, minutes, utc};
use super::converted::{Planned, annotated, change, convert, rule_ids};
use super::texts::{forward_text, text};

/// Checks that the plan of a conversion runs exactly in the minutes for which `wants` is true, in all
/// periods, except in minutes that clocks repeat.
fn agrees(kind: &str, annotations: &[(&str, &str)], zone: Tz, wants: impl Fn(&Minute) -> bool) {
    let conversion = convert(&annotated(kind, annotations));
    let change = change(&conversion);
    for period in PERIODS {
        let planned = Planned::of(change, period);
        for minute in minutes(zone, period.0, period.1) {
            if minute.is_repeated {
                continue;
            }
            let wanted = wants(&minute);
            // Without a boundary it keeps its state: always running, or stopped at each midnight.
            let runs = planned.runs(minute.at).unwrap_or(true);
            assert_eq!(runs, wanted, "{annotations:?} at {minute:?}: {change:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn converts_uptime_exactly(text in text()) {
        agrees("Deployment", &[("uptime", &text.text)], text.zone, |it| {
            text.go(it) || text.is_cut_off(it)
        });
    }

    #[test]
    fn converts_a_namespace_downtime_exactly(text in text()) {
        agrees("Namespace", &[("downtime", &text.text)], text.zone, |it| {
            !(text.go(it) || text.is_cut_off(it))
        });
    }

    #[test]
    fn matches_py_kube_downscaler_without_reversed_times(text in forward_text()) {
        agrees("Deployment", &[("uptime", &text.text)], text.zone, |it| text.py(it));
    }

    #[test]
    fn converts_uptime_with_downtime_as_py_kube_downscaler(up in forward_text(), down in forward_text()) {
        let down = down.in_zone(up.zone);
        let annotations = [("uptime", &*up.text), ("downtime", &*down.text)];
        prop_assert!(rule_ids(&convert(&annotated("Deployment", &annotations))).contains(&"both-times"));
        agrees("Deployment", &annotations, up.zone, |it| up.py(it) && !down.py(it));
    }

    #[test]
    fn applies_force_over_the_schedule(
        base in forward_text(), up in forward_text(), down in forward_text()
    ) {
        let (up, down) = (up.in_zone(base.zone), down.in_zone(base.zone));
        let annotations = [
            ("uptime", &*base.text), ("force-uptime", &*up.text), ("force-downtime", &*down.text),
        ];
        let conversion = convert(&annotated("Deployment", &annotations));
        if rule_ids(&conversion).contains(&"contradiction") {
            prop_assert!(conversion.changes.is_empty());
        } else {
            agrees("Deployment", &annotations, base.zone, |it| {
                up.go(it) || base.go(it) && !down.go(it)
            });
        }
    }

    /// Periods define only transitions, and no state in between.
    #[test]
    fn starts_and_stops_at_the_beginnings_of_periods(up in forward_text(), down in forward_text()) {
        let down = down.in_zone(up.zone);
        let annotations = [("upscale-period", &*up.text), ("downscale-period", &*down.text)];
        let conversion = convert(&annotated("Deployment", &annotations));
        // A period that never begins has no times.
        if conversion.changes.is_empty() {
            return Ok(());
        }
        let change = change(&conversion);
        for period in PERIODS {
            let planned = Planned::of(change, period);
            // If only one of them matches, the last one decides.
            let mut state = None;
            for minute in minutes(up.zone, period.0, period.1) {
                // Times in a DST gap happen at its end in dayshift.
                if minute.skipped().any(|it| up.go(&it) != down.go(&it)) {
                    state = None;
                }
                state = match (up.go(&minute), down.go(&minute)) {
                    (true, false) => Some(true),
                    (false, true) => Some(false),
                    _ => state,
                };
                let is_sure = state.is_some() && !minute.is_repeated;
                if let (true, Some(runs)) = (is_sure, planned.runs(minute.at)) {
                    prop_assert_eq!(Some(runs), state, "{:?} at {:?}: {:?}", annotations, minute, change);
                }
            }
        }
    }
}

/// A period that is completely within a DST gap.
#[test]
fn starts_a_period_in_a_dst_gap_at_its_end() {
    let annotations = [
        ("upscale-period", "Mon-Fri 00:00-02:59 CET"),
        ("downscale-period", "Sun-Mon 02:00-02:30 CET"),
    ];
    let conversion = convert(&annotated("Deployment", &annotations));
    let planned = Planned::of(change(&conversion), PERIODS[0]);
    for (at, runs) in [
        ("2027-03-27T12:00:00Z", true),
        ("2027-03-28T00:59:00Z", true),
        ("2027-03-28T01:00:00Z", false),
    ] {
        assert_eq!(planned.runs(utc(at)), Some(runs), "{at}");
    }
}

#[test]
fn documented_examples_of_other_tools_convert_to_short_values() {
    for (annotations, expected) in [
        // GoKubeDownscaler, docs/types/timespans
        (
            &[(
                "downtime",
                "Sat-Sun 00:00-24:00 Europe/Berlin, Mon-Fri 20:00-08:00 Europe/Berlin",
            )][..],
            &[
                "dayshift/hours: Mon-Fri 08:00-20:00",
                "dayshift/timezone: Europe/Berlin",
            ][..],
        ),
        // py-kube-downscaler, README
        (
            &[(
                "downtime",
                "Sat-Sun 00:00-24:00 CET,Fri-Fri 20:00-24:00 CET",
            )],
            &[
                "dayshift/hours: Mon-Thu 00:00-24:00; Fri 00:00-20:00",
                "dayshift/timezone: CET",
            ],
        ),
        (
            &[("downscale-period", "Mon-Sun 19:00-20:00 Europe/Berlin")],
            &["dayshift/stop: 19:00", "dayshift/timezone: Europe/Berlin"],
        ),
        (
            &[
                ("uptime", "Mon-Fri 09:00-17:00 America/Buenos_Aires"),
                ("downtime-replicas", "1"),
            ],
            &[
                "dayshift/hours: Mon-Fri 09:00-17:00",
                "dayshift/timezone: America/Buenos_Aires",
                "dayshift/stop-replicas: 1",
            ],
        ),
        (
            &[("force-uptime", "true")],
            &["dayshift/hours: 00:00-24:00"],
        ),
        (&[("exclude", "true")], &["dayshift/exclude: true"]),
        (
            &[("exclude-until", "2099-04-05")],
            &["dayshift/pause: 2099-04-05T00:00:00Z"],
        ),
    ] {
        let conversion = convert(&annotated("Deployment", annotations));
        let set = &change(&conversion).set;
        let set: Vec<_> = set
            .iter()
            .map(|(name, text)| format!("{name}: {text}"))
            .collect();
        assert_eq!(set, expected, "{annotations:?}");
    }
}
