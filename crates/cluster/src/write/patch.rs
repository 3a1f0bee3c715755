//! One guarded patch: a change, and tests of everything on which the decision rests.

use dayshift_schedule::is_too_long;
use dayshift_workload::{
    AnnotationChange, Change, Key, Label, Observed, Prefix, VolumeRetention, pointer,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{decode::kind_api::KindApi, read::namespaces::NamespaceMeta};

/// The JSON Patch (RFC 6902) that makes `change` of the object, if it still is as observed.
///
/// The tests come first: UID, no deletion, count, its volumes' fate, every input annotation, every
/// state label, the error and the beginning of an override, with `null` for a missing one (the API
/// server lets such a test pass on a missing key). Count, state and the removal of ended overrides
/// follow in the same patch, so they change together or not at all.
pub fn guarded_patch(observed: &Observed, change: &Change, prefix: &Prefix) -> Patch {
    let mut patch = Operations::default();
    patch.test(&["metadata", "uid"], json!(&*observed.object.uid));
    patch.test(&["metadata", "deletionTimestamp"], Value::Null);
    let row = KindApi::new(observed.object.kind);
    let count = row.patch(observed, change);
    let is_changed = change.replicas != observed.replicas;
    // A missing map of annotations is added as a whole.
    let is_in_map = row.count_is_annotation() && !observed.has_annotations;
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

/// The JSON Patch that writes annotations of a user, if the object has the observed inputs. Its
/// count and state may have changed meanwhile: nothing here rests on them.
///
/// A user's annotation is new: the patch removes the recorded beginning of an earlier override, so
/// that the new one does not pass for one that has ended and was restored.
pub fn annotation_patch(
    observed: &Observed,
    annotations: &[AnnotationChange],
    prefix: &Prefix,
) -> Patch {
    const MAP: [&str; 2] = ["metadata", "annotations"];
    let mut patch = Operations::default();
    patch.test(&["metadata", "uid"], json!(&*observed.object.uid));
    if !observed.has_annotations {
        // All of its keys are inherited.
        patch.test(&MAP, Value::Null);
        patch.add_map(annotations, prefix);
        return patch.into_patch();
    }
    patch.inputs(observed, prefix);
    if let Some(began) = &observed.override_began {
        let name = prefix.override_began();
        patch.test_annotation(&name, Some(began));
        patch.put(&[MAP[0], MAP[1], &name], None);
    }
    for (key, text) in annotations {
        patch.put(&[MAP[0], MAP[1], &prefix.annotation(*key)], text.as_deref());
    }
    patch.into_patch()
}

/// The same, if the state of the object is the observed one too.
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

/// The JSON Patch that writes annotations of a user on a Namespace, if its overrides and the
/// changed annotations are as observed.
pub fn namespace_patch(
    namespace: &NamespaceMeta,
    annotations: &[AnnotationChange],
    prefix: &Prefix,
) -> Patch {
    const MAP: [&str; 2] = ["metadata", "annotations"];
    let mut patch = Operations::default();
    patch.test(&["metadata", "uid"], json!(namespace.metadata.uid));
    let Some(seen) = &namespace.metadata.annotations else {
        patch.test(&MAP, Value::Null);
        patch.add_map(annotations, prefix);
        return patch.into_patch();
    };
    let others = Key::OVERRIDES
        .into_iter()
        .filter(|key| annotations.iter().all(|(changed, _)| changed != key));
    for key in others {
        let name = prefix.annotation(key);
        patch.test(&[MAP[0], MAP[1], &name], json!(seen.get(&name)));
    }
    for (key, text) in annotations {
        let name = prefix.annotation(*key);
        let path = [MAP[0], MAP[1], &name];
        patch.test(&path, json!(seen.get(&name)));
        patch.put(&path, text.as_deref());
    }
    patch.into_patch()
}

/// A JSON Patch (RFC 6902), as it is sent.
#[derive(Debug, Serialize)]
pub struct Patch(Vec<Operation>);

#[derive(Debug, Serialize)]
struct Operation {
    op: &'static str,
    path: String,
    /// Absent where something is removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
}

impl Operation {
    fn new(op: &'static str, path: &[&str], value: Option<Value>) -> Self {
        Self {
            op,
            path: pointer(path),
            value,
        }
    }
}

/// A patch that is being written: tests, and what is written where they hold.
#[derive(Default)]
pub(crate) struct Operations {
    tests: Vec<Operation>,
    writes: Vec<Operation>,
}

impl Operations {
    /// The tests, then the writes.
    pub(crate) fn into_patch(self) -> Patch {
        let mut operations = self.tests;
        operations.extend(self.writes);
        Patch(operations)
    }

    /// Adds the map of annotations as a whole, if there is anything to put there.
    fn add_map(&mut self, annotations: &[AnnotationChange], prefix: &Prefix) {
        let text = |(key, text): &AnnotationChange| {
            let text = text.as_deref()?;
            Some((prefix.annotation(*key), json!(text)))
        };
        let texts: Map<_, _> = annotations.iter().filter_map(text).collect();
        if !texts.is_empty() {
            self.add(&["metadata", "annotations"], Value::Object(texts));
        }
    }

    /// `paused` is a count in an annotation, which comes with the whole map.
    fn annotations(
        &mut self,
        observed: &Observed,
        change: &Change,
        prefix: &Prefix,
        paused: Option<&Value>,
    ) {
        const MAP: [&str; 2] = ["metadata", "annotations"];
        let inherited = prefix.inherited();
        let ours = [
            (prefix.error(), &observed.error, &change.error),
            (
                prefix.override_began(),
                &observed.override_began,
                &change.override_began,
            ),
            (inherited.clone(), &observed.inherited, &change.inherited),
        ];
        if !observed.has_annotations {
            self.test(&MAP, Value::Null);
            let texts = ours
                .into_iter()
                .filter_map(|(name, _, wanted)| Some((name, json!(wanted.as_deref()?))));
            let name = observed.object.kind.path().last().copied();
            let paused = name.map(str::to_owned).zip(paused.cloned());
            let texts: Map<_, _> = texts.chain(paused).collect();
            if !texts.is_empty() {
                self.add(&MAP, Value::Object(texts));
            }
            return;
        }
        self.inputs(observed, prefix);
        for (name, seen, wanted) in ours {
            let path = [MAP[0], MAP[1], &name];
            // No decision here rests on the inherited text.
            if seen != wanted || name != inherited {
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

    /// A test that its volumes' fate is as it was at the decision. The API server gives each
    /// StatefulSet a policy; one without has no member to hold it either.
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

    /// Tests of every input on which a decision rests, for an object that has annotations.
    fn inputs(&mut self, observed: &Observed, prefix: &Prefix) {
        for key in Key::ALL.into_iter().filter(|it| it.is_decided_by()) {
            self.test_annotation(&prefix.annotation(key), observed.inputs.own().text(key));
        }
    }

    /// Tests a text, unless only its beginning was kept: such a text is refused, and the object
    /// stays as it is, whatever the rest says by now.
    fn test_annotation(&mut self, name: &str, seen: Option<&str>) {
        if !seen.is_some_and(is_too_long) {
            self.test(&["metadata", "annotations", name], json!(seen));
        }
    }

    fn labels(&mut self, observed: &Observed, change: &Change, prefix: &Prefix) {
        const MAP: [&str; 2] = ["metadata", "labels"];
        let wanted = change.state.to_labels();
        if !observed.has_labels {
            self.test(&MAP, Value::Null);
            let labels: Map<_, _> = observed
                .object
                .kind
                .state_labels()
                .filter_map(|label| Some((prefix.label(label), json!(wanted.text(label)?))))
                .collect();
            if !labels.is_empty() {
                self.add(&MAP, Value::Object(labels));
            }
            return;
        }
        for label in observed.object.kind.state_labels() {
            let name = prefix.label(label);
            let path = [MAP[0], MAP[1], &name];
            let (seen, text) = (observed.labels.text(label), wanted.text(label));
            self.test(&path, json!(seen));
            if seen != text {
                self.put(&path, text);
            }
        }
    }

    pub(crate) fn test(&mut self, path: &[&str], value: Value) {
        self.tests.push(Operation::new("test", path, Some(value)));
    }

    fn add(&mut self, path: &[&str], value: Value) {
        self.writes.push(Operation::new("add", path, Some(value)));
    }

    pub(crate) fn put(&mut self, path: &[&str], text: Option<&str>) {
        self.put_value(path, text.map(|text| json!(text)));
    }

    pub(crate) fn put_value(&mut self, path: &[&str], value: Option<Value>) {
        match value {
            Some(value) => self.add(path, value),
            None => self.writes.push(Operation::new("remove", path, None)),
        }
    }
}
