//! Pod templates, and the selectors that must match them.

use serde_json::{Map, Value, json};

use super::fields::{Field, object, or_else};
use super::names;
use crate::cause::Cause;

/// Fields that are objects.
pub(super) const FIELDS: [Field; 2] = [
    (
        "/spec/template/metadata",
        "PodTemplateSpec.spec.template.metadata",
        "v1.ObjectMeta",
    ),
    (
        "/spec/template/spec",
        "PodTemplateSpec.spec.template.spec",
        "v1.PodSpec",
    ),
];

/// Sets the defaults of a pod template.
pub(super) fn complete(template: &mut Value) {
    if let Some(template) = object(template) {
        template.entry("metadata").or_insert_with(|| json!({}));
        complete_pod(template.entry("spec").or_insert_with(|| json!({})));
    }
}

fn complete_pod(spec: &mut Value) {
    let Some(spec) = object(spec) else { return };
    or_else(spec, "restartPolicy", || json!("Always"));
    or_else(spec, "terminationGracePeriodSeconds", || json!(30));
    or_else(spec, "dnsPolicy", || json!("ClusterFirst"));
    or_else(spec, "securityContext", || json!({}));
    or_else(spec, "schedulerName", || json!("default-scheduler"));
    for list in ["initContainers", "containers"] {
        for container in spec
            .get_mut(list)
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            let Some(container) = object(container) else {
                continue;
            };
            let image = container
                .get("image")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let tag = image.rsplit('/').next().unwrap_or_default();
            let newest = tag.ends_with(":latest") || !tag.contains([':', '@']);
            let policy = if newest { "Always" } else { "IfNotPresent" };
            or_else(container, "imagePullPolicy", || json!(policy));
            or_else(container, "resources", || json!({}));
            or_else(container, "terminationMessagePath", || {
                json!("/dev/termination-log")
            });
            or_else(container, "terminationMessagePolicy", || json!("File"));
            for port in container
                .get_mut("ports")
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
            {
                let Some(port) = object(port) else { continue };
                or_else(port, "protocol", || json!("TCP"));
            }
        }
    }
}

/// Rejects a selector that is missing, empty or does not match the template. `kind` is in lower case.
pub(super) fn check_selector(spec: &Value, kind: &str, causes: &mut Vec<Cause>) {
    let selector = &spec["selector"];
    let labels = selector["matchLabels"].as_object();
    let expressions = selector["matchExpressions"].as_array();
    if selector.is_null() {
        causes.push(Cause::required("spec.selector", ""));
    } else if labels.is_none_or(Map::is_empty) && expressions.is_none_or(Vec::is_empty) {
        let why = format!("empty selector is invalid for {kind}");
        causes.push(Cause::invalid("spec.selector", "{}", &why));
        return;
    }
    let given = &spec["template"]["metadata"]["labels"];
    let differs = labels
        .into_iter()
        .flatten()
        .any(|(key, value)| given.get(key) != Some(value));
    if selector.is_null() || differs {
        let shown = if given.is_null() {
            "null".into()
        } else {
            given.to_string()
        };
        let why = "`selector` does not match template `labels`";
        causes.push(Cause::invalid("spec.template.metadata.labels", &shown, why));
    }
}

/// Validates the labels and containers of the template at `path`.
pub(super) fn check(template: &Value, path: &str, causes: &mut Vec<Cause>) {
    let labels = format!("{path}.labels");
    names::check_labels(&template["metadata"]["labels"], &labels, causes);
    let containers = template["spec"]["containers"].as_array();
    if containers.is_none_or(Vec::is_empty) {
        causes.push(Cause::required(&format!("{path}.spec.containers"), ""));
    }
    for (index, container) in containers.into_iter().flatten().enumerate() {
        for key in ["name", "image"] {
            if container[key].as_str().is_none_or(str::is_empty) {
                let field = format!("{path}.spec.containers[{index}].{key}");
                causes.push(Cause::required(&field, ""));
            }
        }
    }
}
