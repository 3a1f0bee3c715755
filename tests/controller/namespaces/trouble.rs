//! Namespaces that are many, unknown, unreadable or being deleted.

use std::{fs, time::Duration};

use dayshift_controller::{Scope, Settings};
use kube_in_memory::{Fault, Status};
use serde_json::{Value, json};

use super::{annotate, office, patches};
use crate::sandbox::{Sandbox, deployment, logged};

#[test]
fn adopting_a_thousand_workloads_delays_no_other() {
    let scenario = Sandbox::at("2026-11-20 18:59 UTC");
    scenario.api.namespace("other");
    scenario.apply(
        deployment("far")
            .namespace("other")
            .replicas(3)
            .stop("19:00"),
    );
    for number in 0..1000 {
        let manifest: Value = deployment(&format!("web-{number}")).replicas(2).into();
        scenario.api.apply(manifest).unwrap();
    }
    scenario.settle();
    let before = patches(&scenario);
    scenario.sleep_until("18:59:59");
    annotate(&scenario, "dev", &[("hours", Some("Mon-Fri 09:00-19:30"))]);
    scenario.sleep_until("19:00");
    let far = scenario.api.replicas("other", "far").unwrap();
    assert_eq!(far, 0);
    let stopped = scenario.api.requests();
    let stopped = stopped.iter().find(|line| {
        line.verb == "patch"
            && line.namespace == "other"
            && line.at >= scenario.utc("2026-11-20 19:00")
    });
    let late = stopped.unwrap().at - scenario.utc("2026-11-20 19:00");
    assert!(late.num_milliseconds() < 50, "{late}");
    scenario.sleep_until("19:29");
    assert_eq!(
        patches(&scenario) - before,
        1000 + 1,
        "each workload is written once"
    );
    for number in [0, 500, 999] {
        let name = format!("web-{number}");
        assert_eq!(scenario.label(&name, "state").as_deref(), Some("adopted"));
        assert_eq!(scenario.replicas(&name), 2);
    }
    scenario.sleep_until("19:31");
    assert_eq!(scenario.replicas("web-999"), 0);
}

/// A user edits the annotations of a Namespace a hundred times a second. Each edit is a decision about every
/// workload in it, so only some of them take effect, and the newest at last.
#[test]
fn constant_edits_of_a_namespace_are_applied_about_once_a_second() {
    let scenario = Sandbox::at("2026-11-20 18:59 UTC");
    scenario.api.namespace("other");
    let far = deployment("far").namespace("other").replicas(3);
    scenario.apply(far.stop("19:00"));
    for number in 0..200 {
        let manifest: Value = deployment(&format!("web-{number}")).replicas(2).into();
        scenario.api.apply(manifest).unwrap();
    }
    scenario.sleep_until("18:59:50");
    for edit in 0..2_000 {
        let hours = format!("Mon-Fri 09:00-20:{:02}", edit % 60);
        let key = "dayshift/hours";
        let edited = scenario
            .api
            .annotate_of("Namespace", "", "dev", key, Some(&hours));
        edited.unwrap();
        scenario.pass(Duration::from_millis(10));
    }
    assert_eq!(scenario.api.replicas("other", "far").unwrap(), 0);
    let due = scenario.utc("2026-11-20 19:00");
    let requests = scenario.requests("patch");
    let mut stops = requests.iter().filter(|line| line.namespace == "other");
    let late = stops.find(|line| line.at >= due).unwrap().at - due;
    assert!(late.num_milliseconds() < 50, "{late}");
    let writes = scenario.patched("web-7").len();
    assert!((2..=50).contains(&writes), "{writes} writes in 20 s");
    annotate(&scenario, "dev", &[("hours", Some("Mon-Fri 09:00-20:30"))]);
    scenario.sleep_until("20:29");
    assert_eq!(scenario.replicas("web-7"), 2);
    scenario.sleep_until("20:30");
    assert_eq!(scenario.replicas("web-7"), 0);
}

