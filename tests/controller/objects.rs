//! Objects that are created, changed and deleted while the controller runs.

use kube_in_memory::Fault;
use std::time::Duration;

use serde_json::json;

use crate::sandbox::{Sandbox, deployment, logged};

#[test]
fn reports_an_invalid_schedule_within_a_second_and_continues() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("bad").replicas(3).stop("Mon-Fry 19:00"));
    scenario.apply(
        deployment("zone")
            .replicas(3)
            .stop("19:00")
            .annotation("dayshift/timezone", "Asia/Tokio"),
    );
    scenario.apply(
        deployment("typo")
            .replicas(3)
            .stop("19:00")
            .annotation("dayshift/strat", "09:00"),
    );
    scenario.apply(deployment("good").replicas(3).stop("19:00"));
    for (name, part) in [("bad", "Fry"), ("zone", "Asia/Tokyo"), ("typo", "`start`")] {
        let error = scenario.error(name).unwrap();
        assert!(error.contains(part), "{error}");
        assert_eq!(scenario.events(name), ["InvalidSchedule"]);
    }
    scenario.sleep_until("19:00");
    for (name, count) in [("bad", 3), ("zone", 3), ("typo", 3), ("good", 0)] {
        assert_eq!(scenario.replicas(name), count, "{name}");
    }
    scenario.annotate("bad", "stop", Some("Mon-Fri 20:00"));
    assert_eq!(scenario.error("bad"), None);
    scenario.sleep_until("20:00");
    assert_eq!(scenario.replicas("bad"), 0);
    assert!(
        scenario
            .telemetry
            .render()
            .contains("dayshift_invalid_schedules 2")
    );
}

#[test]
fn guards_a_value_that_go_encodes_with_escapes() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    let text = "19:00 <&> \u{2028}\u{1b}\u{8}\u{7f}\"\\/ 日";
    scenario.apply(deployment("web").replicas(3).stop(text));
    assert!(scenario.error("web").unwrap().contains("<&>"));
    assert_eq!(scenario.events("web"), ["InvalidSchedule"]);
    scenario.annotate("web", "stop", Some("19:00"));
    assert_eq!(scenario.error("web"), None);
}

#[test]
fn reports_again_a_typo_that_a_rollback_restored() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).stop("Mon-Fry 19:00"));
    let old = scenario.object("web")["metadata"]["annotations"].clone();
    scenario.annotate("web", "stop", Some("19:00"));
    assert_eq!(scenario.error("web"), None);
    assert!(scenario.label("web", "next").is_some());

    let undo = json!({"metadata": {"annotations": old}});
    scenario
        .api
        .merge("Deployment", "dev", "web", &undo)
        .unwrap();
    scenario.settle();
    assert!(scenario.error("web").unwrap().contains("Fry"));
    assert_eq!(
        scenario.events("web"),
        ["InvalidSchedule", "InvalidSchedule"]
    );
    scenario.sleep_until("19:30");
    assert_eq!(scenario.replicas("web"), 3);
}

/// A downgrade: the labels might mean something else to this version.
#[test]
fn reports_the_state_of_a_later_version_once_and_changes_nothing() {
    let scenario = Sandbox::at("2026-11-20 18:50 UTC");
    let (_guard, log) = logged();
    let fingerprint = |name: &str, text: Option<&str>| {
        let label = "dayshift/fingerprint";
        scenario.api.label("dev", name, label, text).unwrap();
        scenario.settle();
    };
    for name in ["web", "api"] {
        scenario.apply(deployment(name).replicas(3).hours("Mon-Fri 09:00-19:00"));
    }
    let patches = scenario.patched("web").len();
    fingerprint("web", Some("v9-0123456789abcdef"));
    for count in [2, 4] {
        scenario.scale("web", count);
    }
    scenario.sleep_until("19:10");
    assert_eq!((scenario.replicas("web"), scenario.replicas("api")), (4, 0));
    assert_eq!(scenario.patched("web").len(), patches);
    assert_eq!(scenario.events("web"), ["StateFromLaterVersion"]);
    let text = "its state was written by a later version of dayshift, so this version leaves it \
                unchanged; use that version";
    let events = scenario.api.list("Event");
    let event = events
        .iter()
        .find(|it| it["reason"] == "StateFromLaterVersion");
    let event = event.unwrap();
    assert_eq!(
        (&event["note"], &event["type"]),
        (&text.into(), &"Warning".into())
    );
    let log = std::fs::read_to_string(log.path()).unwrap();
    assert_eq!(log.matches(text).count(), 1, "{log}");

    // The missed stop is carried out, and the same is reported again only if it was over.
    fingerprint("web", None);
    assert_eq!(scenario.replicas("web"), 0);
    fingerprint("web", Some("v9-0123456789abcdef"));
    let events = scenario.events("web");
    let events = events.iter().filter(|it| *it == "StateFromLaterVersion");
    assert_eq!(events.count(), 2);
}

