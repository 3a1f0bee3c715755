//! Manifests that leave out all that has nothing to do with schedules, as documentation does.

use serde_json::{Value, json};

/// Whether a manifest has neither a selector nor a pod template, which an API server wants; of a
/// CronJob, whether it has no Jobs to make. Of other kinds there are no fragments.
pub fn is_fragment(manifest: &Value) -> bool {
    let spec = &manifest["spec"];
    match manifest["kind"].as_str() {
        Some("Deployment" | "StatefulSet") => {
            spec["selector"].is_null() && spec["template"].is_null()
        }
        Some("CronJob") => spec["jobTemplate"].is_null(),
        _ => false,
    }
}

/// What a fragment of a kind lacks.
pub fn lacks(kind: &str) -> &'static str {
    match kind {
        "CronJob" => "no spec.jobTemplate",
        _ => "no spec.selector and no spec.template",
    }
}

/// The same with what it lacks, made up.
pub(super) fn completed(mut manifest: Value) -> Value {
    let name = manifest["metadata"]["name"].clone();
    let is_cron_job = manifest["kind"] == "CronJob";
    let spec = &mut manifest["spec"];
    if spec.is_null() {
        *spec = json!({});
    }
    let containers = json!([{"name": "main", "image": "example.com/main"}]);
    if spec.is_object() && is_cron_job {
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
