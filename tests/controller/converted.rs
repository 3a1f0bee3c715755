//! Workloads that another tool stopped and that are converted while stopped: no count is lost.

use dayshift_manifest::{
    SourceFile,
    convert::{Converter, SpanDefaults},
};
use dayshift_workload::Prefix;
use serde_json::{Map, Value, json};

use crate::sandbox::{Sandbox, deployment};

/// The merge patch that converts the live object.
fn conversion(story: &Sandbox, name: &str) -> Value {
    let object = story.api.get("Deployment", "dev", name).unwrap();
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

fn stopped_by_another(story: &Sandbox, name: &str, original: &str) {
    story.apply(deployment(name).replicas(0));
    let annotations = json!({
        "downscaler/uptime": "Mon-Fri 08:00-20:00 UTC",
        "downscaler/original-replicas": original,
    });
    let patch = json!({"metadata": {"annotations": annotations}});
    story.api.merge("Deployment", "dev", name, &patch).unwrap();
    story.settle();
}

#[test]
fn starts_a_workload_that_another_tool_stopped_at_the_count_which_that_saved() {
    // Saturday: both are stopped until Monday.
    let story = Sandbox::of_deployments_at("2026-11-21 12:00 UTC");
    for (name, original) in [("web", "3"), ("one", "1"), ("off", "0")] {
        stopped_by_another(&story, name, original);
        let patch = conversion(&story, name);
        story.api.merge("Deployment", "dev", name, &patch).unwrap();
        story.settle();
        assert_eq!(story.replicas(name), 0, "nothing acts backwards");
        assert_eq!(
            story.label(name, "saved-replicas").as_deref(),
            Some(original)
        );
        assert_eq!(story.label(name, "state").as_deref(), Some("adopted"));
    }
    story.sleep_until("2026-11-23 07:59");
    assert_eq!(story.replicas("web"), 0);
    story.sleep_until("2026-11-23 08:00");
    // A saved 0 is a user's intent.
    for (name, count) in [("web", 3), ("one", 1), ("off", 0)] {
        assert_eq!(story.replicas(name), count, "{name}");
        assert_eq!(story.label(name, "saved-replicas"), None, "{name}");
    }
    story.sleep_until("2026-11-23 20:00");
    assert_eq!(story.replicas("web"), 0);
    assert_eq!(story.label("web", "saved-replicas").as_deref(), Some("3"));
}

#[test]
fn converted_count_survives_a_controller_that_starts_later() {
    let story = Sandbox::of_deployments_at("2026-11-21 12:00 UTC");
    stopped_by_another(&story, "web", "5");
    let patch = conversion(&story, "web");
    story.api.merge("Deployment", "dev", "web", &patch).unwrap();
    // A user starts one of them on Sunday.
    story.sleep_until("2026-11-22 12:00");
    story.scale("web", 1);
    story.sleep_until("2026-11-23 08:00");
    assert_eq!(story.replicas("web"), 5);
}
