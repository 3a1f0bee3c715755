//! HorizontalPodAutoscalers of `autoscaling/v2`: defaults and validation.

use std::sync::LazyLock;

use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use serde_json::{Value, json};

use super::fields::{self, fill, keep_status, omit};
use crate::cause::Cause;

/// The fields of an HPA in a bookmark.
pub(super) const EMPTY: &str = r#","spec":{"scaleTargetRef":{"kind":"","name":""},"maxReplicas":0},"status":{"desiredReplicas":0,"currentMetrics":null}"#;

const FIELDS: &str = "spec v2.HorizontalPodAutoscalerSpec
    spec.scaleTargetRef v2.CrossVersionObjectReference
    spec.scaleTargetRef.kind string
    spec.scaleTargetRef.name string
    spec.scaleTargetRef.apiVersion string
    spec.minReplicas int32
    spec.maxReplicas int32
    spec.metrics []v2.MetricSpec
    spec.behavior v2.HorizontalPodAutoscalerBehavior";

static DEFAULTS: LazyLock<Value> = LazyLock::new(|| {
    let target = json!({"type": "Utilization", "averageUtilization": 80});
    let cpu = json!({"type": "Resource", "resource": {"name": "cpu", "target": target}});
    json!({"minReplicas": 1, "maxReplicas": 0, "metrics": [cpu]})
});

pub(super) fn decode(object: &mut Value, old: Option<&Value>) -> Result<(), String> {
    let fields = ("HorizontalPodAutoscaler", FIELDS);
    fields::decode::<HorizontalPodAutoscaler>(object, old, fields, |known| {
        serde_json::to_value(known.spec)
    })
}

/// Sets the defaults: one replica and the CPU metric.
pub(super) fn complete(new: &mut Value, old: Option<&Value>) {
    keep_status(
        new,
        old,
        json!({"desiredReplicas": 0, "currentMetrics": null}),
    );
    omit(&mut new["spec"], &[("metrics", json!([]))]);
    fill(&mut new["spec"], &DEFAULTS);
}

/// Validates the counts.
pub(super) fn check(new: &Value, _: Option<&Value>, causes: &mut Vec<Cause>) {
    let spec = &new["spec"];
    let count = |key: &str| spec[key].as_i64().unwrap_or_default();
    let (least, most) = (count("minReplicas"), count("maxReplicas"));
    let (least_field, most_field) = ("spec.minReplicas", "spec.maxReplicas");
    let positive = "must be greater than or equal to 1";
    if least < 1 {
        causes.push(Cause::invalid(least_field, &least, positive));
    }
    match most {
        0 => causes.push(Cause::required(
            most_field,
            "must be set and greater than 0",
        )),
        ..0 => causes.push(Cause::invalid(most_field, &most, positive)),
        _ => {}
    }
    if most < least {
        let why = "must be greater than or equal to `minReplicas`";
        causes.push(Cause::invalid(most_field, &most, why));
    }
    let counts_outside = spec["metrics"].as_array().is_some_and(|metrics| {
        let mut types = metrics.iter().map(|metric| &metric["type"]);
        types.any(|kind| kind == "Object" || kind == "External")
    });
    if least == 0 && !counts_outside {
        let why = "must specify at least one Object or External metric to support scaling to zero \
                   replicas";
        causes.push(Cause::forbidden("spec.metrics", why));
    }
}
