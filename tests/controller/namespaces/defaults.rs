//! Inheritance from the Namespace, and precedence.

use std::{fs, time::Duration};

use dayshift_controller::Settings;

use super::{annotate, office, patches};
use crate::sandbox::{Sandbox, cron_job, deployment, logged, stateful_set};

#[test]
fn workloads_follow_the_schedule_of_their_namespace() {
    let story = Sandbox::at("2026-11-20 12:00 UTC");
    story.apply(deployment("web").replicas(3));
    story.apply(stateful_set("db").replicas(2));
    story.apply(cron_job("report"));
    annotate(&story, "dev", &office());
    for (kind, name) in [
        ("Deployment", "web"),
        ("StatefulSet", "db"),
        ("CronJob", "report"),
    ] {
        assert_eq!(state_of(&story, kind, name).as_deref(), Some("adopted"));
    }
    // Workloads that are created later inherit too.
    story.apply(deployment("late").replicas(4));
    assert_eq!(patches(&story), 4, "one adoption each");
    story.sleep_until("19:00");
    assert_eq!((story.replicas("web"), story.replicas("late")), (0, 0));
    let report = story.api.get("CronJob", "dev", "report").unwrap();
    assert_eq!(report["spec"]["suspend"], true);
    story.sleep_until("2026-11-23 09:00");
    assert_eq!((story.replicas("web"), story.replicas("late")), (3, 4));
    assert_eq!(
        patches(&story),
        4 + 2 * 4,
        "one request for each transition"
    );
}

fn state_of(story: &Sandbox, kind: &str, name: &str) -> Option<String> {
    let object = story.api.get(kind, "dev", name).unwrap();
    let state = &object["metadata"]["labels"]["dayshift/state"];
    state.as_str().map(str::to_owned)
}

#[test]
fn object_annotations_override_the_namespace_by_key_and_the_schedule_as_a_whole() {
    let story = Sandbox::at("2026-11-20 12:00 UTC");
    story.apply(deployment("own").replicas(3).stop("13:00"));
    story.apply(
        deployment("zoned")
            .replicas(3)
            .annotation("dayshift/timezone", "Asia/Tokyo"),
    );
    story.apply(
        deployment("out")
            .replicas(3)
            .annotation("dayshift/exclude", "true"),
    );
    let texts = [
        ("hours", Some("Mon-Fri 09:00-14:00")),
        ("stop-replicas", Some("1")),
        ("timezone", Some("Europe/Berlin")),
    ];
    annotate(&story, "dev", &texts);
    // 13:00 in Berlin is 12:00 UTC, which has just passed.
    story.sleep_until("12:59");
    assert_eq!(story.replicas("own"), 3);
    story.sleep_until("13:00");
    assert_eq!(story.replicas("own"), 3, "its own time is of Berlin by now");
    story.sleep_until("2026-11-21 12:00");
    assert_eq!(story.replicas("own"), 1, "one is left by the Namespace");
    // 14:00 in Tokyo is 05:00 UTC.
    story.sleep_until("2026-11-23 04:59");
    assert_eq!(story.replicas("zoned"), 3);
    story.sleep_until("2026-11-23 05:00");
    assert_eq!(story.replicas("zoned"), 1);
    assert_eq!(
        (story.replicas("out"), story.label("out", "state")),
        (3, None)
    );
}

