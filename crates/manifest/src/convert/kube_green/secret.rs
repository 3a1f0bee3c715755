//! Reads the counts that kube-green has saved in the Secret of a SleepInfo.
//!
//! `sleepinfo-NAME` contains them from a sleep to the next wake-up: since 0.6 as merge patches that
//! restore each object (`original-resource-info`). Older versions are not read. The format was read
//! from kube-green's `internal/controller/sleepinfo/secrets.go` (09efe4b) and
//! `jsonpatch/jsonpatch.go` (0e241bd).

use std::collections::{BTreeMap, HashMap};

use base64::{Engine, prelude::BASE64_STANDARD};
use dayshift_workload::{CountForm, Kind, Label, SwitchValue, defined_kind};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    convert::{
        conversion::{ObjectRef, Topic},
        document::Document,
        requests::{AnnotationRequests, SavedCount},
    },
    finding::Finding,
};

/// Merge patches by kube-green's name of the kind, and by the object's name.
type Patches = HashMap<String, BTreeMap<String, String>>;

/// A count, and the value of an on/off field as the label stores it.
type Restored = (u32, Option<Box<str>>);

/// The Secret of a SleepInfo.
pub(crate) fn reference(sleep_info: &ObjectRef) -> ObjectRef {
    ObjectRef {
        api_version: "v1".to_owned(),
        kind: "Secret".to_owned(),
        namespace: sleep_info.namespace.clone(),
        name: format!("sleepinfo-{}", sleep_info.name),
    }
}

/// Requests the saved count of each sleeping object. Returns whether there is any. `secret` is the
/// document's index.
pub(crate) fn convert(
    secret: usize,
    document: &Document<'_>,
    requests: &mut AnnotationRequests<'_>,
) -> bool {
    let text = |name: &str| text_of(document, name);
    if text("operation-type").as_deref() != Some("SLEEP") {
        return false;
    }
    let Ok(counts) = counts(&text) else {
        let finding = Finding::new(
            Topic::NotRead,
            document.node.place.clone(),
            "the counts that kube-green has saved in this Secret cannot be read",
            format!(
                "convert while everything is awake, or label each object with its count: {}=3",
                requests.label(Label::SavedReplicas)
            ),
        );
        requests.findings.push((secret, finding));
        return false;
    };
    let is_any = !counts.is_empty();
    for ((kind, name), (count, value)) in counts {
        requests.saved.push(SavedCount {
            from: secret,
            object: ObjectRef::of_kind(&kind, &document.object.namespace, name),
            count,
            value,
            requested_by: requests.document,
        });
    }
    is_any
}

/// The counts by kind and name.
fn counts(
    text: &impl Fn(&str) -> Option<String>,
) -> Result<BTreeMap<(Kind, String), Restored>, serde_json::Error> {
    let mut all = BTreeMap::new();
    let patches = text("original-resource-info").map(|patches| serde_json::from_str(&patches));
    let patches: Patches = patches.transpose()?.unwrap_or_default();
    for (target, patches) in patches {
        let known = target.split_once('.');
        let Some(kind) = known.and_then(|(kind, group)| defined_kind(group, kind)) else {
            continue;
        };
        for (name, patch) in patches {
            let patch: Value = serde_json::from_str(&patch)?;
            if let Some(restored) = restored(&kind, &patch)? {
                all.insert((kind.clone(), name), restored);
            }
        }
    }
    all.retain(|_, restored| restored.0 > 0);
    Ok(all)
}

/// The count in a merge patch, which contains the object's state before the sleep.
fn restored(kind: &Kind, patch: &Value) -> Result<Option<Restored>, serde_json::Error> {
    let value = patch.pointer(&kind.pointer());
    Ok(match kind.form() {
        CountForm::Number(_) => {
            Option::deserialize(value.unwrap_or(&Value::Null))?.map(|count: u32| (count, None))
        }
        // A patch exists only if the object was not suspended before.
        CountForm::Suspended => Some((1, None)),
        CountForm::PausedReplicas => value.map(|_| (1, None)),
        CountForm::Switch(_) => value.map(|value| {
            let held = match value {
                Value::Null => Some(SwitchValue::Absent(0)),
                Value::Bool(flag) => Some(SwitchValue::Flag(*flag)),
                Value::String(text) => Some(SwitchValue::Text(text.as_str().into())),
                _ => None,
            };
            (1, held.and_then(|held| held.to_label()))
        }),
    })
}

/// A value of the Secret. As on the API server, `stringData` wins over `data`.
fn text_of(document: &Document<'_>, name: &str) -> Option<String> {
    let of = |map: &str| document.node.get(map)?.get(name)?.written();
    if let Some(text) = of("stringData") {
        return Some(text.to_owned());
    }
    let bytes = BASE64_STANDARD.decode(of("data")?.trim()).ok()?;
    String::from_utf8(bytes).ok()
}
