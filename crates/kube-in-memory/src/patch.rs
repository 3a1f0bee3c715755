//! JSON Patch and JSON merge patch, with the results and errors of the Go libraries that kube-apiserver uses.

use serde_json::{Map, Value};

use crate::{
    cause::Cause,
    objects::{Resource, metadata},
    status::Status,
};

/// The maximum number of operations in a JSON Patch.
const MAX_OPERATIONS: usize = 10_000;

/// The media type of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatchForm {
    Json,
    Merge,
    Strategic,
}

/// Parses the body of a patch.
pub(crate) fn read_patch(form: PatchForm, body: &[u8]) -> Result<Value, Status> {
    let read = match str::from_utf8(body) {
        Ok(text) if is_marked(text) => {
            return Err(undecodable_patch("U+FDD0 is not served here"));
        }
        Ok(text) if form == PatchForm::Json => serde_json::from_str(&mark(text)),
        _ => serde_json::from_slice(body),
    };
    read.map_err(|error| undecodable_patch(&go_error(&error)))
}

/// Applies a patch to `object`.
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
            apply_operations(object, operations).map_err(|_| Status::patch_does_not_apply())
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

/// A patch cannot change the kind or version.
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

/// The error if the patched object cannot be decoded.
pub(crate) fn undecodable_result(new: &Value, why: &str) -> Status {
    let shown = format!("{:?}", new.to_string());
    let cause = Cause::invalid("patch", &shown, why);
    Status::invalid("", "", "", vec![cause])
}

fn undecodable_patch(why: &str) -> Status {
    Status::bad_request(format!("error decoding patch: {why}"))
}

/// Go's error for a patch of another JSON type.
fn not_a(patch: &Value, wanted: &str) -> String {
    let found = metadata::go_kind(patch);
    format!("json: cannot unmarshal {found} into Go value of type {wanted}")
}

/// Go's error for an invalid operation.
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

/// Go's error for truncated JSON. Other errors have serde's text.
fn go_error(error: &serde_json::Error) -> String {
    if error.is_eof() {
        "unexpected end of JSON input".to_owned()
    } else {
        error.to_string()
    }
}

/// A `test` failed, or a path does not exist.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DoesNotApply;

/// Applies the operations in order. Strings can contain marks ([`mark`]). After an error, `document` is
/// partly changed.
pub(crate) fn apply_operations(
    document: &mut Value,
    operations: &[Value],
) -> Result<(), DoesNotApply> {
    let step = |operation| step(document, operation).ok_or(DoesNotApply);
    operations.iter().try_for_each(step)?;
    unmark(document);
    Ok(())
}

fn step(document: &mut Value, operation: &Value) -> Option<()> {
    let text = |key: &str| {
        let mut text = operation.get(key)?.clone();
        unmark(&mut text);
        Some(text.as_str()?.to_owned())
    };
    let path = text("path");
    let path = path.as_deref();
    let from = text("from");
    let from = || from.as_deref();
    let value = || {
        let mut value = operation.get("value").cloned().unwrap_or_default();
        unmark_names(&mut value);
        value
    };
    match &*text("op")? {
        "add" => add(document, path?, value()),
        "remove" => remove(document, path?).map(drop),
        "replace" => replace(document, path?, value()),
        "test" => test(document, path?, &value()).then_some(()),
        "move" => {
            let moved = remove(document, from()?)?;
            add(document, path?, moved)
        }
        "copy" => {
            let (parent, key) = locate(document, from()?)?;
            let copied = match parent {
                Value::Object(members) => members.get(&key).cloned().unwrap_or_default(),
                Value::Array(items) => items[index(&key, items.len())?].clone(),
                _ => return None,
            };
            add(document, path?, copied)
        }
        _ => None,
    }
}

/// The container of a path's last key, and the key.
fn locate<'a>(document: &'a mut Value, path: &str) -> Option<(&'a mut Value, String)> {
    let mut keys = path
        .split('/')
        .map(|key| key.replace("~1", "/").replace("~0", "~"));
    keys.next();
    let mut keys: Vec<_> = keys.collect();
    let last = keys.pop()?;
    let parent = keys.iter().try_fold(document, |value, key| match value {
        Value::Object(members) => members.get_mut(key),
        Value::Array(items) => {
            let index = index(key, items.len())?;
            items.get_mut(index)
        }
        _ => None,
    })?;
    (parent.is_object() || parent.is_array()).then_some((parent, last))
}

