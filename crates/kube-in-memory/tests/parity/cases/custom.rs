//! Custom resources, and discovery.

use serde_json::{Value, json};

use super::super::table::{Before, Case, case};
use super::with;

const ROLLOUTS: &str = "/apis/custom.example.com/v1alpha1/namespaces/{ns}/rollouts";
const WEB: &str = "/apis/custom.example.com/v1alpha1/namespaces/{ns}/rollouts/web";
const BATONS: &str = "/apis/custom.example.com/v1alpha1/namespaces/{ns}/batons";
const SERVED: Before = Before::Served("Rollout");

fn rollout(name: &str) -> Value {
    json!({
        "apiVersion": "custom.example.com/v1alpha1", "kind": "Rollout",
        "metadata": {"name": name},
        "spec": {"replicas": 3, "strategy": {"canary": {"steps": [{"setWeight": 20}, {"pause": {}}]}}},
    })
}

fn web() -> Value {
    let mut web = rollout("web");
    web["metadata"]["labels"] = json!({"app": "web"});
    web["metadata"]["annotations"] = json!({"plain": "x"});
    web
}

fn given(name: &'static str) -> Case {
    case(name).given_at(ROLLOUTS, web()).after(SERVED)
}

fn create(name: &'static str, path: &str, value: Value) -> Case {
    case(name)
        .post(ROLLOUTS, with(web(), path, value))
        .after(SERVED)
        .whole()
}

fn scale(count: Value) -> Value {
    json!({"spec": {"replicas": count}})
}

pub fn cases() -> Vec<Case> {
    let mut cases = objects();
    cases.extend(changes());
    cases.extend(reads());
    cases.extend(discovery());
    cases
}

fn objects() -> Vec<Case> {
    vec![
        case("no defaults are set")
            .post(ROLLOUTS, rollout("web"))
            .after(SERVED)
            .whole()
            .get(WEB)
            .whole(),
        create(
            "the spec is not validated",
            "/spec",
            json!({"replicas": "three", "a": [1.5, null]}),
        ),
        create("a null stays", "/spec/paused", json!(null)),
        create(
            "empty maps stay",
            "/spec/template",
            json!({"metadata": {"labels": {}}}),
        ),
        create("a member outside of spec", "/data", json!({"a": "b"})),
        create("a status is ignored", "/status", json!({"replicas": 3})),
        create("no spec", "/spec", json!(null)),
        create(
            "finalizers",
            "/metadata/finalizers",
            json!(["wait", "a b", "orphan", "foregroundDeletion"]),
        ),
        create(
            "a finalizer without a domain",
            "/metadata/finalizers",
            json!(["wait"]),
        ),
        create("an empty version", "/apiVersion", json!("")),
        given("a resourceVersion of 0")
            .put(WEB, with(web(), "/metadata/resourceVersion", json!("0")))
            .merge_patch(WEB, json!({"metadata": {"resourceVersion": "0"}})),
        create("a bad label", "/metadata/labels/x", json!("a b")),
        create("a bad name", "/metadata/name", json!("Web_1")),
        create(
            "another version",
            "/apiVersion",
            json!("custom.example.com/v1"),
        ),
        create("another kind", "/kind", json!("Baton")),
        given("created twice").post(ROLLOUTS, web()),
        case("no such object")
            .get(WEB)
            .after(SERVED)
            .delete(WEB)
            .put(WEB, web())
            .merge_patch(WEB, scale(json!(0))),
        given("deleted").delete(WEB).get(WEB),
        case("deleted with a finalizer")
            .given_at(
                ROLLOUTS,
                with(web(), "/metadata/finalizers", json!(["example.com/wait"])),
            )
            .after(SERVED)
            .delete(WEB)
            .whole()
            .merge_patch(WEB, json!({"metadata": {"finalizers": null}}))
            .get(WEB),
    ]
}

