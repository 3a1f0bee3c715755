//! Overdue workloads, as the metrics show them at the time of a scrape.

use dayshift_controller::Settings;
use kube_in_memory::{Fault, Status};
use serde_json::json;

use crate::sandbox::{Sandbox, deployment, logged};

fn overdue(scenario: &Sandbox) -> String {
    let text = scenario.metrics();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("dayshift_overdue_workloads "));
    line.unwrap().to_owned()
}

#[test]
fn denied_transition_is_overdue_until_it_succeeds() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    for name in ["api", "web"] {
        scenario.apply(deployment(name).replicas(3).hours("Mon-Fri 09:00-19:00"));
    }
    scenario.sleep_until("18:59");
    assert_eq!(overdue(&scenario), "0");
    let no = || Fault::Answer(Status::new(403, "Forbidden", "no"));
    scenario
        .api
        .on_request(move |line| (line.verb == "patch" && line.name == "web").then(no));
    scenario.sleep_until("19:00:09");
    assert_eq!(overdue(&scenario), "0", "within the grace");
    scenario.sleep_until("19:00:11");
    assert_eq!(overdue(&scenario), "1");
    scenario.annotate("api", "wake-until", Some("2026-11-20 22:00"));
    assert_eq!(
        overdue(&scenario),
        "1",
        "an applied override is not overdue"
    );
    scenario.api.clear_fault();
    scenario.sleep_until("19:30");
    assert_eq!((scenario.replicas("web"), &*overdue(&scenario)), (0, "0"));
}

/// A controller that is killed leaves its published state, as if it hung. The metric counts its stop as
/// overdue, and the liveness probe requests a restart.
#[test]
fn hanging_transition_is_reported_as_late() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    scenario.start_controller(Settings::default());
    scenario.apply(deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00"));
    let is_alive = |scenario: &Sandbox| {
        let now = async { scenario.telemetry.is_alive(tokio::time::Instant::now()) };
        scenario.block_on(now)
    };
    scenario.sleep_until("18:59");
    scenario.annotate("web", "wake-until", Some("2026-11-20 18:59:30"));
    scenario.sleep_until("18:59:40");
    assert!(is_alive(&scenario));
    scenario.kill_controllers();
    scenario.sleep_until("19:00:11");
    assert_eq!(overdue(&scenario), "1");
    assert!(
        is_alive(&scenario),
        "alive until a minute after the last step"
    );
    scenario.sleep_until("19:00:41");
    assert!(!is_alive(&scenario));
}

/// A denied correction by `enforce` is not overdue, because a correction has no scheduled time.
#[test]
fn exhausted_enforce_is_not_overdue() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    let web = deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00");
    scenario.apply(web.annotation("dayshift/enforce", "true"));
    scenario.sleep_until("19:30");
    assert_eq!(scenario.replicas("web"), 0);
    let no = || Fault::Answer(Status::new(403, "Forbidden", "no"));
    scenario
        .api
        .on_request(move |line| (line.verb == "patch").then(no));
    scenario.scale("web", 2);
    scenario.sleep_until("19:40");
    assert_eq!((scenario.replicas("web"), &*overdue(&scenario)), (2, "0"));
}

/// A workload in a namespace that the selector no longer matches is out of scope.
#[test]
fn workload_outside_of_the_scope_is_not_overdue() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let label = |scenario: &Sandbox, text: Option<&str>| {
        let patch = json!({"metadata": {"labels": {"env": text}}});
        scenario.api.merge("Namespace", "", "dev", &patch).unwrap();
    };
    label(&scenario, Some("dev"));
    scenario.apply(deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00"));
    scenario.start_with(|settings| settings.scope.namespace_selector = Some("env=dev".to_owned()));
    scenario.sleep_until("18:30");
    assert_eq!(scenario.label("web", "state").as_deref(), Some("adopted"));
    label(&scenario, None);
    scenario.sleep_until("19:01");
    assert_eq!((scenario.replicas("web"), &*overdue(&scenario)), (3, "0"));
    label(&scenario, Some("dev"));
    scenario.sleep_until("19:02");
    assert_eq!((scenario.replicas("web"), &*overdue(&scenario)), (0, "0"));
}