/// One of two controllers has not observed an edit yet. Each controller takes the other's schedule for an
/// edit until both have observed it, at most three times.
#[test]
fn two_controllers_with_different_namespace_versions_converge() {
    let mut scenario = Sandbox::at("2026-11-20 12:00 UTC");
    scenario.apply(deployment("web").replicas(3));
    annotate(&scenario, "dev", &office());
    scenario.start_controller(Settings::default());
    // From now on the second controller's watch of Namespaces fails.
    scenario.api.on_request(|line| {
        let is_it = line.resource == "namespaces" && line.who == "scaler-1";
        is_it.then(|| Fault::Answer(Status::internal("away")))
    });
    scenario.api.close_watches();
    scenario.pass(Duration::from_secs(1));
    let before = patches(&scenario);
    annotate(&scenario, "dev", &[("hours", Some("Mon-Fri 09:00-18:00"))]);
    scenario.pass(Duration::from_secs(600));
    let fought = patches(&scenario) - before;
    assert!(fought <= 8, "{fought} writes");
    scenario.api.clear_fault();
    scenario.api.close_watches();
    scenario.sleep_until("18:00");
    assert_eq!(scenario.replicas("web"), 0);
    let settled = patches(&scenario);
    scenario.sleep_until("18:59");
    assert_eq!(patches(&scenario), settled);
}

#[test]
fn waits_for_namespaces_before_it_acts() {
    let mut scenario = Sandbox::empty_at("2026-11-20 12:00 UTC");
    scenario.apply(deployment("web").replicas(3));
    annotate(&scenario, "dev", &office());
    scenario.start_controller(Settings::default());
    scenario.sleep_until("19:00");
    assert_eq!(scenario.replicas("web"), 0);
    scenario.kill_controllers();
    // The next controller observes the Namespaces late.
    scenario
        .api
        .on_request(|line| (line.resource == "namespaces").then_some(Fault::Hang));
    scenario.start_controller(Settings::default());
    scenario.pass(Duration::from_secs(5));
    assert_eq!(scenario.label("web", "state").as_deref(), Some("stopped"));
    scenario.api.clear_fault();
    scenario.api.close_watches();
    scenario.sleep_until("2026-11-23 09:00");
    assert_eq!(scenario.replicas("web"), 3);
}

/// RBAC without a rule for Namespaces: workloads that might inherit are not changed, and this is
/// reported.
#[test]
fn leaves_workloads_unchanged_if_their_namespace_is_unreadable() {
    let (_guard, log) = logged();
    let mut scenario = Sandbox::empty_at("2026-11-20 12:00 UTC");
    scenario.apply(deployment("web").replicas(3));
    scenario.apply(deployment("own").replicas(3).hours("09:00-19:00"));
    scenario.apply(deployment("mixed").replicas(3).hours("09:00-14:00"));
    annotate(
        &scenario,
        "dev",
        &[
            ("hours", Some("09:00-20:00")),
            ("timezone", Some("Asia/Tokyo")),
        ],
    );
    scenario.apply(
        deployment("own")
            .replicas(3)
            .hours("09:00-19:00")
            .annotation("dayshift/timezone", "UTC"),
    );
    scenario.start_controller(Settings::default());
    scenario.pass(Duration::from_secs(60));
    scenario.kill_controllers();
    let forbidden = Fault::Answer(Status::forbidden("", "namespaces", "", "no rule"));
    scenario
        .api
        .on_request(move |line| (line.resource == "namespaces").then(|| forbidden.clone()));
    scenario.start_controller(Settings::default());
    scenario.sleep_until("2026-11-21 12:00");
    assert_eq!(scenario.replicas("own"), 3, "own does not inherit");
    assert_eq!(
        scenario.label("own", "next").as_deref(),
        Some("2026-11-21T19.00.00Z")
    );
    for name in ["web", "mixed"] {
        assert_eq!(scenario.replicas(name), 3, "{name}");
        assert_eq!(
            scenario.label(name, "state").as_deref(),
            Some("adopted"),
            "{name}"
        );
        assert!(scenario.events(name).is_empty(), "{name}");
    }
    assert_eq!(
        scenario.telemetry.unwatched(),
        ["cannot watch namespaces: forbidden"]
    );
    assert_eq!(scenario.telemetry.ready(), Ok(()));
    let text = fs::read_to_string(log.path()).unwrap();
    let reported = text
        .lines()
        .filter(|line| line.contains("Namespaces cannot be read"));
    assert_eq!(reported.count(), 1);
    // Once they are readable again everything continues.
    scenario.api.clear_fault();
    scenario.sleep_until("2026-11-23 12:00");
    assert_eq!(scenario.replicas("web"), 0, "it is 21:00 in Tokyo");
}