fn changes() -> Vec<Case> {
    vec![
        given("a transition with tests")
            .json_patch(
                WEB,
                json!([
                    {"op": "test", "path": "/metadata/uid", "value": "{uid}"},
                    {"op": "test", "path": "/spec/replicas", "value": 3},
                    {"op": "test", "path": "/metadata/labels/dayshift~1last", "value": null},
                    {"op": "replace", "path": "/spec/replicas", "value": 0},
                    {"op": "add", "path": "/metadata/labels/dayshift~1state", "value": "stopped"},
                ]),
            )
            .whole(),
        given("a test that fails").json_patch(
            WEB,
            json!([{"op": "test", "path": "/spec/replicas", "value": 4}]),
        ),
        given("the count is removed")
            .json_patch(WEB, json!([{"op": "remove", "path": "/spec/replicas"}]))
            .whole()
            .merge_patch(WEB, scale(json!(5)))
            .whole(),
        given("changes that increment the generation")
            .merge_patch(WEB, json!({"metadata": {"labels": {"x": "y"}}}))
            .merge_patch(WEB, json!({"metadata": {"annotations": {"x": "y"}}}))
            .merge_patch(WEB, scale(json!(4)))
            .merge_patch(WEB, json!({"data": {"a": "b"}}))
            .merge_patch(WEB, json!({"status": {"replicas": 4}}))
            .whole(),
        given("a bad label later").merge_patch(WEB, json!({"metadata": {"labels": {"x": "a b"}}})),
        given("a strategic merge patch").ask(
            "PATCH",
            WEB,
            "application/strategic-merge-patch+json",
            r#"{"spec":{"replicas":0}}"#,
        ),
        given("unchanged put")
            .put(WEB, with(web(), "/metadata/resourceVersion", json!("{rv}")))
            .whole(),
        given("put without a resourceVersion").put(WEB, with(web(), "/spec/replicas", json!(5))),
        given("put with a stale resourceVersion")
            .merge_patch(WEB, scale(json!(4)))
            .put(
                WEB,
                with(web(), "/metadata/resourceVersion", json!("{rv0}")),
            ),
        case("field managers")
            .given_at(&format!("{ROLLOUTS}?fieldManager=helm"), web())
            .after(SERVED)
            .merge_patch(&format!("{WEB}?fieldManager=dayshift"), scale(json!(0)))
            .owners()
            .merge_patch(&format!("{WEB}?fieldManager=kubectl"), scale(json!(2)))
            .owners(),
    ]
}

fn reads() -> Vec<Case> {
    let at = |query: &str| format!("{ROLLOUTS}?watch=true&{query}");
    let streamed =
        at("sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
    let (one, many) = (
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    );
    vec![
        given("a list")
            .given_at(ROLLOUTS, rollout("b"))
            .get(ROLLOUTS)
            .whole()
            .get(&format!("{ROLLOUTS}?limit=1"))
            .get(&format!("{ROLLOUTS}?fieldSelector=metadata.name%3Db"))
            .get(&format!("{ROLLOUTS}?fieldSelector=spec.replicas%3D3"))
            .get(&format!("{ROLLOUTS}?labelSelector=app")),
        case("an empty list").get(ROLLOUTS).after(SERVED),
        given("a watch")
            .merge_patch(WEB, scale(json!(0)))
            .delete(WEB)
            .watch(&at("resourceVersion={rv0}"), 2)
            .whole(),
        given("a streamed list").watch(&streamed, 2).whole(),
        given("metadata only")
            .get(WEB)
            .header("accept", one)
            .whole()
            .get(ROLLOUTS)
            .header("accept", many)
            .whole()
            .watch(&streamed, 2)
            .header("accept", one)
            .whole(),
    ]
}

fn discovery() -> Vec<Case> {
    let resources = [
        "namespaces",
        "deployments",
        "statefulsets",
        "cronjobs",
        "horizontalpodautoscalers",
        "rollouts",
    ];
    let groups = ["apps", "batch", "events.k8s.io", "custom.example.com"];
    let listed = |name, path: &str| case(name).get(path).after(SERVED).whole().only(&resources);
    vec![
        case("the groups")
            .get("/apis")
            .after(SERVED)
            .whole()
            .only(&groups),
        case("a group")
            .get("/apis/apps")
            .whole()
            .get("/apis/batch")
            .whole(),
        case("a custom group")
            .get("/apis/custom.example.com")
            .after(SERVED)
            .whole(),
        case("no such group").get("/apis/none.example.com"),
        case("no such version")
            .get("/apis/apps/v2")
            .get("/apis/none.example.com/v1"),
        case("the core versions").get("/api").whole(),
        listed("the core", "/api/v1"),
        listed("apps", "/apis/apps/v1"),
        listed("batch", "/apis/batch/v1"),
        listed("autoscaling", "/apis/autoscaling/v2"),
        case("events").get("/apis/events.k8s.io/v1").whole(),
        listed("custom resources", "/apis/custom.example.com/v1alpha1"),
        case("no such kind in a custom group")
            .get("/apis/custom.example.com/v1alpha1/namespaces/{ns}/sticks")
            .after(SERVED)
            .get("/apis/custom.example.com/v1/namespaces/{ns}/rollouts")
            .get("/apis/none.example.com/v1/namespaces/{ns}/rollouts"),
        case("a kind that is no longer served")
            .get(BATONS)
            .after(Before::Served("Baton"))
            .get(BATONS)
            .after(Before::Withdrawn("Baton")),
        case("discovery rejects writes")
            .post("/apis/apps/v1", json!({}))
            .delete("/apis/batch"),
    ]
}