/// More workloads than are re-evaluated in one second.
#[test]
fn each_of_many_failed_transitions_is_overdue_until_it_succeeds() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    for number in 0..600 {
        let web = deployment(&format!("web-{number}"));
        let web = web.replicas(1).hours("Mon-Fri 09:00-19:00");
        scenario.api.apply(web.into()).unwrap();
    }
    scenario.sleep_until("18:59");
    let no = || Fault::Answer(Status::new(403, "Forbidden", "no"));
    scenario
        .api
        .on_request(move |line| (line.verb == "patch").then(no));
    for time in ["19:00:11", "19:00:30", "19:02"] {
        scenario.sleep_until(time);
        assert_eq!(overdue(&scenario), "600", "{time}");
    }
    scenario.api.clear_fault();
    scenario.sleep_until("20:00");
    assert_eq!(
        (scenario.replicas("web-599"), &*overdue(&scenario)),
        (0, "0")
    );
}

/// Its boundary passes, but nothing is sent for an object that is being deleted.
#[test]
fn workload_being_deleted_is_not_overdue() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    for (name, hours) in [("web", "09:00-19:00"), ("api", "09:00-19:01")] {
        scenario.apply(deployment(name).replicas(3).hours(hours));
    }
    let finalizers = json!({"metadata": {"finalizers": ["example.com/wait"]}});
    let api = &scenario.api;
    api.merge("Deployment", "dev", "web", &finalizers).unwrap();
    scenario.sleep_until("18:30");
    api.delete("dev", "web").unwrap();
    scenario.sleep_until("19:01:30");
    assert_eq!((scenario.replicas("api"), scenario.replicas("web")), (0, 3));
    assert_eq!(overdue(&scenario), "0");
}

/// Replaces the labels of the object; `null` removes a label.
fn relabel(scenario: &Sandbox, labels: &serde_json::Value) {
    let patch = json!({"metadata": {"labels": labels}});
    scenario
        .api
        .merge("Deployment", "dev", "web", &patch)
        .unwrap();
}

/// A user changes the labels; the controller corrects them at once. No transition was due.
#[test]
fn labels_that_are_corrected_at_once_are_not_overdue() {
    let none = json!({
        "dayshift/state": null, "dayshift/last": null, "dayshift/next": null,
        "dayshift/saved-replicas": null, "dayshift/fingerprint": null,
    });
    let this_morning = json!({
        "dayshift/state": "running", "dayshift/last": "2026-11-20T09.00.00Z",
        "dayshift/next": "2026-11-20T19.00.00Z", "dayshift/saved-replicas": null,
    });
    let slept = json!({"dayshift/state": "slept", "dayshift/last": "2026-11-20T19.00.02Z"});
    let no_fingerprint = json!({"dayshift/fingerprint": null, "dayshift/last": null});
    let another = json!({"dayshift/fingerprint": "0123456789abcdef-0123456789abcdef"});
    for labels in [none, this_morning, slept, no_fingerprint, another] {
        for wake_until in [None, Some("2026-11-20 19:30")] {
            let (_guard, log) = logged();
            let scenario = Sandbox::at("2026-11-20 18:00 UTC");
            scenario.apply(deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00"));
            scenario.sleep_until("18:30");
            scenario.annotate("web", "wake-until", wake_until);
            scenario.sleep_until("19:00:03");
            relabel(&scenario, &labels);
            for time in ["19:00:04", "19:00:20", "20:00"] {
                scenario.sleep_until(time);
                assert_eq!(overdue(&scenario), "0", "{time}, {labels}, {wake_until:?}");
            }
            assert_eq!(scenario.replicas("web"), 0, "{labels}, {wake_until:?}");
            let text = std::fs::read_to_string(log.path()).unwrap();
            assert!(!text.contains("overdue"), "{labels}: {text}");
        }
    }
}

/// The controller has stopped correcting the labels; the next boundary applies nevertheless.
#[test]
fn boundary_is_overdue_even_if_the_labels_were_removed() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00"));
    for minute in 1..6 {
        scenario.sleep_until(&format!("18:{minute:02}"));
        relabel(
            &scenario,
            &json!({"dayshift/state": null, "dayshift/last": null, "dayshift/next": null}),
        );
    }
    scenario.sleep_until("18:59");
    assert_eq!(
        (scenario.label("web", "last"), &*overdue(&scenario)),
        (None, "0")
    );
    let no = || Fault::Answer(Status::new(403, "Forbidden", "no"));
    scenario
        .api
        .on_request(move |line| (line.verb == "patch").then(no));
    scenario.sleep_until("19:00:09");
    assert_eq!(overdue(&scenario), "0", "within the grace");
    scenario.sleep_until("19:00:11");
    assert_eq!(overdue(&scenario), "1");
    scenario.api.clear_fault();
    scenario.sleep_until("20:00");
    assert_eq!((scenario.replicas("web"), &*overdue(&scenario)), (0, "0"));
}
