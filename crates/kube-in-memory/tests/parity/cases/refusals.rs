//! Validation errors and their causes.

use serde_json::{Value, json};

use super::super::table::{Before, Case, DEPLOYMENTS, WEB, case};
use super::{web, with};

fn patch(name: &'static str, path: &str, value: Value) -> Case {
    case(name)
        .given(web())
        .json_patch(WEB, json!([{"op": "add", "path": path, "value": value}]))
}

fn create(name: &'static str, path: &str, value: Value) -> Case {
    case(name).post(DEPLOYMENTS, with(web(), path, value))
}

pub fn cases() -> Vec<Case> {
    let mut cases = values();
    cases.extend(requests());
    cases
}

fn values() -> Vec<Case> {
    let long = "x".repeat(64);
    let huge = "x".repeat(256 * 1024);
    vec![
        patch("a negative count", "/spec/replicas", json!(-1)),
        patch("a count that is a text", "/spec/replicas", json!("three")),
        patch("a count that is too large", "/spec/replicas", json!(3_000_000_000_u64)),
        patch("a count with a fraction", "/spec/replicas", json!(1.5)),
        patch("a label with a colon", "/metadata/labels/x", json!("2026-11-20T10:00:00Z")),
        patch("a label of 64 characters", "/metadata/labels/x", json!(long)),
        patch("a label that ends in a dash", "/metadata/labels/x", json!("web-")),
        patch("a label that is a number", "/metadata/labels/x", json!(1)),
        patch("a label key of two slashes", "/metadata/labels/a~1b~1c", json!("x")),
        patch("a label key without a name", "/metadata/labels/a~1", json!("x")),
        patch("a label key with a bad prefix", "/metadata/labels/A_b~1c", json!("x")),
        patch("an annotation that is a number", "/metadata/annotations/x", json!(2)),
        patch("an annotation that is true", "/metadata/annotations/x", json!(true)),
        patch("an annotation that is a map", "/metadata/annotations/x", json!({})),
        patch("annotations that are a list", "/metadata/annotations", json!([])),
        patch("an annotation key with a blank", "/metadata/annotations/a b", json!("x")),
        patch("annotations that are too long", "/metadata/annotations/x", json!(huge)),
        patch("annotations of the maximum length", "/metadata/annotations", json!({"x": "y".repeat(256 * 1024 - 1)})),
        patch("annotations one byte above the maximum", "/metadata/annotations", json!({"x": "y".repeat(256 * 1024)})),
        patch("annotations too many", "/metadata/annotations", (0..30_000).map(|n| (format!("key-{n:05}"), json!("x"))).collect::<serde_json::Map<_, _>>().into()),
        patch("annotations too long in bytes", "/metadata/annotations/x", json!("é".repeat(128 * 1024))),
        patch("annotations too long and a bad key", "/metadata/annotations", json!({"a b": "y".repeat(256 * 1024)})),
        patch("another selector", "/spec/selector", json!({"matchLabels": {"app": "other"}})),
        patch("a spec that is a text", "/spec", json!("x")),
        case("two causes at once").given(web()).merge_patch(
            WEB,
            json!({"metadata": {"labels": {"x": "a:b"}}, "spec": {"replicas": -2, "minReadySeconds": -1}}),
        ),
        patch("a finalizer without a domain", "/metadata/finalizers", json!(["example.com/wait", "wait"])),
        patch("a finalizer with a blank", "/metadata/finalizers", json!(["a b"])),
        patch("two finalizers that exclude each other", "/metadata/finalizers", json!(["orphan", "foregroundDeletion", "kubernetes"])),
        create("created with a finalizer without a domain", "/metadata/finalizers", json!(["wait", "a/b/c"])),
        create("created with a bad name", "/metadata/name", json!("Web_1")),
        create("created with a negative count", "/spec/replicas", json!(-3)),
        create("created with a count that is a text", "/spec/replicas", json!("3")),
        create("created with an annotation that is a number", "/metadata/annotations/x", json!(2)),
        create("created with a label that is true", "/metadata/labels/x", json!(true)),
        create("created with a bad label", "/metadata/labels/x", json!("a b")),
        create("created without a selector", "/spec/selector", json!(null)),
        create("created with an empty selector", "/spec/selector", json!({})),
        create("created with a selector of other labels", "/spec/selector", json!({"matchLabels": {"app": "other"}})),
        create("created without containers", "/spec/template/spec/containers", json!([])),
        create("created with a container without an image", "/spec/template/spec/containers/0", json!({"name": "a"})),
        create("created with an unknown strategy", "/spec/strategy", json!({"type": "Slowly"})),
        create("created with a deadline before it is ready", "/spec/minReadySeconds", json!(600)),
        create("created with a bad finalizer", "/metadata/finalizers", json!(["a/b/c"])),
        case("created without a spec").post(DEPLOYMENTS, json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}})),
    ]
}