#[test]
fn namespace_edit_affects_only_workloads_that_inherit() {
    let story = Sandbox::at("2026-11-20 12:00 UTC");
    story.api.namespace("other");
    story.apply(deployment("web").replicas(3));
    story.apply(deployment("own").replicas(3).hours("08:00-20:00"));
    story.apply(
        deployment("far")
            .namespace("other")
            .replicas(3)
            .hours("08:00-20:00"),
    );
    annotate(&story, "dev", &office());
    let before = patches(&story);
    annotate(&story, "dev", &[("hours", Some("Mon-Fri 09:00-11:00"))]);
    assert_eq!(patches(&story) - before, 1, "of `web` alone");
    assert_eq!(story.replicas("web"), 3, "it never acts backwards");
    assert_eq!(story.events("web"), ["ScheduleChanged"]);
    // Counts and overrides are no edit.
    annotate(&story, "dev", &[("replicas", Some("2")), ("jitter", None)]);
    assert_eq!(patches(&story) - before, 1);
    story.sleep_until("2026-11-23 11:00");
    assert_eq!(story.replicas("web"), 0);
    story.sleep_until("2026-11-24 09:00");
    assert_eq!(story.replicas("web"), 2);
    // Removed while the workload is stopped, it scales nothing and keeps the count.
    story.sleep_until("12:00");
    let texts = [("hours", None), ("replicas", None)];
    annotate(&story, "dev", &texts);
    assert_eq!(
        (story.replicas("web"), story.label("web", "state")),
        (0, None)
    );
    assert_eq!(story.label("web", "saved-replicas").as_deref(), Some("2"));
    assert_eq!(story.replicas("own"), 2, "it inherits `replicas`");
}

#[test]
fn invalid_namespace_schedule_is_reported_once_and_changes_nothing() {
    let story = Sandbox::at("2026-11-20 12:00 UTC");
    for name in ["web", "api", "db"] {
        story.apply(deployment(name).replicas(3));
    }
    story.apply(deployment("own").replicas(3).hours("08:00-19:00"));
    annotate(&story, "dev", &office());
    let before = patches(&story);
    annotate(&story, "dev", &[("hours", Some("Mon-Fri 9-19"))]);
    assert_eq!(patches(&story), before, "nothing is written to the objects");
    assert_eq!(story.events("dev"), ["InvalidSchedule"]);
    let events = story.api.list("Event");
    let told = events.iter().find(|it| it["regarding"]["name"] == "dev");
    let told = told.unwrap();
    assert_eq!(told["regarding"]["kind"], "Namespace");
    assert_eq!(told["type"], "Warning");
    let note = told["note"].as_str().unwrap();
    assert!(
        note.starts_with("dayshift/hours on the Namespace: "),
        "{note}"
    );
    story.pass(Duration::from_secs(2));
    assert!(story.metrics().contains("dayshift_invalid_namespaces 1\n"));
    // The others continue.
    story.sleep_until("19:30");
    assert_eq!((story.replicas("own"), story.replicas("web")), (0, 3));
    assert_eq!(story.error("web"), None);
    // Corrected to the same schedule, it resumes and catches up.
    annotate(&story, "dev", &office());
    assert_eq!(story.replicas("web"), 0);
    story.pass(Duration::from_secs(2));
    assert!(story.metrics().contains("dayshift_invalid_namespaces 0\n"));
}

#[test]
fn invalid_key_affects_only_workloads_that_inherit_it() {
    let story = Sandbox::at("2026-11-20 12:00 UTC");
    story.apply(
        deployment("zoned")
            .replicas(3)
            .hours("09:00-19:00")
            .annotation("dayshift/timezone", "UTC"),
    );
    story.apply(deployment("plain").replicas(3).hours("09:00-19:00"));
    annotate(
        &story,
        "dev",
        &[("timezone", Some("Mars/Olympus")), ("strat", Some("09:00"))],
    );
    assert_eq!(story.events("dev").len(), 2, "one for each edit");
    story.sleep_until("19:00");
    assert_eq!(story.replicas("zoned"), 0);
    assert_eq!(story.replicas("plain"), 3, "which zone is not known");
}

