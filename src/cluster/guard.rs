//! One guarded patch: a change, and the tests on everything that it was decided from.

use json_patch::{
    AddOperation, Patch, PatchOperation, RemoveOperation, TestOperation, jsonptr::PointerBuf,
};
use serde_json::{Map, Value, json};

use crate::workload::{Annotation, Change, Key, Label, Observed, Prefix};

/// The JSON Patch (RFC 6902) that makes `change` of the object, if it still is as observed.
///
/// The tests come first: UID, that nobody deletes it, count, every input annotation, every state
/// label and the error, with `null` where one is missing (the API server lets such a test pass on
/// a missing key). Count, state and the overrides that are over follow in the same patch, so they
/// change together or not at all.
pub fn guarded_patch(observed: &Observed, change: &Change, prefix: &Prefix) -> Patch {
    let mut patch = Operations::default();
    patch.test(&["metadata", "uid"], json!(&*observed.object.uid));
    patch.test(&["metadata", "deletionTimestamp"], Value::Null);
    patch.test(&["spec", "replicas"], json!(observed.replicas.get()));
    patch.annotations(observed, change, prefix);
    patch.labels(observed, change, prefix);
    if change.replicas != observed.replicas {
        patch.add(&["spec", "replicas"], json!(change.replicas.get()));
    }
    Patch(patch.tests.into_iter().chain(patch.writes).collect())
}

/// The JSON Patch that writes annotations of a user, if the object has the inputs that were
/// observed. Its count and state may have changed meanwhile: nothing here rests on them.
pub fn annotation_patch(observed: &Observed, annotations: &[Annotation], prefix: &Prefix) -> Patch {
    const MAP: [&str; 2] = ["metadata", "annotations"];
    let mut patch = Operations::default();
    patch.test(&["metadata", "uid"], json!(&*observed.object.uid));
    patch.inputs(observed, prefix);
    for (key, text) in annotations {
        patch.put(&[MAP[0], MAP[1], &prefix.annotation(*key)], text.as_deref());
    }
    Patch(patch.tests.into_iter().chain(patch.writes).collect())
}

#[derive(Default)]
struct Operations {
    tests: Vec<PatchOperation>,
    writes: Vec<PatchOperation>,
}

impl Operations {
    fn annotations(&mut self, observed: &Observed, change: &Change, prefix: &Prefix) {
        const MAP: [&str; 2] = ["metadata", "annotations"];
        let error = prefix.error();
        if !observed.has_annotations {
            self.test(&MAP, Value::Null);
            if let Some(text) = &change.error {
                self.add(&MAP, json!({ error: &**text }));
            }
            return;
        }
        self.inputs(observed, prefix);
        let path = [MAP[0], MAP[1], &error];
        self.test(&path, json!(observed.error.as_deref()));
        if change.error != observed.error {
            self.put(&path, change.error.as_deref());
        }
        for key in &change.lifted {
            self.put(&[MAP[0], MAP[1], &prefix.annotation(*key)], None);
        }
    }

    /// Tests on every input, of an object that has annotations.
    fn inputs(&mut self, observed: &Observed, prefix: &Prefix) {
        for key in Key::ALL {
            self.test(
                &["metadata", "annotations", &prefix.annotation(key)],
                json!(observed.inputs.text(key)),
            );
        }
    }

    fn labels(&mut self, observed: &Observed, change: &Change, prefix: &Prefix) {
        const MAP: [&str; 2] = ["metadata", "labels"];
        let wanted = change.state.to_labels();
        if !observed.has_labels {
            self.test(&MAP, Value::Null);
            let labels: Map<_, _> = Label::ALL
                .into_iter()
                .filter_map(|label| Some((prefix.label(label), json!(wanted.text(label)?))))
                .collect();
            if !labels.is_empty() {
                self.add(&MAP, Value::Object(labels));
            }
            return;
        }
        for label in Label::ALL {
            let name = prefix.label(label);
            let path = [MAP[0], MAP[1], &name];
            let (seen, text) = (observed.labels.text(label), wanted.text(label));
            self.test(&path, json!(seen));
            if seen != text {
                self.put(&path, text);
            }
        }
    }

    fn test(&mut self, path: &[&str], value: Value) {
        let path = PointerBuf::from_tokens(path.iter().copied());
        self.tests
            .push(PatchOperation::Test(TestOperation { path, value }));
    }

    fn add(&mut self, path: &[&str], value: Value) {
        let path = PointerBuf::from_tokens(path.iter().copied());
        self.writes
            .push(PatchOperation::Add(AddOperation { path, value }));
    }

    fn put(&mut self, path: &[&str], text: Option<&str>) {
        match text {
            Some(text) => self.add(path, json!(text)),
            None => {
                let path = PointerBuf::from_tokens(path.iter().copied());
                self.writes
                    .push(PatchOperation::Remove(RemoveOperation { path }));
            }
        }
    }
}
