//! Manifests that leave out all that has nothing to do with schedules, as documentation does.

use dayshift_text::cut_bytes;
use dayshift_workload::{Kind, Shape};
use serde_json::{Value, json};

/// Whether a manifest has neither a selector nor a pod template, which an API server wants; of a
/// CronJob, whether it has no Jobs to make. Of other kinds there are no fragments.
pub fn is_fragment(manifest: &Value) -> bool {
    let spec = &manifest["spec"];
    match manifest["kind"].as_str().and_then(shape) {
        Some(Shape::Pods) => spec["selector"].is_null() && spec["template"].is_null(),
        Some(Shape::Jobs) => spec["jobTemplate"].is_null(),
        Some(Shape::Autoscaler | Shape::Custom) | None => false,
    }
}

fn shape(kind: &str) -> Option<Shape> {
    let mut kinds = Kind::BUILT_IN.into_iter();
    Some(kinds.find(|it| it.name() == kind)?.shape())
}

/// What a fragment of a kind lacks.
pub fn lacks(kind: &str) -> &'static str {
    match shape(kind) {
        Some(Shape::Jobs) => "no spec.jobTemplate",
        _ => "no spec.selector and no spec.template",
    }
}

/// The most bytes of the value of a label.
const MAX_LABEL: usize = 63;

/// The same with what it lacks, made up.
pub(super) fn completed(mut manifest: Value) -> Value {
    // A label takes less than a name.
    let name = manifest["metadata"]["name"].as_str().unwrap_or_default();
    let name = cut_bytes(name, MAX_LABEL).trim_end_matches(['-', '.']);
    let name = name.to_owned();
    let makes_jobs = manifest["kind"].as_str().and_then(shape) == Some(Shape::Jobs);
    let spec = &mut manifest["spec"];
    if spec.is_null() {
        *spec = json!({});
    }
    let containers = json!([{"name": "main", "image": "example.com/main"}]);
    if spec.is_object() && makes_jobs {
        let pods = json!({"restartPolicy": "Never", "containers": containers});
        spec["jobTemplate"] = json!({"spec": {"template": {"spec": pods}}});
        if spec["schedule"].is_null() {
            spec["schedule"] = json!("@hourly");
        }
    } else if spec.is_object() {
        spec["selector"] = json!({"matchLabels": {"app": name}});
        spec["template"] = json!({
            "metadata": {"labels": {"app": name}},
            "spec": {"containers": containers},
        });
    }
    manifest
}
