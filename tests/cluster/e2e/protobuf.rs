//! dayshift decodes protobuf to the same values as JSON.

use std::collections::BTreeMap;

use dayshift_cluster::{Workload, connect::compact, decode::Version};
use dayshift_workload::{Kind, Observed, Prefix, Replicas};
use futures::StreamExt as _;
use http::{Request, header::CONTENT_TYPE};
use kube::{
    Client, Error,
    api::{GetParams, ListParams, ObjectList, WatchEvent, WatchParams},
    core::Request as Requests,
};
use serde_json::json;

use crate::support::{ControlPlane, Parts, Scenario, block_on, deployment, scenarios};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Server;
        deployments_are_the_same_in_protobuf_and_in_json,
        failures_are_the_same_in_protobuf_and_in_json,
    ]
}

fn deployments_are_the_same_in_protobuf_and_in_json(plane: &ControlPlane) {
    let namespace = plane.namespace("forms");
    namespace.create(deployment("plain"));
    namespace.create(deployment("zero").replicas(0).label("empty", ""));
    namespace.create(deployment("default").without_replicas());
    namespace.create(
        deployment("texts")
            .replicas(2_147_483_647)
            .start("Mon-Fri 09:00; 10:00")
            .annotation("note", "café \"quoted\" \u{1b}[31m \u{202e} 𝄞\n\t\\")
            .annotation("empty", "")
            .label("dayshift/state", "stopped"),
    );
    namespace.create(deployment("leaving").stop("19:00"));
    let finalizer = json!({"metadata": {"finalizers": ["example.com/keep"]}});
    namespace.merge("leaving", &finalizer);
    let leaving = format!(
        "/apis/apps/v1/namespaces/{}/deployments/leaving",
        namespace.name()
    );
    plane.remove(&leaving);
    let applied = "kubectl.kubernetes.io/last-applied-configuration";
    namespace.create(deployment("applied").annotation(applied, "{…}"));

    let [json, protobuf] = FORMS.map(|form| {
        let name = namespace.name();
        block_on(async move {
            let client = form.client(plane);
            let deployments = deployments_in(name);
            // Pages, so that continue tokens are passed on too.
            let mut page = ListParams::default().limit(2);
            let mut listed = BTreeMap::new();
            loop {
                let request = deployments.list(&page).unwrap();
                let some: ObjectList<Workload> = client.request(request).await.unwrap();
                listed.extend(some.items.iter().map(seen));
                match some.metadata.continue_ {
                    Some(token) if !token.is_empty() => page = page.continue_token(&token),
                    _ => break,
                }
            }
            let everything = WatchParams::default().timeout(2);
            let request = deployments.watch(&everything, "0").unwrap();
            let events = client.request_events::<Workload>(request).await.unwrap();
            let watched: Vec<_> = events
                .filter_map(|event| async {
                    match event.unwrap() {
                        WatchEvent::Added(it) => Some(seen(&it)),
                        _ => None,
                    }
                })
                .collect()
                .await;
            assert_eq!(watched.into_iter().collect::<BTreeMap<_, _>>(), listed);
            for (name, one) in &listed {
                let request = deployments.get(name, &GetParams::default()).unwrap();
                let read: Workload = client.request(request).await.unwrap();
                assert_eq!(seen(&read).1, *one);
            }
            listed
        })
    });
    assert_eq!(json.len(), 6);
    assert!(json["leaving"].0.deleting && json["default"].0.replicas == Replicas::ONE);
    assert_eq!(protobuf, json);
}

fn failures_are_the_same_in_protobuf_and_in_json(plane: &ControlPlane) {
    let namespace = plane.namespace("failures");
    namespace.create(deployment("web"));
    let [json, protobuf] = FORMS.map(|form| {
        let name = namespace.name();
        block_on(async move {
            let client = form.client(plane);
            let deployments = deployments_in(name);
            let web = format!("/apis/apps/v1/namespaces/{name}/deployments/web");
            let operations = [
                json!([{"op": "test", "path": "/spec/replicas", "value": 9}]),
                json!([{"op": "replace", "path": "/spec/replicas", "value": -9}]),
                json!([{"op": "add", "path": "/metadata/resourceVersion", "value": "1"}]),
            ];
            let nobody = deployments.get("nobody", &GetParams::default()).unwrap();
            let mut failures = vec![client.request::<Workload>(nobody).await.unwrap_err()];
            for operation in operations {
                let patch =
                    Request::patch(&web).header(CONTENT_TYPE, "application/json-patch+json");
                let patch = patch.body(operation.to_string().into_bytes()).unwrap();
                failures.push(client.request::<Workload>(patch).await.unwrap_err());
            }
            let nowhere = ListParams::default().continue_token("nowhere");
            let nowhere = deployments.list(&nowhere).unwrap();
            let nowhere = client.request::<ObjectList<Workload>>(nowhere).await;
            failures.push(nowhere.unwrap_err());
            failures.iter().map(status).collect::<Vec<_>>()
        })
    });
    assert_eq!(
        json.iter().map(|(code, ..)| *code).collect::<Vec<_>>(),
        [404, 422, 422, 409, 400]
    );
    assert_eq!(protobuf, json);
}

/// The requests for the Deployments of a namespace.
fn deployments_in(namespace: &str) -> Requests {
    Requests::new(format!("/apis/apps/v1/namespaces/{namespace}/deployments"))
}

#[derive(Clone, Copy)]
enum Form {
    Json,
    Protobuf,
}

const FORMS: [Form; 2] = [Form::Json, Form::Protobuf];

impl Form {
    fn client(self, plane: &ControlPlane) -> Client {
        let client = plane.client().clone();
        match self {
            Self::Json => client,
            Self::Protobuf => compact(client),
        }
    }
}

fn seen(workload: &Workload) -> (String, (Observed, Version)) {
    let observed = workload.observe(&Kind::DEPLOYMENT, &Prefix::default());
    (workload.name().to_owned(), (observed, workload.version()))
}

/// Everything that decides how a failure is handled and reported.
fn status(error: &Error) -> (u16, String, String, Vec<(String, String)>) {
    let Error::Api(status) = error else {
        panic!("{error}");
    };
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let causes = causes.map(|cause| (cause.field.clone(), cause.message.clone()));
    (
        status.code,
        status.reason.clone(),
        status.message.clone(),
        causes.collect(),
    )
}
