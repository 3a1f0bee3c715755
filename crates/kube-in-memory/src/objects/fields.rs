//! Decoding and defaults that kinds with a pod template share.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::metadata::{self, is_like, mismatch};
use crate::cause::Cause;

/// A path, and the names of the field and its type in Go.
pub(super) type Field = (&'static str, &'static str, &'static str);

/// Rejects fields that `fields` or `T` cannot decode, and drops fields of `spec` that `T` does not have. It
/// does so only if `object` differs from `old` in more than counts, suspension, labels and annotations.
pub(super) fn decode<T: DeserializeOwned>(
    object: &mut Value,
    old: Option<&Value>,
    fields: impl IntoIterator<Item = Field>,
    spec: fn(T) -> serde_json::Result<Value>,
) -> Result<(), String> {
    if let Some(wrong) = fields
        .into_iter()
        .find_map(|field| type_error(object, field))
    {
        return Err(wrong);
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
    retain(
        object,
        &["kind", "apiVersion", "metadata", "spec", "status"],
    );
    retain(&mut object["metadata"], &metadata::MEMBERS);
    Ok(())
}

/// The decoding error of a field.
fn type_error(object: &Value, (path, field, wanted): Field) -> Option<String> {
    let value = object.pointer(path)?;
    let fits = match wanted {
        "int32" => value
            .as_i64()
            .is_some_and(|number| i32::try_from(number).is_ok()),
        "int64" => value.is_i64(),
        "bool" => value.is_boolean(),
        "string" => value.is_string(),
        list if list.starts_with("[]") => value.is_array(),
        _ => value.is_object(),
    };
    (!fits && !value.is_null()).then(|| mismatch(value, field, wanted))
}

fn retain(value: &mut Value, members: &[&str]) {
    if let Value::Object(all) = value {
        all.retain(|key, _| members.contains(&key.as_str()));
    }
}

/// The fields of an object. Null becomes an empty object.
pub(super) fn object(value: &mut Value) -> Option<&mut Map<String, Value>> {
    if value.is_null() {
        *value = json!({});
    }
    value.as_object_mut()
}

/// Sets a default.
pub(super) fn or_else(
    members: &mut Map<String, Value>,
    key: &str,
    default: impl FnOnce() -> Value,
) {
    members.entry(key).or_insert_with(default);
}

/// Rejects a negative number at `path`, for example `spec.replicas`.
pub(super) fn not_negative(object: &Value, path: &str, causes: &mut Vec<Cause>) {
    let value = path.split('.').fold(object, |value, key| &value[key]);
    if let Some(count @ ..0) = value.as_i64() {
        let why = "must be greater than or equal to 0";
        causes.push(Cause::invalid(path, &count.to_string(), why));
    }
}
