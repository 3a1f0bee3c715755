//! Workloads that another tool stopped and that are converted while stopped: no count is lost.

use dayshift_manifest::{
    SourceFile,
    convert::{Converter, SpanDefaults},
};
use dayshift_workload::Prefix;
use serde_json::{Map, Value, json};

use crate::sandbox::{Sandbox, deployment};

/// The merge patch that converts the live object.
fn conversion(scenario: &Sandbox, name: &str) -> Value {
    let object = scenario.api.get("Deployment", "dev", name).unwrap();
    let object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": object["metadata"],
    });
    let converter = Converter {
        now: "2026-11-20T18:00:00Z".parse().unwrap(),
        prefix: Prefix::default(),
        namespace: "dev".to_owned(),
        defaults: SpanDefaults::default(),
        flags: Vec::new(),
        flagged: Vec::new(),
        keeps: false,
    };
    let conversion = converter.convert(&[SourceFile::new("live", object.to_string())]);
    let [change] = &conversion.changes[..] else {
        panic!("{conversion:?}");
    };
    let mut annotations: Map<_, _> = change
        .remove
        .iter()
        .map(|it| (it.clone(), Value::Null))
        .collect();
    annotations.extend(
        change
            .set
            .iter()
            .map(|(name, text)| (name.clone(), json!(text))),
    );
    let labels: Map<_, _> = change
        .labels
        .iter()
        .map(|(name, text)| (name.clone(), json!(text)))
        .collect();
    json!({"metadata": {"annotations": annotations, "labels": labels}})
}

fn stopped_by_another(scenario: &Sandbox, name: &str, original: &str) {
    scenario.apply(deployment(name).replicas(0));
    let annotations = json!({
        "downscaler/uptime": "Mon-Fri 08:00-20:00 UTC",
        "downscaler/original-replicas": original,
    });
    let patch = json!({"metadata": {"annotations": annotations}});
    scenario
        .api
        .merge("Deployment", "dev", name, &patch)
        .unwrap();
    scenario.settle();
}

#[test]
fn starts_at_the_count_that_the_previous_tool_saved() {
    // Saturday: both are stopped until Monday.
    let scenario = Sandbox::of_deployments_at("2026-11-21 12:00 UTC");
    for (name, original) in [("web", "3"), ("one", "1"), ("off", "0")] {
        stopped_by_another(&scenario, name, original);
        let patch = conversion(&scenario, name);
        scenario
            .api
            .merge("Deployment", "dev", name, &patch)
            .unwrap();
        scenario.settle();
        assert_eq!(
            scenario.replicas(name),
            0,
            "the schedule never acts on the past"
        );
        assert_eq!(
            scenario.label(name, "saved-replicas").as_deref(),
            Some(original)
        );
        assert_eq!(scenario.label(name, "state").as_deref(), Some("adopted"));
    }
    scenario.sleep_until("2026-11-23 07:59");
    assert_eq!(scenario.replicas("web"), 0);
    scenario.sleep_until("2026-11-23 08:00");
    // A user wants 0 if the saved count is 0.
    for (name, count) in [("web", 3), ("one", 1), ("off", 0)] {
        assert_eq!(scenario.replicas(name), count, "{name}");
        assert_eq!(scenario.label(name, "saved-replicas"), None, "{name}");
    }
    scenario.sleep_until("2026-11-23 20:00");
    assert_eq!(scenario.replicas("web"), 0);
    assert_eq!(
        scenario.label("web", "saved-replicas").as_deref(),
        Some("3")
    );
}

#[test]
fn converted_count_survives_a_controller_that_starts_later() {
    let scenario = Sandbox::of_deployments_at("2026-11-21 12:00 UTC");
    stopped_by_another(&scenario, "web", "5");
    let patch = conversion(&scenario, "web");
    scenario
        .api
        .merge("Deployment", "dev", "web", &patch)
        .unwrap();
    // A user starts one of them on Sunday.
    scenario.sleep_until("2026-11-22 12:00");
    scenario.scale("web", 1);
    scenario.sleep_until("2026-11-23 08:00");
    assert_eq!(scenario.replicas("web"), 5);
}
