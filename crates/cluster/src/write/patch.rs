//! The guarded patch: a JSON Patch that makes a change and tests everything that the decision depends
//! on.

use std::collections::BTreeMap;

use dayshift_schedule::MAX_TEXT;
use dayshift_workload::{
    AnnotationChange, Change, Key, Label, MAX_BEGAN, MAX_ERROR, Observed, Prefix, VolumeRetention,
    pointer,
};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{decode::kind_api::KindApi, read::namespaces::NamespaceMeta};

/// Makes the JSON Patch (RFC 6902) that applies `change` if the object is still as observed.
///
/// It tests the UID, the missing deletion timestamp, the count, the volume retention, every input
/// annotation, every state label, the error and the start of an override. A missing value is tested as
/// `null`, which the API server accepts for a missing key. Count, state and the removal of ended
/// overrides follow in the same patch, so they change together or not at all.
pub fn guarded_patch(observed: &Observed, change: &Change, prefix: &Prefix) -> Patch {
    let mut patch = Operations::default();
    patch.test(&["metadata", "uid"], json!(&*observed.object.uid));
    patch.test(&["metadata", "deletionTimestamp"], Value::Null);
    let api = KindApi::new(&observed.object.kind);
    let count = api.patch(observed, change);
    let is_changed = change.replicas != observed.replicas;
    // A missing annotation map is added as a whole.
    let is_in_map = api.count_is_annotation() && !observed.has_annotations;
    let with_map = is_in_map && is_changed;
    for (path, value) in count.tests.into_iter().filter(|_| !is_in_map) {
        patch.test(path, value);
    }
    patch.volumes(observed);
    patch.annotations(
        observed,
        change,
        prefix,
        count.write.1.as_ref().filter(|_| with_map),
    );
    patch.labels(observed, change, prefix);
    if is_changed && !with_map {
        patch.put_value(count.write.0, count.write.1);
    }
    patch.into_patch()
}

/// Makes the JSON Patch that writes a user's annotations if the inputs of the object are as observed.
/// Count and state might have changed, because the patch does not depend on them.
///
/// A user's annotation starts a new override, so the patch removes the recorded start of an earlier one.
/// Otherwise the new override could be taken for one that has ended and was restored.
pub fn annotation_patch(
    observed: &Observed,
    annotations: &[AnnotationChange],
    prefix: &Prefix,
) -> Patch {
    const MAP: [&str; 2] = ["metadata", "annotations"];
    let mut patch = Operations::default();
    patch.test(&["metadata", "uid"], json!(&*observed.object.uid));
    if !observed.has_annotations {
        // All inputs are inherited.
        patch.add_map(&MAP, texts(annotations, |key| prefix.annotation(key)));
        return patch.into_patch();
    }
    patch.inputs(observed, prefix);
    if let Some(began) = &observed.override_began {
        let name = prefix.override_began();
        if began.len() <= MAX_BEGAN {
            patch.test_annotation(&name, Some(began));
        }
        patch.put(&[MAP[0], MAP[1], &name], None);
    }
    for (key, text) in annotations {
        patch.put(&[MAP[0], MAP[1], &prefix.annotation(*key)], text.as_deref());
    }
    patch.into_patch()
}

/// Like [`annotation_patch`], and tests the state of the object too.
pub fn wake_patch(observed: &Observed, annotations: &[AnnotationChange], prefix: &Prefix) -> Patch {
    let mut patch = Operations::default();
    let state = prefix.label(Label::State);
    patch.test(
        &["metadata", "labels", &state],
        json!(observed.labels.text(Label::State)),
    );
    let mut operations = patch.tests;
    operations.extend(annotation_patch(observed, annotations, prefix).0);
    Patch(operations)
}

/// Makes the JSON Patch that writes a user's annotations on a Namespace if its overrides and the changed
/// annotations are as observed.
pub fn namespace_patch(
    namespace: &NamespaceMeta,
    annotations: &[AnnotationChange],
    prefix: &Prefix,
) -> Patch {
    let map = ["metadata", "annotations"];
    let name = |key| prefix.annotation(key);
    let metadata = &namespace.metadata;
    map_patch(
        metadata,
        &map,
        metadata.annotations.as_ref(),
        annotations,
        name,
    )
}

