//! Larger views of a workload: with the field managers of its count, or with the labels of its pods.
//! Commands and the activator use them; the controller reads only [`Workload`].

use std::{collections::BTreeMap, fmt::Debug};

use chrono::{DateTime, Utc};
use dayshift_text::{cut_bytes, printable};
use dayshift_workload::{
    Kind, KindTable, Prefix,
    fields::BoundedValue,
    other_controllers::{FieldManager, ManagerKind},
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::{api::ObjectList, core::WatchEvent};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::decode::{
    kind_api::KindApi,
    workload::{FullWorkload, Trim, Workload, WorkloadMeta, trimmed},
};

/// A type that a live workload can be decoded to: [`Workload`], or more of the object, such as
/// [`WithManagers`].
pub trait WorkloadView: Debug + Trim + Decode {}

impl<D: Debug + Trim + Decode> WorkloadView for D {}

/// A type to which objects are decoded.
pub trait Decode: Clone + DeserializeOwned + Send + 'static {
    /// This type with all members of the `spec`, for custom kinds.
    type Full: Clone + DeserializeOwned + Into<Self>;

    /// The metadata.
    fn meta(&self) -> &ObjectMeta;
}

impl Decode for Workload {
    type Full = FullWorkload;

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }
}

impl Decode for WithManagers {
    type Full = Self;

    fn meta(&self) -> &ObjectMeta {
        self.workload.meta()
    }
}

impl Decode for WithPodLabels {
    type Full = Self;

    fn meta(&self) -> &ObjectMeta {
        self.workload.meta()
    }
}

/// The members of a `spec` that are decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecMembers {
    /// Those that the definitions of dayshift name.
    Known,
    /// All of them.
    All,
}

impl SpecMembers {
    /// The members for objects of this kind.
    pub(crate) fn for_kind(kind: &Kind) -> Self {
        if kind.has_own_spec_members() {
            Self::All
        } else {
            Self::Known
        }
    }

    /// Decodes an object.
    pub(crate) fn decode<D: Decode>(self, json: &[u8]) -> Result<D, serde_json::Error> {
        match self {
            Self::Known => serde_json::from_slice(json),
            Self::All => serde_json::from_slice::<D::Full>(json).map(Into::into),
        }
    }

    /// Decodes a list.
    pub(crate) fn decode_list<D: Decode>(
        self,
        json: &[u8],
    ) -> Result<ObjectList<D>, serde_json::Error> {
        match self {
            Self::Known => serde_json::from_slice(json),
            Self::All => {
                let list: ObjectList<D::Full> = serde_json::from_slice(json)?;
                Ok(ObjectList {
                    types: list.types,
                    metadata: list.metadata,
                    items: list.items.into_iter().map(Into::into).collect(),
                })
            }
        }
    }

    /// Decodes an event of a watch.
    pub(crate) fn decode_event<D: Decode>(
        self,
        json: &[u8],
    ) -> Result<WatchEvent<D>, serde_json::Error> {
        match self {
            Self::Known => serde_json::from_slice(json),
            Self::All => Ok(match serde_json::from_slice::<WatchEvent<D::Full>>(json)? {
                WatchEvent::Added(object) => WatchEvent::Added(object.into()),
                WatchEvent::Modified(object) => WatchEvent::Modified(object.into()),
                WatchEvent::Deleted(object) => WatchEvent::Deleted(object.into()),
                WatchEvent::Bookmark(bookmark) => WatchEvent::Bookmark(bookmark),
                WatchEvent::Error(error) => WatchEvent::Error(error),
            }),
        }
    }
}

/// An object with these metadata.
#[derive(Deserialize)]
struct RawObject<M> {
    metadata: M,
    #[serde(default)]
    spec: BoundedValue,
    #[serde(default)]
    status: BoundedValue,
}