/// The permissions that a platform team grants if each team has a Role: to read its own Namespace.
#[test]
fn forbidden_namespace_delays_no_other() {
    let (_guard, log) = logged();
    let mut scenario = Sandbox::empty_at("2026-11-20 12:00 UTC");
    for name in ["a", "b"] {
        scenario.api.namespace(name);
        annotate(&scenario, name, &office());
        scenario.apply(deployment("web").namespace(name).replicas(3));
    }
    let forbidden = Fault::Answer(Status::forbidden("", "namespaces", "b", "no rule"));
    scenario.api.on_request(move |line| {
        let is_b = line.resource == "namespaces" && line.query.contains("metadata.name%3Db");
        is_b.then(|| forbidden.clone())
    });
    let scope = Scope {
        namespaces: vec!["a".into(), "b".into()],
        ..Scope::default()
    };
    scenario.start_with(|settings| settings.scope = scope);
    scenario.sleep_until("20:00");
    assert_eq!(scenario.api.replicas("a", "web"), Some(0));
    assert_eq!(scenario.api.replicas("b", "web"), Some(3));
    assert_eq!(
        scenario.telemetry.unwatched(),
        ["cannot watch namespaces b: forbidden"]
    );
    assert_eq!(scenario.telemetry.ready(), Ok(()));
    let text = fs::read_to_string(log.path()).unwrap();
    let reported: Vec<_> = text.lines().filter(|it| it.contains("watch")).collect();
    assert_eq!(
        reported.len(),
        2,
        "each failure is logged once in eight hours: {reported:#?}"
    );
}

#[test]
fn namespace_being_deleted_keeps_its_defaults() {
    let scenario = Sandbox::at("2026-11-20 12:00 UTC");
    let mut held: Value = deployment("web").replicas(3).into();
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    scenario.api.apply(held).unwrap();
    annotate(&scenario, "dev", &office());
    scenario.sleep_until("19:00");
    let before = patches(&scenario);
    scenario.api.delete_of("Namespace", "", "dev").unwrap();
    scenario.sleep_until("2026-11-23 09:00");
    assert_eq!(
        patches(&scenario),
        before,
        "nothing is patched during the deletion"
    );
    assert!(scenario.telemetry.ready().is_ok());
}

/// A hanging list at the start is given up after a while and retried: workloads with their own
/// schedules continue by then, and dependent ones wait.
#[test]
fn hanging_namespace_list_delays_independent_workloads_briefly() {
    let mut scenario = Sandbox::empty_at("2026-11-20 12:00 UTC");
    scenario.apply(deployment("web").replicas(3));
    annotate(&scenario, "dev", &office());
    scenario.start_controller(Settings::default());
    scenario.sleep_until("18:58");
    scenario.kill_controllers();
    scenario.apply(deployment("own").replicas(3).hours("09:00-19:00"));
    scenario
        .api
        .on_request(|line| (line.resource == "namespaces").then_some(Fault::Hang));
    scenario.start_controller(Settings::default());
    scenario.sleep_until("18:59");
    assert_eq!(scenario.label("own", "state").as_deref(), Some("adopted"));
    scenario.sleep_until("19:00");
    assert_eq!(scenario.replicas("own"), 0);
    assert_eq!(scenario.replicas("web"), 3);
    assert_eq!(scenario.label("web", "state").as_deref(), Some("adopted"));
}

