//! HorizontalPodAutoscalers: defaults, the minimum, and validation common to all kinds.

use serde_json::{Value, json};

use super::super::table::{Case, case};
use super::with;

const AUTOSCALERS: &str = "/apis/autoscaling/v2/namespaces/{ns}/horizontalpodautoscalers";
const WEB: &str = "/apis/autoscaling/v2/namespaces/{ns}/horizontalpodautoscalers/web";

/// A minimal autoscaler.
fn autoscaler(name: &str) -> Value {
    json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "maxReplicas": 5,
        },
    })
}

/// `web` with labels, annotations and a minimum.
fn web() -> Value {
    let mut web = autoscaler("web");
    web["metadata"]["labels"] = json!({"app": "web"});
    web["metadata"]["annotations"] = json!({"plain": "x"});
    web["spec"]["minReplicas"] = json!(2);
    web
}

fn given(name: &'static str) -> Case {
    case(name).given_at(AUTOSCALERS, web())
}

fn create(name: &'static str, path: &str, value: Value) -> Case {
    case(name).post(AUTOSCALERS, with(web(), path, value))
}

fn least(count: Value) -> Value {
    json!({"spec": {"minReplicas": count}})
}

pub fn cases() -> Vec<Case> {
    let mut cases = objects();
    cases.extend(refusals());
    cases.extend(changes());
    cases.extend(reads());
    cases
}

fn objects() -> Vec<Case> {
    let external = json!([{
        "type": "External",
        "external": {"metric": {"name": "queue"}, "target": {"type": "AverageValue", "averageValue": "30"}},
    }]);
    vec![
        case("a created object has its defaults")
            .post(AUTOSCALERS, autoscaler("web"))
            .whole()
            .get(WEB)
            .whole(),
        create("minReplicas stays", "/spec/minReplicas", json!(5)).whole(),
        create("metrics stay", "/spec/metrics", external).whole(),
        create("no metrics", "/spec/metrics", json!([])).whole(),
        create("an unknown member is dropped", "/spec/replicas", json!(3)).whole(),
        create(
            "a status is ignored",
            "/status",
            json!({"desiredReplicas": 3}),
        )
        .whole(),
        case("created twice")
            .post(AUTOSCALERS, web())
            .post(AUTOSCALERS, web()),
        case("no such object").get(WEB).delete(WEB).put(WEB, web()),
        given("deleted").delete(WEB).get(WEB),
    ]
}

fn refusals() -> Vec<Case> {
    vec![
        create("minReplicas of zero", "/spec/minReplicas", json!(0)),
        create("negative minReplicas", "/spec/minReplicas", json!(-1)),
        create(
            "minReplicas above maxReplicas",
            "/spec/minReplicas",
            json!(6),
        ),
        create("minReplicas is a text", "/spec/minReplicas", json!("1")),
        create("maxReplicas of zero", "/spec/maxReplicas", json!(0)),
        create("negative maxReplicas", "/spec/maxReplicas", json!(-1)),
        create("no maxReplicas", "/spec/maxReplicas", json!(null)),
        create(
            "a target that is a text",
            "/spec/scaleTargetRef",
            json!("web"),
        ),
        create("metrics that are a map", "/spec/metrics", json!({})),
        create("a spec that is a text", "/spec", json!("x")),
        create("a bad label", "/metadata/labels/x", json!("a b")),
        create("a bad name", "/metadata/name", json!("Web_1")),
    ]
}

fn changes() -> Vec<Case> {
    vec![
        given("a transition with tests").json_patch(
            WEB,
            json!([
                {"op": "test", "path": "/metadata/uid", "value": "{uid}"},
                {"op": "test", "path": "/spec/minReplicas", "value": 2},
                {"op": "test", "path": "/metadata/labels/dayshift~1last", "value": null},
                {"op": "replace", "path": "/spec/minReplicas", "value": 1},
                {"op": "add", "path": "/metadata/labels/dayshift~1state", "value": "stopped"},
            ]),
        ),
        given("a test that fails").json_patch(
            WEB,
            json!([{"op": "test", "path": "/spec/minReplicas", "value": null}]),
        ),
        given("minReplicas is removed")
            .merge_patch(WEB, least(json!(null)))
            .merge_patch(WEB, least(json!(3)))
            .json_patch(WEB, json!([{"op": "remove", "path": "/spec/minReplicas"}])),
        given("minReplicas patched to zero").merge_patch(WEB, least(json!(0))),
        given("maxReplicas lowered below minReplicas")
            .merge_patch(WEB, json!({"spec": {"maxReplicas": 1}})),
        given("changes that increment the generation")
            .merge_patch(WEB, json!({"metadata": {"labels": {"x": "y"}}}))
            .merge_patch(WEB, json!({"metadata": {"annotations": {"x": "y"}}}))
            .merge_patch(WEB, least(json!(3)))
            .whole(),
        given("put removes omitted fields")
            .put(WEB, autoscaler("web"))
            .whole(),
        given("put with a stale resourceVersion")
            .merge_patch(WEB, least(json!(3)))
            .put(WEB, with(web(), "/metadata/resourceVersion", json!("1"))),
        given("put does not change the status")
            .put(WEB, with(web(), "/status", json!({"currentReplicas": 3}))),
        case("field managers")
            .given_at(&format!("{AUTOSCALERS}?fieldManager=helm"), web())
            .merge_patch(&format!("{WEB}?fieldManager=dayshift"), least(json!(1)))
            .owners()
            .merge_patch(&format!("{WEB}?fieldManager=kubectl"), least(json!(4)))
            .owners(),
    ]
}

fn reads() -> Vec<Case> {
    let at = |query: &str| format!("{AUTOSCALERS}?watch=true&{query}");
    vec![
        case("a list")
            .given_at(AUTOSCALERS, autoscaler("b"))
            .given_at(AUTOSCALERS, web())
            .get(AUTOSCALERS)
            .whole()
            .get(&format!("{AUTOSCALERS}?limit=1"))
            .get(&format!("{AUTOSCALERS}?fieldSelector=metadata.name%3Db"))
            .get(&format!("{AUTOSCALERS}?labelSelector=app")),
        given("a watch")
            .merge_patch(WEB, least(json!(1)))
            .delete(WEB)
            .watch(&at("resourceVersion={rv0}"), 2)
            .whole(),
        given("a streamed list")
            .get(AUTOSCALERS)
            .watch(
                &at("resourceVersion=0&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"),
                2,
            )
            .whole(),
        given("metadata only")
            .get(WEB)
            .header("accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
            .whole(),
]
}
