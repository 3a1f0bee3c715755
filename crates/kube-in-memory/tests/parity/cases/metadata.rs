//! Requests for partial metadata.

use serde_json::json;

use super::super::table::{CRON_JOBS, Case, DEPLOYMENTS, EVENTS, REPORT, WEB, case};
use super::{cron_job, deployment, web, with};

const NAMESPACES: &str = "/api/v1/namespaces";
const ONE: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const MANY: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

impl Case {
    /// Requests the last response in this representation, and compares all of it.
    fn shown_as(self, form: &'static str) -> Self {
        self.header("accept", form).whole()
    }
}

fn given(name: &'static str) -> Case {
    case(name).given(web())
}

fn watched(collection: &str, query: &str) -> String {
    format!("{collection}?watch=true&{query}")
}

const STREAMED: &str =
    "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

pub fn cases() -> Vec<Case> {
    let mut cases = forms();
    cases.extend(kinds());
    cases.extend(accepted());
    cases
}

fn forms() -> Vec<Case> {
    vec![
        given("one object").get(WEB).shown_as(ONE),
        case("a missing object").get(WEB).shown_as(ONE),
        given("a list").get(DEPLOYMENTS).shown_as(MANY),
        case("an empty list").get(DEPLOYMENTS).shown_as(MANY),
        given("a list in pages")
            .given(deployment("a"))
            .get(&format!("{DEPLOYMENTS}?limit=1"))
            .shown_as(MANY)
            .get(&format!("{DEPLOYMENTS}?limit=1&continue={{continue}}"))
            .shown_as(MANY)
            .get(&format!("{DEPLOYMENTS}?labelSelector=tier%3Dfront"))
            .shown_as(MANY),
        given("a watch")
            .merge_patch(WEB, json!({"spec": {"replicas": 0}}))
            .merge_patch(WEB, json!({"metadata": {"labels": {"tier": "back"}}}))
            .delete(WEB)
            .watch(&watched(DEPLOYMENTS, "resourceVersion={rv0}"), 3)
            .shown_as(ONE)
            .watch(
                &watched(
                    DEPLOYMENTS,
                    "resourceVersion={rv0}&labelSelector=tier%3Dfront",
                ),
                2,
            )
            .shown_as(ONE),
        given("a streamed list")
            .watch(&watched(DEPLOYMENTS, STREAMED), 2)
            .shown_as(ONE),
        given("only a bookmark before the end")
            .watch(
                &watched(
                    DEPLOYMENTS,
                    "resourceVersion={rv}&allowWatchBookmarks=true&timeoutSeconds=3",
                ),
                1,
            )
            .shown_as(ONE)
            .without_bookmarks(),
        given("responses to changes")
            .merge_patch(WEB, json!({"spec": {"replicas": 0}}))
            .shown_as(ONE)
            .json_patch(
                WEB,
                json!([{"op": "add", "path": "/metadata/labels/a", "value": "b"}]),
            )
            .shown_as(ONE)
            .put(WEB, web())
            .shown_as(ONE)
            .merge_patch(WEB, json!({"spec": {"replicas": -1}}))
            .shown_as(ONE)
            .delete(WEB)
            .shown_as(ONE),
        case("a created object")
            .post(DEPLOYMENTS, web())
            .shown_as(ONE),
        case("deleted with a finalizer")
            .given(with(
                web(),
                "/metadata/finalizers",
                json!(["example.com/wait"]),
            ))
            .delete(WEB)
            .shown_as(ONE),
    ]
}

fn kinds() -> Vec<Case> {
    let own = "fieldSelector=metadata.name%3D{ns}";
    let annotation =
        json!({"metadata": {"annotations": {"dayshift/hours": "Mon-Fri 09:00-19:00"}}});
    vec![
        case("namespaces")
            .get(&format!("{NAMESPACES}?{own}"))
            .shown_as(MANY)
            .get("/api/v1/namespaces/{ns}")
            .shown_as(ONE)
            .merge_patch("/api/v1/namespaces/{ns}", annotation)
            .shown_as(ONE)
            .delete("/api/v1/namespaces/{ns}")
            .shown_as(ONE)
            .watch(
                &watched(NAMESPACES, &format!("resourceVersion={{rv0}}&{own}")),
                2,
            )
            .shown_as(ONE)
            .watch(&watched(NAMESPACES, &format!("{own}&{STREAMED}")), 2)
            .shown_as(ONE),
        case("cron jobs")
            .given_at(CRON_JOBS, cron_job("report"))
            .get(CRON_JOBS)
            .shown_as(MANY)
            .get(REPORT)
            .shown_as(ONE)
            .watch(&watched(CRON_JOBS, STREAMED), 2)
            .shown_as(ONE),
        case("events").get(EVENTS).shown_as(MANY),
        given("a list of all namespaces")
            .get("/apis/apps/v1/deployments?fieldSelector=metadata.namespace%3D{ns}")
            .shown_as(MANY),
    ]
}

fn accepted() -> Vec<Case> {
    let of_version = |name, accept| given(name).get(WEB).shown_as(accept);
    vec![
        of_version(
            "blanks",
            "application/json; as=PartialObjectMetadata; g=meta.k8s.io; v=v1",
        ),
        of_version(
            "complete JSON as an alternative to an unknown form",
            "application/json;as=Half;g=meta.k8s.io;v=v1, application/json",
        ),
        of_version("any media type", "*/*"),
    ]
}
