//! Manifests that leave out all that has nothing to do with schedules, as documentation does.

use serde_json::{Value, json};

/// Whether a manifest has neither a selector nor a pod template, which an API server wants.
pub fn is_fragment(manifest: &Value) -> bool {
    let spec = &manifest["spec"];
    spec["selector"].is_null() && spec["template"].is_null()
}

/// The same with a selector and a pod template, made up.
pub(super) fn completed(mut manifest: Value) -> Value {
    let name = manifest["metadata"]["name"].clone();
    let spec = &mut manifest["spec"];
    if spec.is_null() {
        *spec = json!({});
    }
    if spec.is_object() {
        spec["selector"] = json!({"matchLabels": {"app": name}});
        spec["template"] = json!({
            "metadata": {"labels": {"app": name}},
            "spec": {"containers": [{"name": "main", "image": "example.com/main"}]},
        });
    }
    manifest
}
