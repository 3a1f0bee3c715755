//! Namespaces that are many, unknown, unreadable or being deleted.

use std::{fs, time::Duration};

use dayshift_controller::{Scope, Settings};
use kube_in_memory::{Fault, Status};
use serde_json::{Value, json};

use super::{annotate, office, patches};
use crate::sandbox::{Sandbox, deployment, logged};

#[test]
fn adopting_a_thousand_workloads_delays_no_other() {
    let story = Sandbox::at("2026-11-20 18:59 UTC");
    story.api.namespace("other");
    story.apply(
        deployment("far")
            .namespace("other")
            .replicas(3)
            .stop("19:00"),
    );
    for number in 0..1000 {
        let manifest: Value = deployment(&format!("web-{number}")).replicas(2).into();
        story.api.apply(manifest).unwrap();
    }
    story.settle();
    let before = patches(&story);
    story.sleep_until("18:59:59");
    annotate(&story, "dev", &[("hours", Some("Mon-Fri 09:00-19:30"))]);
    story.sleep_until("19:00");
    let far = story.api.replicas("other", "far").unwrap();
    assert_eq!(far, 0);
    let stopped = story.api.requests();
    let stopped = stopped.iter().find(|line| {
        line.verb == "patch"
            && line.namespace == "other"
            && line.at >= story.utc("2026-11-20 19:00")
    });
    let late = stopped.unwrap().at - story.utc("2026-11-20 19:00");
    assert!(late.num_milliseconds() < 50, "{late}");
    story.sleep_until("19:29");
    assert_eq!(patches(&story) - before, 1000 + 1, "one write each");
    for number in [0, 500, 999] {
        let name = format!("web-{number}");
        assert_eq!(story.label(&name, "state").as_deref(), Some("adopted"));
        assert_eq!(story.replicas(&name), 2);
    }
    story.sleep_until("19:31");
    assert_eq!(story.replicas("web-999"), 0);
}

/// Two controllers of which one has not observed the edit yet: each takes the schedule of the other
/// for an edit, until both have observed it, or three times.
#[test]
fn two_controllers_with_different_namespace_versions_converge() {
    let mut story = Sandbox::at("2026-11-20 12:00 UTC");
    story.apply(deployment("web").replicas(3));
    annotate(&story, "dev", &office());
    story.start_scaler(Settings::default());
    // From now on the second controller's watch of Namespaces fails.
    story.api.on_request(|line| {
        let is_it = line.resource == "namespaces" && line.who == "scaler-1";
        is_it.then(|| Fault::Answer(Status::internal("away")))
    });
    story.api.close_watches();
    story.pass(Duration::from_secs(1));
    let before = patches(&story);
    annotate(&story, "dev", &[("hours", Some("Mon-Fri 09:00-18:00"))]);
    story.pass(Duration::from_secs(600));
    let fought = patches(&story) - before;
    assert!(fought <= 8, "{fought} writes");
    story.api.serve_well();
    story.api.close_watches();
    story.sleep_until("18:00");
    assert_eq!(story.replicas("web"), 0);
    let settled = patches(&story);
    story.sleep_until("18:59");
    assert_eq!(patches(&story), settled);
}

#[test]
fn waits_for_namespaces_before_it_acts() {
    let mut story = Sandbox::empty_at("2026-11-20 12:00 UTC");
    story.apply(deployment("web").replicas(3));
    annotate(&story, "dev", &office());
    story.start_scaler(Settings::default());
    story.sleep_until("19:00");
    assert_eq!(story.replicas("web"), 0);
    story.kill_scalers();
    // The next one observes the Namespaces late.
    story
        .api
        .on_request(|line| (line.resource == "namespaces").then_some(Fault::Hang));
    story.start_scaler(Settings::default());
    story.pass(Duration::from_secs(5));
    assert_eq!(story.label("web", "state").as_deref(), Some("stopped"));
    story.api.serve_well();
    story.api.close_watches();
    story.sleep_until("2026-11-23 09:00");
    assert_eq!(story.replicas("web"), 3);
}

