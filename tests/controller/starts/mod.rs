//! Started workloads become ready, or an Event reports them.

mod waits;

use std::time::Duration;

use chrono::TimeDelta;
use dayshift_controller::Settings;
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, deployment};

const OFFICE: &str = "Mon-Fri 09:00-19:00";
const QUOTA: &str = "pods \"web-1\" is forbidden: exceeded quota: team, requested: pods=1";

/// Three replicas of `web` that were started on Friday at 09:00, a second ago.
fn monday() -> Sandbox {
    let scenario = Sandbox::at("2026-11-19 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours(OFFICE));
    shows(&scenario, 3, &json!([]));
    scenario.sleep_until("2026-11-20 09:00:01");
    assert_eq!(scenario.replicas("web"), 3);
    scenario
}

/// Sets the status of `web` to this number of ready replicas and these conditions, as the Deployment
/// controller does.
fn shows(scenario: &Sandbox, ready: u32, conditions: &Value) {
    let generation = scenario.object("web")["metadata"]["generation"].clone();
    let status = json!({
        "observedGeneration": generation, "readyReplicas": ready, "conditions": conditions,
    });
    let set = scenario.api.set_status("Deployment", "dev", "web", status);
    set.unwrap();
    scenario.settle();
}

fn reported(scenario: &Sandbox) -> Vec<String> {
    let mut events = scenario.api.list("Event");
    events.retain(|event| event["reason"] == "NotReady");
    let note = |event: &Value| event["note"].as_str().unwrap().to_owned();
    events.iter().map(note).collect()
}

fn short_of_quota() -> Value {
    json!([
        {"type": "Available", "status": "False", "message": "no minimum availability"},
        {"type": "ReplicaFailure", "status": "True", "message": QUOTA},
    ])
}

/// Kubernetes ends most of its messages with a full stop.
#[test]
fn a_message_of_kubernetes_becomes_part_of_a_sentence() {
    let scenario = monday();
    let message = "Deployment does not have minimum availability.";
    shows(
        &scenario,
        0,
        &json!([{"type": "Available", "status": "False", "message": message}]),
    );
    scenario.sleep_until("09:10:01");
    let reported = reported(&scenario).concat();
    assert!(
        reported.contains("minimum availability. To see more"),
        "{reported}"
    );
}

/// The note adds no second full stop to that of the message.
#[test]
fn message_of_kubernetes_with_a_full_stop_ends_with_one() {
    let scenario = monday();
    let message = "ReplicaSet \"web-1\" has timed out progressing.";
    let conditions = json!([{"type": "Progressing", "status": "False", "message": message}]);
    shows(&scenario, 1, &conditions);
    scenario.sleep_until("09:10:01");
    let reported = reported(&scenario).join("");
    assert!(
        reported.contains(": ReplicaSet \"web-1\" has timed out progressing. To see more"),
        "{reported}"
    );
}

#[test]
fn reports_a_quota_failure_once_with_the_message_of_kubernetes() {
    let scenario = monday();
    shows(&scenario, 1, &short_of_quota());
    scenario.sleep_until("09:09:59");
    assert_eq!(
        (reported(&scenario), scenario.requests("get").len()),
        (vec![], 0)
    );
    scenario.sleep_until("09:10:01");
    let expected = format!(
        "1 of 3 replicas are ready 10 min after its start: {QUOTA}. To see more, run `kubectl describe deployment/web -n dev`"
    );
    assert_eq!(reported(&scenario), [expected]);
    assert_eq!(scenario.requests("get").len(), 1);
    let patches = scenario.patched("web").len();
    for change in 0..200 {
        shows(&scenario, change % 4, &short_of_quota());
        scenario.pass(Duration::from_millis(10));
    }
    scenario.sleep_until("18:59");
    assert_eq!(
        (reported(&scenario).len(), scenario.requests("get").len()),
        (1, 1)
    );
    assert_eq!(scenario.patched("web").len(), patches);
}

#[test]
fn reports_nothing_if_ready_in_time_or_stopped_again() {
    let scenario = monday();
    shows(&scenario, 0, &json!([]));
    scenario.sleep_until("09:09:50");
    shows(&scenario, 3, &json!([]));
    scenario.sleep_until("09:20");
    let scenario_of_a_sleep = monday();
    shows(&scenario_of_a_sleep, 0, &json!([]));
    scenario_of_a_sleep.annotate("web", "sleep-until", Some("2026-11-20 12:00"));
    scenario_of_a_sleep.sleep_until("09:20");
    for scenario in [scenario, scenario_of_a_sleep] {
        assert_eq!(
            (reported(&scenario), scenario.requests("get").len()),
            (vec![], 0)
        );
    }
}

#[test]
fn status_from_before_the_start_is_not_ready() {
    let scenario = monday();
    // The status shows 3 of 3 ready, as on Thursday.
    scenario.sleep_until("09:10:01");
    assert_eq!(reported(&scenario).len(), 1);
}

#[test]
fn restarted_controller_reports_unready_starts_once() {
    let mut scenario = monday();
    shows(&scenario, 0, &json!([]));
    scenario.sleep_until("09:05");
    scenario.kill_controllers();
    scenario.start_controller(Settings::default());
    scenario.sleep_until("09:10:01");
    assert_eq!(reported(&scenario).len(), 1);
    scenario.kill_controllers();
    scenario.start_controller(Settings::default());
    scenario.sleep_until("09:40");
    assert_eq!(reported(&scenario).len(), 1);
}

#[test]
fn ready_within_is_a_setting() {
    for (within, expected) in [(TimeDelta::minutes(30), 1), (TimeDelta::zero(), 0)] {
        let mut scenario = monday();
        shows(&scenario, 0, &json!([]));
        scenario.kill_controllers();
        scenario.start_with(|settings| settings.ready_within = within);
        scenario.sleep_until("09:29:59");
        assert_eq!(reported(&scenario).len(), 0);
        scenario.sleep_until("09:30:01");
        assert_eq!(reported(&scenario).len(), expected, "{within}");
    }
}

/// The value of the metric.
fn counted(scenario: &Sandbox) -> usize {
    let metrics = scenario.metrics();
    let count = |line: &str| {
        line.strip_prefix("dayshift_not_ready_workloads ")?
            .parse()
            .ok()
    };
    metrics.lines().find_map(count).unwrap()
}

#[test]
fn ready_within_comes_from_the_object_or_its_namespace() {
    let on_object = |scenario: &Sandbox, text: &str| {
        scenario.annotate("web", "ready-within", Some(text));
    };
    let on_namespace = |scenario: &Sandbox, text: &str| {
        scenario.api.namespace("dev");
        let key = "dayshift/ready-within";
        let annotated = scenario
            .api
            .annotate_of("Namespace", "", "dev", key, Some(text));
        annotated.unwrap();
        scenario.settle();
    };
    for (annotate, text, at) in [
        (&on_object as &dyn Fn(&Sandbox, &str), "30m", Some("09:30")),
        (&on_object, "2m", Some("09:02")),
        (&on_object, "0", None),
        (&on_namespace, "20m", Some("09:20")),
    ] {
        let scenario = monday();
        shows(&scenario, 0, &json!([]));
        let patches = scenario.patched("web").len();
        annotate(&scenario, text);
        assert_eq!(scenario.error("web"), None);
        if let Some(at) = at {
            scenario.sleep_until(at);
            let minutes = at.trim_start_matches("09:").trim_start_matches('0');
            scenario.pass(Duration::from_secs(1));
            assert!(
                reported(&scenario)[0].contains(&format!(" {minutes} min after")),
                "{text}"
            );
        }
        scenario.sleep_until("10:00");
        let expected = usize::from(at.is_some());
        assert_eq!(
            (reported(&scenario).len(), counted(&scenario)),
            (expected, expected),
            "{text}"
        );
        assert_eq!(
            scenario.patched("web").len(),
            patches,
            "nothing is written: {text}"
        );
    }
}

/// `ready-within` of the workload replaces the default of ten minutes.
#[test]
fn reports_no_unready_start_before_the_time_of_the_object() {
    let scenario = monday();
    shows(&scenario, 0, &json!([]));
    scenario.annotate("web", "ready-within", Some("30m"));
    scenario.sleep_until("09:29:58");
    assert_eq!((reported(&scenario).len(), counted(&scenario)), (0, 0));
    scenario.sleep_until("09:30:01");
    assert_eq!((reported(&scenario).len(), counted(&scenario)), (1, 1));
}