/// The patch of a user's override among a team's defaults: it tests the UID, the changed keys and all
/// overrides.
pub fn team_patch(config_map: &ConfigMap, changes: &[AnnotationChange]) -> Patch {
    let name = |key: Key| key.name().to_owned();
    let (metadata, data) = (&config_map.metadata, config_map.data.as_ref());
    map_patch(metadata, &["data"], data, changes, name)
}

/// The added annotations with their names.
fn texts(
    changes: &[AnnotationChange],
    name: impl Fn(Key) -> String,
) -> impl Iterator<Item = (String, Value)> {
    let changes = changes.iter();
    changes.filter_map(move |(key, text)| Some((name(*key), json!(text.as_deref()?))))
}

/// A patch of the map at `path`, which has been observed as `seen`.
fn map_patch(
    metadata: &ObjectMeta,
    path: &[&str],
    seen: Option<&BTreeMap<String, String>>,
    changes: &[AnnotationChange],
    name: impl Fn(Key) -> String,
) -> Patch {
    let mut patch = Operations::default();
    patch.test(&["metadata", "uid"], json!(metadata.uid));
    let Some(seen) = seen else {
        patch.add_map(path, texts(changes, name));
        return patch.into_patch();
    };
    let others = Key::OVERRIDES
        .into_iter()
        .filter(|key| changes.iter().all(|(changed, _)| changed != key));
    let member = |key: Key| {
        let name = name(key);
        let path = path.iter().map(|part| (*part).to_owned());
        let path: Vec<_> = path.chain([name.clone()]).collect();
        (path, json!(seen.get(&name)))
    };
    for key in others {
        let (path, seen) = member(key);
        patch.test(&path, seen);
    }
    for (key, text) in changes {
        let (path, seen) = member(*key);
        patch.test(&path, seen);
        patch.put(&path, text.as_deref());
    }
    patch.into_patch()
}

/// A JSON Patch (RFC 6902).
#[derive(Debug, Serialize)]
pub struct Patch(Vec<Operation>);

#[derive(Debug, Serialize)]
struct Operation {
    op: &'static str,
    path: String,
    /// `None` for a removal.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
}

impl Operation {
    fn new(op: &'static str, path: &[impl AsRef<str>], value: Option<Value>) -> Self {
        Self {
            op,
            path: pointer(path),
            value,
        }
    }
}

/// A patch under construction.
#[derive(Default)]
pub(crate) struct Operations {
    tests: Vec<Operation>,
    writes: Vec<Operation>,
}

impl Operations {
    /// Returns the patch, with the tests before the writes.
    pub(crate) fn into_patch(self) -> Patch {
        let mut operations = self.tests;
        operations.extend(self.writes);
        Patch(operations)
    }

    /// Adds a map that must not exist yet, unless it would be empty.
    fn add_map(&mut self, path: &[&str], entries: impl Iterator<Item = (String, Value)>) {
        self.test(path, Value::Null);
        let entries: Map<_, _> = entries.collect();
        if !entries.is_empty() {
            self.add(path, entries.into());
        }
    }

