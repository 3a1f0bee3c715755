//! Deployments: defaults and validation.

use k8s_openapi::api::apps::v1::Deployment;
use serde_json::{Value, json};

use super::fields::{self, Field, not_negative, object, or_else};
use super::pod_template;
use crate::cause::Cause;

/// The fields of a Deployment in a bookmark.
pub(super) const EMPTY: &str = r#","spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}"#;

const FIELDS: [Field; 8] = [
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
    ("/spec/replicas", "DeploymentSpec.spec.replicas", "int32"),
    (
        "/spec/minReadySeconds",
        "DeploymentSpec.spec.minReadySeconds",
        "int32",
    ),
    (
        "/spec/revisionHistoryLimit",
        "DeploymentSpec.spec.revisionHistoryLimit",
        "int32",
    ),
    (
        "/spec/progressDeadlineSeconds",
        "DeploymentSpec.spec.progressDeadlineSeconds",
        "int32",
    ),
];

pub(super) fn decode(object: &mut Value, old: Option<&Value>) -> Result<(), String> {
    let fields = FIELDS.into_iter().chain(pod_template::FIELDS);
    fields::decode::<Deployment>(object, old, fields, |known| {
        serde_json::to_value(known.spec)
    })
}

/// Sets the defaults of `apps/v1`. Only the controller can set the status.
pub(super) fn complete(new: &mut Value, old: Option<&Value>) {
    new["status"] = old.map_or_else(|| json!({}), |old| old["status"].clone());
    let Some(spec) = object(&mut new["spec"]) else {
        return;
    };
    // Go's encoder omits these fields.
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
    pod_template::complete(spec.entry("template").or_insert_with(|| json!({})));
}

/// Validates counts, selector, labels and containers.
pub(super) fn check(new: &Value, old: Option<&Value>, causes: &mut Vec<Cause>) {
    let spec = &new["spec"];
    not_negative(new, "spec.replicas", causes);
    pod_template::check_selector(spec, "deployment", causes);
    pod_template::check(&spec["template"], "spec.template", causes);
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
    not_negative(new, "spec.minReadySeconds", causes);
    not_negative(new, "spec.revisionHistoryLimit", causes);
    not_negative(new, "spec.progressDeadlineSeconds", causes);
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