#[test]
fn namespace_override_applies_to_all_unless_the_object_has_its_own() {
    let story = Sandbox::at("2026-11-20 12:00 UTC");
    story.apply(deployment("web").replicas(3));
    story.apply(deployment("own").replicas(3).hours("08:00-19:00"));
    story.apply(
        deployment("plain")
            .replicas(3)
            .annotation("dayshift/exclude", "true"),
    );
    story.apply(
        deployment("woken")
            .replicas(3)
            .annotation("dayshift/wake-until", "2026-11-20 20:00"),
    );
    annotate(&story, "dev", &office());
    annotate(&story, "dev", &[("sleep-until", Some("2026-11-20 15:00"))]);
    let counts =
        |story: &Sandbox| ["web", "own", "plain", "woken"].map(|name| story.replicas(name));
    assert_eq!(counts(&story), [0, 0, 3, 3]);
    assert_eq!(story.label("web", "state").as_deref(), Some("slept"));
    story.sleep_until("15:00");
    assert_eq!(counts(&story), [3, 3, 3, 3]);
    let namespace = story.api.get("Namespace", "", "dev").unwrap();
    let texts = &namespace["metadata"]["annotations"];
    assert_eq!(
        texts["dayshift/sleep-until"], "2026-11-20 15:00",
        "it is left there"
    );
    // A pause of the Namespace, and an object that opts out.
    annotate(&story, "dev", &[("pause", Some("true"))]);
    story
        .api
        .annotate("dev", "own", "dayshift/pause", Some("false"))
        .unwrap();
    story.sleep_until("19:00");
    assert_eq!(counts(&story), [3, 0, 3, 3]);
    story.sleep_until("20:00");
    assert_eq!(
        counts(&story),
        [3, 0, 3, 3],
        "the wake is over, and it is paused"
    );
    assert_eq!(story.label("woken", "state").as_deref(), Some("paused"));
    annotate(&story, "dev", &[("pause", None)]);
    story.sleep_until("2026-11-23 19:00");
    assert_eq!(counts(&story), [0, 0, 3, 0]);
}

/// A workload switches between inheriting and its own schedule, and keeps its count.
#[test]
fn workload_can_switch_between_its_own_and_the_namespace_schedule() {
    let story = Sandbox::at("2026-11-20 12:00 UTC");
    story.apply(deployment("web").replicas(3));
    annotate(&story, "dev", &office());
    story.sleep_until("19:00");
    story.annotate("web", "hours", Some("Mon-Fri 08:00-19:00"));
    assert_eq!(
        (story.replicas("web"), saved(&story)),
        (0, Some("3".to_owned()))
    );
    story.annotate("web", "hours", None);
    assert_eq!(
        (story.replicas("web"), saved(&story)),
        (0, Some("3".to_owned()))
    );
    assert_eq!(
        story.label("web", "next").as_deref(),
        Some("2026-11-23T09.00.00Z")
    );
    story.annotate("web", "exclude", Some("true"));
    assert_eq!(
        (story.replicas("web"), story.label("web", "state")),
        (0, None)
    );
    assert_eq!(
        saved(&story),
        Some("3".to_owned()),
        "it can be brought back"
    );
    story.annotate("web", "exclude", None);
    story.sleep_until("2026-11-23 09:00");
    assert_eq!(story.replicas("web"), 3);
}

#[test]
fn dry_run_inherits_and_writes_nothing() {
    let (_guard, log) = logged();
    let mut story = Sandbox::empty_at("2026-11-20 12:00 UTC");
    story.apply(deployment("web").replicas(3));
    annotate(&story, "dev", &office());
    story.start_scaler(Settings {
        dry_run: true,
        ..Settings::default()
    });
    story.sleep_until("19:01");
    assert_eq!(patches(&story), 0);
    let text = fs::read_to_string(log.path()).unwrap();
    assert!(text.contains("would"), "{text}");
    assert!(
        text.lines()
            .any(|it| it.contains("stop") && it.contains("dev/web")),
        "{text}"
    );
}

fn saved(story: &Sandbox) -> Option<String> {
    story.label("web", "saved-replicas")
}

/// An excluded workload is adopted in its current state: boundaries that passed meanwhile are not
/// carried out.
#[test]
fn adopts_a_workload_that_is_no_longer_excluded() {
    let story = Sandbox::at("2026-11-20 12:00 UTC");
    story.apply(deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00"));
    assert_eq!(story.label("web", "state").as_deref(), Some("adopted"));
    story.sleep_until("13:00");
    story.annotate("web", "exclude", Some("true"));
    assert_eq!(story.label("web", "state"), None);
    story.sleep_until("20:00");
    story.annotate("web", "exclude", None);
    assert_eq!(story.label("web", "state").as_deref(), Some("adopted"));
    assert_eq!(story.replicas("web"), 3);
    story.sleep_until("2026-11-23 20:00");
    assert_eq!(story.replicas("web"), 0);
}