    /// Tests and writes annotations. If the count is an annotation, and the object has no annotations,
    /// `count` is the new count, which is added together with the map.
    fn annotations(
        &mut self,
        observed: &Observed,
        change: &Change,
        prefix: &Prefix,
        count: Option<&Value>,
    ) {
        const MAP: [&str; 2] = ["metadata", "annotations"];
        let inherited = prefix.inherited();
        let ours = [
            (prefix.error(), MAX_ERROR, &observed.error, &change.error),
            (
                prefix.override_began(),
                MAX_BEGAN,
                &observed.override_began,
                &change.override_began,
            ),
            (
                inherited.clone(),
                MAX_TEXT,
                &observed.inherited,
                &change.inherited,
            ),
        ];
        if !observed.has_annotations {
            let texts = ours
                .into_iter()
                .filter_map(|(name, _, _, wanted)| Some((name, json!(wanted.as_deref()?))));
            let name = observed.object.kind.path().last().cloned();
            let count = name.zip(count.cloned());
            return self.add_map(&MAP, texts.chain(count));
        }
        self.inputs(observed, prefix);
        for (name, max, seen, wanted) in ours {
            let path = [MAP[0], MAP[1], &name];
            // No decision depends on the recorded inherited value, so it is not tested. A value that is
            // too long cannot be tested, because only its beginning is known. dayshift has not written
            // it.
            let is_whole = seen.as_ref().is_none_or(|seen| seen.len() <= max);
            if is_whole && (seen != wanted || name != inherited) {
                self.test_annotation(&name, seen.as_deref());
            }
            if seen != wanted {
                self.put(&path, wanted.as_deref());
            }
        }
        for key in &change.expired {
            self.put(&[MAP[0], MAP[1], &prefix.annotation(*key)], None);
        }
    }

    /// Tests the volume retention. The API server sets a policy on each StatefulSet, unless it is too old
    /// to know the field. Then the whole field is missing.
    fn volumes(&mut self, observed: &Observed) {
        let path = VolumeRetention::PATH;
        match observed.inputs.volumes() {
            VolumeRetention::Retain => self.test(&path, json!("Retain")),
            VolumeRetention::Delete => self.test(&path, json!("Delete")),
            VolumeRetention::Unsaid if observed.object.kind.has_claim_policy() => {
                self.test(&path[..2], Value::Null);
            }
            VolumeRetention::Unsaid => {}
        }
    }

    /// Tests every input that decisions depend on, if the object has annotations.
    fn inputs(&mut self, observed: &Observed, prefix: &Prefix) {
        for key in Key::ALL.into_iter().filter(|key| key.is_decided_by()) {
            let own = observed.inputs.own();
            // A dropped value is unknown and cannot be tested. It also makes the schedule invalid, so the
            // object is not scaled.
            if !own.is_dropped(key) {
                self.test_annotation(&prefix.annotation(key), own.text(key));
            }
        }
    }

    fn test_annotation(&mut self, name: &str, seen: Option<&str>) {
        self.test(&["metadata", "annotations", name], json!(seen));
    }

    fn labels(&mut self, observed: &Observed, change: &Change, prefix: &Prefix) {
        const MAP: [&str; 2] = ["metadata", "labels"];
        let wanted = change.state.to_labels();
        if !observed.has_labels {
            let labels = observed.object.kind.state_labels();
            let labels =
                labels.filter_map(|label| Some((prefix.label(label), json!(wanted.text(label)?))));
            return self.add_map(&MAP, labels);
        }
        for label in observed.object.kind.state_labels() {
            let name = prefix.label(label);
            let path = [MAP[0], MAP[1], &name];
            let (seen, text) = (observed.labels.text(label), wanted.text(label));
            // Most objects have no timer. If another controller has started one since, it has changed
            // other labels too.
            if label == Label::Started && seen.is_none() && text.is_none() {
                continue;
            }
            self.test(&path, json!(seen));
            if seen != text {
                self.put(&path, text);
            }
        }
    }

    pub(crate) fn test(&mut self, path: &[impl AsRef<str>], value: Value) {
        self.tests.push(Operation::new("test", path, Some(value)));
    }

    fn add(&mut self, path: &[impl AsRef<str>], value: Value) {
        self.writes.push(Operation::new("add", path, Some(value)));
    }

    pub(crate) fn put(&mut self, path: &[impl AsRef<str>], text: Option<&str>) {
        self.put_value(path, text.map(|text| json!(text)));
    }

    pub(crate) fn put_value(&mut self, path: &[impl AsRef<str>], value: Option<Value>) {
        match value {
            Some(value) => self.add(path, value),
            None => self.writes.push(Operation::new("remove", path, None)),
        }
    }
}
