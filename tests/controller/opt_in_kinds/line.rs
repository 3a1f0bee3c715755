//! Objects of each kind, a controller that watches them, and the patches that it sends.

use std::sync::{Arc, Mutex};

use dayshift_workload::{Kind, KindTable};
use http::{Method, Request};
use kube::{Client, client::Body};
use kube_in_memory::Api;
use serde_json::{Value, json};
use tower::{BoxError, service_fn};

use crate::sandbox::{Sandbox, cron_job, default_with};

pub(super) const PAUSED: &str = "autoscaling.keda.sh/paused-replicas";
pub(super) const PAUSED_PATH: &str = "/metadata/annotations/autoscaling.keda.sh~1paused-replicas";

/// The patches of a controller, and a concurrent change before the next one.
#[derive(Clone, Default)]
pub(super) struct Line(pub(super) Arc<Mutex<Sent>>);

pub(super) type Sent = (Vec<Vec<Value>>, Option<ConcurrentChange>);

pub(super) type ConcurrentChange = fn(&Api);

impl Line {
    pub(super) fn client(&self, api: &Api) -> Client {
        let (line, api) = (self.clone(), api.clone());
        let inner = api.client_as("scaler");
        let service = service_fn(move |request: Request<Body>| {
            let (line, api, inner) = (line.clone(), api.clone(), inner.clone());
            async move {
                let (head, body) = request.into_parts();
                let bytes = body.collect_bytes().await?.to_vec();
                if head.method == Method::PATCH {
                    let change = line.0.lock().unwrap().1.take();
                    if let Some(change) = change {
                        change(&api);
                    }
                    let patch = serde_json::from_slice(&bytes)?;
                    line.0.lock().unwrap().0.push(patch);
                }
                let request = Request::from_parts(head, Body::from(bytes));
                Ok::<_, BoxError>(inner.send(request).await?)
            }
        });
        Client::new(service, "default")
    }

    /// The operations of the last patch with this path, without the path.
    pub(super) fn last(&self, path: &str) -> Vec<(String, Value)> {
        let patches = self.0.lock().unwrap();
        let operations = patches.0.last().unwrap().iter();
        let of_it = operations.filter(|it| it["path"] == path);
        let shown = of_it.map(|it| {
            let op = it["op"].as_str().unwrap().to_owned();
            (op, it.get("value").cloned().unwrap_or(json!("-")))
        });
        shown.collect()
    }

    pub(super) fn count(&self) -> usize {
        self.0.lock().unwrap().0.len()
    }
}

/// A cluster with these objects, and a controller that watches every kind.
pub(super) fn begin(line: &Line, objects: &[Value]) -> Sandbox {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let keda = ("keda.sh", "v1alpha1", "scaledobjects", "ScaledObject");
    let argo = ("argoproj.io", "v1alpha1", "rollouts", "Rollout");
    for (group, version, plural, kind) in [keda, argo] {
        scenario.api.serve_custom(group, version, plural, kind);
    }
    let rollouts = KindTable::default().resource("rollouts", "argoproj.io");
    let settings = default_with(|settings| {
        settings.scope.kinds = Kind::BUILT_IN.into_iter().chain([rollouts]).collect();
    });
    scenario.start_controller_with(|api| line.client(api), settings);
    for object in objects {
        scenario.api.create(object.clone()).unwrap();
    }
    scenario.settle();
    scenario
}

pub(super) fn object(api_version: &str, kind: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": api_version, "kind": kind, "spec": spec,
        "metadata": {"name": "web", "namespace": "dev", "annotations": {
            "dayshift/stop": "19:00", "dayshift/start": "21:00",
        }},
    })
}

pub(super) fn autoscaler(minimum: Option<u32>) -> Value {
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
    let spec = json!({"scaleTargetRef": target, "minReplicas": minimum, "maxReplicas": 9});
    object("autoscaling/v2", "HorizontalPodAutoscaler", &spec)
}

pub(super) fn scaled_object() -> Value {
    let spec = json!({"scaleTargetRef": {"name": "web"}, "triggers": []});
    object("keda.sh/v1alpha1", "ScaledObject", &spec)
}

pub(super) fn rollout(spec: &Value) -> Value {
    object("argoproj.io/v1alpha1", "Rollout", spec)
}

pub(super) fn report() -> Value {
    let mut report = Value::from(cron_job("web").stop("19:00").start("21:00"));
    report["metadata"]["namespace"] = json!("dev");
    report
}

pub(super) fn saved(scenario: &Sandbox, kind: &str) -> Value {
    let object = scenario.api.get(kind, "dev", "web").unwrap();
    object["metadata"]["labels"]["dayshift/saved-replicas"].clone()
}
