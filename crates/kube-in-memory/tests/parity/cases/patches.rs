//! Patches that apply and patches that fail.

use serde_json::{Value, json};

use super::super::table::{Case, WEB, case};
use super::{deployment, web, with};

/// A JSON Patch of `web`.
fn patch(name: &'static str, operations: Value) -> Case {
    case(name).given(web()).json_patch(WEB, operations)
}

fn merge(name: &'static str, body: Value) -> Case {
    case(name).given(web()).merge_patch(WEB, body)
}

fn test(path: &str, value: Value) -> Value {
    json!([{"op": "test", "path": path, "value": value}, {"op": "replace", "path": "/spec/replicas", "value": 0}])
}

pub fn cases() -> Vec<Case> {
    let mut cases = json_patches();
    cases.extend(merge_patches());
    cases
}

fn json_patches() -> Vec<Case> {
    let start = "/metadata/annotations/dayshift~1start";
    vec![
        patch("test of a text", test(start, json!("Mon-Fri 09:00"))),
        patch("test of another text", test(start, json!("Mon-Fri 10:00"))),
        patch("test of a number", test("/spec/replicas", json!(3))),
        patch("test of another number", test("/spec/replicas", json!(4))),
        patch("test of a number as a text", test("/spec/replicas", json!("3"))),
        patch("test of the uid", json!([{"op": "test", "path": "/metadata/uid", "value": "{uid}"}])),
        patch("test of the resourceVersion", json!([{"op": "test", "path": "/metadata/resourceVersion", "value": "{rv}"}])),
        patch("test of the kind", json!([{"op": "test", "path": "/kind", "value": "Deployment"}])),
        patch("test of a map", test("/metadata/labels", json!({"app": "web", "tier": "front"}))),
        patch("test of a part of a map", test("/metadata/labels", json!({"app": "web"}))),
        patch("test of the whole", test("", json!({}))),
        patch("test for null of a missing key", test("/metadata/annotations/dayshift~1stop", json!(null))),
        patch("test for null of an existing key", test(start, json!(null))),
        patch("test without a value of a missing key", json!([{"op": "test", "path": "/metadata/annotations/gone"}])),
        patch("test for null below a missing parent", test("/metadata/ownerReferences/0", json!(null))),
        patch("test for null in a missing map", test("/metadata/finalizers", json!(null))),
        patch("test of an escaped tilde", test("/metadata/annotations/a~0b", json!(null))),
        patch("test of a list item", test("/spec/template/spec/containers/0/name", json!("nginx"))),
        patch("test of a missing list item", test("/spec/template/spec/containers/1", json!(null))),
        patch("test of a list item from the end", test("/spec/template/spec/containers/-1/name", json!("nginx"))),
        case("test for null of missing labels, then add them")
            .given(deployment("web"))
            .json_patch(WEB, json!([
                {"op": "test", "path": "/metadata/labels", "value": null},
                {"op": "add", "path": "/metadata/labels", "value": {"dayshift/state": "adopted"}},
            ]))
            .json_patch(WEB, json!([
                {"op": "test", "path": "/metadata/labels", "value": null},
                {"op": "add", "path": "/metadata/labels", "value": {"dayshift/state": "running"}},
            ])),
        case("a label on an object without labels")
            .given(deployment("web"))
            .json_patch(WEB, json!([{"op": "add", "path": "/metadata/labels/x", "value": "y"}])),
        case("test for null of a label without labels")
            .given(deployment("web"))
            .json_patch(WEB, test("/metadata/labels/x", json!(null))),
        patch("a failed later test undoes the patch", json!([
            {"op": "replace", "path": "/spec/replicas", "value": 0},
            {"op": "test", "path": "/spec/replicas", "value": 3},
        ]))
        .get(WEB),
        patch("a transition with tests", json!([
            {"op": "test", "path": "/metadata/uid", "value": "{uid}"},
            {"op": "test", "path": "/spec/replicas", "value": 3},
            {"op": "test", "path": "/metadata/labels/dayshift~1last", "value": null},
            {"op": "test", "path": "/metadata/annotations/dayshift~1start", "value": "Mon-Fri 09:00"},
            {"op": "replace", "path": "/spec/replicas", "value": 0},
            {"op": "add", "path": "/metadata/labels/dayshift~1state", "value": "stopped"},
            {"op": "add", "path": "/metadata/labels/dayshift~1last", "value": "2026-11-20T10.00.00Z"},
        ])),
        patch("remove", json!([{"op": "remove", "path": "/metadata/labels/tier"}])),
        patch("remove of a missing key", json!([{"op": "remove", "path": "/metadata/labels/gone"}])),
        patch("remove below a missing parent", json!([{"op": "remove", "path": "/metadata/finalizers/0"}])),
        patch("remove of all labels", json!([{"op": "remove", "path": "/metadata/labels"}])),
        patch("remove of the replicas", json!([{"op": "remove", "path": "/spec/replicas"}])),
        patch("replace of a missing key", json!([{"op": "replace", "path": "/metadata/labels/new", "value": "x"}])),
        patch("add of an empty map replaces the map", json!([{"op": "add", "path": "/metadata/labels", "value": {}}])),
        patch("add of a null", json!([{"op": "add", "path": "/metadata/labels/tier", "value": null}])),
        patch("add without a value", json!([{"op": "add", "path": "/metadata/labels/tier"}])),
        patch("add at the root", json!([{"op": "add", "path": "", "value": {}}])),
        patch("add to a list", json!([
            {"op": "add", "path": "/spec/template/spec/containers/-", "value": {"name": "second", "image": "x:1"}},
        ]))
        .whole(),
        patch("move", json!([{"op": "move", "from": "/metadata/labels/tier", "path": "/metadata/labels/moved"}])),
        patch("move of a missing key", json!([{"op": "move", "from": "/metadata/labels/gone", "path": "/metadata/labels/moved"}])),
        patch("copy", json!([{"op": "copy", "from": "/metadata/labels/tier", "path": "/metadata/labels/copied"}])),
        patch("copy of a missing key", json!([{"op": "copy", "from": "/metadata/labels/gone", "path": "/metadata/labels/copied"}])),
        patch("a path without a slash", json!([{"op": "add", "path": "spec", "value": {}}])),
        patch("an unknown operation", json!([{"op": "strike", "path": "/spec"}])),
        patch("an operation without a path", json!([{"op": "remove"}])),
        patch("no operations", json!([])),
        patch("a patch without a change", json!([{"op": "replace", "path": "/spec/replicas", "value": 3}])).get(WEB),
        patch("a label changes no generation", json!([{"op": "add", "path": "/metadata/labels/x", "value": "y"}])),
        patch("an annotation changes the generation", json!([{"op": "add", "path": "/metadata/annotations/x", "value": "y"}])),
        patch("an outdated resourceVersion in a patch", json!([
            {"op": "replace", "path": "/metadata/resourceVersion", "value": "1"},
            {"op": "replace", "path": "/spec/replicas", "value": 0},
        ])),
        patch("another uid", json!([{"op": "replace", "path": "/metadata/uid", "value": "0e5f41c8-0000-4000-8000-000000000000"}])),
        patch("no uid", json!([{"op": "remove", "path": "/metadata/uid"}])),
        patch("another name", json!([{"op": "replace", "path": "/metadata/name", "value": "other"}])),
        patch("no name", json!([{"op": "remove", "path": "/metadata/name"}])),
        patch("another namespace", json!([{"op": "replace", "path": "/metadata/namespace", "value": "default"}])),
        patch("another creation time", json!([{"op": "replace", "path": "/metadata/creationTimestamp", "value": "2020-01-01T00:00:00Z"}])),
        patch("another generation", json!([{"op": "replace", "path": "/metadata/generation", "value": 70}])),
        patch("the status", json!([{"op": "add", "path": "/status/replicas", "value": 7}])),
    ]
}

