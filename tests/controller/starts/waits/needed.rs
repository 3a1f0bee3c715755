//! Which dependencies a start waits for, and which it does not.

use dayshift_controller::{Scope, Settings};
use serde_json::json;

use super::{OFFICE, app_and_database, evening, is_none_told, ready, told};
use crate::sandbox::{Sandbox, deployment};

#[test]
fn reports_an_unsatisfiable_dependency_at_once() {
    for (after, edit, why) in [
        (
            "deploy/dbb",
            None,
            "deploy/dbb, which is not there, or which dayshift may not see",
        ),
        (
            "sts/db",
            None,
            "sts/db, which is not there, or which dayshift may not see",
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
            "deploy/db, which is stopped until Mon 2026-11-23 13:00:00 UTC",
        ),
        (
            "deploy/db",
            Some(("sleep-until", "2026-11-23 12:00")),
            "deploy/db, which is stopped until Mon 2026-11-23 12:00:00 UTC",
        ),
        (
            "deploy/db",
            Some(("pause", "true")),
            "deploy/db, which is stopped, and no schedule starts it",
        ),
    ] {
        let story = evening(&[("web", after), ("db", "")]);
        if let Some((key, text)) = edit {
            story.annotate("db", key, Some(text));
        }
        story.sleep_until("2026-11-23 09:00:01");
        assert_eq!(story.replicas("web"), 3, "{why}");
        assert_eq!(told(&story), [format!("web: started without {why}")]);
    }
}

#[test]
fn waits_for_a_dependency_that_starts_slightly_later() {
    let story = evening(&[("web", "deploy/db"), ("db", "")]);
    story.annotate("db", "hours", Some("Mon-Fri 09:08-19:00"));
    story.sleep_until("2026-11-23 09:08:01");
    assert_eq!((story.replicas("db"), story.replicas("web")), (3, 0));
    ready(&story, "db", 3);
    assert_eq!((story.replicas("web"), is_none_told(&story)), (3, true));
}

#[test]
fn reports_dependency_cycles_and_does_not_wait() {
    for circle in [
        &[("a", "deploy/b"), ("b", "deploy/a")][..],
        &[("a", "deploy/b"), ("b", "deploy/c"), ("c", "deploy/a")],
    ] {
        let mut objects = circle.to_vec();
        objects.push(("web", "deploy/a"));
        let story = evening(&objects);
        story.sleep_until("2026-11-23 09:00:01");
        for (name, needed) in circle {
            assert_eq!(story.replicas(name), 3);
            let expected = format!("{name}: started without {needed}, which waits for this one");
            assert!(told(&story).contains(&expected), "{:?}", told(&story));
        }
        // It is not part of the cycle.
        assert_eq!(
            (story.replicas("web"), told(&story).len()),
            (0, circle.len())
        );
        ready(&story, "a", 3);
        assert_eq!(story.replicas("web"), 3);
    }
}

#[test]
fn stops_waiting_for_a_deleted_dependency() {
    let story = app_and_database();
    story.sleep_until("2026-11-23 09:01");
    story.api.delete("dev", "db").unwrap();
    story.settle();
    assert_eq!(story.replicas("web"), 3);
    let expected =
        "web: started without deploy/db, which is not there, or which dayshift may not see";
    assert_eq!(told(&story), [expected]);
}

#[test]
fn waits_for_a_recreated_dependency() {
    let story = app_and_database();
    story.sleep_until("2026-11-23 09:01");
    // As `kubectl replace --force` does, observed by a watch that missed the deletion.
    story.apply(deployment("db").replicas(3).hours(OFFICE));
    story.settle();
    ready(&story, "db", 3);
    assert_eq!((story.replicas("web"), is_none_told(&story)), (3, true));
}

#[test]
fn waits_for_a_dependency_without_a_schedule() {
    for namespace_defaults in [true, false] {
        let mut story = Sandbox::empty_at("2026-11-20 18:00 UTC");
        story.start_scaler(Settings {
            scope: Scope {
                namespace_defaults,
                ..Scope::default()
            },
            ..Settings::default()
        });
        story.apply(deployment("db").replicas(3));
        ready(&story, "db", 3);
        story.apply(
            deployment("web")
                .replicas(3)
                .hours(OFFICE)
                .annotation("dayshift/after", "deploy/db"),
        );
        story.sleep_until("2026-11-23 08:59");
        ready(&story, "db", 1);
        story.sleep_until("09:05");
        assert_eq!(story.replicas("web"), 0);
        ready(&story, "db", 3);
        assert_eq!((story.replicas("web"), is_none_told(&story)), (3, true));
        story.sleep_until("20:00");
        story.scale("db", 0);
        story.sleep_until("2026-11-24 09:00:01");
        let why = "web: started without deploy/db, which is stopped, and no schedule starts it";
        assert_eq!(
            (story.replicas("web"), told(&story)),
            (3, vec![why.to_owned()])
        );
    }
}

#[test]
fn namespace_dependency_applies_to_all_but_itself() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": "dev", "annotations": {
            "dayshift/hours": OFFICE, "dayshift/after": "deploy/db; deploy/cache",
        }},
    });
    story.api.apply(namespace).unwrap();
    for name in ["db", "cache", "web", "api"] {
        story.apply(deployment(name).replicas(3));
    }
    story.sleep_until("2026-11-23 09:01");
    let running = |story: &Sandbox| ["db", "cache", "web", "api"].map(|it| story.replicas(it));
    assert_eq!(running(&story), [3, 3, 0, 0]);
    assert!(
        story.object("web")["metadata"]["annotations"]["dayshift/inherited"]
            .as_str()
            .unwrap()
            .contains("\"after\":\"deploy/db; deploy/cache\"")
    );
    ready(&story, "db", 3);
    assert_eq!(running(&story), [3, 3, 0, 0]);
    ready(&story, "cache", 3);
    assert_eq!((running(&story), is_none_told(&story)), ([3; 4], true));
}