#[test]
fn handles_edit_deletion_and_recreation() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).stop("19:00"));
    scenario.annotate("web", "stop", Some("20:00"));
    scenario.sleep_until("19:30");
    assert_eq!(scenario.replicas("web"), 3);
    assert_eq!(scenario.events("web"), ["ScheduleChanged"]);
    scenario.api.delete("dev", "web").unwrap();
    scenario.settle();
    scenario.apply(deployment("web").replicas(2).stop("21:00"));
    scenario.sleep_until("20:30");
    assert_eq!(scenario.replicas("web"), 2);
    scenario.sleep_until("21:00");
    assert_eq!(scenario.replicas("web"), 0);
    assert_eq!(scenario.label("web", "saved-replicas").unwrap(), "2");
}

#[test]
fn adopts_a_copy_in_another_namespace() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours("09:00-19:00"));
    scenario.sleep_until("20:00");
    scenario.api.namespace("copy");
    let mut copy = scenario.object("web");
    copy["metadata"] = json!({
        "name": "web", "namespace": "copy",
        "labels": copy["metadata"]["labels"],
        "annotations": {"dayshift/hours": "09:00-19:00"},
    });
    scenario.api.create(copy).unwrap();
    scenario.settle();
    let copy = scenario.api.get("Deployment", "copy", "web").unwrap();
    assert_eq!(copy["metadata"]["labels"]["dayshift/state"], "adopted");
    assert_eq!(copy["metadata"]["labels"]["dayshift/saved-replicas"], "3");
    scenario.sleep_until("2026-11-21 09:00");
    assert_eq!(scenario.api.replicas("copy", "web"), Some(3));
}

#[test]
fn adds_the_labels_map_if_an_object_has_none() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).stop("19:00"));
    assert_eq!(scenario.label("web", "state").unwrap(), "adopted");
}

#[test]
fn removed_schedule_keeps_the_count_and_removes_the_labels() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("night").replicas(3).stop("19:00"));
    scenario.apply(deployment("day").replicas(3).stop("23:00"));
    scenario.sleep_until("19:30");
    scenario.annotate("night", "stop", None);
    let all_gone = json!({"metadata": {"annotations": null}});
    scenario
        .api
        .merge("Deployment", "dev", "day", &all_gone)
        .unwrap();
    scenario.settle();
    assert_eq!(scenario.label("night", "saved-replicas").unwrap(), "3");
    assert_eq!(scenario.label("night", "state"), None);
    assert_eq!(scenario.events("night"), ["Stopped", "ScheduleRemoved"]);
    assert_eq!(scenario.label("day", "state"), None);
    scenario.sleep_until("2026-11-21 20:00");
    assert_eq!(
        (scenario.replicas("night"), scenario.replicas("day")),
        (0, 3)
    );
}

#[test]
fn ignores_objects_being_deleted() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).stop("19:00"));
    let finalizer = json!({"metadata": {"finalizers": ["example.com/wait"]}});
    scenario
        .api
        .merge("Deployment", "dev", "web", &finalizer)
        .unwrap();
    scenario.api.delete("dev", "web").unwrap();
    scenario.sleep_until("20:00");
    assert_eq!(scenario.replicas("web"), 3);
}

#[test]
fn ignores_an_object_deleted_during_its_patch() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).stop("19:00"));
    scenario.sleep_until("18:59");
    scenario.api.fail_next(
        |line| line.verb == "patch",
        Fault::Delay(Duration::from_secs(5)),
    );
    scenario.sleep_until("19:00");
    let finalizer = json!({"metadata": {"finalizers": ["example.com/wait"]}});
    scenario
        .api
        .merge("Deployment", "dev", "web", &finalizer)
        .unwrap();
    scenario.api.delete("dev", "web").unwrap();
    scenario.sleep_until("19:30");
    assert_eq!(scenario.replicas("web"), 3);
}

#[test]
fn transitions_of_two_thousand_precede_adoptions() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    for n in 0..2_000 {
        scenario
            .api
            .apply(
                deployment(&format!("web-{n}"))
                    .replicas(2)
                    .stop("19:00")
                    .into(),
            )
            .unwrap();
    }
    scenario.sleep_until("18:59");
    scenario.api.forget_requests();
    scenario.sleep_until("19:00");
    let patches = scenario.requests("patch");
    assert_eq!(patches.len(), 2_000);
    assert!(patches.iter().all(|line| line.code == Some(200)));
    let at = scenario.utc("2026-11-20 19:00");
    assert!(
        patches.iter().all(|line| line.at >= at),
        "no patch before its boundary"
    );
    let first_event = scenario
        .api
        .requests()
        .iter()
        .position(|line| line.resource == "events")
        .unwrap();
    assert!(
        first_event >= 2_000 - 32,
        "Events wait until every transition was sent"
    );
}
