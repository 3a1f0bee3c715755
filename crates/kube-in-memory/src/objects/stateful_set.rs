//! StatefulSets: defaults and validation.

use k8s_openapi::api::apps::v1::StatefulSet;
use serde_json::{Map, Value, json};

use super::fields::{self, Field, not_negative, object, or_else};
use super::metadata::is_like;
use super::{names, pod_template};
use crate::cause::Cause;

/// The fields of a StatefulSet in a bookmark.
pub(super) const EMPTY: &str = r#","spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"serviceName":"","updateStrategy":{}},"status":{"replicas":0,"availableReplicas":0}"#;

const FIELDS: [Field; 14] = [
    ("/spec", "StatefulSet.spec", "v1.StatefulSetSpec"),
    (
        "/spec/selector",
        "StatefulSetSpec.spec.selector",
        "v1.LabelSelector",
    ),
    (
        "/spec/template",
        "StatefulSetSpec.spec.template",
        "v1.PodTemplateSpec",
    ),
    (
        "/spec/updateStrategy",
        "StatefulSetSpec.spec.updateStrategy",
        "v1.StatefulSetUpdateStrategy",
    ),
    (
        "/spec/ordinals",
        "StatefulSetSpec.spec.ordinals",
        "v1.StatefulSetOrdinals",
    ),
    (
        "/spec/persistentVolumeClaimRetentionPolicy",
        "StatefulSetSpec.spec.persistentVolumeClaimRetentionPolicy",
        "v1.StatefulSetPersistentVolumeClaimRetentionPolicy",
    ),
    (
        "/spec/volumeClaimTemplates",
        "StatefulSetSpec.spec.volumeClaimTemplates",
        "[]v1.PersistentVolumeClaim",
    ),
    ("/spec/replicas", "StatefulSetSpec.spec.replicas", "int32"),
    (
        "/spec/minReadySeconds",
        "StatefulSetSpec.spec.minReadySeconds",
        "int32",
    ),
    (
        "/spec/revisionHistoryLimit",
        "StatefulSetSpec.spec.revisionHistoryLimit",
        "int32",
    ),
    (
        "/spec/ordinals/start",
        "StatefulSetOrdinals.spec.ordinals.start",
        "int32",
    ),
    (
        "/spec/updateStrategy/rollingUpdate/partition",
        "RollingUpdateStatefulSetStrategy.spec.updateStrategy.rollingUpdate.partition",
        "int32",
    ),
    (
        "/spec/serviceName",
        "StatefulSetSpec.spec.serviceName",
        "string",
    ),
    (
        "/spec/podManagementPolicy",
        "StatefulSetSpec.spec.podManagementPolicy",
        "string",
    ),
];

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
    let fields = FIELDS.into_iter().chain(pod_template::FIELDS);
    fields::decode::<StatefulSet>(object, old, fields, |known| {
        serde_json::to_value(known.spec)
    })
}

/// Sets the defaults of `apps/v1`. Only the controller can set the status.
pub(super) fn complete(new: &mut Value, old: Option<&Value>) {
    new["status"] = old.map_or_else(
        || json!({"replicas": 0, "availableReplicas": 0}),
        |old| old["status"].clone(),
    );
    let Some(spec) = object(&mut new["spec"]) else {
        return;
    };
    // Go's encoder omits these fields.
    spec.retain(|key, value| key != "minReadySeconds" || *value != 0);
    or_else(spec, "podManagementPolicy", || json!("OrderedReady"));
    or_else(spec, "replicas", || json!(1));
    or_else(spec, "revisionHistoryLimit", || json!(10));
    or_else(spec, "serviceName", || json!(""));
    complete_strategy(spec.entry("updateStrategy").or_insert_with(|| json!({})));
    let retention = spec.entry("persistentVolumeClaimRetentionPolicy");
    if let Some(retention) = object(retention.or_insert_with(|| json!({}))) {
        for key in RETENTION {
            or_else(retention, key, || json!("Retain"));
        }
    }
    for claim in items(spec, "volumeClaimTemplates") {
        complete_claim(claim);
    }
    pod_template::complete(spec.entry("template").or_insert_with(|| json!({})));
}

fn complete_strategy(strategy: &mut Value) {
    let Some(strategy) = object(strategy) else {
        return;
    };
    let named = strategy.get("type").and_then(Value::as_str);
    if named.is_none_or(str::is_empty) {
        strategy.insert("type".to_owned(), json!("RollingUpdate"));
        or_else(strategy, "rollingUpdate", || json!({}));
    }
    if strategy["type"] == "RollingUpdate"
        && let Some(rolling) = strategy.get_mut("rollingUpdate").and_then(object)
    {
        or_else(rolling, "partition", || json!(0));
    }
}

fn complete_claim(claim: &mut Value) {
    let Some(claim) = object(claim) else { return };
    if let Some(spec) = claim.get_mut("spec").and_then(object) {
        or_else(spec, "volumeMode", || json!("Filesystem"));
    }
    or_else(claim, "status", || json!({"phase": "Pending"}));
}

fn items<'a>(
    spec: &'a mut Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = &'a mut Value> + use<'a> {
    let items = spec.get_mut(key).and_then(Value::as_array_mut);
    items.into_iter().flatten()
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
    if name.is_empty() {
        return;
    }
    for why in names::dns_label(name) {
        causes.push(Cause::invalid(
            "spec.serviceName",
            &format!("{name:?}"),
            &why,
        ));
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
        causes.push(Cause::invalid(
            "spec.podManagementPolicy",
            &management.to_string(),
            why,
        ));
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
            causes.push(Cause::not_supported(
                &field,
                &policy.to_string(),
                &["Retain", "Delete"],
            ));
        }
    }
}
