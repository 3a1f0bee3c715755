//! StatefulSets: defaults and validation.

use std::sync::LazyLock;

use k8s_openapi::api::apps::v1::StatefulSet;
use serde_json::{Value, json};

use super::fields::{self, fill, keep_status, not_negative, omit};
use super::metadata::is_like;
use super::pod_template;
use crate::cause::Cause;

/// The fields of a StatefulSet in a bookmark.
pub(super) const EMPTY: &str = r#","spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"serviceName":"","updateStrategy":{}},"status":{"replicas":0,"availableReplicas":0}"#;

const FIELDS: &str = "spec v1.StatefulSetSpec
    spec.selector v1.LabelSelector
    spec.template v1.PodTemplateSpec
    spec.updateStrategy v1.StatefulSetUpdateStrategy
    spec.updateStrategy.rollingUpdate v1.RollingUpdateStatefulSetStrategy
    spec.ordinals v1.StatefulSetOrdinals
    spec.persistentVolumeClaimRetentionPolicy v1.StatefulSetPersistentVolumeClaimRetentionPolicy
    spec.volumeClaimTemplates []v1.PersistentVolumeClaim
    spec.replicas int32
    spec.minReadySeconds int32
    spec.revisionHistoryLimit int32
    spec.ordinals.start int32
    spec.updateStrategy.rollingUpdate.partition int32
    spec.serviceName string
    spec.podManagementPolicy string
    spec.template.metadata v1.ObjectMeta
    spec.template.spec v1.PodSpec";

static DEFAULTS: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "podManagementPolicy": "OrderedReady",
        "replicas": 1,
        "revisionHistoryLimit": 10,
        "serviceName": "",
        "updateStrategy": {},
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
    })
});

/// The fields of `spec` that an update can change.
const MUTABLE: [&str; 7] = [
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
];

pub(super) fn decode(object: &mut Value, old: Option<&Value>) -> Result<(), String> {
    fields::decode::<StatefulSet>(object, old, ("StatefulSet", FIELDS), |known| {
        serde_json::to_value(known.spec)
    })
}

/// Sets the defaults of `apps/v1`.
pub(super) fn complete(new: &mut Value, old: Option<&Value>) {
    keep_status(new, old, json!({"replicas": 0, "availableReplicas": 0}));
    let spec = &mut new["spec"];
    omit(spec, &[("minReadySeconds", json!(0))]);
    fill(spec, &DEFAULTS);
    let strategy = &mut spec["updateStrategy"];
    if strategy["type"].as_str().is_none_or(str::is_empty) {
        strategy["type"] = json!("RollingUpdate");
        fill(strategy, &json!({"rollingUpdate": {}}));
    }
    if strategy["type"] == "RollingUpdate" && strategy.get("rollingUpdate").is_some() {
        fill(&mut strategy["rollingUpdate"], &json!({"partition": 0}));
    }
    for claim in pod_template::items(spec, "/volumeClaimTemplates") {
        if claim.get("spec").is_some() {
            fill(&mut claim["spec"], &json!({"volumeMode": "Filesystem"}));
        }
        fill(claim, &json!({"status": {"phase": "Pending"}}));
    }
    pod_template::complete(&mut spec["template"]);
}

/// Validates counts, selector, labels and containers, and rejects changes of immutable fields.
pub(super) fn check(new: &Value, old: Option<&Value>, causes: &mut Vec<Cause>) {
    let spec = &new["spec"];
    not_negative(new, "spec.replicas", causes);
    not_negative(new, "spec.minReadySeconds", causes);
    not_negative(new, "spec.ordinals.start", causes);
    pod_template::check_selector(spec, "statefulset", causes);
    pod_template::check(&spec["template"], "spec.template", causes);
    if let Some(old) = old
        && !is_like(spec, &old["spec"], &MUTABLE)
    {
        let why = "updates to statefulset spec for fields other than 'replicas', 'ordinals', \
                   'template', 'updateStrategy', 'revisionHistoryLimit', \
                   'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
        causes.push(Cause::forbidden("spec", why));
    }
}
