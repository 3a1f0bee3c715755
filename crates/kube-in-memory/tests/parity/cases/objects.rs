//! Creating, reading, replacing and deleting objects.

use serde_json::json;

use super::super::table::{Case, DEPLOYMENTS, EVENTS, WEB, case};
use super::{deployment, web, with};

fn event(name: &str) -> serde_json::Value {
    json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event",
        "metadata": {"name": name, "namespace": "{ns}"},
        "eventTime": "2026-11-20T10:00:00.000000Z", "type": "Normal", "reason": "Started",
        "action": "Start", "note": "1 to 2", "reportingController": "dayshift/controller",
        "reportingInstance": "dayshift-0",
        "regarding": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "{ns}", "name": "web"},
    })
}

pub fn cases() -> Vec<Case> {
    vec![
        case("a created object has its defaults").post(DEPLOYMENTS, deployment("web")).whole().get(WEB).whole(),
        case("given values stay").post(
            DEPLOYMENTS,
            with(
                with(web(), "/spec/strategy", json!({"type": "Recreate"})),
                "/spec/template/spec/containers/0",
                json!({"name": "nginx", "image": "nginx", "ports": [{"containerPort": 80}], "imagePullPolicy": "Never"}),
            ),
        )
        .whole(),
        case("an image without a tag is pulled always")
            .post(DEPLOYMENTS, with(web(), "/spec/template/spec/containers/0/image", json!("host:5000/a/nginx")))
            .whole(),
        case("fields that the server sets are ignored").post(
            DEPLOYMENTS,
            with(
                with(web(), "/metadata", json!({
                    "name": "web", "uid": "0e5f41c8-0000-4000-8000-000000000000", "generation": 9,
                    "creationTimestamp": "2020-01-01T00:00:00Z",
                })),
                "/status", json!({"replicas": 7}),
            ),
        ),
        case("a generated name").post(DEPLOYMENTS, with(web(), "/metadata", json!({"generateName": ""}))),
        case("created twice").post(DEPLOYMENTS, web()).post(DEPLOYMENTS, web()),
        case("created with a resourceVersion").post(DEPLOYMENTS, with(web(), "/metadata/resourceVersion", json!("5"))),
        case("created in no namespace").post("/apis/apps/v1/namespaces/{ns}-gone/deployments", web()),
        case("created in another namespace than the path's")
            .post(DEPLOYMENTS, with(web(), "/metadata/namespace", json!("default"))),
        case("created without a name").post(DEPLOYMENTS, with(web(), "/metadata", json!({}))),
        case("created cluster-wide").post("/apis/apps/v1/deployments", web()),
        case("created at a path with a name").post(WEB, web()),
        case("another kind than the path's").post(DEPLOYMENTS, with(web(), "/kind", json!("StatefulSet"))),
        case("another version than the path's").post(DEPLOYMENTS, with(web(), "/apiVersion", json!("apps/v1beta1"))),
        case("a null label and a null annotation").post(
            DEPLOYMENTS,
            with(web(), "/metadata", json!({"name": "web", "labels": {"a": null}, "annotations": {"b": null}})),
        ),
        case("empty maps are left out").post(
            DEPLOYMENTS,
            with(web(), "/metadata", json!({"name": "web", "labels": {}, "annotations": {}, "finalizers": []})),
        ),
        case("no such object").get(WEB).delete(WEB).put(WEB, web()).json_patch(WEB, json!([])),
        case("no such namespace").get("/apis/apps/v1/namespaces/{ns}-gone/deployments/web"),
        case("no such resource").get("/apis/apps/v1/namespaces/{ns}/deploymentz/web"),
        case("no such group").get("/apis/dayshift.example/v1/things"),
        case("no such path").get("/apis2/apps"),
        case("unchanged put").given(web()).put(WEB, with(web(), "/metadata/resourceVersion", json!("{rv}"))),
        case("put without a resourceVersion").given(web()).put(WEB, with(web(), "/spec/replicas", json!(5))),
        case("put with a stale resourceVersion")
            .given(web())
            .merge_patch(WEB, json!({"spec": {"replicas": 4}}))
            .put(WEB, with(web(), "/metadata/resourceVersion", json!("{rv0}"))),
        case("put with another name").given(web()).put(WEB, deployment("other")),
        case("put with another uid")
            .given(web())
            .put(WEB, with(web(), "/metadata/uid", json!("0e5f41c8-0000-4000-8000-000000000000"))),
        case("put removes omitted fields").given(web()).put(WEB, deployment("web")),
        case("put does not change the status")
            .given(web())
            .put(WEB, with(web(), "/status", json!({"replicas": 3}))),
        case("deleted").given(web()).delete(WEB).get(WEB).delete(WEB),
        case("deleted with a wrong uid").given(web()).ask(
            "DELETE", WEB, "application/json",
            r#"{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"0e5f41c8-0000-4000-8000-000000000000"}}"#,
        ),
        case("deleted with a finalizer")
            .post(DEPLOYMENTS, with(web(), "/metadata/finalizers", json!(["example.com/wait"])))
            .delete(WEB)
            .delete(WEB)
            .post(DEPLOYMENTS, web())
            .merge_patch(WEB, json!({"metadata": {"deletionTimestamp": null}, "spec": {"replicas": 1}}))
            .merge_patch(WEB, json!({"metadata": {"finalizers": null}}))
            .get(WEB),
        case("created again after a deletion").given(web()).delete(WEB).post(DEPLOYMENTS, web()),
        case("dry runs")
            .post(&format!("{DEPLOYMENTS}?dryRun=All"), web())
            .get(WEB)
            .given(web())
            .merge_patch(&format!("{WEB}?dryRun=All"), json!({"spec": {"replicas": 0}}))
            .delete(&format!("{WEB}?dryRun=All"))
            .get(WEB),
        case("a dry run of a deletion, in its options")
            .given(web())
            .ask("DELETE", WEB, "application/json", r#"{"dryRun":["All"]}"#)
            .get(WEB)
            .ask("DELETE", WEB, "application/json", r#"{"dryRun":["all"]}"#)
            .get(WEB)
            .ask("DELETE", &format!("{WEB}?dryRun=All"), "application/json", r#"{}"#)
            .get(WEB),
        case("an unknown dry run")
            .post(&format!("{DEPLOYMENTS}?dryRun=all"), web())
            .post(&format!("{DEPLOYMENTS}?dryRun=All&dryRun="), web())
            .given(web())
            .put(&format!("{WEB}?dryRun=true"), deployment("web"))
            .merge_patch(&format!("{WEB}?dryRun="), json!({"spec": {"replicas": 0}}))
            .delete(&format!("{WEB}?dryRun=x"))
            .get(WEB),
        case("a resourceVersion of 0 is ignored")
            .given(web())
            .merge_patch(WEB, json!({"metadata": {"resourceVersion": "0"}, "spec": {"replicas": 4}}))
            .put(WEB, with(web(), "/metadata/resourceVersion", json!("0"))),
        case("an empty kind is ignored")
            .post(DEPLOYMENTS, with(web(), "/kind", json!("")))
            .put(WEB, with(with(web(), "/kind", json!("")), "/apiVersion", json!(""))),
        case("a namespace").get("/api/v1/namespaces/{ns}").whole().post(
            "/api/v1/namespaces",
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "{ns}"}}),
        ),
        case("a namespace with a bad name").post(
            "/api/v1/namespaces",
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "Bad.Name"}}),
        ),
        case("an event").post(EVENTS, event("web.1")).whole().get("/apis/events.k8s.io/v1/namespaces/{ns}/events/web.1").whole(),
        case("an event twice").post(EVENTS, event("web.1")).post(EVENTS, event("web.1")),
        case("an event without required fields").post(
            EVENTS,
            json!({"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "web.1"}, "regarding": {"namespace": "{ns}"}}),
        ),
        case("an event without a type and a reporter").post(
            EVENTS,
            json!({
                "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "web.1"},
                "eventTime": "2026-11-20T10:00:00.000000Z", "regarding": {"namespace": "{ns}"},
            }),
        ),
        case("an event with a note that is too long").post(EVENTS, with(event("web.1"), "/note", json!("x".repeat(1025)))),
        case("an event about another namespace's object")
            .post(EVENTS, with(event("web.1"), "/regarding/namespace", json!("default")))
            .post(EVENTS, with(event("web.2"), "/regarding/namespace", json!(""))),
    ]
}
