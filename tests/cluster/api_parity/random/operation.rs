//! Paths into a Deployment and values for them: mostly those that dayshift sends, and near misses.

use fastrand::Rng;
use serde_json::{Value, json};

use super::object::{ANNOTATION_KEYS, LABEL_KEYS, LABELS, TEXTS, pick};

/// Paths that no client should patch, or that do not exist.
const ODD_PATHS: [&str; 40] = [
    "",
    "/",
    "//",
    "/spec/",
    "/spec",
    "/metadata",
    "spec/replicas",
    "metadata/labels/app",
    "/spec/replicas/",
    "/spec/replicas/0",
    "/metadata/labels/dayshift/state",
    "/metadata/labels/dayshift~01state",
    "/metadata/labels/a~0b",
    "/metadata/labels/~2",
    "/metadata/labels/~",
    "/metadata/labels/",
    "/metadata/annotations/",
    "/metadata/annotations/a~0b",
    "/metadata/annotations/schlüssel",
    "/metadata/annotations/a b",
    "/metadata/finalizers",
    "/metadata/finalizers/0",
    "/metadata/finalizers/-",
    "/metadata/finalizers/-1",
    "/metadata/finalizers/1",
    "/metadata/ownerReferences/0",
    "/metadata/uid",
    "/metadata/resourceVersion",
    "/metadata/generation",
    "/metadata/name",
    "/metadata/namespace",
    "/metadata/creationTimestamp",
    "/metadata/deletionTimestamp",
    "/spec/minReadySeconds",
    "/spec/revisionHistoryLimit",
    "/spec/progressDeadlineSeconds",
    "/status/replicas",
    "/kind",
    "/apiVersion",
    "/gone/below",
];
/// Values, as JSON, that hardly any field accepts.
const ODD_VALUES: [&str; 29] = [
    "null",
    "true",
    "false",
    "0",
    "1",
    "3",
    "-1",
    "1.5",
    "3.0",
    "1e0",
    "3e0",
    "2147483647",
    "2147483648",
    "9223372036854775807",
    "9223372036854775808",
    "123456789012345678901234567890",
    "\"3\"",
    "\"\"",
    "\"x\"",
    "\"a:b\"",
    "\"web-\"",
    "{}",
    "[]",
    "[1]",
    "{\"a\":\"b\"}",
    "{\"a\":null}",
    "{\"a\":{\"b\":[1,{\"c\":null}]}}",
    "[\"example.com/wait\"]",
    "\"we\\u0062\"",
];

/// A JSON pointer.
pub fn path(rng: &mut Rng) -> String {
    match rng.u8(..20) {
        0..4 => "/spec/replicas".to_owned(),
        4 => "/metadata/labels".to_owned(),
        5 => "/metadata/annotations".to_owned(),
        6..11 => format!("/metadata/labels/{}", escaped(pick(rng, &LABEL_KEYS))),
        11..16 => format!(
            "/metadata/annotations/{}",
            escaped(pick(rng, &ANNOTATION_KEYS))
        ),
        _ => pick(rng, &ODD_PATHS).to_owned(),
    }
}

/// A source for `copy` and `move`: nothing that differs between servers.
fn source(rng: &mut Rng) -> String {
    loop {
        let path = path(rng);
        if !matches!(
            &*path,
            "/metadata/resourceVersion" | "/metadata/creationTimestamp"
        ) {
            return path;
        }
    }
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// A JSON value for the path; the one that `object` has there if `kept` is set.
pub fn value(rng: &mut Rng, path: &str, object: &Value, kept: bool) -> String {
    if kept && rng.u8(..10) < 8 {
        return match path {
            "/metadata/uid" => "\"{uid}\"".to_owned(),
            "/metadata/resourceVersion" => "\"{rv}\"".to_owned(),
            _ => object
                .pointer(path)
                .cloned()
                .unwrap_or_default()
                .to_string(),
        };
    }
    if rng.u8(..6) == 0 {
        return pick(rng, &ODD_VALUES).to_owned();
    }
    let value = match path {
        "/spec/replicas" => json!(rng.u32(..6)),
        "/metadata/labels" => json!({pick(rng, &LABEL_KEYS): pick(rng, &LABELS)}),
        "/metadata/annotations" => json!({pick(rng, &ANNOTATION_KEYS): pick(rng, &TEXTS)}),
        "/metadata/uid" => return "\"{uid}\"".to_owned(),
        "/metadata/resourceVersion" => return "\"{rv}\"".to_owned(),
        _ if path.starts_with("/metadata/labels") => json!(pick(rng, &LABELS)),
        _ if path.starts_with("/metadata/annotations") => json!(pick(rng, &TEXTS)),
        _ if path.starts_with("/metadata/finalizers/") => json!("example.com/wait"),
        _ => return pick(rng, &ODD_VALUES).to_owned(),
    };
    value.to_string()
}

/// One operation of a JSON patch, as JSON.
pub fn random(rng: &mut Rng, object: &Value) -> String {
    let op = match rng.u8(..24) {
        0..9 => "test",
        9..14 => "add",
        14..17 => "replace",
        17..20 => "remove",
        20 | 21 => "move",
        22 => "copy",
        _ => pick(rng, &["Add", "", "strike", "test "]),
    };
    let mut path = path(rng);
    if matches!(op, "move" | "copy") && path.starts_with("/metadata/finalizers/") {
        // Values at this path do not matter to dayshift.
        path = "/metadata/annotations/plain".to_owned();
    }
    let mut members = vec![
        format!("\"op\":{}", json!(op)),
        format!("\"path\":{}", json!(path)),
    ];
    if matches!(op, "move" | "copy") || rng.u8(..60) == 0 {
        members.push(format!("\"from\":{}", json!(source(rng))));
    }
    // The real server ends the connection for two operations: a test of the whole document against null, and
    // one of a list with a null.
    if !matches!(op, "move" | "copy" | "remove") && (rng.u8(..40) > 0 || path.is_empty()) {
        let kept = op == "test";
        members.push(format!("\"value\":{}", value(rng, &path, object, kept)));
    }
    match rng.u8(..100) {
        0 => members.push(format!("\"value\":{}", value(rng, &path, object, true))),
        1 => members.push("\"comment\":\"x\"".to_owned()),
        2 => members.push("\"path\":null".to_owned()),
        3 => drop(members.remove(rng.usize(..members.len()))),
        4 => rng.shuffle(&mut members),
        _ => {}
    }
    format!("{{{}}}", members.join(","))
}
