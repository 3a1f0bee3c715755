//! Overdue workloads, as the metrics show them at the time of a scrape.

use dayshift_controller::{Scope, Settings};
use kube_in_memory::{Fault, Status};
use serde_json::json;

use crate::sandbox::{Sandbox, deployment, logged};

fn overdue(story: &Sandbox) -> String {
    let text = story.metrics();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("dayshift_overdue_workloads "));
    line.unwrap().to_owned()
}

#[test]
fn denied_transition_is_overdue_until_it_succeeds() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    for name in ["api", "web"] {
        story.apply(deployment(name).replicas(3).hours("Mon-Fri 09:00-19:00"));
    }
    story.sleep_until("18:59");
    assert_eq!(overdue(&story), "0");
    let no = || Fault::Answer(Status::new(403, "Forbidden", "no"));
    story
        .api
        .on_request(move |line| (line.verb == "patch" && line.name == "web").then(no));
    story.sleep_until("19:00:09");
    assert_eq!(overdue(&story), "0", "within the grace");
    story.sleep_until("19:00:11");
    assert_eq!(overdue(&story), "1");
    story.annotate("api", "wake-until", Some("2026-11-20 22:00"));
    assert_eq!(overdue(&story), "1", "one that was obeyed");
    story.api.serve_well();
    story.sleep_until("19:30");
    assert_eq!((story.replicas("web"), &*overdue(&story)), (0, "0"));
}

/// The controller is stopped as if it hung: its published state is still visible, and a probe
/// requests a restart.
#[test]
fn hanging_transition_is_reported_as_late() {
    let mut story = Sandbox::empty_at("2026-11-20 18:00 UTC");
    story.start_scaler(Settings::default());
    story.apply(deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00"));
    let is_alive = |story: &Sandbox| {
        let now = async { story.telemetry.is_alive(tokio::time::Instant::now()) };
        story.block_on(now)
    };
    story.sleep_until("18:59");
    story.annotate("web", "wake-until", Some("2026-11-20 18:59:30"));
    story.sleep_until("18:59:40");
    assert!(is_alive(&story));
    story.kill_scalers();
    story.sleep_until("19:00:11");
    assert_eq!(overdue(&story), "1");
    assert!(
        is_alive(&story),
        "for as long as it may take over a piece of work"
    );
    story.sleep_until("19:00:41");
    assert!(!is_alive(&story));
}

/// A correction of `enforce` has no time at which it was due.
#[test]
fn exhausted_enforce_is_not_overdue() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    let web = deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00");
    story.apply(web.annotation("dayshift/enforce", "true"));
    story.sleep_until("19:30");
    assert_eq!(story.replicas("web"), 0);
    let no = || Fault::Answer(Status::new(403, "Forbidden", "no"));
    story
        .api
        .on_request(move |line| (line.verb == "patch").then(no));
    story.scale("web", 2);
    story.sleep_until("19:40");
    assert_eq!((story.replicas("web"), &*overdue(&story)), (2, "0"));
}

/// A workload in a namespace that the selector no longer matches is out of scope.
#[test]
fn workload_outside_of_the_scope_is_not_overdue() {
    let mut story = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let label = |story: &Sandbox, text: Option<&str>| {
        let patch = json!({"metadata": {"labels": {"env": text}}});
        story.api.merge("Namespace", "", "dev", &patch).unwrap();
    };
    label(&story, Some("dev"));
    story.apply(deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00"));
    story.start_scaler(Settings {
        scope: Scope {
            namespace_selector: Some("env=dev".to_owned()),
            ..Scope::default()
        },
        ..Settings::default()
    });
    story.sleep_until("18:30");
    assert_eq!(story.label("web", "state").as_deref(), Some("adopted"));
    label(&story, None);
    story.sleep_until("19:01");
    assert_eq!((story.replicas("web"), &*overdue(&story)), (3, "0"));
    label(&story, Some("dev"));
    story.sleep_until("19:02");
    assert_eq!((story.replicas("web"), &*overdue(&story)), (0, "0"));
}

/// More of them than are re-evaluated in one second.
#[test]
fn each_of_many_is_overdue_until_it_succeeds() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    for number in 0..600 {
        let web = deployment(&format!("web-{number}"));
        story.apply(web.replicas(1).hours("Mon-Fri 09:00-19:00"));
    }
    story.sleep_until("18:59");
    let no = || Fault::Answer(Status::new(403, "Forbidden", "no"));
    story
        .api
        .on_request(move |line| (line.verb == "patch").then(no));
    for time in ["19:00:11", "19:00:30", "19:02"] {
        story.sleep_until(time);
        assert_eq!(overdue(&story), "600", "{time}");
    }
    story.api.serve_well();
    story.sleep_until("20:00");
    assert_eq!((story.replicas("web-599"), &*overdue(&story)), (0, "0"));
}

/// Its time passes, and nothing is requested for it any more.
#[test]
fn workload_being_deleted_is_not_overdue() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    for (name, hours) in [("web", "09:00-19:00"), ("api", "09:00-19:01")] {
        story.apply(deployment(name).replicas(3).hours(hours));
    }
    let finalizers = json!({"metadata": {"finalizers": ["example.com/wait"]}});
    let api = &story.api;
    api.merge("Deployment", "dev", "web", &finalizers).unwrap();
    story.sleep_until("18:30");
    api.delete("dev", "web").unwrap();
    story.sleep_until("19:01:30");
    assert_eq!((story.replicas("api"), story.replicas("web")), (0, 3));
    assert_eq!(overdue(&story), "0");
}

/// Replaces the labels of the object; `null` removes a label.
fn relabel(story: &Sandbox, labels: &serde_json::Value) {
    let patch = json!({"metadata": {"labels": labels}});
    story.api.merge("Deployment", "dev", "web", &patch).unwrap();
}

/// A manual change of labels that the controller corrects at once: no transition was due before.
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
            let story = Sandbox::at("2026-11-20 18:00 UTC");
            story.apply(deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00"));
            story.sleep_until("18:30");
            story.annotate("web", "wake-until", wake_until);
            story.sleep_until("19:00:03");
            relabel(&story, &labels);
            for time in ["19:00:04", "19:00:20", "20:00"] {
                story.sleep_until(time);
                assert_eq!(overdue(&story), "0", "{time}, {labels}, {wake_until:?}");
            }
            assert_eq!(story.replicas("web"), 0, "{labels}, {wake_until:?}");
            let text = std::fs::read_to_string(log.path()).unwrap();
            assert!(!text.contains("overdue"), "{labels}: {text}");
        }
    }
}

/// After the corrections end, its next boundary applies all the same.
#[test]
fn boundary_is_overdue_even_if_the_labels_were_removed() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00"));
    for minute in 1..6 {
        story.sleep_until(&format!("18:{minute:02}"));
        relabel(
            &story,
            &json!({"dayshift/state": null, "dayshift/last": null, "dayshift/next": null}),
        );
    }
    story.sleep_until("18:59");
    assert_eq!((story.label("web", "last"), &*overdue(&story)), (None, "0"));
    let no = || Fault::Answer(Status::new(403, "Forbidden", "no"));
    story
        .api
        .on_request(move |line| (line.verb == "patch").then(no));
    story.sleep_until("19:00:09");
    assert_eq!(overdue(&story), "0", "within the grace");
    story.sleep_until("19:00:11");
    assert_eq!(overdue(&story), "1");
    story.api.serve_well();
    story.sleep_until("20:00");
    assert_eq!((story.replicas("web"), &*overdue(&story)), (0, "0"));
}
