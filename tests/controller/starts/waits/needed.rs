//! Which dependencies a start waits for, and which it does not.

use serde_json::json;

use super::{OFFICE, app_and_database, evening, is_nothing_reported, ready, reported};
use crate::sandbox::{Sandbox, deployment};

#[test]
fn reports_an_unsatisfiable_dependency_at_once() {
    for (after, edit, why) in [
        (
            "deploy/dbb",
            None,
            "deploy/dbb, which does not exist, or which dayshift is not allowed to read",
        ),
        (
            "sts/db",
            None,
            "sts/db, which does not exist, or which dayshift is not allowed to read",
        ),
        ("deploy/web", None, "deploy/web, which waits for this one"),
        (
            "kafkabridges.kafka.strimzi.io/db",
            None,
            "kafkabridges.kafka.strimzi.io/db, whose kind dayshift does not watch (--kinds)",
        ),
        (
            "deploy/db",
            Some(("hours", "Mon-Fri 13:00-19:00")),
            "deploy/db, which is stopped until Fri 2026-11-20 13:00:00 UTC",
        ),
        (
            "deploy/db",
            Some(("sleep-until", "2026-11-20 12:00")),
            "deploy/db, which is stopped until Fri 2026-11-20 12:00:00 UTC",
        ),
        (
            "deploy/db",
            Some(("pause", "true")),
            "deploy/db, which is stopped, and no schedule starts it",
        ),
    ] {
        let scenario = evening(&[("web", after), ("db", "")]);
        if let Some((key, text)) = edit {
            scenario.annotate("db", key, Some(text));
        }
        scenario.sleep_until("2026-11-20 09:00:01");
        assert_eq!(scenario.replicas("web"), 3, "{why}");
        assert_eq!(reported(&scenario), [format!("web: started without {why}")]);
    }
}

#[test]
fn waits_for_a_dependency_that_starts_slightly_later() {
    let scenario = evening(&[("web", "deploy/db"), ("db", "")]);
    scenario.annotate("db", "hours", Some("Mon-Fri 09:08-19:00"));
    scenario.sleep_until("2026-11-20 09:08:01");
    assert_eq!((scenario.replicas("db"), scenario.replicas("web")), (3, 0));
    ready(&scenario, "db", 3);
    assert_eq!(
        (scenario.replicas("web"), is_nothing_reported(&scenario)),
        (3, true)
    );
}

#[test]
fn reports_dependency_cycles_and_does_not_wait() {
    for circle in [
        &[("a", "deploy/b"), ("b", "deploy/a")][..],
        &[("a", "deploy/b"), ("b", "deploy/c"), ("c", "deploy/a")],
    ] {
        let mut objects = circle.to_vec();
        objects.push(("web", "deploy/a"));
        let scenario = evening(&objects);
        scenario.sleep_until("2026-11-20 09:00:01");
        for (name, needed) in circle {
            assert_eq!(scenario.replicas(name), 3);
            let expected = format!("{name}: started without {needed}, which waits for this one");
            assert!(
                reported(&scenario).contains(&expected),
                "{:?}",
                reported(&scenario)
            );
        }
        // It is not part of the cycle.
        assert_eq!(
            (scenario.replicas("web"), reported(&scenario).len()),
            (0, circle.len())
        );
        ready(&scenario, "a", 3);
        assert_eq!(scenario.replicas("web"), 3);
    }
}

#[test]
fn stops_waiting_for_a_deleted_dependency() {
    let scenario = app_and_database();
    scenario.sleep_until("2026-11-20 09:01");
    scenario.api.delete("dev", "db").unwrap();
    scenario.settle();
    assert_eq!(scenario.replicas("web"), 3);
    let expected = "web: started without deploy/db, which does not exist, or which dayshift is not allowed \
            to read";
    assert_eq!(reported(&scenario), [expected]);
}

#[test]
fn waits_for_a_recreated_dependency() {
    let scenario = app_and_database();
    scenario.sleep_until("2026-11-20 09:01");
    // As `kubectl replace --force` does, observed by a watch that missed the deletion.
    scenario.apply(deployment("db").replicas(3).hours(OFFICE));
    scenario.settle();
    ready(&scenario, "db", 3);
    assert_eq!(
        (scenario.replicas("web"), is_nothing_reported(&scenario)),
        (3, true)
    );
}

#[test]
fn waits_for_a_dependency_without_a_schedule() {
    for namespace_defaults in [true, false] {
        let mut scenario = Sandbox::empty_at("2026-11-17 18:00 UTC");
        scenario.start_with(|settings| settings.scope.namespace_defaults = namespace_defaults);
        scenario.apply(deployment("db").replicas(3));
        ready(&scenario, "db", 3);
        scenario.apply(
            deployment("web")
                .replicas(3)
                .hours(OFFICE)
                .annotation("dayshift/after", "deploy/db"),
        );
        scenario.sleep_until("2026-11-18 08:59");
        ready(&scenario, "db", 1);
        scenario.sleep_until("09:05");
        assert_eq!(scenario.replicas("web"), 0);
        ready(&scenario, "db", 3);
        assert_eq!(
            (scenario.replicas("web"), is_nothing_reported(&scenario)),
            (3, true)
        );
        scenario.sleep_until("20:00");
        scenario.scale("db", 0);
        scenario.sleep_until("2026-11-19 09:00:01");
        let why = "web: started without deploy/db, which is stopped, and no schedule starts it";
        assert_eq!(
            (scenario.replicas("web"), reported(&scenario)),
            (3, vec![why.to_owned()])
        );
    }
}

#[test]
fn namespace_dependency_applies_to_all_but_itself() {
    let scenario = Sandbox::at("2026-11-19 18:00 UTC");
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": "dev", "annotations": {
            "dayshift/hours": OFFICE, "dayshift/after": "deploy/db; deploy/cache",
        }},
    });
    scenario.api.apply(namespace).unwrap();
    for name in ["db", "cache", "web", "api"] {
        scenario.apply(deployment(name).replicas(3));
    }
    scenario.sleep_until("2026-11-20 09:01");
    let running =
        |scenario: &Sandbox| ["db", "cache", "web", "api"].map(|it| scenario.replicas(it));
    assert_eq!(running(&scenario), [3, 3, 0, 0]);
    assert!(
        scenario.object("web")["metadata"]["annotations"]["dayshift/inherited"]
            .as_str()
            .unwrap()
            .contains("\"after\":\"deploy/db; deploy/cache\"")
    );
    ready(&scenario, "db", 3);
    assert_eq!(running(&scenario), [3, 3, 0, 0]);
    ready(&scenario, "cache", 3);
    assert_eq!(
        (running(&scenario), is_nothing_reported(&scenario)),
        ([3; 4], true)
    );
}