/// RBAC without a rule for Namespaces: workloads that might inherit are not changed, and this is
/// reported.
#[test]
fn leaves_workloads_unchanged_if_their_namespace_is_unreadable() {
    let (_guard, log) = logged();
    let mut story = Sandbox::empty_at("2026-11-20 12:00 UTC");
    story.apply(deployment("web").replicas(3));
    story.apply(deployment("own").replicas(3).hours("09:00-19:00"));
    story.apply(deployment("mixed").replicas(3).hours("09:00-14:00"));
    annotate(
        &story,
        "dev",
        &[
            ("hours", Some("09:00-20:00")),
            ("timezone", Some("Asia/Tokyo")),
        ],
    );
    story.apply(
        deployment("own")
            .replicas(3)
            .hours("09:00-19:00")
            .annotation("dayshift/timezone", "UTC"),
    );
    story.start_scaler(Settings::default());
    story.pass(Duration::from_secs(60));
    story.kill_scalers();
    let forbidden = Fault::Answer(Status::forbidden("", "namespaces", "", "no rule"));
    story
        .api
        .on_request(move |line| (line.resource == "namespaces").then(|| forbidden.clone()));
    story.start_scaler(Settings::default());
    story.sleep_until("2026-11-21 12:00");
    assert_eq!(story.replicas("own"), 3, "it has all it needs");
    assert_eq!(
        story.label("own", "next").as_deref(),
        Some("2026-11-21T19.00.00Z")
    );
    for name in ["web", "mixed"] {
        assert_eq!(story.replicas(name), 3, "{name}");
        assert_eq!(
            story.label(name, "state").as_deref(),
            Some("adopted"),
            "{name}"
        );
        assert!(story.events(name).is_empty(), "{name}");
    }
    assert_eq!(
        story.telemetry.unwatched(),
        ["cannot watch namespaces: forbidden"]
    );
    assert_eq!(story.telemetry.ready(), Ok(()));
    let text = fs::read_to_string(log.path()).unwrap();
    let told = text
        .lines()
        .filter(|line| line.contains("Namespaces cannot be read"));
    assert_eq!(told.count(), 1);
    // Once they are readable again everything continues.
    story.api.serve_well();
    story.sleep_until("2026-11-23 12:00");
    assert_eq!(story.replicas("web"), 0, "it is 21:00 in Tokyo");
}

/// The permissions that a platform team grants if each team has a Role: to read its own Namespace.
#[test]
fn forbidden_namespace_delays_no_other() {
    let (_guard, log) = logged();
    let mut story = Sandbox::empty_at("2026-11-20 12:00 UTC");
    for name in ["a", "b"] {
        story.api.namespace(name);
        annotate(&story, name, &office());
        story.apply(deployment("web").namespace(name).replicas(3));
    }
    let forbidden = Fault::Answer(Status::forbidden("", "namespaces", "b", "no rule"));
    story.api.on_request(move |line| {
        let is_b = line.resource == "namespaces" && line.query.contains("metadata.name%3Db");
        is_b.then(|| forbidden.clone())
    });
    let scope = Scope {
        namespaces: vec!["a".into(), "b".into()],
        ..Scope::default()
    };
    story.start_scaler(Settings {
        scope,
        ..Settings::default()
    });
    story.sleep_until("20:00");
    assert_eq!(story.api.replicas("a", "web"), Some(0));
    assert_eq!(story.api.replicas("b", "web"), Some(3));
    assert_eq!(
        story.telemetry.unwatched(),
        ["cannot watch namespaces b: forbidden"]
    );
    assert_eq!(story.telemetry.ready(), Ok(()));
    let text = fs::read_to_string(log.path()).unwrap();
    let told: Vec<_> = text.lines().filter(|it| it.contains("watch")).collect();
    assert_eq!(told.len(), 2, "once in eight hours: {told:#?}");
}

#[test]
fn namespace_being_deleted_keeps_its_defaults() {
    let story = Sandbox::at("2026-11-20 12:00 UTC");
    let mut held: Value = deployment("web").replicas(3).into();
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    story.api.apply(held).unwrap();
    annotate(&story, "dev", &office());
    story.sleep_until("19:00");
    let before = patches(&story);
    story.api.delete_of("Namespace", "", "dev").unwrap();
    story.sleep_until("2026-11-23 09:00");
    assert_eq!(patches(&story), before, "what goes is never patched");
    assert!(story.telemetry.ready().is_ok());
}

