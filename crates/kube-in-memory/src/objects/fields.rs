//! Decoding and defaults that kinds with a pod template share.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::metadata::{self, is_like, mismatch};
use crate::cause::Cause;

/// Rejects fields that `fields` or `T` cannot decode, and drops fields of `spec` that `T` does not have. It
/// does so only if `object` differs from `old` in more than counts, suspension, labels and annotations.
/// `fields` has a line for each checked field: its path, and its type in Go.
pub(super) fn decode<T: DeserializeOwned>(
    object: &mut Value,
    old: Option<&Value>,
    (kind, fields): (&str, &str),
    spec: fn(T) -> serde_json::Result<Value>,
) -> Result<(), String> {
    let rows = || {
        fields
            .lines()
            .filter_map(|line| line.trim().split_once(' '))
    };
    // The type that contains a field.
    let owner = |path: &str| {
        let parent = path.rsplit_once('.').map_or("", |(parent, _)| parent);
        let row = rows().find(|(path, _)| *path == parent);
        row.map_or(kind, |(_, of)| of.rsplit('.').next().unwrap_or(of))
    };
    for (path, wanted) in rows() {
        let value = path
            .split('.')
            .try_fold(&*object, |value, key| value.get(key));
        if let Some(value) = value.filter(|value| !(value.is_null() || is_of_type(value, wanted))) {
            return Err(mismatch(value, &format!("{}.{path}", owner(path)), wanted));
        }
    }
    if let Some(old) = old
        && is_like(object, old, &["kind", "apiVersion", "metadata", "spec"])
        && is_like(
            &object["spec"],
            &old["spec"],
            &["replicas", "suspend", "minReplicas"],
        )
        && is_like(
            &object["metadata"],
            &old["metadata"],
            &["labels", "annotations"],
        )
    {
        return Ok(());
    }
    let mut plain = object.clone();
    metadata::drop_nulls(&mut plain);
    let known: T = serde_json::from_value(plain).map_err(|error| format!("json: {error}"))?;
    if let (Ok(spec @ Value::Object(_)), Value::Object(given)) =
        (spec(known), object["spec"].take())
    {
        object["spec"] = spec;
        // The type always has these fields.
        for key in ["selector", "template"] {
            if let Some(member) = object["spec"].get_mut(key)
                && given.get(key).is_none_or(Value::is_null)
            {
                member.take();
            }
        }
    }
    retain(object, "kind apiVersion metadata spec status");
    retain(&mut object["metadata"], metadata::MEMBERS);
    Ok(())
}

fn is_of_type(value: &Value, wanted: &str) -> bool {
    match wanted {
        "int32" => value
            .as_i64()
            .is_some_and(|number| i32::try_from(number).is_ok()),
        "int64" => value.is_i64(),
        "bool" => value.is_boolean(),
        "string" => value.is_string(),
        list if list.starts_with("[]") => value.is_array(),
        _ => value.is_object(),
    }
}

/// Keeps only these members, whose names are separated by spaces.
fn retain(value: &mut Value, members: &str) {
    if let Value::Object(all) = value {
        all.retain(|key, _| members.split(' ').any(|member| member == key));
    }
}

/// Sets the members that an object lacks, also within its members.
pub(super) fn fill(value: &mut Value, defaults: &Value) {
    match (value, defaults) {
        (value @ Value::Null, defaults) => *value = defaults.clone(),
        (Value::Object(members), Value::Object(defaults)) => {
            for (key, default) in defaults {
                match members.get_mut(key) {
                    Some(member) => fill(member, default),
                    None => {
                        members.insert(key.clone(), default.clone());
                    }
                }
            }
        }
        _ => {}
    }
}

/// Drops members with these values, which Go's encoder omits.
pub(super) fn omit(value: &mut Value, omitted: &[(&str, Value)]) {
    if let Value::Object(members) = value {
        members.retain(|key, value| !omitted.iter().any(|(name, of)| name == key && of == value));
    }
}

/// Keeps the status, which only the controller can set, or sets that of a new object.
pub(super) fn keep_status(new: &mut Value, old: Option<&Value>, empty: Value) {
    new["status"] = old.map_or(empty, |old| old["status"].clone());
}

/// Rejects a negative number at `path`, for example `spec.replicas`.
pub(super) fn not_negative(object: &Value, path: &str, causes: &mut Vec<Cause>) {
    let value = path.split('.').fold(object, |value, key| &value[key]);
    if let Some(count @ ..0) = value.as_i64() {
        let why = "must be greater than or equal to 0";
        causes.push(Cause::invalid(path, &count, why));
    }
}
