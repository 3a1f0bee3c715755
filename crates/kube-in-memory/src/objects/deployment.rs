//! Deployments: defaults and validation.

use std::sync::LazyLock;

use k8s_openapi::api::apps::v1::Deployment;
use serde_json::{Value, json};

use super::fields::{self, fill, keep_status, not_negative, omit};
use super::pod_template;
use crate::cause::Cause;

/// The fields of a Deployment in a bookmark.
pub(super) const EMPTY: &str = r#","spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}"#;

const FIELDS: &str = "spec v1.DeploymentSpec
    spec.selector v1.LabelSelector
    spec.strategy v1.DeploymentStrategy
    spec.template v1.PodTemplateSpec
    spec.replicas int32
    spec.minReadySeconds int32
    spec.revisionHistoryLimit int32
    spec.progressDeadlineSeconds int32
    spec.template.metadata v1.ObjectMeta
    spec.template.spec v1.PodSpec";

static DEFAULTS: LazyLock<Value> = LazyLock::new(
    || json!({"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600, "strategy": {}}),
);
static ROLLING: LazyLock<Value> =
    LazyLock::new(|| json!({"maxUnavailable": "25%", "maxSurge": "25%"}));

pub(super) fn decode(object: &mut Value, old: Option<&Value>) -> Result<(), String> {
    fields::decode::<Deployment>(object, old, ("Deployment", FIELDS), |known| {
        serde_json::to_value(known.spec)
    })
}

/// Sets the defaults of `apps/v1`.
pub(super) fn complete(new: &mut Value, old: Option<&Value>) {
    keep_status(new, old, json!({}));
    let spec = &mut new["spec"];
    omit(
        spec,
        &[("paused", json!(false)), ("minReadySeconds", json!(0))],
    );
    fill(spec, &DEFAULTS);
    let strategy = &mut spec["strategy"];
    if strategy["type"].as_str().is_none_or(str::is_empty) {
        strategy["type"] = json!("RollingUpdate");
    }
    if strategy["type"] == "RollingUpdate" {
        fill(&mut strategy["rollingUpdate"], &ROLLING);
    }
    pod_template::complete(&mut spec["template"]);
}

/// Validates counts, selector, labels and containers.
pub(super) fn check(new: &Value, old: Option<&Value>, causes: &mut Vec<Cause>) {
    let spec = &new["spec"];
    not_negative(new, "spec.replicas", causes);
    pod_template::check_selector(spec, "deployment", causes);
    pod_template::check(&spec["template"], "spec.template", causes);
    let (kind, rolling) = (
        &spec["strategy"]["type"],
        &spec["strategy"]["rollingUpdate"],
    );
    let known = ["Recreate", "RollingUpdate"];
    if kind.as_str().is_none_or(|kind| !known.contains(&kind)) {
        let shown = format!(r#"{{"Type":{kind},"RollingUpdate":{rolling}}}"#);
        causes.push(Cause::not_supported("spec.strategy", &shown, &known));
    }
    not_negative(new, "spec.minReadySeconds", causes);
    not_negative(new, "spec.revisionHistoryLimit", causes);
    not_negative(new, "spec.progressDeadlineSeconds", causes);
    let seconds = |key: &str| spec[key].as_i64().unwrap_or_default();
    if seconds("progressDeadlineSeconds") <= seconds("minReadySeconds") {
        let shown = seconds("progressDeadlineSeconds");
        let why = "must be greater than minReadySeconds";
        causes.push(Cause::invalid("spec.progressDeadlineSeconds", &shown, why));
    }
    if let Some(old) = old
        && old["spec"]["selector"] != spec["selector"]
    {
        let why = "field is immutable";
        causes.push(Cause::invalid("spec.selector", &spec["selector"], why));
    }
}