/// A workload with its managed fields, which show who set its count. The controller does not need them
/// in lists and watches, where they would cost memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "RawObject<ManagedMeta>")]
pub struct WithManagers {
    /// The workload itself.
    pub workload: Workload,
    /// The labels of the pod template.
    pub pod_labels: BTreeMap<String, String>,
    managed_fields: Vec<ManagedFields>,
    owners: Vec<OwnerReference>,
    health_problem: Option<Box<str>>,
    kept_target: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ManagedMeta {
    #[serde(flatten)]
    meta: WorkloadMeta,
    #[serde(default, deserialize_with = "managed_fields")]
    managed_fields: Vec<ManagedFields>,
    #[serde(default)]
    owner_references: Option<Vec<OwnerReference>>,
}

/// An entry of `metadata.managedFields`. Users can write entries with any time and any number of fields,
/// as deeply nested as the object.
#[derive(Clone, Debug)]
struct ManagedFields {
    manager: String,
    operation: String,
    subresource: String,
    /// `None` if there is none, or one that is out of the calendar.
    time: Option<DateTime<Utc>>,
    fields: Value,
}

/// Reads the entries. No entry makes the object unreadable.
fn managed_fields<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<ManagedFields>, D::Error> {
    let BoundedValue(value) = BoundedValue::deserialize(deserializer)?;
    let entries = match value {
        Value::Array(entries) => entries,
        _ => Vec::new(),
    };
    Ok(entries.into_iter().map(ManagedFields::from).collect())
}

impl From<Value> for ManagedFields {
    fn from(mut entry: Value) -> Self {
        let fields = entry.get_mut("fieldsV1").map(Value::take);
        let text = |name: &str| entry[name].as_str().unwrap_or_default();
        Self {
            manager: text("manager").to_owned(),
            operation: text("operation").to_owned(),
            subresource: text("subresource").to_owned(),
            time: text("time").parse().ok(),
            fields: fields.unwrap_or_default(),
        }
    }
}

impl From<RawObject<ManagedMeta>> for WithManagers {
    fn from(raw: RawObject<ManagedMeta>) -> Self {
        let (BoundedValue(spec), BoundedValue(status)) = (raw.spec, raw.status);
        Self {
            workload: Workload::from_values(raw.metadata.meta.into(), &spec, &status),
            pod_labels: pod_labels(&spec),
            health_problem: health_problem(&status).map(Into::into),
            kept_target: kept_target(&spec, &status),
            managed_fields: raw.metadata.managed_fields,
            owners: raw.metadata.owner_references.unwrap_or_default(),
        }
    }
}

/// The maximum size of the labels of a pod template that are kept, in bytes.
const MAX_POD_LABELS: usize = 8 * 1024;

/// The maximum length of a health problem that is kept, in bytes.
const MAX_PROBLEM: usize = 4 * 1024;

impl Trim for WithManagers {
    /// Of the managed fields, only the count is kept.
    fn trim(&mut self, kind: &Kind, prefix: &Prefix) {
        self.workload.trim(kind, prefix);
        let labels = self.pod_labels.iter();
        let bytes: usize = labels.map(|(key, value)| key.len() + value.len()).sum();
        if bytes > MAX_POD_LABELS {
            self.pod_labels = BTreeMap::new();
        }
        let count = KindApi::new(kind).managed_count();
        for entry in &mut self.managed_fields {
            let fields = &mut entry.fields;
            *fields = match fields.pointer(&count) {
                Some(_) => only(&count),
                None => Value::Null,
            };
        }
        self.owners.retain(|owner| owner.controller == Some(true));
        self.health_problem = self.health_problem.take().map(|problem| {
            let problem: &str = cut_bytes(&problem, MAX_PROBLEM);
            problem.into()
        });
    }
}

/// A value in which this JSON pointer refers to an empty object.
fn only(pointer: &str) -> Value {
    let mut tokens = pointer.split('/').skip(1).collect::<Vec<_>>();
    let mut value = Value::Object(Map::new());
    while let Some(token) = tokens.pop() {
        let name = token.replace("~1", "/").replace("~0", "~");
        value = Value::Object(Map::from_iter([(name, value)]));
    }
    value
}

impl WithManagers {
    /// The kind of the custom resource that owns this object and sets its count, if that resource can be
    /// scheduled instead.
    pub fn operated_by(&self, kinds: &KindTable) -> Option<Kind> {
        let controller = self.controller_owner()?;
        kinds.from_owner(&controller.api_version, &controller.kind)
    }