/// A workload in a recreated Namespace waits for the annotations of the new Namespace.
#[test]
fn recreated_namespace_does_not_keep_old_defaults() {
    let scenario = Sandbox::at("2026-11-20 12:00 UTC");
    scenario.api.namespace("team");
    annotate(&scenario, "team", &office());
    let web = || deployment("web").namespace("team").replicas(3);
    scenario.apply(web());
    let label = || {
        let web = scenario.api.get("Deployment", "team", "web").unwrap();
        web["metadata"]["labels"]["dayshift/state"].clone()
    };
    assert_eq!(label(), "adopted");
    let again = |texts: &[(&str, Option<&str>)]| {
        scenario.api.delete_of("Namespace", "", "team").unwrap();
        scenario.settle();
        // The next Namespace is observed late.
        let away = || Fault::Answer(Status::internal("away"));
        scenario
            .api
            .on_request(move |line| (line.resource == "namespaces").then(away));
        scenario.api.close_watches();
        scenario.api.namespace("team");
        annotate(&scenario, "team", texts);
        scenario.apply(web());
        scenario.pass(Duration::from_secs(5));
        assert_eq!(
            label(),
            Value::Null,
            "nothing is adopted before the Namespace is known"
        );
        scenario.api.clear_fault();
        scenario.pass(Duration::from_secs(20));
    };
    let before = patches(&scenario);
    again(&[]);
    assert_eq!((label(), patches(&scenario) - before), (Value::Null, 0));
    annotate(&scenario, "team", &office());
    assert_eq!(label(), "adopted");
    // A Namespace with the same annotations applies once it is observed.
    let before = patches(&scenario);
    again(&office());
    assert_eq!(
        (label(), patches(&scenario) - before),
        ("adopted".into(), 1)
    );
}

/// Someone who recreates the Namespace from the same invalid manifest must get the Event again.
#[test]
fn recreated_namespace_with_the_same_problem_is_reported_again() {
    let scenario = Sandbox::at("2026-11-20 12:00 UTC");
    let make = || {
        let texts = json!({"dayshift/hours": "whenever"});
        let manifest = json!({
            "apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": "team", "annotations": texts},
        });
        scenario.api.apply(manifest).unwrap();
        scenario.pass(Duration::from_secs(2));
    };
    let reported = || {
        let mut events = scenario.api.list("Event");
        events.retain(|it| it["regarding"]["kind"] == "Namespace");
        let metrics = scenario.metrics();
        let mut lines = metrics.lines();
        let invalid = lines.find_map(|line| line.strip_prefix("dayshift_invalid_namespaces "));
        (events.len(), invalid.unwrap().to_owned())
    };
    make();
    assert_eq!(reported(), (1, "1".to_owned()));
    scenario.api.delete_of("Namespace", "", "team").unwrap();
    scenario.pass(Duration::from_secs(2));
    assert_eq!(reported(), (0, "0".to_owned()), "its Events go with it");
    make();
    assert_eq!(reported(), (1, "1".to_owned()));
}

/// Only the author of the object can correct this, so it is reported there.
#[test]
fn reports_replicas_beside_an_inherited_scale_on_the_workload() {
    let scenario = Sandbox::at("2026-11-20 12:00 UTC");
    scenario.apply(
        deployment("web")
            .replicas(3)
            .annotation("dayshift/replicas", "2"),
    );
    scenario.apply(deployment("api").replicas(3));
    annotate(&scenario, "dev", &[("scale", Some("12:30 = 5; 19:00 = 0"))]);
    scenario.sleep_until("12:31");
    assert_eq!((scenario.replicas("web"), scenario.replicas("api")), (3, 5));
    let error = scenario.error("web").unwrap();
    assert!(
        error.contains("dayshift/replicas") && error.contains("`scale` on the Namespace"),
        "{error}"
    );
    assert_eq!(scenario.events("web"), ["InvalidSchedule"]);
    assert_eq!(scenario.events("dev"), [""; 0], "the Namespace is right");
}
