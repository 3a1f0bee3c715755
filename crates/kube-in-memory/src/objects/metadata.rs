//! `metadata` of all kinds: defaults, immutable fields and validation. Namespaces, which have little else,
//! are here too.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Value, json};

use crate::{
    cause::Cause,
    objects::{
        names,
        resource::{Generation, Resource},
    },
};

/// Fields of `metadata` that an update cannot change.
const KEPT: &str =
    "creationTimestamp deletionTimestamp deletionGracePeriodSeconds generation managedFields";
/// All fields of `metadata`.
pub(crate) const MEMBERS: &str = "name generateName namespace selfLink uid resourceVersion \
    generation creationTimestamp deletionTimestamp deletionGracePeriodSeconds labels annotations \
    ownerReferences finalizers managedFields";
/// Fields of `metadata` that are omitted if empty.
const OPTIONAL: &str =
    "labels annotations finalizers ownerReferences generateName namespace resourceVersion";

/// A time in the format of Kubernetes, for example `2026-11-20T10:00:00Z`.
pub(crate) fn timestamp(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// The string at `metadata.<key>`, or an empty one.
pub(crate) fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object["metadata"][key].as_str().unwrap_or_default()
}

/// The decoding error of the first field with a wrong type, in the words of Go.
pub(crate) fn type_error(object: &Value) -> Option<String> {
    if !object.is_object() {
        return Some("json: cannot unmarshal array into Go value of type struct".into());
    }
    let metadata = &object["metadata"];
    let wrong = |value: &Value, is_right: fn(&Value) -> bool| !value.is_null() && !is_right(value);
    if wrong(metadata, Value::is_object) {
        return Some(mismatch(metadata, "metadata", "v1.ObjectMeta"));
    }
    for key in ["labels", "annotations"] {
        let (map, field) = (&metadata[key], format!("ObjectMeta.metadata.{key}"));
        if wrong(map, Value::is_object) {
            return Some(mismatch(map, &field, "map[string]string"));
        }
        let mut values = map.as_object().into_iter().flat_map(Map::values);
        if let Some(value) = values.find(|value| wrong(value, Value::is_string)) {
            return Some(mismatch(value, &field, "string"));
        }
    }
    let (finalizers, field) = (&metadata["finalizers"], "ObjectMeta.metadata.finalizers");
    wrong(finalizers, Value::is_array).then(|| mismatch(finalizers, field, "[]string"))
}

/// Go's error for a value of a wrong type.
pub(crate) fn mismatch(value: &Value, field: &str, wanted: &str) -> String {
    let shown = match value {
        Value::Number(number) if wanted.starts_with("int") => format!(" {number}"),
        _ => String::new(),
    };
    let found = go_kind(value);
    format!("json: cannot unmarshal {found}{shown} into Go struct field {field} of type {wanted}")
}

/// Go's name for a JSON type.
pub(crate) fn go_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The paths of objects with metadata.
const PLACES: [&str; 4] = [
    "/metadata",
    "/spec/template/metadata",
    "/spec/jobTemplate/metadata",
    "/spec/jobTemplate/spec/template/metadata",
];

/// Drops fields that the server's encoder omits: nulls, and empty maps and lists in `metadata`.
///
/// In a custom object, only its own metadata is affected.
pub(crate) fn normalize(object: &mut Value, resource: &Resource) {
    let places = if resource.custom {
        drop_nulls(&mut object["metadata"]);
        &PLACES[..1]
    } else {
        drop_nulls(object);
        &PLACES[..]
    };
    for path in places {
        let Some(Value::Object(metadata)) = object.pointer_mut(path) else {
            continue;
        };
        for key in OPTIONAL.split(' ') {
            let empty = match metadata.get(key) {
                Some(Value::Object(members)) => members.is_empty(),
                Some(Value::Array(items)) => items.is_empty(),
                Some(Value::String(text)) => text.is_empty(),
                _ => false,
            };
            if empty {
                metadata.remove(key);
            }
        }
    }
}

