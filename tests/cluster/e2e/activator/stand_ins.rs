//! The activator's manifest, and its stand-in EndpointSlices for Services.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::e2e::test_namespace::TestNamespace;
use crate::support::{ControlPlane, eventually, wait_until};

/// Applies the manifest as a user does, and returns the kubeconfig of its ServiceAccount.
pub(crate) fn install(plane: &ControlPlane) -> PathBuf {
    plane.install();
    plane
        .kubectl(&["apply", "-f", "manifests/activator.yaml"])
        .success();
    wait_until("the activator has two ready addresses", || {
        addresses(plane).len() == 2
    });
    plane.kubeconfig_of("dayshift", "dayshift-activator")
}

/// The addresses of the activator's own pods, from Kubernetes' EndpointSlice controller.
pub(crate) fn addresses(plane: &ControlPlane) -> Vec<String> {
    let selector = "kubernetes.io/service-name=dayshift-activator";
    let slices = plane.kubectl(&[
        "get",
        "endpointslices",
        "-n",
        "dayshift",
        "-l",
        selector,
        "-o",
        "json",
    ]);
    let slices: Value = serde_json::from_str(&slices.success()).unwrap();
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
    let name = format!("{service}-dayshift");
    let slice = team.kubectl(&["get", "endpointslice", &name, "-o", "json"]);
    slice
        .ok
        .then(|| serde_json::from_str(&slice.stdout).unwrap())
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
