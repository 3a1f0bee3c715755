//! JSON Patch as the server applies it, which is not quite RFC 6902.
//!
//! The server uses evanphx/json-patch v4: a `test` for `null` passes on a missing key, a `replace`
//! of a missing key adds it, and array indices may be negative. Whatever fails, the server answers
//! the same, so this returns no reason.

use serde_json::Value;

use super::go_json_text;

/// The patch does not apply: a `test` failed, or a path leads nowhere.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DoesNotApply;

/// Applies the operations in order; their texts may have marks ([`go_json_text::mark`]). On failure
/// `document` is left half changed.
pub(crate) fn apply(document: &mut Value, operations: &[Value]) -> Result<(), DoesNotApply> {
    let step = |operation| step(document, operation).ok_or(DoesNotApply);
    operations.iter().try_for_each(step)?;
    go_json_text::unmark(document);
    Ok(())
}

fn step(document: &mut Value, operation: &Value) -> Option<()> {
    let text = |key: &str| {
        let mut text = operation.get(key)?.clone();
        go_json_text::unmark(&mut text);
        Some(text.as_str()?.to_owned())
    };
    let path = text("path");
    let path = path.as_deref();
    let from = text("from");
    let from = || from.as_deref();
    let value = || {
        let mut value = operation.get("value").cloned().unwrap_or_default();
        go_json_text::unmark_names(&mut value);
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

/// The container that a path's last key is in, and that key.
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

/// An index into `length` items; negative ones count from the end.
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
            let result = apply(&mut document, patch.as_array().unwrap());
            assert_eq!(result.is_ok().then_some(document), expected, "{patch}");
        }
    }
}