fn merge_patches() -> Vec<Case> {
    vec![
        merge("an empty kind, and an invalid field", json!({"kind": "", "spec": {"minReadySeconds": 9_999}})),
        merge("an empty kind, and a valid change", json!({"kind": "", "spec": {"minReadySeconds": 9}})),
        merge("a null in finalizers", json!({"metadata": {"finalizers": ["example.com/wait", null]}})),
        merge("a null in arguments", json!({"spec": {"template": {"spec": {"containers": [
            {"name": "nginx", "image": "nginx:1", "command": [null], "args": ["a", null]},
        ]}}}})),
        merge("merge of a count", json!({"spec": {"replicas": 0}})),
        merge("merge of a null", json!({"metadata": {"annotations": {"plain": null}}})),
        merge("merge of a null for a missing key", json!({"metadata": {"annotations": {"gone": null}}})),
        merge("merge of a null map", json!({"metadata": {"labels": null}})),
        merge("merge of nulls within a new map", json!({"metadata": {"finalizers": null, "labels": {"a": null, "b": "c"}}})),
        merge("merge of a null count", json!({"spec": {"replicas": null}})),
        merge("an empty merge", json!({})),
        merge("merge with an old resourceVersion", json!({"metadata": {"resourceVersion": "1"}, "spec": {"replicas": 0}})),
        merge("merge with a resourceVersion that is a text", json!({"metadata": {"resourceVersion": "new"}})),
        patch("another kind", json!([{"op": "replace", "path": "/kind", "value": "Service"}])),
        patch("no kind", json!([{"op": "remove", "path": "/kind"}])),
        patch("another API version", json!([{"op": "replace", "path": "/apiVersion", "value": "apps/v2"}])),
        patch("no API version", json!([{"op": "remove", "path": "/apiVersion"}])),
        patch("an unknown member", json!([{"op": "add", "path": "/spec/scale", "value": 3}])).whole(),
        patch("an explicit default", json!([{"op": "add", "path": "/spec/paused", "value": false}])).whole(),
        patch("finalizers that are a map", json!([{"op": "add", "path": "/metadata/finalizers", "value": {}}])),
        case("a test of characters that Go escapes")
            .given(with(web(), "/metadata/annotations/plain", json!("a<b>&\u{2028}\u{1b}")))
            .json_patch(WEB, test("/metadata/annotations/plain", json!("a<b>&\u{2028}\u{1b}")))
            .ask(
                "PATCH",
                WEB,
                "application/json-patch+json",
                r#"[{"op":"test","path":"/metadata/annotations/plain","value":"a\u003cb\u003e\u0026\u2028\u001b"}]"#,
            )
            .ask(
                "PATCH",
                WEB,
                "application/json-patch+json",
                r#"[{"op":"test","path":"/metadata/annotations/plain","value":"\u0061\u003cb\u003e\u0026\u2028\u001b"}]"#,
            ),
        merge("merge with this resourceVersion", json!({"metadata": {"resourceVersion": "{rv}"}, "spec": {"replicas": 0}})),
        merge("merge of another list of containers", json!({"spec": {"template": {"spec": {"containers": [{"name": "a", "image": "b:1"}]}}}})).whole(),
        case("strategic merge of a count")
            .given(web())
            .ask("PATCH", WEB, "application/strategic-merge-patch+json", r#"{"spec":{"replicas":0},"metadata":{"annotations":{"plain":null}}}"#),
        case("a patch with a charset")
            .given(web())
            .ask("PATCH", WEB, "application/merge-patch+json; charset=utf-8", r#"{"spec":{"replicas":0}}"#),
    ]
}
