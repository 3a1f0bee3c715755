//! Watches: their beginning, events and end.

use serde_json::{Value, json};

use super::super::table::{Case, DEPLOYMENTS, WEB, case};
use super::{EXCLUDING, apart, deployment, web, with};

fn at(query: &str) -> String {
    format!("{DEPLOYMENTS}?watch=true&{query}")
}

fn labels(labels: Value) -> Value {
    json!({"metadata": {"labels": labels}})
}

/// `web` is created, scaled, labeled and deleted.
fn changed_web(name: &'static str) -> Case {
    case(name)
        .given(web())
        .merge_patch(WEB, json!({"spec": {"replicas": 0}}))
        .merge_patch(WEB, labels(json!({"tier": "back"})))
        .delete(WEB)
}

pub fn cases() -> Vec<Case> {
    let mut cases = all();
    cases.extend(EXCLUDING.map(|(description, query)| {
        let query = format!("labelSelector=of%3D{{ns}}&fieldSelector={query}");
        apart(description)
            .watch(
                &format!("/apis/apps/v1/deployments?watch=true&timeoutSeconds=2&resourceVersion={{rv0}}&{query}"),
                3,
            )
            .watch(
                &format!("/apis/apps/v1/deployments?watch=true&timeoutSeconds=2&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&{query}"),
                3,
            )
            .without_bookmarks()
    }));
    cases
}

fn all() -> Vec<Case> {
    vec![
        changed_web("from a version").watch(&at("resourceVersion={rv0}"), 3),
        changed_web("from a version, whole objects").watch(&at("resourceVersion={rv0}"), 3).whole(),
        changed_web("an object leaves the selector").watch(&at("resourceVersion={rv0}&labelSelector=tier%3Dfront"), 2),
        changed_web("an object enters the selector").watch(&at("resourceVersion={rv0}&labelSelector=tier%3Dback"), 2),
        changed_web("a name").watch(&at("resourceVersion={rv0}&fieldSelector=metadata.name%3Dweb"), 3),
        case("an unchanged object causes no event")
            .given(web())
            .merge_patch(WEB, json!({"spec": {"replicas": 3}}))
            .merge_patch(WEB, json!({"spec": {"replicas": 4}}))
            .watch(&at("resourceVersion={rv0}"), 1),
        case("a deletion in two steps")
            .post(DEPLOYMENTS, with(web(), "/metadata/finalizers", json!(["example.com/wait"])))
            .delete(WEB)
            .merge_patch(WEB, json!({"metadata": {"finalizers": null}}))
            .watch(&at("resourceVersion={rv0}"), 2),
        case("current objects, then changes")
            .given(deployment("b"))
            .given(deployment("a"))
            .get(DEPLOYMENTS)
            .watch(&at("resourceVersion=0"), 2)
            .watch(&at(""), 2),
        case("a streamed list")
            .given(deployment("b"))
            .given(deployment("a"))
            .get(DEPLOYMENTS)
            .watch(
                &at("resourceVersion=0&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"),
                3,
            )
            .whole(),
        case("an empty streamed list")
            .watch(
                &at("sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"),
                1,
            )
            .whole(),
        case("a streamed list of namespaces")
            .watch(
                "/api/v1/namespaces?watch=true&fieldSelector=metadata.name%3D{ns}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
                2,
            )
            .whole(),
        case("a streamed list of events")
            .watch(
                "/apis/events.k8s.io/v1/namespaces/{ns}/events?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
                1,
            )
            .whole(),
        case("only a bookmark before the end")
            .given(web())
            .watch(
                &at("resourceVersion={rv}&allowWatchBookmarks=true&timeoutSeconds=3"),
                1,
            )
            .without_bookmarks(),
        case("no bookmark unless requested")
            .given(web())
            .watch(&at("resourceVersion={rv}&timeoutSeconds=3"), 1),
        case("from a future version").watch(&at("resourceVersion=999999999&timeoutSeconds=1"), 1),
        case("a version that is a text").watch(&at("resourceVersion=new"), 1),
        case("initial events without resourceVersionMatch").watch(&at("sendInitialEvents=true"), 1),
        case("resourceVersionMatch without initial events").watch(&at("resourceVersion=0&resourceVersionMatch=NotOlderThan"), 1),
        case("an exact match").watch(&at("resourceVersion=0&resourceVersionMatch=Exact"), 1),
        case("a watch ends at its timeout").watch(&at("timeoutSeconds=1"), 1),
        case("an invalid label selector").watch(&at("labelSelector=tier+of+x"), 1),
    ]
}
