//! `force-uptime` and `force-downtime` of a Namespace win over its objects' own times:
//! `GetCurrentScaling` of GoKubeDownscaler's `scope.go` (0ea8cbb) checks every level for a force
//! before it checks any for times, and py-kube-downscaler's `scaler.py` (00be0b4) uses only the
//! Namespace's force.

use dayshift_manifest::convert::Conversion;
use proptest::prelude::*;

use super::{
    clocks::{PERIODS, minutes},
    converted::{Planned, annotated, convert, rule_ids},
    texts::{Text, forward_text},
};

const WEEK: (&str, &str) = ("2027-07-05T00:00:00Z", "2027-07-12T00:00:00Z");

/// An object in a Namespace, both with annotations.
fn in_namespace(namespace: &[(&str, &str)], object: &[(&str, &str)]) -> Conversion {
    let object = annotated("Deployment", object);
    let object = object.replace("  name: web\n", "  name: api\n  namespace: web\n");
    convert(&format!(
        "{}---\n{object}",
        annotated("Namespace", namespace)
    ))
}

/// The plan of the object.
fn planned(conversion: &Conversion, period: (&str, &str)) -> Planned {
    let [namespace, object] = &conversion.changes[..] else {
        panic!("{conversion:#?}");
    };
    Planned::within(object, namespace, period)
}

const OFFICE: &str = "Mon-Fri 08:00-20:00 UTC";

#[test]
fn a_permanently_forced_namespace_wins_over_an_objects_times() {
    for (key, runs) in [("force-uptime", true), ("force-downtime", false)] {
        for namespace in [
            &[(key, "true")][..],
            &[("uptime", "Sat-Sat 10:00-12:00 UTC"), (key, "always")],
            // A case that random tests have found.
            &[
                ("uptime", "Mon-Mon 00:00-00:00 UTC"),
                (key, "Mon-Sun 00:00-24:00 UTC"),
            ],
        ] {
            for object in [
                ("uptime", OFFICE),
                ("downtime", OFFICE),
                ("upscale-period", OFFICE),
            ] {
                let conversion = in_namespace(namespace, &[object]);
                assert!(
                    rule_ids(&conversion).contains(&"forced"),
                    "{namespace:?}: {object:?}"
                );
                let until = if runs { "wake-until" } else { "sleep-until" };
                let until = format!("dayshift/{until}");
                let set = &conversion.changes[0].set;
                assert!(
                    set.iter()
                        .any(|it| it.0 == until && it.1.starts_with("2199")),
                    "{set:?}"
                );
                let planned = planned(&conversion, WEEK);
                for minute in minutes(chrono_tz::UTC, WEEK.0, WEEK.1) {
                    assert_eq!(planned.runs(minute.at), Some(runs), "{object:?} {minute:?}");
                }
            }
        }
    }
}

/// Objects without a schedule of their own are forced too.
#[test]
fn a_forced_namespace_applies_to_objects_without_settings() {
    for (key, own) in [("force-uptime", "hours"), ("force-downtime", "stop")] {
        let conversion = convert(&annotated("Namespace", &[(key, "true")]));
        let set = &conversion.changes[0].set;
        let until = if own == "hours" {
            "dayshift/wake-until"
        } else {
            "dayshift/sleep-until"
        };
        assert!(
            set.iter().any(|it| it.0 == format!("dayshift/{own}")),
            "{set:?}"
        );
        assert!(
            set.iter()
                .any(|it| it.0 == until && it.1.starts_with("2199")),
            "{set:?}"
        );
    }
}

/// In GoKubeDownscaler an object's own force wins.
#[test]
fn an_objects_own_force_wins_over_that_of_its_namespace() {
    let conversion = in_namespace(&[("force-downtime", "true")], &[("force-uptime", "true")]);
    let planned = planned(&conversion, WEEK);
    for minute in minutes(chrono_tz::UTC, WEEK.0, WEEK.1) {
        assert_eq!(planned.runs(minute.at), Some(true), "{minute:?}");
    }
    let conversion = in_namespace(
        &[("force-downtime", "true")],
        &[("uptime", OFFICE), ("force-uptime", "never")],
    );
    assert_eq!(rule_ids(&conversion), ["forced", "both-levels"]);
}

/// Whether it runs by GoKubeDownscaler's rules.
fn theirs(up: Option<&Text>, down: Option<&Text>, own: &Text, it: &super::clocks::Minute) -> bool {
    match (
        up.is_some_and(|text| text.go(it)),
        down.is_some_and(|text| text.go(it)),
    ) {
        (true, _) => true,
        (_, true) => false,
        _ => own.go(it),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_timed_force_combines_with_an_objects_times(
        own in forward_text(), times in forward_text(), force in forward_text(), is_up in any::<bool>(),
    ) {
        let (times, force) = (times.in_zone(own.zone), force.in_zone(own.zone));
        let key = if is_up { "force-uptime" } else { "force-downtime" };
        let namespace = [("uptime", &*times.text), (key, &*force.text)];
        let conversion = in_namespace(&namespace, &[("uptime", &own.text)]);
        let (up, down) = if is_up { (Some(&force), None) } else { (None, Some(&force)) };
        for period in PERIODS {
            let planned = planned(&conversion, period);
            for minute in minutes(own.zone, period.0, period.1) {
                if minute.is_repeated {
                    continue;
                }
                let runs = planned.runs(minute.at).unwrap_or(true);
                prop_assert_eq!(runs, theirs(up, down, &own, &minute), "{:?} {:?}", minute, conversion.changes);
            }
        }
    }
}

/// The Namespace has only a timed force and no times, so the object's own times are known.
#[test]
fn a_timed_force_applies_to_objects_of_an_unconverted_namespace() {
    let force = [("force-downtime", "Wed-Wed 00:00-24:00 UTC")];
    let conversion = in_namespace(&force, &[("uptime", OFFICE)]);
    assert_eq!(rule_ids(&conversion), ["force-elsewhere"]);
    let set = &conversion.changes[0].set;
    assert_eq!(
        set[0],
        (
            "dayshift/hours".to_owned(),
            "Mon-Tue,Thu-Fri 08:00-20:00".to_owned()
        )
    );
    let conversion = in_namespace(&force, &[("uptime", "Mon-Fri 08:00-20:00 CET")]);
    assert_eq!(rule_ids(&conversion), ["force-elsewhere", "two-zones"]);
    assert!(conversion.changes.is_empty());
}
