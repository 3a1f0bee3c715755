//! Random requests: each gets a response, and stored objects can still be read.

use http::Request;
use kube::client::Body;
use kube_in_memory::Api;
use proptest::prelude::*;
use serde_json::{Value, json};

const WEB: &str = "/apis/apps/v1/namespaces/default/deployments/web";

/// A small JSON value, often one that can occur in a Deployment.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-3_i64..9).prop_map(Value::from),
        "[ -~]{0,6}".prop_map(Value::from),
        Just(json!("web")),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((any_key(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_key() -> impl Strategy<Value = String> {
    const KEYS: [&str; 24] = [
        "metadata",
        "spec",
        "status",
        "kind",
        "apiVersion",
        "name",
        "namespace",
        "uid",
        "labels",
        "annotations",
        "finalizers",
        "managedFields",
        "resourceVersion",
        "deletionTimestamp",
        "replicas",
        "selector",
        "matchLabels",
        "template",
        "containers",
        "strategy",
        "type",
        "rollingUpdate",
        "0",
        "-1",
    ];
    prop_oneof![9 => prop::sample::select(KEYS.to_vec()).prop_map(str::to_owned), 1 => "[ -~]{0,4}"]
}

fn any_path() -> impl Strategy<Value = String> {
    prop::collection::vec(any_key(), 0..4).prop_map(|keys| {
        keys.iter()
            .fold(String::new(), |path, key| path + "/" + key)
    })
}

fn any_operation() -> impl Strategy<Value = Value> {
    let kinds = ["add", "remove", "replace", "test", "move", "copy"];
    (
        prop::sample::select(kinds.to_vec()),
        any_path(),
        any_path(),
        any_json(),
    )
        .prop_map(
            |(op, path, from, value)| json!({"op": op, "path": path, "from": from, "value": value}),
        )
}

fn web() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "nginx", "image": "nginx:1"}]},
            },
        },
    })
}

/// The status code of a request for `web`.
async fn send(api: &Api, method: &str, content: &str, body: &Value) -> u16 {
    let request = Request::builder()
        .method(method)
        .uri(WEB)
        .header("content-type", content);
    let request = request
        .body(Body::from(body.to_string().into_bytes()))
        .unwrap();
    api.client().send(request).await.unwrap().status().as_u16()
}

/// Whether `body` sets a resourceVersion that is not a number. A real server responds with 500
/// (`tests/parity/recorded/patches.json`).
fn has_invalid_resource_version(body: &Value) -> bool {
    match body {
        Value::Object(members) => members.iter().any(|(name, value)| {
            let is_number = value
                .as_str()
                .is_none_or(|text| text.parse::<u64>().is_ok());
            name == "resourceVersion" && !is_number || has_invalid_resource_version(value)
        }),
        Value::Array(items) => items.iter().any(has_invalid_resource_version),
        Value::String(path) => path.ends_with("/resourceVersion"),
        _ => false,
    }
}

fn check_requests(method: &str, content: &str, bodies: &[Value]) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let api = Api::new(chrono::Utc::now);
        api.create(web()).unwrap();
        for body in bodies {
            let code = send(&api, method, content, body).await;
            let expected = [200, 400, 404, 409, 422].contains(&code);
            assert!(
                expected || code == 500 && has_invalid_resource_version(body),
                "{code} for {body}"
            );
            for object in api.list("Deployment") {
                assert_eq!(object["metadata"]["name"], "web", "after {body}");
                assert!(
                    object["spec"]["replicas"].as_i64().unwrap() >= 0,
                    "after {body}"
                );
            }
        }
    });
}

#[test]
fn invalid_resource_version_is_rejected() {
    let patch = json!({"metadata": {"-1": "web", "resourceVersion": ":p.9&"}, "selector": []});
    check_requests("PATCH", "application/merge-patch+json", &[patch]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_json_patch_gets_a_response(patches in prop::collection::vec(prop::collection::vec(any_operation(), 1..4), 1..6)) {
        let patches: Vec<_> = patches.into_iter().map(Value::from).collect();
        check_requests("PATCH", "application/json-patch+json", &patches);
    }

    #[test]
    fn any_merge_patch_gets_a_response(patches in prop::collection::vec(any_json(), 1..6)) {
        check_requests("PATCH", "application/merge-patch+json", &patches);
    }

    #[test]
    fn any_object_gets_a_response(objects in prop::collection::vec(any_json(), 1..4)) {
        check_requests("PUT", "application/json", &objects);
    }
}
