//! Inheritance from the Namespace, and precedence.

use std::{fs, time::Duration};

use super::{annotate, office, patches};
use crate::sandbox::{Sandbox, cron_job, deployment, logged, stateful_set};

#[test]
fn workloads_follow_the_schedule_of_their_namespace() {
    let scenario = Sandbox::at("2026-11-20 12:00 UTC");
    scenario.apply(deployment("web").replicas(3));
    scenario.apply(stateful_set("db").replicas(2));
    scenario.apply(cron_job("report"));
    annotate(&scenario, "dev", &office());
    for (kind, name) in [
        ("Deployment", "web"),
        ("StatefulSet", "db"),
        ("CronJob", "report"),
    ] {
        assert_eq!(state_of(&scenario, kind, name).as_deref(), Some("adopted"));
    }
    // Workloads that are created later inherit too.
    scenario.apply(deployment("late").replicas(4));
    assert_eq!(patches(&scenario), 4, "each workload is adopted once");
    scenario.sleep_until("19:00");
    assert_eq!(
        (scenario.replicas("web"), scenario.replicas("late")),
        (0, 0)
    );
    let report = scenario.api.get("CronJob", "dev", "report").unwrap();
    assert_eq!(report["spec"]["suspend"], true);
    scenario.sleep_until("2026-11-23 09:00");
    assert_eq!(
        (scenario.replicas("web"), scenario.replicas("late")),
        (3, 4)
    );
    assert_eq!(
        patches(&scenario),
        4 + 2 * 4,
        "one request for each transition"
    );
}

fn state_of(scenario: &Sandbox, kind: &str, name: &str) -> Option<String> {
    let object = scenario.api.get(kind, "dev", name).unwrap();
    let state = &object["metadata"]["labels"]["dayshift/state"];
    state.as_str().map(str::to_owned)
}

#[test]
fn object_annotations_override_each_namespace_setting_and_its_whole_schedule() {
    let scenario = Sandbox::at("2026-11-20 12:00 UTC");
    scenario.apply(deployment("own").replicas(3).stop("13:00"));
    scenario.apply(
        deployment("zoned")
            .replicas(3)
            .annotation("dayshift/timezone", "Asia/Tokyo"),
    );
    scenario.apply(
        deployment("out")
            .replicas(3)
            .annotation("dayshift/exclude", "true"),
    );
    let texts = [
        ("hours", Some("Mon-Fri 09:00-14:00")),
        ("stop-replicas", Some("1")),
        ("timezone", Some("Europe/Berlin")),
    ];
    annotate(&scenario, "dev", &texts);
    // 13:00 in Berlin is 12:00 UTC, so the stop of `own` has passed.
    scenario.sleep_until("12:59");
    assert_eq!(scenario.replicas("own"), 3);
    scenario.sleep_until("13:00");
    assert_eq!(
        scenario.replicas("own"),
        3,
        "its stop is at 13:00 in Berlin, which has passed"
    );
    scenario.sleep_until("2026-11-21 12:00");
    assert_eq!(
        scenario.replicas("own"),
        1,
        "stop-replicas comes from the Namespace"
    );
    // 14:00 in Tokyo is 05:00 UTC.
    scenario.sleep_until("2026-11-23 04:59");
    assert_eq!(scenario.replicas("zoned"), 3);
    scenario.sleep_until("2026-11-23 05:00");
    assert_eq!(scenario.replicas("zoned"), 1);
    assert_eq!(
        (scenario.replicas("out"), scenario.label("out", "state")),
        (3, None)
    );
}

