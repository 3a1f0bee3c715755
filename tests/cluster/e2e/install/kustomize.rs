//! The base and the components for kustomize, built by the real kubectl.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::rendered::{CHART, Objects, objects};
use crate::support::{ControlPlane, Parts, Scenario, scenarios};

pub(super) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Server;
        kustomize_base_equals_the_manifest_and_can_be_applied,
        overlay_for_one_namespace_equals_the_namespaced_manifest,
        server_accepts_the_documented_overlay,
        monitoring_overlay_equals_that_of_the_chart,
    ]
}

const INSTALL: &str = include_str!("../../../../docs/guides/install.md");

/// A directory with a copy of `manifests/` and this overlay.
pub(super) fn overlay(kustomization: &str) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    copy(Path::new("manifests"), &directory.path().join("manifests"));
    let overlay = directory.path().join("overlay");
    fs::create_dir(&overlay).unwrap();
    fs::write(overlay.join("kustomization.yaml"), kustomization).unwrap();
    directory
}

pub(super) fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

pub(super) fn built(plane: &ControlPlane, directory: &Path) -> String {
    let path = directory.to_str().unwrap();
    plane.kubectl(&["kustomize", path]).success()
}

fn manifest(path: &str) -> String {
    fs::read_to_string(path).unwrap()
}

fn kustomize_base_equals_the_manifest_and_can_be_applied(plane: &ControlPlane) {
    let base = objects(plane, &built(plane, Path::new("manifests")));
    assert_eq!(base, objects(plane, &manifest("manifests/dayshift.yaml")));
    // Its Namespace must exist for the dry run.
    plane.install();
    let apply = ["apply", "--dry-run=server", "-k", "manifests"];
    plane.kubectl(&apply).success();
}

/// The objects as an overlay moves them into this namespace, including the subjects of bindings.
fn in_namespace(objects: Objects, namespace: &str) -> Objects {
    let moved = objects.into_iter().map(|(key, mut object)| {
        object["metadata"]["namespace"] = json!(namespace);
        if key.0 == "RoleBinding" {
            object["subjects"][0]["namespace"] = json!(namespace);
        }
        (key, object)
    });
    moved.collect()
}

fn overlay_for_one_namespace_equals_the_namespaced_manifest(plane: &ControlPlane) {
    let team = plane.namespace("kustomized");
    let directory = overlay(&format!(
        "kind: Kustomization\napiVersion: kustomize.config.k8s.io/v1beta1\nnamespace: {}\n\
         resources: [../manifests]\ncomponents: [../manifests/namespaced]\n",
        team.name()
    ));
    let place = directory.path().join("overlay");
    let built = in_namespace(objects(plane, &built(plane, &place)), team.name());
    let expected = objects(plane, &manifest("manifests/namespaced.yaml"));
    assert_eq!(built, in_namespace(expected, team.name()));

    // The overlay is applied, and its ServiceAccount gets its permissions.
    let place = place.to_str().unwrap();
    plane.kubectl(&["apply", "-k", place]).success();
    let account = plane.kubeconfig_of(team.name(), "dayshift");
    for (verb, expected) in [("patch", "yes"), ("delete", "no")] {
        let ask = ["auth", "can-i", verb, "deployments.apps", "-n", team.name()];
        assert_eq!(plane.kubectl_as(&account, &ask).stdout.trim(), expected);
    }
}

fn server_accepts_the_documented_overlay(plane: &ControlPlane) {
    let (_, rest) = INSTALL
        .split_once("# overlay/kustomization.yaml\n")
        .unwrap();
    let (page, _) = rest.split_once("```").unwrap();
    let image = "image: registry.example.com/dayshift:0.1.0\n";
    assert_contains!(built(plane, &overlay(page).path().join("overlay")), image);

    // Without the kinds of the Prometheus Operator, which this server does not have.
    let ours = page.replace("  - ../manifests/monitoring\n", "");
    assert_ne!(ours, page);
    let directory = overlay(&ours);
    plane.install();
    let place = directory.path().join("overlay");
    let apply = ["apply", "--dry-run=server", "-k", place.to_str().unwrap()];
    let message = plane.kubectl(&apply).success();
    assert_contains!(
        message,
        "validatingadmissionpolicy.admissionregistration.k8s.io/dayshift-texts"
    );

    // Policies are cluster-wide, but kustomize sets their namespace anyway.
    let directory = overlay(&format!("namespace: dayshift\n{ours}"));
    let place = directory.path().join("overlay");
    let apply = ["apply", "--dry-run=server", "-k", place.to_str().unwrap()];
    plane.kubectl(&apply).success();
}

/// The objects for the Prometheus Operator, whose kinds this server does not have.
fn monitors(plane: &ControlPlane, manifests: &str) -> Vec<Value> {
    let file = tempfile::NamedTempFile::with_suffix(".yaml").unwrap();
    fs::write(file.path(), manifests).unwrap();
    let path = file.path().to_str().unwrap();
    let label = "app.kubernetes.io/name=dayshift";
    let read = [
        "label",
        "--local",
        "--overwrite",
        "-f",
        path,
        "-o",
        "json",
        label,
    ];
    let text = plane.kubectl(&read).success();
    let objects = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    let mut found: Vec<_> = objects
        .map(Result::unwrap)
        .filter(|it| it["apiVersion"] == "monitoring.coreos.com/v1")
        .collect();
    for object in &mut found {
        let labels = object["metadata"]["labels"].as_object_mut().unwrap();
        labels.retain(|key, _| key == "app.kubernetes.io/name");
        if let Some(selector) = object.pointer_mut("/spec/selector/matchLabels") {
            let selector = selector.as_object_mut().unwrap();
            selector.remove("app.kubernetes.io/instance");
        }
    }
    found.sort_by_key(|it| it["kind"].to_string());
    found
}

fn monitoring_overlay_equals_that_of_the_chart(plane: &ControlPlane) {
    let directory = overlay(
        "kind: Kustomization\napiVersion: kustomize.config.k8s.io/v1beta1\n\
         components: [../manifests/monitoring]\n",
    );
    let kustomized = monitors(plane, &built(plane, &directory.path().join("overlay")));
    let render = [
        "template",
        "dayshift",
        CHART,
        "-n=dayshift",
        "--kube-version=1.36.0",
        "--set=podMonitor.enabled=true,prometheusRule.enabled=true",
    ];
    let chart = monitors(plane, &plane.helm(4, &render).success());
    assert_eq!(chart.len(), 2);
    assert_eq!(kustomized, chart);
}