/// A hanging list at the start is given up after a while and retried: workloads with their own
/// schedules continue by then, and dependent ones wait.
#[test]
fn hanging_namespace_list_delays_independent_workloads_briefly() {
    let mut story = Sandbox::empty_at("2026-11-20 12:00 UTC");
    story.apply(deployment("web").replicas(3));
    annotate(&story, "dev", &office());
    story.start_scaler(Settings::default());
    story.sleep_until("18:58");
    story.kill_scalers();
    story.apply(deployment("own").replicas(3).hours("09:00-19:00"));
    story
        .api
        .on_request(|line| (line.resource == "namespaces").then_some(Fault::Hang));
    story.start_scaler(Settings::default());
    story.sleep_until("18:59");
    assert_eq!(story.label("own", "state").as_deref(), Some("adopted"));
    story.sleep_until("19:00");
    assert_eq!(story.replicas("own"), 0);
    assert_eq!(story.replicas("web"), 3);
    assert_eq!(story.label("web", "state").as_deref(), Some("adopted"));
}

/// A workload in a recreated Namespace waits for the annotations of the new Namespace.
#[test]
fn recreated_namespace_does_not_keep_old_defaults() {
    let story = Sandbox::at("2026-11-20 12:00 UTC");
    story.api.namespace("team");
    annotate(&story, "team", &office());
    let web = || deployment("web").namespace("team").replicas(3);
    story.apply(web());
    let label = || {
        let web = story.api.get("Deployment", "team", "web").unwrap();
        web["metadata"]["labels"]["dayshift/state"].clone()
    };
    assert_eq!(label(), "adopted");
    let again = |texts: &[(&str, Option<&str>)]| {
        story.api.delete_of("Namespace", "", "team").unwrap();
        story.settle();
        // The next one is observed late.
        let away = || Fault::Answer(Status::internal("away"));
        story
            .api
            .on_request(move |line| (line.resource == "namespaces").then(away));
        story.api.close_watches();
        story.api.namespace("team");
        annotate(&story, "team", texts);
        story.apply(web());
        story.pass(Duration::from_secs(5));
        assert_eq!(label(), Value::Null, "before it is known");
        story.api.serve_well();
        story.pass(Duration::from_secs(20));
    };
    let before = patches(&story);
    again(&[]);
    assert_eq!((label(), patches(&story) - before), (Value::Null, 0));
    annotate(&story, "team", &office());
    assert_eq!(label(), "adopted");
    // A Namespace with the same annotations applies once it is observed.
    let before = patches(&story);
    again(&office());
    assert_eq!((label(), patches(&story) - before), ("adopted".into(), 1));
}

/// The problem of a deleted Namespace ends, and an author who recreates it from the same manifest
/// was not informed.
#[test]
fn namespace_problem_ends_with_it_and_is_reported_for_its_successor() {
    let story = Sandbox::at("2026-11-20 12:00 UTC");
    let make = || {
        let texts = json!({"dayshift/hours": "whenever"});
        let manifest = json!({
            "apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": "team", "annotations": texts},
        });
        story.api.apply(manifest).unwrap();
        story.pass(Duration::from_secs(2));
    };
    let told = || {
        let mut events = story.api.list("Event");
        events.retain(|it| it["regarding"]["kind"] == "Namespace");
        let metrics = story.metrics();
        let mut lines = metrics.lines();
        let invalid = lines.find_map(|line| line.strip_prefix("dayshift_invalid_namespaces "));
        (events.len(), invalid.unwrap().to_owned())
    };
    make();
    assert_eq!(told(), (1, "1".to_owned()));
    story.api.delete_of("Namespace", "", "team").unwrap();
    story.pass(Duration::from_secs(2));
    assert_eq!(told(), (0, "0".to_owned()), "its Events go with it");
    make();
    assert_eq!(told(), (1, "1".to_owned()));
}

/// Only the author of the object can correct this, so it is reported there.
#[test]
fn reports_replicas_beside_an_inherited_scale_on_the_workload() {
    let story = Sandbox::at("2026-11-20 12:00 UTC");
    story.apply(
        deployment("web")
            .replicas(3)
            .annotation("dayshift/replicas", "2"),
    );
    story.apply(deployment("api").replicas(3));
    annotate(&story, "dev", &[("scale", Some("12:30 = 5; 19:00 = 0"))]);
    story.sleep_until("12:31");
    assert_eq!((story.replicas("web"), story.replicas("api")), (3, 5));
    let error = story.error("web").unwrap();
    assert!(
        error.contains("dayshift/replicas") && error.contains("`scale` on the Namespace"),
        "{error}"
    );
    assert_eq!(story.events("web"), ["InvalidSchedule"]);
    assert_eq!(story.events("dev"), [""; 0], "the Namespace is right");
}
