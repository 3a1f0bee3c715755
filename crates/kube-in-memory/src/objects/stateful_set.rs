//! StatefulSets: defaults and validation.

use std::sync::LazyLock;

use k8s_openapi::api::apps::v1::StatefulSet;
use serde_json::{Value, json};

use super::fields::{self, fill, keep_status, not_negative, omit};
use super::metadata::is_like;
use super::{names, pod_template};
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
const RETENTION: [&str; 2] = ["whenDeleted", "whenScaled"];

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

/// Validates policies, counts, selector, labels and containers, and rejects changes of immutable fields.
pub(super) fn check(new: &Value, old: Option<&Value>, causes: &mut Vec<Cause>) {
    let spec = &new["spec"];
    check_policies(new, causes);
    not_negative(new, "spec.replicas", causes);
    not_negative(new, "spec.minReadySeconds", causes);
    not_negative(new, "spec.ordinals.start", causes);
    pod_template::check_selector(spec, "statefulset", causes);
    pod_template::check(&spec["template"], "spec.template", causes);
    if old.is_none() {
        check_service(spec, causes);
    }
    if let Some(old) = old
        && !is_like(spec, &old["spec"], &MUTABLE)
    {
        let why = "updates to statefulset spec for fields other than 'replicas', 'ordinals', \
                   'template', 'updateStrategy', 'revisionHistoryLimit', \
                   'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
        causes.push(Cause::forbidden("spec", why));
    }
}

/// The name is validated only at creation, because it is immutable.
fn check_service(spec: &Value, causes: &mut Vec<Cause>) {
    let name = spec["serviceName"].as_str().unwrap_or_default();
    let wrong = if name.is_empty() {
        Vec::new()
    } else {
        names::dns_label(name)
    };
    for why in wrong {
        causes.push(Cause::invalid_text("spec.serviceName", name, &why));
    }
}

/// The rolling update as it is printed in messages.
fn shown_rolling(rolling: &Value) -> String {
    if rolling.is_null() {
        return "null".to_owned();
    }
    let (partition, unavailable) = (&rolling["partition"], &rolling["maxUnavailable"]);
    format!(r#"{{"Partition":{partition},"MaxUnavailable":{unavailable}}}"#)
}

fn check_policies(new: &Value, causes: &mut Vec<Cause>) {
    let spec = &new["spec"];
    let management = &spec["podManagementPolicy"];
    if !matches!(management.as_str(), Some("OrderedReady" | "Parallel")) {
        let why = "must be 'OrderedReady' or 'Parallel'";
        causes.push(Cause::invalid("spec.podManagementPolicy", management, why));
    }
    let strategy = &spec["updateStrategy"];
    match strategy["type"].as_str() {
        Some("RollingUpdate") => {
            not_negative(new, "spec.updateStrategy.rollingUpdate.partition", causes);
        }
        Some("OnDelete") => {
            let rolling = &strategy["rollingUpdate"];
            if !rolling.is_null() {
                let why = "only allowed for updateStrategy 'RollingUpdate'";
                let shown = shown_rolling(rolling);
                let field = "spec.updateStrategy.rollingUpdate";
                causes.push(Cause::invalid(field, &shown, why));
            }
        }
        _ => {
            let why = "must be 'RollingUpdate' or 'OnDelete'";
            let (kind, rolling) = (&strategy["type"], shown_rolling(&strategy["rollingUpdate"]));
            let shown = format!(r#"{{"Type":{kind},"RollingUpdate":{rolling}}}"#);
            causes.push(Cause::invalid("spec.updateStrategy", &shown, why));
        }
    }
    for key in RETENTION {
        let policy = &spec["persistentVolumeClaimRetentionPolicy"][key];
        if !matches!(policy.as_str(), Some("Retain" | "Delete")) {
            let field = format!("spec.persistentVolumeClaimRetentionPolicy.{key}");
            causes.push(Cause::not_supported(&field, policy, &["Retain", "Delete"]));
        }
    }
}