/// An index into `length` items. Negative ones count from the end.
fn index(key: &str, length: usize) -> Option<usize> {
    let index: isize = key.parse().ok()?;
    let index = if index < 0 {
        length.checked_sub(index.unsigned_abs())?
    } else {
        index.unsigned_abs()
    };
    (index < length).then_some(index)
}

fn add(document: &mut Value, path: &str, value: Value) -> Option<()> {
    let (parent, key) = locate(document, path)?;
    match parent {
        Value::Object(members) => {
            members.insert(key, value);
        }
        Value::Array(items) if key == "-" => items.push(value),
        Value::Array(items) => items.insert(index(&key, items.len() + 1)?, value),
        _ => return None,
    }
    Some(())
}

fn remove(document: &mut Value, path: &str) -> Option<Value> {
    let (parent, key) = locate(document, path)?;
    match parent {
        Value::Object(members) => members.remove(&key),
        Value::Array(items) => Some(items.remove(index(&key, items.len())?)),
        _ => None,
    }
}

fn replace(document: &mut Value, path: &str, value: Value) -> Option<()> {
    if path.is_empty() {
        *document = (value.is_object() || value.is_array()).then_some(value)?;
        return Some(());
    }
    let (parent, key) = locate(document, path)?;
    match parent {
        Value::Object(members) => {
            members.insert(key, value);
        }
        Value::Array(items) => {
            let index = index(&key, items.len())?;
            items[index] = value;
        }
        _ => return None,
    }
    Some(())
}

fn test(document: &mut Value, path: &str, expected: &Value) -> bool {
    if path.is_empty() {
        return document == expected;
    }
    match locate(document, path) {
        Some((Value::Object(members), key)) => {
            members.get(&key).unwrap_or(&Value::Null) == expected
        }
        Some((Value::Array(items), key)) => {
            index(&key, items.len()).is_some_and(|index| items[index] == *expected)
        }
        _ => false,
    }
}

/// Marks a character that Go's encoder writes differently. It is a Unicode noncharacter.
const MARK: char = '\u{fdd0}';

/// Whether a text contains the mark character itself.
pub(crate) fn is_marked(text: &str) -> bool {
    text.contains(MARK)
}

/// Adds a mark before each character that Go's encoder writes differently.
pub(crate) fn mark(text: &str) -> String {
    let mut marked = String::with_capacity(text.len() + 8);
    let mut rest = text.char_indices();
    while let Some((at, c)) = rest.next() {
        if is_escaped_by_go(c) {
            marked.push(MARK);
        }
        if c == '\\' {
            let written = match text.as_bytes().get(at + 1) {
                Some(b'u') => text.get(at..at + 6).unwrap_or("\\"),
                Some(_) => text.get(at..at + 2).unwrap_or("\\"),
                None => "\\",
            };
            if !is_written_by_go(written) {
                marked.push(MARK);
            }
            marked.push_str(written);
            if let Some(more) = written.chars().count().checked_sub(2) {
                rest.nth(more);
            }
        } else {
            marked.push(c);
        }
    }
    marked
}

/// Removes the marks from all strings.
pub(crate) fn unmark(value: &mut Value) {
    match value {
        Value::String(text) if text.contains(MARK) => *text = text.replace(MARK, ""),
        Value::Array(items) => items.iter_mut().for_each(unmark),
        Value::Object(members) => {
            members.values_mut().for_each(unmark);
            unmark_keys(members);
        }
        _ => {}
    }
}

/// Removes the marks from the keys, which are compared by their decoded value.
pub(crate) fn unmark_names(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(unmark_names),
        Value::Object(members) => {
            members.values_mut().for_each(unmark_names);
            unmark_keys(members);
        }
        _ => {}
    }
}

fn unmark_keys(members: &mut Map<String, Value>) {
    if members.keys().any(|key| key.contains(MARK)) {
        let all = std::mem::take(members).into_iter();
        *members = all
            .map(|(key, value)| (key.replace(MARK, ""), value))
            .collect();
    }
}

