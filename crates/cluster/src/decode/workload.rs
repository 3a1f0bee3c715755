//! The part of a workload that dayshift reads.

use std::{collections::BTreeMap, fmt};

use chrono::DateTime;
use dayshift_schedule::{MAX_TEXT, cut_beyond, cut_too_long, is_too_long};
use dayshift_text::cut_bytes;
use dayshift_workload::{
    Annotations, CountField, Excess, Footprint, Inputs, Key, Kind, Label, Labels, MAX_BEGAN,
    MAX_ERROR, OWN_ANNOTATIONS, ObjectSpec, Observed, Pods, Prefix, Readiness, Replicas, Revision,
    WorkloadRef,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::Value;

use crate::decode::{kind_api::KindApi, status::ObjectStatus};

/// A workload without its managed fields, which are skipped during decoding. Only the requests of the
/// pod template and the readiness of the status are kept: all workloads of the cluster are decoded to
/// this type, and most of them have no schedule. The kind is not part of it, because the items of a list
/// do not contain their kind.
#[derive(Clone, Debug, Deserialize)]
pub struct Workload {
    #[serde(deserialize_with = "trimmed")]
    pub(super) metadata: ObjectMeta,
    #[serde(default)]
    spec: ObjectSpec,
    #[serde(default)]
    status: ObjectStatus,
    /// The bytes of its annotations that [`Trim::trim`] has forgotten, because they were too long.
    #[serde(skip)]
    too_long: Option<usize>,
}

/// A [`Workload`] that was decoded with all members of its `spec`.
#[derive(Clone, Debug, Deserialize)]
pub struct FullWorkload {
    #[serde(deserialize_with = "trimmed")]
    metadata: ObjectMeta,
    #[serde(default, deserialize_with = "ObjectSpec::deserialize_all")]
    spec: ObjectSpec,
    #[serde(default)]
    status: ObjectStatus,
}

impl From<FullWorkload> for Workload {
    fn from(full: FullWorkload) -> Self {
        Self {
            metadata: full.metadata,
            spec: full.spec,
            status: full.status,
            too_long: None,
        }
    }
}

/// An object's `resourceVersion`.
///
/// Versions of one resource compare as numbers. Kubernetes guarantees this since 1.35 (KEP-5504), and
/// etcd has always done so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(Option<u64>);

impl Version {
    /// Parses a `resourceVersion`. A version that is no number compares with no other.
    pub fn parse(text: &str) -> Self {
        Self(text.parse().ok())
    }

    /// Whether this is known to be an earlier state of the object than `other`.
    pub fn is_before(self, other: Self) -> bool {
        matches!((self.0, other.0), (Some(this), Some(other)) if this < other)
    }

    /// Whether this is known to be the same state of the object as `other`.
    pub fn is_same(self, other: Self) -> bool {
        self.0.is_some() && self == other
    }
}

impl Workload {
    pub(super) fn from_values(metadata: ObjectMeta, spec: &Value, status: &Value) -> Self {
        Self {
            metadata,
            spec: ObjectSpec::from_value(spec),
            status: ObjectStatus::deserialize(status).unwrap_or_default(),
            too_long: None,
        }
    }

    /// The namespace; empty if there is none, which the API server never sends.
    pub fn namespace(&self) -> &str {
        self.metadata.namespace.as_deref().unwrap_or_default()
    }

    /// `metadata.name`.
    pub fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    /// `metadata.uid`.
    pub fn uid(&self) -> &str {
        self.metadata.uid.as_deref().unwrap_or_default()
    }

    /// The `resourceVersion`.
    pub fn version(&self) -> Version {
        Version::parse(
            self.metadata
                .resource_version
                .as_deref()
                .unwrap_or_default(),
        )
    }

    /// `metadata.creationTimestamp` in seconds since 1970; 0 if there is none, which the API server
    /// never sends.
    pub fn created(&self) -> i64 {
        let created = self.metadata.creation_timestamp.as_ref();
        created.map_or(0, |time| time.0.as_second())
    }

    /// The count as an object of this kind, and the content of its field.
    pub fn count(&self, kind: &Kind) -> (Replicas, CountField) {
        let annotations = self.metadata.annotations.as_ref();
        KindApi::new(kind).read(self.namespace(), &self.spec, annotations)
    }

    /// The `spec`.
    pub const fn spec(&self) -> &ObjectSpec {
        &self.spec
    }

    /// The readiness as an object of this kind.
    pub fn readiness(&self, kind: &Kind) -> Readiness {
        let generation = self.metadata.generation;
        self.status.readiness(kind, self.namespace(), generation)
    }

    /// The revision of the pod template: the number that the Deployment controller or Argo Rollouts
    /// writes, or the name in `status.updateRevision` of a StatefulSet. Before the controller has written
    /// a number, the template has its first revision.
    pub fn revision(&self, kind: &Kind) -> Option<Revision> {
        let Some(name) = revision_annotation(kind) else {
            return self.status.update_revision;
        };
        let annotations = self.metadata.annotations.as_ref();
        let text = annotations.and_then(|annotations| annotations.get(name));
        Some(text.map_or(Revision::FIRST, |text| Revision::from_name(text)))
    }

    /// The kind and name of a ScaledObject's target. If the target is not a StatefulSet, its pods are
    /// named like those of a Deployment.
    pub fn scale_target(&self, kind: &Kind) -> Option<(Kind, &str)> {
        let target = self.spec.member("scaleTargetRef");
        let target = target.filter(|_| kind.pods() == Pods::OfTarget)?;
        let text = |name| target.get(name).and_then(Value::as_str);
        let mut by_number = Kind::BUILT_IN.into_iter();
        let by_number = by_number
            .find(|kind| kind.pods() == Pods::ByNumber && text("kind") == Some(kind.name()));
        let kind = by_number.unwrap_or(Kind::DEFAULT_FOR_NAMES);
        Some((kind, text("name")?))
    }

    /// Whether the object has any label.
    pub fn has_labels(&self) -> bool {
        let labels = self.metadata.labels.as_ref();
        labels.is_some_and(|labels| !labels.is_empty())
    }

    /// Whether the object has any annotation.
    pub fn has_annotations(&self) -> bool {
        let annotations = self.metadata.annotations.as_ref();
        annotations.is_some_and(|annotations| !annotations.is_empty())
    }

    /// Whether `deletionTimestamp` is set.
    pub fn is_deleting(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    /// Whether any annotation or label has the prefix.
    pub fn concerns(&self, prefix: &Prefix) -> bool {
        let ours = |map: &Option<BTreeMap<String, String>>| {
            map.iter()
                .flat_map(BTreeMap::keys)
                .any(|key| prefix.strip(key).is_some())
        };
        ours(&self.metadata.annotations) || ours(&self.metadata.labels)
    }

    /// The input of a decision, as an object of this kind.
    pub fn observe(&self, kind: &Kind, prefix: &Prefix) -> Observed {
        let annotations = self.metadata.annotations.as_ref();
        let labels = self.metadata.labels.as_ref();
        let texts = annotations
            .into_iter()
            .flatten()
            .map(|(key, text)| (&**key, &**text));
        let written = |name: &str, max: usize| {
            let text = annotations?.get(name)?.as_str();
            // A longer text is not ours.
            Some(cut_beyond(text, max).into())
        };
        let mut ours = Labels::default();
        for label in kind.state_labels() {
            ours.set(
                label,
                labels.and_then(|labels| labels.get(&prefix.label(label)).cloned()),
            );
        }
        let (replicas, mut count_field) = self.count(kind);
        let inputs = Inputs::from_annotations(prefix, texts);
        let inputs = match self.too_long {
            Some(bytes) => inputs.too_long(bytes),
            None => inputs,
        };
        let saved_value = || prefix.label(Label::SavedValue);
        if kind.is_assumed() && labels.is_some_and(|labels| labels.contains_key(&saved_value())) {
            count_field = CountField::UnknownSwitch;
        }
        Observed {
            object: WorkloadRef {
                kind: kind.clone(),
                namespace: self.namespace().into(),
                name: self.name().into(),
                uid: self.uid().into(),
            },
            replicas,
            count_field,
            footprint: Footprint::from_spec(kind, &self.spec),
            readiness: self.readiness(kind),
            created: DateTime::from_timestamp(self.created(), 0).unwrap_or_default(),
            revision: self.revision(kind),
            inputs: inputs
                .with_counts(self.spec.counts(kind))
                .with_volumes(self.spec.volumes()),
            labels: ours,
            error: written(&prefix.error(), MAX_ERROR),
            override_began: written(&prefix.override_began(), MAX_BEGAN),
            inherited: written(&prefix.inherited(), MAX_TEXT),
            has_labels: self.has_labels(),
            has_annotations: self.has_annotations(),
            deleting: self.is_deleting(),
        }
    }
}

/// The annotation in which another controller counts the revisions of the pod template.
fn revision_annotation(kind: &Kind) -> Option<&'static str> {
    match (kind.group(), kind.name()) {
        ("apps", "Deployment") => Some("deployment.kubernetes.io/revision"),
        ("argoproj.io", "Rollout") => Some("rollout.argoproj.io/revision"),
        _ => None,
    }
}

/// Forgetting everything that is not needed, for objects that are kept. Users can write 256 kB of annotations,
/// and any number of labels.
pub trait Trim {
    /// Keeps only the annotations, the labels and the members of `spec` that [`Workload::observe`] reads. If the
    /// annotations below the prefix are too long together, their values are forgotten too.
    fn trim(&mut self, kind: &Kind, prefix: &Prefix);
}

impl Trim for Workload {
    fn trim(&mut self, kind: &Kind, prefix: &Prefix) {
        self.spec.trim(kind);
        let api = KindApi::new(kind);
        let count = api.count_is_annotation().then(|| kind.field());
        if let Some(annotations) = &mut self.metadata.annotations {
            let texts = annotations.iter().map(|(key, text)| (&**key, &**text));
            let excess = Annotations::under(prefix, texts).excess();
            if let Some(Excess::Object(bytes)) = excess {
                self.too_long = Some(bytes);
                annotations.retain(|key, text| match prefix.strip(key) {
                    Some(name) if Key::from_name(name).is_some() => {
                        *text = String::new();
                        true
                    }
                    Some(name) => OWN_ANNOTATIONS.contains(&name),
                    None => true,
                });
            }
            let needed = [count, revision_annotation(kind)];
            keep_needed(annotations, |key| {
                prefix.strip(key).is_some() || needed.contains(&Some(key))
            });
        }
        if let Some(labels) = &mut self.metadata.labels {
            keep_needed(labels, |key| prefix.strip(key).is_some());
        }
    }
}

/// Keeps the needed entries, or else the first one without its value, so that the map does not become empty.
fn keep_needed(map: &mut BTreeMap<String, String>, is_needed: impl Fn(&str) -> bool) {
    if !map.keys().any(|key| is_needed(key)) {
        let first = map.pop_first();
        *map = first
            .into_iter()
            .map(|(key, _)| (key, String::new()))
            .collect();
        return;
    }
    map.retain(|key, _| is_needed(key));
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
pub(crate) struct WorkloadMeta {
    name: Option<String>,
    namespace: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
    generation: Option<i64>,
    creation_timestamp: Option<Time>,
    deletion_timestamp: Option<Time>,
    labels: Option<BTreeMap<String, String>>,
    #[serde(deserialize_with = "trimmed_annotations")]
    annotations: Option<BTreeMap<String, String>>,
}

/// Reads the metadata that dayshift reads of any object.
pub(crate) fn trimmed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ObjectMeta, D::Error> {
    WorkloadMeta::deserialize(deserializer).map(Into::into)
}

impl From<WorkloadMeta> for ObjectMeta {
    fn from(meta: WorkloadMeta) -> Self {
        Self {
            name: meta.name,
            namespace: meta.namespace,
            uid: meta.uid,
            resource_version: meta.resource_version,
            generation: meta.generation,
            creation_timestamp: meta.creation_timestamp,
            deletion_timestamp: meta.deletion_timestamp,
            labels: meta.labels,
            annotations: meta.annotations,
            ..Self::default()
        }
    }
}

/// kubectl's copy of the whole manifest, which client-side `kubectl apply` stores in one annotation.
pub(crate) const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Reads annotations without kubectl's copy of the manifest.
fn trimmed_annotations<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BTreeMap<String, String>>, D::Error> {
    deserializer.deserialize_any(Texts(|key| key != LAST_APPLIED))
}

/// The maximum number of bytes of a key without its text that are kept.
const MAX_NAME: usize = 63;

/// A map of texts, of which those of some keys are read. Texts that are too long are cut.
pub(crate) struct Texts(pub(crate) fn(&str) -> bool);

impl<'de> Visitor<'de> for Texts {
    type Value = Option<BTreeMap<String, String>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of texts")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut texts = BTreeMap::new();
        while let Some(mut key) = map.next_key::<String>()? {
            let mut text = String::new();
            if self.0(&key) {
                text = map.next_value()?;
            } else {
                map.next_value::<IgnoredAny>()?;
                key.truncate(cut_bytes(&key, MAX_NAME).len());
            }
            if is_too_long(&text) {
                text = cut_too_long(&text).to_owned();
            }
            texts.insert(key, text);
        }
        Ok(Some(texts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_fields_that_decisions_need_are_kept() {
        let workload: Workload = serde_json::from_value(serde_json::json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {
                "name": "web", "namespace": "dev", "uid": "u", "resourceVersion": "42",
                "managedFields": [{"manager": "kubectl"}],
                "labels": {"dayshift/state": "stopped", "app": "web"},
                "annotations": {"dayshift/start": "09:00", LAST_APPLIED: "{…}"},
            },
            "spec": {"replicas": 0, "template": {"spec": {"containers": []}}},
            "status": {"replicas": 0},
        }))
        .unwrap();
        assert!(workload.metadata.managed_fields.is_none());
        assert_eq!(
            workload.metadata.annotations.as_ref().unwrap()[LAST_APPLIED],
            ""
        );
        let observed = workload.observe(&Kind::DEPLOYMENT, &Prefix::default());
        assert_eq!(observed.object.to_string(), "dev/web");
        assert_eq!(observed.replicas, Replicas::ZERO);
        assert_eq!(observed.labels.text(Label::State), Some("stopped"));
        assert!(workload.concerns(&Prefix::default()));
        assert!(!workload.concerns(&Prefix::parse("other").unwrap()));
    }

    #[test]
    fn null_metadata_fields_are_treated_as_missing() {
        let workload: Workload = serde_json::from_value(serde_json::json!({
            "metadata": {"name": "web", "annotations": null, "labels": null}, "spec": {},
        }))
        .unwrap();
        let observed = workload.observe(&Kind::DEPLOYMENT, &Prefix::default());
        assert_eq!(observed.replicas, Replicas::ONE);
        assert!(!observed.has_annotations && !observed.has_labels && !observed.concerns_us());
    }

    #[test]
    fn versions_compare_as_numbers() {
        let version = |text: &str| Version(text.parse().ok());
        assert!(version("9").is_before(version("10")));
        assert!(!version("10").is_before(version("10")));
        assert!(!version("x").is_before(version("10")));
    }
}