    /// The owner that controls this object. Its strings can have any content.
    pub fn controller_owner(&self) -> Option<&OwnerReference> {
        let mut owners = self.owners.iter();
        owners.find(|owner| owner.controller == Some(true))
    }

    /// The current count of the target of a HorizontalPodAutoscaler that never scales it down
    /// (`behavior.scaleDown.selectPolicy: Disabled`).
    pub const fn kept_target(&self) -> Option<u32> {
        self.kept_target
    }

    /// Why the object is not healthy, in the words of Kubernetes or of its operator.
    pub fn health_problem(&self) -> Option<&str> {
        self.health_problem.as_deref()
    }

    /// The managers of the count field
    /// (<https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management>).
    pub fn managers(&self, kind: &Kind) -> Vec<FieldManager> {
        let count = KindApi::new(kind).managed_count();
        let entries = self.managed_fields.iter();
        entries
            .filter_map(|entry| field_manager(entry, &count))
            .collect()
    }

    /// The manager that last set the count. If several have applied it, dayshift is chosen last. `None`
    /// if the API server does not record managers.
    pub fn last_manager(&self, kind: &Kind) -> Option<FieldManager> {
        let all = self.managers(kind).into_iter();
        let last = all.max_by_key(|manager| (manager.kind() != ManagerKind::Dayshift, manager.at));
        last.or_else(|| self.last_writer())
    }

    /// The manager that might have removed the count. A missing field has no manager, so this is the
    /// last one that wrote the object.
    fn last_writer(&self) -> Option<FieldManager> {
        let entries = self.managed_fields.iter().filter(|entry| is_whole(entry));
        entries.map(described).max_by_key(|manager| manager.at)
    }

    /// When the object was last changed, other than its status or its count through the `scale`
    /// subresource. Its annotations are at least that old. `None` if the API server does not record
    /// managers.
    pub fn changed(&self) -> Option<DateTime<Utc>> {
        let entries = self.managed_fields.iter().filter(|entry| is_whole(entry));
        entries.filter_map(|entry| described(entry).at).max()
    }
}

fn kept_target(spec: &Value, status: &Value) -> Option<u32> {
    let policy = &spec["behavior"]["scaleDown"]["selectPolicy"];
    let replicas = status["currentReplicas"].as_u64();
    replicas
        .filter(|_| policy == "Disabled")
        .and_then(|replicas| u32::try_from(replicas).ok())
}

/// The conditions that describe a problem, the most specific first, each with the status that means a
/// problem (<https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#deployment-status>).
const PROBLEM_CONDITIONS: [(&str, &str); 4] = [
    ("ReplicaFailure", "True"),
    ("Progressing", "False"),
    ("Ready", "False"),
    ("Available", "False"),
];

/// The conditions with one of these types and statuses, in this order.
fn conditions<'s>(
    status: &'s Value,
    wanted: &'s [(&str, &str)],
) -> impl Iterator<Item = &'s Value> {
    wanted.iter().filter_map(|(name, is)| {
        let mut all = status["conditions"].as_array()?.iter();
        all.find(|condition| condition["type"] == *name && condition["status"] == *is)
    })
}

/// The message of the first condition that describes a problem, without its full stop: it becomes part
/// of a sentence.
fn health_problem(status: &Value) -> Option<&str> {
    conditions(status, &PROBLEM_CONDITIONS).find_map(|condition| {
        let message = condition["message"].as_str()?.trim_end_matches('.');
        (!message.is_empty()).then_some(message)
    })
}

/// Whether the entry is of the object itself, not of a subresource.
fn is_whole(entry: &ManagedFields) -> bool {
    entry.subresource.is_empty()
}

fn field_manager(entry: &ManagedFields, count: &str) -> Option<FieldManager> {
    entry.fields.pointer(count)?;
    Some(described(entry))
}

fn described(entry: &ManagedFields) -> FieldManager {
    FieldManager {
        manager: entry.manager.clone(),
        applies: entry.operation == "Apply",
        scales: entry.subresource == "scale",
        at: entry.time,
    }
}

/// A workload with the labels of its pods, by which Services select them.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "RawObject<TrimmedMeta>")]
pub struct WithPodLabels {
    /// The workload itself.
    pub workload: Workload,
    /// The labels of the pod template; empty if the kind has none.
    pub labels: BTreeMap<String, String>,
    /// Why a start of it fails, by its conditions.
    pub failure: Option<Box<StartFailure>>,
}