#[test]
fn namespace_edit_affects_only_workloads_that_inherit() {
    let scenario = Sandbox::at("2026-11-20 12:00 UTC");
    scenario.api.namespace("other");
    scenario.apply(deployment("web").replicas(3));
    scenario.apply(deployment("own").replicas(3).hours("08:00-20:00"));
    scenario.apply(
        deployment("far")
            .namespace("other")
            .replicas(3)
            .hours("08:00-20:00"),
    );
    annotate(&scenario, "dev", &office());
    let before = patches(&scenario);
    annotate(&scenario, "dev", &[("hours", Some("Mon-Fri 09:00-11:00"))]);
    assert_eq!(patches(&scenario) - before, 1, "only `web` is patched");
    assert_eq!(
        scenario.replicas("web"),
        3,
        "the schedule never acts on the past"
    );
    assert_eq!(scenario.events("web"), ["ScheduleChanged"]);
    // A change of counts or overrides is no edit of the schedule.
    annotate(
        &scenario,
        "dev",
        &[("replicas", Some("2")), ("jitter", None)],
    );
    assert_eq!(patches(&scenario) - before, 1);
    scenario.sleep_until("2026-11-23 11:00");
    assert_eq!(scenario.replicas("web"), 0);
    scenario.sleep_until("2026-11-24 09:00");
    assert_eq!(scenario.replicas("web"), 2);
    // A Namespace schedule that is removed while the workload is stopped scales nothing and keeps the saved
    // count.
    scenario.sleep_until("12:00");
    let texts = [("hours", None), ("replicas", None)];
    annotate(&scenario, "dev", &texts);
    assert_eq!(
        (scenario.replicas("web"), scenario.label("web", "state")),
        (0, None)
    );
    assert_eq!(
        scenario.label("web", "saved-replicas").as_deref(),
        Some("2")
    );
    assert_eq!(scenario.replicas("own"), 2, "it inherits `replicas`");
}

#[test]
fn invalid_namespace_schedule_is_reported_once_and_changes_nothing() {
    let scenario = Sandbox::at("2026-11-20 12:00 UTC");
    for name in ["web", "api", "db"] {
        scenario.apply(deployment(name).replicas(3));
    }
    scenario.apply(deployment("own").replicas(3).hours("08:00-19:00"));
    annotate(&scenario, "dev", &office());
    let before = patches(&scenario);
    annotate(&scenario, "dev", &[("hours", Some("Mon-Fri 9-19"))]);
    assert_eq!(
        patches(&scenario),
        before,
        "nothing is written to the objects"
    );
    assert_eq!(scenario.events("dev"), ["InvalidSchedule"]);
    let events = scenario.api.list("Event");
    let reported = events.iter().find(|it| it["regarding"]["name"] == "dev");
    let reported = reported.unwrap();
    assert_eq!(reported["regarding"]["kind"], "Namespace");
    assert_eq!(reported["type"], "Warning");
    let note = reported["note"].as_str().unwrap();
    assert!(
        note.starts_with("dayshift/hours on the Namespace: "),
        "{note}"
    );
    scenario.pass(Duration::from_secs(2));
    assert!(
        scenario
            .metrics()
            .contains("dayshift_invalid_namespaces 1\n")
    );
    // The others continue.
    scenario.sleep_until("19:30");
    assert_eq!((scenario.replicas("own"), scenario.replicas("web")), (0, 3));
    assert_eq!(scenario.error("web"), None);
    // Corrected to the same schedule, it resumes and catches up.
    annotate(&scenario, "dev", &office());
    assert_eq!(scenario.replicas("web"), 0);
    scenario.pass(Duration::from_secs(2));
    assert!(
        scenario
            .metrics()
            .contains("dayshift_invalid_namespaces 0\n")
    );
}

#[test]
fn invalid_key_affects_only_workloads_that_inherit_it() {
    let scenario = Sandbox::at("2026-11-20 12:00 UTC");
    scenario.apply(
        deployment("zoned")
            .replicas(3)
            .hours("09:00-19:00")
            .annotation("dayshift/timezone", "UTC"),
    );
    scenario.apply(deployment("plain").replicas(3).hours("09:00-19:00"));
    annotate(
        &scenario,
        "dev",
        &[("timezone", Some("Mars/Olympus")), ("strat", Some("09:00"))],
    );
    assert_eq!(
        scenario.events("dev").len(),
        2,
        "each edit is reported once"
    );
    scenario.sleep_until("19:00");
    assert_eq!(scenario.replicas("zoned"), 0);
    assert_eq!(scenario.replicas("plain"), 3, "its time zone is unknown");
}