const fn is_escaped_by_go(c: char) -> bool {
    matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}')
}

/// Whether Go's encoder writes this escape sequence.
fn is_written_by_go(escaped: &str) -> bool {
    let Some(digits) = escaped.strip_prefix("\\u") else {
        return escaped != "\\/";
    };
    let c = u32::from_str_radix(digits, 16)
        .ok()
        .and_then(char::from_u32);
    c.is_some_and(|c| {
        let needed = is_escaped_by_go(c) || c < ' ' && !"\u{8}\u{c}\n\r\t".contains(c);
        needed && digits == format!("{:04x}", u32::from(c))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn applies_as_the_server_does() {
        let fails = None;
        for (patch, expected) in [
            (
                json!([{"op": "test", "path": "/a/x", "value": 1}]),
                Some(json!({"a": {"x": 1}, "l": [1, 2]})),
            ),
            (
                json!([{"op": "test", "path": "/a/gone", "value": null}, {"op": "remove", "path": "/l"}]),
                Some(json!({"a": {"x": 1}})),
            ),
            (
                json!([{"op": "test", "path": "/a/gone"}, {"op": "remove", "path": "/l"}]),
                Some(json!({"a": {"x": 1}})),
            ),
            (
                json!([{"op": "test", "path": "/gone/key", "value": null}]),
                fails.clone(),
            ),
            (
                json!([{"op": "test", "path": "/a/x", "value": null}]),
                fails.clone(),
            ),
            (
                json!([{"op": "test", "path": "/a/x", "value": "1"}]),
                fails.clone(),
            ),
            (
                json!([{"op": "replace", "path": "/a/y", "value": 2}]),
                Some(json!({"a": {"x": 1, "y": 2}, "l": [1, 2]})),
            ),
            (json!([{"op": "remove", "path": "/a/y"}]), fails.clone()),
            (
                json!([{"op": "add", "path": "/b/y", "value": 2}]),
                fails.clone(),
            ),
            (
                json!([{"op": "add", "path": "", "value": {}}]),
                fails.clone(),
            ),
            (
                json!([{"op": "add", "path": "/a/p~1q~0", "value": 2}]),
                Some(json!({"a": {"x": 1, "p/q~": 2}, "l": [1, 2]})),
            ),
            (
                json!([{"op": "add", "path": "/l/-", "value": 3}]),
                Some(json!({"a": {"x": 1}, "l": [1, 2, 3]})),
            ),
            (
                json!([{"op": "remove", "path": "/l/-1"}]),
                Some(json!({"a": {"x": 1}, "l": [1]})),
            ),
            (
                json!([{"op": "add", "path": "/l/9", "value": 3}]),
                fails.clone(),
            ),
            (
                json!([{"op": "move", "from": "/a/x", "path": "/y"}]),
                Some(json!({"a": {}, "y": 1, "l": [1, 2]})),
            ),
            (
                json!([{"op": "copy", "from": "/a/x", "path": "/a/y"}]),
                Some(json!({"a": {"x": 1, "y": 1}, "l": [1, 2]})),
            ),
            (json!([{"op": "strike", "path": "/a"}]), fails),
        ] {
            let mut document = json!({"a": {"x": 1}, "l": [1, 2]});
            let result = apply_operations(&mut document, patch.as_array().unwrap());
            assert_eq!(result.is_ok().then_some(document), expected, "{patch}");
        }
    }

    #[test]
    fn text_that_go_writes_unchanged_has_no_marks() {
        for (text, marks) in [
            (r#"{"a":"plain \" \\ \n \t \b \f \u0001 ü 日"}"#, 0),
            (r#""\u003c\u003e\u0026\u2028""#, 0),
            (r#""<>&""#, 3),
            ("\"\u{2028}\"", 1),
            (r#""we\u0062""#, 1),
            (r#""\/ \u003C \u000a""#, 3),
        ] {
            let marked = mark(text);
            assert_eq!(marked.matches(MARK).count(), marks, "{text}");
            let [mut read, plain] = [&*marked, text].map(serde_json::from_str::<Value>);
            unmark(read.as_mut().unwrap());
            assert_eq!(read.unwrap(), plain.unwrap());
        }
    }
}
