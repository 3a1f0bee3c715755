//! The activator's manifest, and its stand-in EndpointSlices for Services.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::e2e::test_namespace::TestNamespace;
use crate::support::{ControlPlane, eventually, wait_until};

/// Applies the manifest, and returns the kubeconfig of its ServiceAccount.
pub(crate) fn install(plane: &ControlPlane) -> PathBuf {
    plane.install();
    plane.apply_file("manifests/activator.yaml");
    wait_until("the activator has two ready addresses", || {
        addresses(plane).len() == 2
    });
    plane.kubeconfig_of("dayshift", "dayshift-activator")
}

/// The addresses of the activator's own pods, from Kubernetes' EndpointSlice controller.
pub(crate) fn addresses(plane: &ControlPlane) -> Vec<String> {
    let selector = "kubernetes.io/service-name%3Ddayshift-activator";
    let slices = format!(
        "/apis/discovery.k8s.io/v1/namespaces/dayshift/endpointslices?labelSelector={selector}"
    );
    let slices = plane.read(&slices).unwrap();
    let items = slices["items"].as_array().unwrap().iter();
    let endpoints = items.flat_map(|it| it["endpoints"].as_array().cloned().unwrap_or_default());
    let ready = endpoints.filter(|it| it["conditions"]["ready"] == true);
    let mut all: Vec<_> = ready
        .map(|it| it["addresses"][0].as_str().unwrap().to_owned())
        .collect();
    all.sort();
    all
}

pub(crate) fn service(name: &str) -> String {
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
        "spec": {"selector": {"app": name}, "ports": [{"name": "http", "port": 80}]},
    })
    .to_string()
}

/// The activator's slice of a Service.
pub(crate) fn stand_in(team: &TestNamespace<'_>, service: &str) -> Option<Value> {
    let slice = format!("endpointslices/{service}-dayshift");
    team.read("apis/discovery.k8s.io/v1", &slice)
}

pub(crate) fn await_stand_in(team: &TestNamespace<'_>, service: &str, is_ready: bool) -> Value {
    eventually("the activator has fallback slices", || {
        let slice = stand_in(team, service)?;
        let endpoints = slice["endpoints"].as_array()?;
        let are = endpoints.iter().all(|it| {
            let conditions = &it["conditions"];
            conditions["ready"] == is_ready && conditions["terminating"] == !is_ready
        });
        (endpoints.len() == 2 && are).then_some(slice)
    })
}