#[test]
fn namespace_override_applies_to_all_unless_the_object_has_its_own() {
    let scenario = Sandbox::at("2026-11-20 12:00 UTC");
    scenario.apply(deployment("web").replicas(3));
    scenario.apply(deployment("own").replicas(3).hours("08:00-19:00"));
    scenario.apply(
        deployment("plain")
            .replicas(3)
            .annotation("dayshift/exclude", "true"),
    );
    scenario.apply(
        deployment("woken")
            .replicas(3)
            .annotation("dayshift/wake-until", "2026-11-20 20:00"),
    );
    annotate(&scenario, "dev", &office());
    annotate(
        &scenario,
        "dev",
        &[("sleep-until", Some("2026-11-20 15:00"))],
    );
    let counts =
        |scenario: &Sandbox| ["web", "own", "plain", "woken"].map(|name| scenario.replicas(name));
    assert_eq!(counts(&scenario), [0, 0, 3, 3]);
    assert_eq!(scenario.label("web", "state").as_deref(), Some("slept"));
    scenario.sleep_until("15:00");
    assert_eq!(counts(&scenario), [3, 3, 3, 3]);
    let namespace = scenario.api.get("Namespace", "", "dev").unwrap();
    let texts = &namespace["metadata"]["annotations"];
    assert_eq!(
        texts["dayshift/sleep-until"], "2026-11-20 15:00",
        "the annotation of a Namespace stays"
    );
    // A pause of the Namespace, and a workload that is excluded from it.
    annotate(&scenario, "dev", &[("pause", Some("true"))]);
    scenario
        .api
        .annotate("dev", "own", "dayshift/pause", Some("false"))
        .unwrap();
    scenario.sleep_until("19:00");
    assert_eq!(counts(&scenario), [3, 0, 3, 3]);
    scenario.sleep_until("20:00");
    assert_eq!(
        counts(&scenario),
        [3, 0, 3, 3],
        "after its wake, the pause of the Namespace applies"
    );
    assert_eq!(scenario.label("woken", "state").as_deref(), Some("paused"));
    annotate(&scenario, "dev", &[("pause", None)]);
    scenario.sleep_until("2026-11-23 19:00");
    assert_eq!(counts(&scenario), [0, 0, 3, 0]);
}

/// A workload switches between inheriting and its own schedule, and keeps its count.
#[test]
fn workload_can_switch_between_its_own_and_the_namespace_schedule() {
    let scenario = Sandbox::at("2026-11-20 12:00 UTC");
    scenario.apply(deployment("web").replicas(3));
    annotate(&scenario, "dev", &office());
    scenario.sleep_until("19:00");
    scenario.annotate("web", "hours", Some("Mon-Fri 08:00-19:00"));
    assert_eq!(
        (scenario.replicas("web"), saved(&scenario)),
        (0, Some("3".to_owned()))
    );
    scenario.annotate("web", "hours", None);
    assert_eq!(
        (scenario.replicas("web"), saved(&scenario)),
        (0, Some("3".to_owned()))
    );
    assert_eq!(
        scenario.label("web", "next").as_deref(),
        Some("2026-11-23T09.00.00Z")
    );
    scenario.annotate("web", "exclude", Some("true"));
    assert_eq!(
        (scenario.replicas("web"), scenario.label("web", "state")),
        (0, None)
    );
    assert_eq!(
        saved(&scenario),
        Some("3".to_owned()),
        "the saved count remains"
    );
    scenario.annotate("web", "exclude", None);
    scenario.sleep_until("2026-11-23 09:00");
    assert_eq!(scenario.replicas("web"), 3);
}

#[test]
fn dry_run_inherits_and_writes_nothing() {
    let (_guard, log) = logged();
    let mut scenario = Sandbox::empty_at("2026-11-20 12:00 UTC");
    scenario.apply(deployment("web").replicas(3));
    annotate(&scenario, "dev", &office());
    scenario.start_with(|settings| settings.dry_run = true);
    scenario.sleep_until("19:01");
    assert_eq!(patches(&scenario), 0);
    let text = fs::read_to_string(log.path()).unwrap();
    assert!(text.contains("would"), "{text}");
    assert!(
        text.lines()
            .any(|it| it.contains("stop") && it.contains("dev/web")),
        "{text}"
    );
}

fn saved(scenario: &Sandbox) -> Option<String> {
    scenario.label("web", "saved-replicas")
}

/// A workload that is no longer excluded is adopted in its current state: boundaries that passed meanwhile
/// are not carried out.
#[test]
fn adopts_a_workload_that_is_no_longer_excluded() {
    let scenario = Sandbox::at("2026-11-20 12:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00"));
    assert_eq!(scenario.label("web", "state").as_deref(), Some("adopted"));
    scenario.sleep_until("13:00");
    scenario.annotate("web", "exclude", Some("true"));
    assert_eq!(scenario.label("web", "state"), None);
    scenario.sleep_until("20:00");
    scenario.annotate("web", "exclude", None);
    assert_eq!(scenario.label("web", "state").as_deref(), Some("adopted"));
    assert_eq!(scenario.replicas("web"), 3);
    scenario.sleep_until("2026-11-23 20:00");
    assert_eq!(scenario.replicas("web"), 0);
}
