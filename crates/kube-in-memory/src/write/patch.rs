//! Patches: which form, how it is read, and what may come of it.

use serde_json::Value;

use super::go_json_text;
use super::json_patch;
use crate::cause::Cause;
use crate::objects::Resource;
use crate::objects::metadata;
use crate::status::Status;

/// The most operations of one JSON patch.
const MAX_OPERATIONS: usize = 10_000;

/// How a patch is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatchForm {
    Json,
    Merge,
    Strategic,
}

/// Reads the body of a patch.
pub(crate) fn read_patch(form: PatchForm, body: &[u8]) -> Result<Value, Status> {
    let read = match str::from_utf8(body) {
        Ok(text) if go_json_text::is_marked(text) => {
            return Err(undecodable_patch("U+FDD0 is not served here"));
        }
        Ok(text) if form == PatchForm::Json => serde_json::from_str(&go_json_text::mark(text)),
        _ => serde_json::from_slice(body),
    };
    read.map_err(|error| undecodable_patch(&go_error(&error)))
}

/// Makes of `object` what the patch says.
pub(crate) fn apply_patch(
    object: &mut Value,
    form: PatchForm,
    patch: &Value,
) -> Result<(), Status> {
    match form {
        PatchForm::Json => {
            let operations = match patch {
                Value::Array(operations) => operations.as_slice(),
                Value::Null => &[],
                _ => return Err(undecodable_patch(&not_a(patch, "[]handlers.jsonPatchOp"))),
            };
            if let Some(why) = operations.iter().find_map(wrong_operation) {
                return Err(undecodable_patch(&why));
            }
            if operations.len() > MAX_OPERATIONS {
                let (most, given) = (MAX_OPERATIONS, operations.len());
                let why = format!(
                    "Request entity too large: The allowed maximum operations in a JSON patch is {most}, got {given}"
                );
                return Err(Status::new(413, "RequestEntityTooLarge", why));
            }
            json_patch::apply(object, operations).map_err(|_| Status::patch_does_not_apply())
        }
        PatchForm::Merge | PatchForm::Strategic if patch.is_object() => {
            ::json_patch::merge(object, patch);
            Ok(())
        }
        PatchForm::Merge if patch.is_null() => Err(Status::bad_request("Invalid JSON Patch")),
        PatchForm::Merge | PatchForm::Strategic => {
            let why = not_a(patch, "map[string]interface {}");
            Err(undecodable_patch(&why))
        }
    }
}

/// A patch may not make another kind of an object.
pub(crate) fn check_kind(resource: &Resource, name: &str, new: &Value) -> Result<(), Status> {
    if !new.is_object() {
        let why = "json: cannot unmarshal array into Go value of type struct";
        return Err(undecodable_result(new, why));
    }
    let (kind, version) = (&new["kind"], &new["apiVersion"]);
    for (key, value) in [("kind", kind), ("apiVersion", version)] {
        if !(value.is_null() || value.is_string()) {
            let why = metadata::mismatch(value, key, "string");
            return Err(undecodable_result(new, &why));
        }
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (kind, version) = (text(kind), text(version));
    if version.is_empty() {
        return Err(Status::without_name(name));
    }
    if version != resource.api_version() || !(kind.is_empty() || kind == resource.kind) {
        let why = format!(
            "no kind {kind:?} is registered for version {version:?} in scheme \"pkg/runtime/scheme.go:111\""
        );
        return Err(undecodable_result(new, &why));
    }
    Ok(())
}

/// The object that a patch would make cannot be decoded.
pub(crate) fn undecodable_result(new: &Value, why: &str) -> Status {
    let shown = format!("{:?}", new.to_string());
    let cause = Cause::invalid("patch", &shown, why);
    Status::invalid("", "", "", vec![cause])
}

fn undecodable_patch(why: &str) -> Status {
    Status::bad_request(format!("error decoding patch: {why}"))
}

/// What Go says of a patch that is something else.
fn not_a(patch: &Value, wanted: &str) -> String {
    let found = metadata::go_kind(patch);
    format!("json: cannot unmarshal {found} into Go value of type {wanted}")
}

/// What Go says of an operation that is no object, or has a path that is no text.
fn wrong_operation(operation: &Value) -> Option<String> {
    if !(operation.is_object() || operation.is_null()) {
        let found = metadata::go_kind(operation);
        return Some(format!(
            "json: cannot unmarshal {found} into Go value of type handlers.jsonPatchOp"
        ));
    }
    ["op", "path", "from"].into_iter().find_map(|key| {
        let value = &operation[key];
        let fits = value.is_string() || value.is_null();
        (!fits).then(|| metadata::mismatch(value, &format!("jsonPatchOp.{key}"), "string"))
    })
}

/// What Go says of a text that is no JSON, where it is cut short; else serde's own words.
fn go_error(error: &serde_json::Error) -> String {
    if error.is_eof() {
        "unexpected end of JSON input".to_owned()
    } else {
        error.to_string()
    }
}
