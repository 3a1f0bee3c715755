//! What the server fills in, and refuses, in Deployments.

use k8s_openapi::api::apps::v1::Deployment;
use serde_json::{Map, Value, json};

use crate::objects::metadata::{self, mismatch};
use crate::objects::names;
use crate::status::Cause;

/// The members of a bookmark's Deployment.
pub(crate) const EMPTY: &str = r#","spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}"#;

/// The members that are objects: where, and what Go calls them and their types.
const OBJECTS: [(&str, &str, &str); 6] = [
    ("/spec", "Deployment.spec", "v1.DeploymentSpec"),
    (
        "/spec/selector",
        "DeploymentSpec.spec.selector",
        "v1.LabelSelector",
    ),
    (
        "/spec/strategy",
        "DeploymentSpec.spec.strategy",
        "v1.DeploymentStrategy",
    ),
    (
        "/spec/template",
        "DeploymentSpec.spec.template",
        "v1.PodTemplateSpec",
    ),
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

/// The first member of `spec` that the server cannot decode.
fn type_error(object: &Value) -> Option<String> {
    for (path, field, kind) in OBJECTS {
        let value = object.pointer(path).unwrap_or(&Value::Null);
        if !(value.is_object() || value.is_null()) {
            return Some(mismatch(value, field, kind));
        }
    }
    for key in [
        "replicas",
        "minReadySeconds",
        "revisionHistoryLimit",
        "progressDeadlineSeconds",
    ] {
        let value = &object["spec"][key];
        let fits = value
            .as_i64()
            .is_some_and(|number| i32::try_from(number).is_ok());
        if !(fits || value.is_null()) {
            return Some(mismatch(
                value,
                &format!("DeploymentSpec.spec.{key}"),
                "int32",
            ));
        }
    }
    None
}

/// Drops the members that a Deployment does not have, and refuses types that it has not; looks
/// only where `object` differs from `old` in more than the count, labels and annotations.
pub(crate) fn decode(object: &mut Value, old: Option<&Value>) -> Result<(), String> {
    if let Some(wrong) = type_error(object) {
        return Err(wrong);
    }
    if let Some(old) = old
        && is_like(object, old, &["kind", "apiVersion", "metadata", "spec"])
        && is_like(&object["spec"], &old["spec"], &["replicas"])
        && is_like(
            &object["metadata"],
            &old["metadata"],
            &["labels", "annotations"],
        )
    {
        return Ok(());
    }
    let mut plain = object.clone();
    metadata::drop_nulls(&mut plain);
    let known: Deployment =
        serde_json::from_value(plain).map_err(|error| format!("json: {error}"))?;
    if let (Ok(spec @ Value::Object(_)), Value::Object(given)) =
        (serde_json::to_value(known.spec), object["spec"].take())
    {
        object["spec"] = spec;
        // The type has them always.
        for key in ["selector", "template"] {
            if given.get(key).is_none_or(Value::is_null) {
                object["spec"][key].take();
            }
        }
    }
    retain(
        object,
        &["kind", "apiVersion", "metadata", "spec", "status"],
    );
    retain(&mut object["metadata"], &metadata::MEMBERS);
    Ok(())
}

/// Whether both have the same members, `others` aside.
fn is_like(left: &Value, right: &Value, others: &[&str]) -> bool {
    let (Some(left), Some(right)) = (left.as_object(), right.as_object()) else {
        return false;
    };
    let is_in = |all: &Map<String, Value>, key: &String, value: &Value| {
        others.contains(&key.as_str()) || all.get(key) == Some(value)
    };
    left.iter().all(|(key, value)| is_in(right, key, value))
        && right.iter().all(|(key, value)| is_in(left, key, value))
}

fn retain(value: &mut Value, members: &[&str]) {
    if let Value::Object(all) = value {
        all.retain(|key, _| members.contains(&key.as_str()));
    }
}

/// Fills in the defaults of `apps/v1`; the status is the Deployment controller's alone.
pub(crate) fn complete(new: &mut Value, old: Option<&Value>) {
    new["status"] = old.map_or_else(|| json!({}), |old| old["status"].clone());
    let Some(spec) = object(&mut new["spec"]) else {
        return;
    };
    // What Go's encoder leaves out.
    spec.retain(|key, value| match key.as_str() {
        "paused" => *value != false,
        "minReadySeconds" => *value != 0,
        _ => true,
    });
    or_else(spec, "replicas", || json!(1));
    or_else(spec, "revisionHistoryLimit", || json!(10));
    or_else(spec, "progressDeadlineSeconds", || json!(600));
    let strategy = spec.entry("strategy").or_insert_with(|| json!({}));
    if strategy["type"].as_str().is_none_or(str::is_empty) {
        strategy["type"] = json!("RollingUpdate");
    }
    if strategy["type"] == "RollingUpdate"
        && let Some(rolling) = object(&mut strategy["rollingUpdate"])
    {
        or_else(rolling, "maxUnavailable", || json!("25%"));
        or_else(rolling, "maxSurge", || json!("25%"));
    }
    let template = spec.entry("template").or_insert_with(|| json!({}));
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

/// Refuses negative counts, and a selector, labels or containers that do not fit together.
pub(crate) fn check(new: &Value, old: Option<&Value>, causes: &mut Vec<Cause>) {
    let spec = &new["spec"];
    not_negative(spec, "replicas", causes);
    check_selector(spec, causes);
    check_template(&spec["template"], causes);
    match spec["strategy"]["type"].as_str() {
        Some("RollingUpdate" | "Recreate") => {}
        _ => {
            let known = ["Recreate", "RollingUpdate"];
            let strategy = &spec["strategy"];
            let (kind, rolling) = (&strategy["type"], &strategy["rollingUpdate"]);
            let shown = format!(r#"{{"Type":{kind},"RollingUpdate":{rolling}}}"#);
            causes.push(Cause::not_supported("spec.strategy", &shown, &known));
        }
    }
    not_negative(spec, "minReadySeconds", causes);
    not_negative(spec, "revisionHistoryLimit", causes);
    not_negative(spec, "progressDeadlineSeconds", causes);
    let seconds = |key: &str| spec[key].as_i64().unwrap_or_default();
    if seconds("progressDeadlineSeconds") <= seconds("minReadySeconds") {
        let shown = seconds("progressDeadlineSeconds").to_string();
        let why = "must be greater than minReadySeconds";
        causes.push(Cause::invalid("spec.progressDeadlineSeconds", &shown, why));
    }
    if let Some(old) = old
        && old["spec"]["selector"] != spec["selector"]
    {
        let shown = spec["selector"].to_string();
        causes.push(Cause::invalid(
            "spec.selector",
            &shown,
            "field is immutable",
        ));
    }
}

fn not_negative(spec: &Value, key: &str, causes: &mut Vec<Cause>) {
    if let Some(count @ ..0) = spec[key].as_i64() {
        let why = "must be greater than or equal to 0";
        causes.push(Cause::invalid(
            &format!("spec.{key}"),
            &count.to_string(),
            why,
        ));
    }
}

fn check_selector(spec: &Value, causes: &mut Vec<Cause>) {
    let selector = &spec["selector"];
    let labels = selector["matchLabels"].as_object();
    let expressions = selector["matchExpressions"].as_array();
    if selector.is_null() {
        causes.push(Cause::required("spec.selector", ""));
    } else if labels.is_none_or(Map::is_empty) && expressions.is_none_or(Vec::is_empty) {
        let why = "empty selector is invalid for deployment";
        causes.push(Cause::invalid("spec.selector", "{}", why));
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

fn check_template(template: &Value, causes: &mut Vec<Cause>) {
    let labels = "spec.template.labels";
    names::check_labels(&template["metadata"]["labels"], labels, causes);
    let containers = template["spec"]["containers"].as_array();
    if containers.is_none_or(Vec::is_empty) {
        causes.push(Cause::required("spec.template.spec.containers", ""));
    }
    for (index, container) in containers.into_iter().flatten().enumerate() {
        for key in ["name", "image"] {
            if container[key].as_str().is_none_or(str::is_empty) {
                let field = format!("spec.template.spec.containers[{index}].{key}");
                causes.push(Cause::required(&field, ""));
            }
        }
    }
}

fn object(value: &mut Value) -> Option<&mut Map<String, Value>> {
    if value.is_null() {
        *value = json!({});
    }
    value.as_object_mut()
}

fn or_else(members: &mut Map<String, Value>, key: &str, default: impl FnOnce() -> Value) {
    members.entry(key).or_insert_with(default);
}