fn requests() -> Vec<Case> {
    vec![
        case("a denial by an admission policy")
            .given(web())
            .merge_patch(WEB, json!({"spec": {"replicas": 0}}))
            .after(Before::Policy)
            .json_patch(
                WEB,
                json!([
                    {"op": "test", "path": "/spec/replicas", "value": 3},
                    {"op": "replace", "path": "/spec/replicas", "value": 0},
                ]),
            )
            .merge_patch(WEB, json!({"spec": {"replicas": -1}}))
            .merge_patch(WEB, json!({"spec": {"replicas": 1}})),
        case("a patch with an unknown media type").given(web()).ask(
            "PATCH",
            WEB,
            "application/json",
            "{}",
        ),
        case("a patch that is YAML")
            .given(web())
            .ask("PATCH", WEB, "application/yaml", "spec: {}"),
        case("a patch with two media types").given(web()).ask(
            "PATCH",
            WEB,
            "application/json-patch+json, application/merge-patch+json",
            "{}",
        ),
        case("a patch with a media type in capitals")
            .given(web())
            .ask(
                "PATCH",
                WEB,
                "Application/Merge-Patch+JSON",
                r#"{"spec":{"replicas":0}}"#,
            ),
        case("a JSON patch with the media type of a merge patch")
            .given(web())
            .ask(
                "PATCH",
                WEB,
                "application/merge-patch+json",
                r#"[{"op":"remove","path":"/spec"}]"#,
            ),
        case("a merge patch with the media type of a JSON patch")
            .given(web())
            .ask(
                "PATCH",
                WEB,
                "application/json-patch+json",
                r#"{"spec":{"replicas":0}}"#,
            ),
        case("a merge patch that is a text").given(web()).ask(
            "PATCH",
            WEB,
            "application/merge-patch+json",
            r#""spec""#,
        ),
        case("an empty merge patch").given(web()).ask(
            "PATCH",
            WEB,
            "application/merge-patch+json",
            "",
        ),
        case("an empty JSON patch").given(web()).ask(
            "PATCH",
            WEB,
            "application/json-patch+json",
            "",
        ),
        case("a JSON patch that is null").given(web()).ask(
            "PATCH",
            WEB,
            "application/json-patch+json",
            "null",
        ),
        case("a merge patch that is null").given(web()).ask(
            "PATCH",
            WEB,
            "application/merge-patch+json",
            "null",
        ),
        case("a body that is too large").given(web()).ask(
            "PATCH",
            WEB,
            "application/merge-patch+json",
            &" ".repeat(3 * 1024 * 1024 + 1),
        ),
        case("a JSON patch of too many operations")
            .given(web())
            .ask(
                "PATCH",
                WEB,
                "application/json-patch+json",
                &format!(
                    "[{}]",
                    vec![r#"{"op":"test","path":"/spec/replicas","value":3}"#; 10_001].join(",")
                ),
            ),
        case("an object with two content types").ask(
            "POST",
            DEPLOYMENTS,
            "application/json,text/plain",
            "{}",
        ),
        case("accepts a table or JSON")
            .given(web())
            .get(WEB)
            .header("accept", "text/html, application/json;q=0.5"),
        case("accepts protobuf or JSON")
            .given(web())
            .get(WEB)
            .header(
                "accept",
                "application/json, application/vnd.kubernetes.protobuf",
            ),
        case("a patch without a media type")
            .given(web())
            .ask("PATCH", WEB, "", "{}"),
        case("a JSON patch that is no JSON").given(web()).ask(
            "PATCH",
            WEB,
            "application/json-patch+json",
            "[{",
        ),
        case("a JSON patch that is no list")
            .given(web())
            .json_patch(WEB, json!({"op": "add"})),
        case("a JSON patch with a number for an operation")
            .given(web())
            .json_patch(WEB, json!([1])),
        case("a JSON patch with a number for a path")
            .given(web())
            .json_patch(WEB, json!([{"op": "remove", "path": 1}])),
        case("a merge patch that is no JSON").given(web()).ask(
            "PATCH",
            WEB,
            "application/merge-patch+json",
            "{",
        ),
        case("a merge patch that is a list")
            .given(web())
            .merge_patch(WEB, json!([])),
        case("an object with an unknown media type").ask("POST", DEPLOYMENTS, "text/plain", "web"),
        case("an unsupported method")
            .ask("PUT", DEPLOYMENTS, "application/json", "{}")
            .ask("PATCH", DEPLOYMENTS, "application/merge-patch+json", "{}")
            .ask("POST", WEB, "application/json", "{}"),
    ]
}
