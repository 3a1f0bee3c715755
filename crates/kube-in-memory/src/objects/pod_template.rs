//! Pod templates, and the selectors that must match them.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::fields::fill;
use super::names;
use crate::cause::Cause;

static DEFAULTS: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "metadata": {},
        "spec": {
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
            "dnsPolicy": "ClusterFirst",
            "securityContext": {},
            "schedulerName": "default-scheduler",
        },
    })
});
static CONTAINER: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    })
});

/// Sets the defaults of a pod template.
pub(super) fn complete(template: &mut Value) {
    fill(template, &DEFAULTS);
    for path in ["/spec/initContainers", "/spec/containers"] {
        for container in items(template, path) {
            let image = container["image"].as_str().unwrap_or_default();
            let tag = image.rsplit('/').next().unwrap_or_default();
            let is_newest = tag.ends_with(":latest") || !tag.contains([':', '@']);
            let policy = if is_newest { "Always" } else { "IfNotPresent" };
            fill(container, &CONTAINER);
            fill(container, &json!({"imagePullPolicy": policy}));
            for port in items(container, "/ports") {
                fill(port, &json!({"protocol": "TCP"}));
            }
        }
    }
}

/// The items of a list.
pub(super) fn items<'v>(
    value: &'v mut Value,
    path: &str,
) -> impl Iterator<Item = &'v mut Value> + use<'v> {
    let items = value.pointer_mut(path).and_then(Value::as_array_mut);
    items.into_iter().flatten()
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
        causes.push(Cause::invalid("spec.selector", &"{}", &why));
        return;
    }
    let given = &spec["template"]["metadata"]["labels"];
    let differs = labels
        .into_iter()
        .flatten()
        .any(|(key, value)| given.get(key) != Some(value));
    if selector.is_null() || differs {
        let why = "`selector` does not match template `labels`";
        causes.push(Cause::invalid("spec.template.metadata.labels", given, why));
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
