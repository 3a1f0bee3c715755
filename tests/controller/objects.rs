//! Objects that are created, changed and deleted while the controller runs.

use kube_in_memory::Fault;
use std::time::Duration;

use serde_json::json;

use crate::sandbox::{Sandbox, deployment};

#[test]
fn reports_an_invalid_schedule_within_a_second_and_continues() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("bad").replicas(3).stop("Mon-Fry 19:00"));
    story.apply(
        deployment("zone")
            .replicas(3)
            .stop("19:00")
            .annotation("dayshift/timezone", "Asia/Tokio"),
    );
    story.apply(
        deployment("typo")
            .replicas(3)
            .stop("19:00")
            .annotation("dayshift/strat", "09:00"),
    );
    story.apply(deployment("good").replicas(3).stop("19:00"));
    for (name, part) in [("bad", "Fry"), ("zone", "Asia/Tokyo"), ("typo", "`start`")] {
        let error = story.error(name).unwrap();
        assert!(error.contains(part), "{error}");
        assert_eq!(story.events(name), ["InvalidSchedule"]);
    }
    story.sleep_until("19:00");
    for (name, count) in [("bad", 3), ("zone", 3), ("typo", 3), ("good", 0)] {
        assert_eq!(story.replicas(name), count, "{name}");
    }
    story.annotate("bad", "stop", Some("Mon-Fri 20:00"));
    assert_eq!(story.error("bad"), None);
    story.sleep_until("20:00");
    assert_eq!(story.replicas("bad"), 0);
    assert!(
        story
            .telemetry
            .render()
            .contains("dayshift_invalid_schedules 2")
    );
}

#[test]
fn guards_a_value_that_go_encodes_with_escapes() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    let text = "19:00 <&> \u{2028}\u{1b}\u{8}\u{7f}\"\\/ 日";
    story.apply(deployment("web").replicas(3).stop(text));
    assert!(story.error("web").unwrap().contains("<&>"));
    assert_eq!(story.events("web"), ["InvalidSchedule"]);
    story.annotate("web", "stop", Some("19:00"));
    assert_eq!(story.error("web"), None);
}

#[test]
fn reports_again_a_typo_that_a_rollback_restored() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("web").replicas(3).stop("Mon-Fry 19:00"));
    let old = story.object("web")["metadata"]["annotations"].clone();
    story.annotate("web", "stop", Some("19:00"));
    assert_eq!(story.error("web"), None);
    assert!(story.label("web", "next").is_some());

    let undo = json!({"metadata": {"annotations": old}});
    story.api.merge("Deployment", "dev", "web", &undo).unwrap();
    story.settle();
    assert!(story.error("web").unwrap().contains("Fry"));
    assert_eq!(story.events("web"), ["InvalidSchedule", "InvalidSchedule"]);
    story.sleep_until("19:30");
    assert_eq!(story.replicas("web"), 3);
}

#[test]
fn handles_edit_deletion_and_recreation() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("web").replicas(3).stop("19:00"));
    story.annotate("web", "stop", Some("20:00"));
    story.sleep_until("19:30");
    assert_eq!(story.replicas("web"), 3);
    assert_eq!(story.events("web"), ["ScheduleChanged"]);
    story.api.delete("dev", "web").unwrap();
    story.settle();
    story.apply(deployment("web").replicas(2).stop("21:00"));
    story.sleep_until("20:30");
    assert_eq!(story.replicas("web"), 2);
    story.sleep_until("21:00");
    assert_eq!(story.replicas("web"), 0);
    assert_eq!(story.label("web", "saved-replicas").unwrap(), "2");
}

#[test]
fn adopts_a_copy_in_another_namespace() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("web").replicas(3).hours("09:00-19:00"));
    story.sleep_until("20:00");
    story.api.namespace("copy");
    let mut copy = story.object("web");
    copy["metadata"] = json!({
        "name": "web", "namespace": "copy",
        "labels": copy["metadata"]["labels"],
        "annotations": {"dayshift/hours": "09:00-19:00"},
    });
    story.api.create(copy).unwrap();
    story.settle();
    let copy = story.api.get("Deployment", "copy", "web").unwrap();
    assert_eq!(copy["metadata"]["labels"]["dayshift/state"], "adopted");
    assert_eq!(copy["metadata"]["labels"]["dayshift/saved-replicas"], "3");
    story.sleep_until("2026-11-21 09:00");
    assert_eq!(story.api.replicas("copy", "web"), Some(3));
}

#[test]
fn adds_the_labels_map_if_an_object_has_none() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("web").replicas(3).stop("19:00"));
    assert_eq!(story.label("web", "state").unwrap(), "adopted");
}

#[test]
fn removed_schedule_keeps_the_count_and_removes_the_labels() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("night").replicas(3).stop("19:00"));
    story.apply(deployment("day").replicas(3).stop("23:00"));
    story.sleep_until("19:30");
    story.annotate("night", "stop", None);
    let all_gone = json!({"metadata": {"annotations": null}});
    story
        .api
        .merge("Deployment", "dev", "day", &all_gone)
        .unwrap();
    story.settle();
    assert_eq!(story.label("night", "saved-replicas").unwrap(), "3");
    assert_eq!(story.label("night", "state"), None);
    assert_eq!(story.events("night"), ["Stopped", "ScheduleRemoved"]);
    assert_eq!(story.label("day", "state"), None);
    story.sleep_until("2026-11-21 20:00");
    assert_eq!((story.replicas("night"), story.replicas("day")), (0, 3));
}

#[test]
fn ignores_objects_being_deleted() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("web").replicas(3).stop("19:00"));
    let finalizer = json!({"metadata": {"finalizers": ["example.com/wait"]}});
    story
        .api
        .merge("Deployment", "dev", "web", &finalizer)
        .unwrap();
    story.api.delete("dev", "web").unwrap();
    story.sleep_until("20:00");
    assert_eq!(story.replicas("web"), 3);
}

#[test]
fn ignores_an_object_deleted_during_its_patch() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("web").replicas(3).stop("19:00"));
    story.sleep_until("18:59");
    story.api.fail_next(
        |line| line.verb == "patch",
        Fault::Delay(Duration::from_secs(5)),
    );
    story.sleep_until("19:00");
    let finalizer = json!({"metadata": {"finalizers": ["example.com/wait"]}});
    story
        .api
        .merge("Deployment", "dev", "web", &finalizer)
        .unwrap();
    story.api.delete("dev", "web").unwrap();
    story.sleep_until("19:30");
    assert_eq!(story.replicas("web"), 3);
}

#[test]
fn transitions_of_two_thousand_precede_adoptions() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    for n in 0..2_000 {
        story
            .api
            .apply(
                deployment(&format!("web-{n}"))
                    .replicas(2)
                    .stop("19:00")
                    .into(),
            )
            .unwrap();
    }
    story.sleep_until("18:59");
    story.api.forget_requests();
    story.sleep_until("19:00");
    let patches = story.requests("patch");
    assert_eq!(patches.len(), 2_000);
    assert!(patches.iter().all(|line| line.code == Some(200)));
    let at = story.utc("2026-11-20 19:00");
    assert!(
        patches.iter().all(|line| line.at >= at),
        "never before the instant"
    );
    let first_event = story
        .api
        .requests()
        .iter()
        .position(|line| line.resource == "events")
        .unwrap();
    assert!(
        first_event >= 2_000 - 32,
        "Events wait until every transition has left"
    );
}
