//! A tool that reverts dayshift's changes as fast as it can.

use std::time::Duration;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, deployment};

/// Friday 10:00, running since 09:00.
fn running_since_nine() -> Sandbox {
    let scenario = Sandbox::of_deployments_at("2026-11-20 08:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00"));
    scenario.sleep_until("10:00:30");
    scenario
}

/// A tool writes these labels to the object every minute. Returns the number of dayshift's patches and of its
/// `CorrectionLimitReached` Events meanwhile.
fn write_labels_every_minute(scenario: &Sandbox, labels: &Value) -> (usize, usize) {
    let correction_limit_reached = || {
        let events = scenario.events("web");
        events
            .iter()
            .filter(|it| *it == "CorrectionLimitReached")
            .count()
    };
    let events_before = correction_limit_reached();
    scenario.api.forget_requests();
    for _ in 0..12 {
        let patch = json!({"metadata": {"labels": labels}});
        scenario
            .api
            .merge("Deployment", "dev", "web", &patch)
            .unwrap();
        scenario.settle();
        scenario.pass(Duration::from_secs(60));
    }
    (
        scenario.patched("web").len(),
        correction_limit_reached() - events_before,
    )
}

#[test]
fn corrects_a_pinned_label_three_times_and_then_warns() {
    for labels in [
        json!({"dayshift/state": "woken"}),
        json!({"dayshift/state": "paused"}),
        json!({"dayshift/state": "slept"}),
        json!({"dayshift/state": "adopted"}),
        json!({"dayshift/last": "2027-06-01T00.00.00Z"}),
        json!({"dayshift/last": "2026-01-01T00.00.00Z"}),
        json!({"dayshift/fingerprint": "v1-0123456789abcdef"}),
        json!({"dayshift/state": "woken", "dayshift/next": "2026-01-01T00.00.00Z"}),
    ] {
        let scenario = running_since_nine();
        assert_eq!(
            write_labels_every_minute(&scenario, &labels),
            (3, 1),
            "{labels}"
        );
        scenario.sleep_until("19:01");
        assert_eq!(scenario.replicas("web"), 0, "{labels}");
        assert_eq!(
            write_labels_every_minute(&scenario, &labels),
            (3, 1),
            "{labels}, between the next two boundaries"
        );
        scenario.sleep_until("2026-11-23 09:01");
        assert_eq!(scenario.replicas("web"), 3, "{labels}");
    }
}

#[test]
fn removes_labels_of_a_removed_schedule_three_times() {
    let scenario = running_since_nine();
    scenario.annotate("web", "hours", None);
    let labels = json!({"dayshift/state": "running"});
    assert_eq!(write_labels_every_minute(&scenario, &labels), (3, 1));
    assert_eq!(
        write_labels_every_minute(&scenario, &labels),
        (0, 0),
        "no further warnings: the limit resets only at a boundary"
    );
    scenario.annotate("web", "hours", Some("Mon-Fri 09:00-19:00"));
    scenario.sleep_until("19:01");
    assert_eq!(scenario.replicas("web"), 0);
}