impl Trim for WithPodLabels {
    fn trim(&mut self, kind: &Kind, prefix: &Prefix) {
        self.workload.trim(kind, prefix);
    }
}

/// A condition that describes why the pods of a workload do not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartFailure {
    /// A word such as `FailedCreate`, at most 64 bytes.
    pub reason: Box<str>,
    /// A message, which can contain names, at most 300 bytes.
    pub message: Box<str>,
}

/// The conditions that describe a failed start, each with the status that means it. During every start,
/// `Available` is `False` too.
const FAILURES: [(&str, &str); 2] = [("ReplicaFailure", "True"), ("Progressing", "False")];

#[derive(Deserialize)]
struct TrimmedMeta(#[serde(deserialize_with = "trimmed")] ObjectMeta);

impl From<RawObject<TrimmedMeta>> for WithPodLabels {
    fn from(raw: RawObject<TrimmedMeta>) -> Self {
        let (BoundedValue(spec), BoundedValue(status)) = (raw.spec, raw.status);
        Self {
            workload: Workload::from_values(raw.metadata.0, &spec, &status),
            labels: pod_labels(&spec),
            failure: start_failure(&status).map(Box::new),
        }
    }
}

fn start_failure(status: &Value) -> Option<StartFailure> {
    let failure = conditions(status, &FAILURES).next()?;
    let text = |key: &str, bytes: usize| {
        let text = printable(failure[key].as_str().unwrap_or_default());
        Box::from(cut_bytes(&text, bytes))
    };
    Some(StartFailure {
        reason: text("reason", 64),
        message: text("message", 300),
    })
}

/// The labels of the pod template in a `spec`.
pub(crate) fn pod_labels(spec: &Value) -> BTreeMap<String, String> {
    let labels = &spec["template"]["metadata"]["labels"];
    BTreeMap::deserialize(labels).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A Deployment with these annotations, and many labels, managed fields and foreign annotations.
    fn hostile(ours: &[(&str, usize)]) -> WithManagers {
        let mut annotations = Map::new();
        let mut fields = Map::new();
        for number in 0..2_000 {
            annotations.insert(
                format!("other.example.com/a{number}"),
                json!("x".repeat(100)),
            );
            fields.insert(format!("f:other.example.com/a{number}"), json!({}));
        }
        for (name, length) in ours {
            annotations.insert(format!("dayshift/{name}"), json!("x".repeat(*length)));
        }
        let labels: BTreeMap<_, _> = (0..2_000)
            .map(|number| (format!("label-{number}"), "x".repeat(60)))
            .collect();
        let count = json!({"f:replicas": {}, "f:template": {"f:spec": {}}});
        serde_json::from_value(json!({
            "metadata": {
                "name": "web", "namespace": "dev", "uid": "u", "resourceVersion": "42",
                "labels": labels, "annotations": annotations,
                "ownerReferences": [{"apiVersion": "v1", "kind": "X", "name": "x", "uid": "x"}],
                "managedFields": [
                    {"manager": "kubectl", "operation": "Update", "time": "2026-11-20T09:00:00Z",
                     "fieldsV1": {"f:metadata": {"f:annotations": fields}, "f:spec": count}},
                    {"manager": "other", "operation": "Apply", "time": "2026-11-21T09:00:00Z",
                     "fieldsV1": {"f:metadata": {"f:labels": {}}}},
                ],
            },
            "spec": {"replicas": 3, "template": {"metadata": {"labels": labels}}},
            "status": {"conditions": [
                {"type": "Available", "status": "False", "message": "x".repeat(100_000)},
            ]},
        }))
        .unwrap()
    }

    #[test]
    fn trimmed_workload_is_small_and_observed_as_before() {
        let prefix = Prefix::default();
        let kind = Kind::DEPLOYMENT;
        for ours in [
            &[][..],
            &[("hours", 20), ("unknown", 30), ("error", 40)],
            &[("hours", 5_000), ("inherited", 3_000)],
            &[
                ("hours", 3_000),
                ("start", 3_000),
                ("stop", 3_000),
                ("unknown", 3_000),
            ],
        ] {
            let managed = hostile(ours);
            let mut trimmed = managed.clone();
            trimmed.trim(&kind, &prefix);
            let bytes = format!("{trimmed:?}").len();
            assert!(bytes < 20_000, "{ours:?}: {bytes} bytes");
            let observed = |managed: &WithManagers| managed.workload.observe(&kind, &prefix);
            assert_eq!(observed(&trimmed), observed(&managed), "{ours:?}");
            assert_eq!(trimmed.managers(&kind), managed.managers(&kind));
            assert_eq!(trimmed.last_manager(&kind), managed.last_manager(&kind));
            assert_eq!(trimmed.changed(), managed.changed());
            assert_eq!(trimmed.workload.concerns(&prefix), !ours.is_empty());
        }
    }

    #[test]
    fn only_managers_of_the_count_are_listed() {
        let managed: WithManagers = serde_json::from_value(serde_json::json!({
            "metadata": {
                "name": "web", "namespace": "dev", "annotations": null,
                "managedFields": [
                    {"manager": "kubectl", "operation": "Apply",
                     "fieldsV1": {"f:spec": {"f:replicas": {}}}},
                    {"manager": "kube-controller-manager", "operation": "Update",
                     "subresource": "scale", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
                    {"manager": "kubectl-edit", "operation": "Update",
                     "fieldsV1": {"f:spec": {"f:template": {}}}},
                ],
            },
            "spec": {"replicas": 2},
        }))
        .unwrap();
        assert_eq!(managed.workload.name(), "web");
        let manager = |manager: &str, applies, scales| FieldManager {
            manager: manager.to_owned(),
            applies,
            scales,
            at: None,
        };
        assert_eq!(
            managed.managers(&Kind::DEPLOYMENT),
            [
                manager("kubectl", true, false),
                manager("kube-controller-manager", false, true),
            ]
        );
    }

    /// The API server stores and sends such times and fields
    /// (`tests/cluster/e2e/security/odd_objects.rs`).
    #[test]
    fn odd_managed_fields_do_not_make_the_object_unreadable() {
        let deep = format!("{}{{}}{}", r#"{"f:a":"#.repeat(200), "}".repeat(200));
        let read = |entry: &str| {
            let last = r#"{"manager": "kubectl", "time": "2026-11-20T09:00:00Z", "fieldsV1": {"f:spec": {"f:replicas": {}}}}"#;
            let fields = format!("[{entry}, {last}]");
            let object = format!(r#"{{"metadata": {{"name": "web", "managedFields": {fields}}}}}"#);
            let managed: WithManagers = serde_json::from_str(&object).unwrap();
            let mut managers = managed.managers(&Kind::DEPLOYMENT);
            managers.retain(|manager| manager.at.is_some());
            managers.len()
        };
        for entry in [
            r#"{"manager": "x", "time": "-0001-12-31T23:00:00Z"}"#,
            r#"{"manager": "x", "time": "10000-01-01T00:59:59Z"}"#,
            r#"{"manager": 7, "operation": null, "time": [], "fieldsV1": "f:spec"}"#,
            &format!(r#"{{"fieldsV1": {deep}}}"#),
            "[]",
        ] {
            assert_eq!(read(entry), 1, "{}", cut_bytes(entry, 80));
        }
    }

    #[test]
    fn failed_start_has_a_reason_and_every_other_start_has_none() {
        let failure = |conditions: Value| {
            let object = serde_json::json!({
                "metadata": {"name": "web", "namespace": "dev"},
                "status": {"conditions": conditions},
            });
            let view: WithPodLabels = serde_json::from_value(object).unwrap();
            view.failure
        };
        let unavailable = serde_json::json!([
            {"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable"},
            {"type": "Progressing", "status": "True"},
        ]);
        assert_eq!(failure(unavailable), None);
        let quota = serde_json::json!([
            {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"},
            {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "quota\u{1b}"},
        ]);
        let found = failure(quota).unwrap();
        assert_eq!(&*found.reason, "FailedCreate");
        assert!(
            found.message.starts_with("quota") && !found.message.contains('\u{1b}'),
            "{found:?}"
        );
    }
}