/// Drops nulls. In maps and lists of strings, they become empty strings.
pub(crate) fn drop_nulls(value: &mut Value) {
    let fill = |text: &mut Value| {
        if text.is_null() {
            *text = json!("");
        }
    };
    match value {
        Value::Object(members) => {
            members.retain(|key, member| {
                match (&mut *member, &**key) {
                    (Value::Object(texts), "labels" | "annotations") => {
                        texts.values_mut().for_each(fill);
                    }
                    (Value::Array(texts), "finalizers" | "command" | "args") => {
                        texts.iter_mut().for_each(fill);
                    }
                    _ => {}
                }
                drop_nulls(member);
                !member.is_null()
            });
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// Sets the fields that only the server sets on a new object.
pub(crate) fn begin(object: &mut Value, resource: &Resource, uid: &str, now: DateTime<Utc>) {
    let metadata = &mut object["metadata"];
    if let Value::Object(members) = metadata {
        let keys = "resourceVersion managedFields generation selfLink deletionTimestamp \
                    deletionGracePeriodSeconds";
        members.retain(|key, _| !keys.split(' ').any(|dropped| dropped == key));
    }
    metadata["uid"] = json!(uid);
    metadata["creationTimestamp"] = json!(timestamp(now));
    if resource.generation.is_some() {
        metadata["generation"] = json!(1);
    }
}

/// Restores immutable fields without an error, like the server.
pub(crate) fn keep(new: &mut Value, old: &Value) {
    let metadata = &mut new["metadata"];
    for key in KEPT.split(' ') {
        set(metadata, key, &old["metadata"][key]);
    }
    if metadata["uid"].as_str().is_none_or(str::is_empty) {
        set(metadata, "uid", &old["metadata"]["uid"]);
    }
}

fn set(metadata: &mut Value, key: &str, value: &Value) {
    if let Value::Object(members) = metadata {
        if value.is_null() {
            members.remove(key);
        } else {
            members.insert(key.to_owned(), value.clone());
        }
    }
}

/// Whether both have the same fields, except `others`.
pub(crate) fn is_like(left: &Value, right: &Value, others: &[&str]) -> bool {
    let (Some(left), Some(right)) = (left.as_object(), right.as_object()) else {
        return false;
    };
    let is_in = |all: &Map<String, Value>, key: &String, value: &Value| {
        others.contains(&key.as_str()) || all.get(key) == Some(value)
    };
    left.iter().all(|(key, value)| is_in(right, key, value))
        && right.iter().all(|(key, value)| is_in(left, key, value))
}

/// Increments the generation if a counted field changed.
pub(crate) fn count(new: &mut Value, old: &Value, counted: Generation) {
    let annotations = |object: &Value| object["metadata"].get("annotations").cloned();
    let is_counted = counted == Generation::SpecAndAnnotations;
    let differs = match counted {
        Generation::AllButStatus => !is_like(new, old, &["metadata", "status"]),
        _ => new.get("spec") != old.get("spec"),
    };
    if differs || is_counted && annotations(new) != annotations(old) {
        let generation = old["metadata"]["generation"].as_i64().unwrap_or_default();
        new["metadata"]["generation"] = json!(generation + 1);
    }
}

/// Validates the metadata of a new object.
pub(crate) fn check_new(object: &Value, resource: &Resource, causes: &mut Vec<Cause>) {
    let name = text(object, "name");
    if name.is_empty() {
        let why = "name or generateName is required";
        causes.push(Cause::required("metadata.name", why));
    } else {
        for why in (resource.check_name)(name) {
            causes.push(Cause::invalid_text("metadata.name", name, &why));
        }
    }
    check_maps(object, causes);
    check_finalizers(object, resource, causes);
}

/// Validates a change of metadata. The server does so three times, and repeats each error.
pub(crate) fn check_update(new: &Value, old: &Value, resource: &Resource, causes: &mut Vec<Cause>) {
    check_maps(new, causes);
    check_finalizers(new, resource, causes);
    for _ in 0..2 {
        let uid = text(new, "uid");
        if uid != text(old, "uid") {
            causes.push(Cause::invalid_text(
                "metadata.uid",
                uid,
                "field is immutable",
            ));
        }
        check_maps(new, causes);
    }
}

/// Validates labels and annotations.
pub(crate) fn check_maps(object: &Value, causes: &mut Vec<Cause>) {
    names::check_labels(&object["metadata"]["labels"], "metadata.labels", causes);
    let annotations = &object["metadata"]["annotations"];
    names::check_annotations(annotations, "metadata.annotations", causes);
}

/// Validates finalizers. Built-in kinds allow only their own names and names with a domain.
fn check_finalizers(object: &Value, resource: &Resource, causes: &mut Vec<Cause>) {
    let field = "metadata.finalizers";
    let finalizers = &object["metadata"]["finalizers"];
    let names = finalizers.as_array().into_iter().flatten();
    let names: Vec<_> = names
        .map(|name| name.as_str().unwrap_or_default())
        .collect();
    for name in &names {
        for why in names::label_key(name) {
            causes.push(Cause::invalid_text(field, name, &why));
        }
    }
    if names.contains(&"orphan") && names.contains(&"foregroundDeletion") {
        let why = "finalizer orphan and foregroundDeletion cannot be both set";
        causes.push(Cause::invalid(field, finalizers, why));
    }
    let is_own = |name: &str| ["kubernetes", "orphan", "foregroundDeletion"].contains(&name);
    let is_known = |name: &str| resource.custom || name.contains('/') || is_own(name);
    for (at, name) in names.iter().enumerate().filter(|(_, name)| !is_known(name)) {
        let why = "name is neither a standard finalizer name nor is it fully qualified";
        let field = format!("{field}[{at}]");
        causes.push(Cause::invalid_text(&field, name, why));
    }
}

/// Namespaces that cannot be deleted.
pub(crate) const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

/// Sets the label with the name, and the phase.
pub(super) fn complete_namespace(new: &mut Value, old: Option<&Value>) {
    let name = new["metadata"]["name"].clone();
    new["metadata"]["labels"]["kubernetes.io/metadata.name"] = name;
    match old {
        None => {
            let mut finalizers = match new["spec"]["finalizers"].take() {
                Value::Array(given) => given,
                _ => Vec::new(),
            };
            let own = json!("kubernetes");
            if !finalizers.contains(&own) {
                finalizers.push(own);
            }
            new["spec"] = json!({"finalizers": finalizers});
            new["status"] = json!({"phase": "Active"});
        }
        Some(old) => {
            new["spec"] = old["spec"].clone();
            new["status"] = old["status"].clone();
        }
    }
}

/// Validates changed metadata once more, like the server.
pub(super) fn check_namespace(new: &Value, old: Option<&Value>, causes: &mut Vec<Cause>) {
    if old.is_some() {
        check_maps(new, causes);
    }
}
