//! Actions that no API request can perform, on a real server and in memory.

use std::time::Duration;

use http::Request;
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};

use kube_in_memory::{Api, Status};

pub enum Backend<'a> {
    Memory(&'a Api),
    /// A function that compacts etcd.
    Real(&'a (dyn Fn() + Sync)),
}

impl Backend<'_> {
    /// Forgets the history.
    pub fn compact(&self) {
        match self {
            Self::Memory(api) => api.compact(),
            Self::Real(compact) => compact(),
        }
    }

    /// Denies scaling a Deployment in this namespace to zero.
    pub async fn deny_zero(&self, client: &Client, namespace: &str) {
        let message = "one has to run";
        match self {
            Self::Memory(api) => api.on_admission(move |asked| {
                let refused = asked.verb == "update" && asked.new["spec"]["replicas"] == 0;
                let denied = |name| {
                    Status::denied_by_policy("apps", asked.resource, name, "no-zero", message)
                };
                refused.then(|| denied(asked.name))
            }),
            Self::Real(_) => {
                let api = "/apis/admissionregistration.k8s.io/v1";
                let policy = json!({"metadata": {"name": "no-zero"}, "spec": {
                    "matchConstraints": {"resourceRules": [{
                        "apiGroups": ["apps"], "apiVersions": ["v1"],
                        "operations": ["UPDATE"], "resources": ["deployments"],
                    }]},
                    "validations": [{"expression": "object.spec.replicas > 0", "message": message}],
                }});
                let binding = json!({"metadata": {"name": "no-zero"}, "spec": {
                    "policyName": "no-zero", "validationActions": ["Deny"],
                    "matchResources": {"namespaceSelector": {"matchLabels": {
                        "kubernetes.io/metadata.name": namespace,
                    }}},
                }});
                create(
                    client,
                    &format!("{api}/validatingadmissionpolicies"),
                    &policy,
                )
                .await;
                create(
                    client,
                    &format!("{api}/validatingadmissionpolicybindings"),
                    &binding,
                )
                .await;
                let web =
                    format!("/apis/apps/v1/namespaces/{namespace}/deployments/web?dryRun=All");
                // A policy takes effect within about a second.
                loop {
                    let try_it = Request::patch(&web)
                        .header("content-type", "application/merge-patch+json")
                        .body(Body::from(br#"{"spec":{"replicas":0}}"#.to_vec()));
                    if client.send(try_it.unwrap()).await.unwrap().status() == 422 {
                        break;
                    }
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }

    pub async fn serve(&self, client: &Client, kind: &str) {
        let plural = plural(kind);
        match self {
            Self::Memory(api) => api.serve_custom(GROUP, VERSION, &plural, kind),
            Self::Real(_) => {
                let schema =
                    json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
                let definition = json!({"metadata": {"name": format!("{plural}.{GROUP}")}, "spec": {
                    "group": GROUP, "scope": "Namespaced",
                    "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind},
                    "versions": [{
                        "name": VERSION, "served": true, "storage": true,
                        "subresources": {"status": {}}, "schema": {"openAPIV3Schema": schema},
                    }],
                }});
                let request = Request::post(DEFINITIONS)
                    .header("content-type", "application/json")
                    .body(Body::from(definition.to_string().into_bytes()));
                let code = client.send(request.unwrap()).await.unwrap().status();
                assert!(code == 201 || code == 409, "{code}");
                let resources = format!("/apis/{GROUP}/{VERSION}");
                until(client, &collection(kind), |code, _| code == 200).await;
                until(client, &resources, |_, text| text.contains(&plural)).await;
                until(client, "/apis", |_, text| text.contains(GROUP)).await;
            }
        }
    }

    /// Stops serving a custom kind.
    pub async fn withdraw(&self, client: &Client, kind: &str) {
        match self {
            Self::Memory(api) => api.withdraw(kind),
            Self::Real(_) => {
                let path = format!("{DEFINITIONS}/{}.{GROUP}", plural(kind));
                let request = Request::delete(path).body(Body::empty());
                assert_eq!(client.send(request.unwrap()).await.unwrap().status(), 200);
                until(client, &collection(kind), |code, _| code == 404).await;
            }
        }
    }
}

/// The path of CustomResourceDefinitions, and the group and version of the tests' kinds.
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GROUP: &str = "custom.example.com";
const VERSION: &str = "v1alpha1";

fn plural(kind: &str) -> String {
    format!("{}s", kind.to_lowercase())
}

fn collection(kind: &str) -> String {
    format!("/apis/{GROUP}/{VERSION}/{}", plural(kind))
}

/// Polls a path until the response is as it should be. A definition takes effect within about a second.
async fn until(client: &Client, path: &str, wanted: impl Fn(u16, &str) -> bool) {
    loop {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let answer = client.send(request).await.unwrap();
        let code = answer.status().as_u16();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        if wanted(code, &String::from_utf8_lossy(&body)) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Creates an object that should not exist yet.
pub async fn create(client: &Client, path: &str, object: &Value) {
    let request = Request::post(path).header("content-type", "application/json");
    let request = request
        .body(Body::from(object.to_string().into_bytes()))
        .unwrap();
    assert_eq!(client.send(request).await.unwrap().status(), 201, "{path}");
}
