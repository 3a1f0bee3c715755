//! Workloads of other kinds than Deployments, under the shipped RBAC and `manifests/kinds`, and
//! starts that wait for them.

mod autoscaler;
mod cron_job;
mod custom;
mod jobs;
mod stateful_set;
mod switches;
mod waits;

use std::fmt::Display;

use kube::client::Body;
use serde_json::Value;

use crate::{
    e2e::test_namespace::TestNamespace,
    support::{ControlPlane, Scenario, Soon, block_on, wait_until},
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    [
        cron_job::scenarios(),
        switches::scenarios(),
        autoscaler::scenarios(),
        jobs::scenarios(),
        custom::scenarios(),
        waits::scenarios(),
        stateful_set::scenarios(),
    ]
    .concat()
}

// JSON pointers of labels.
pub(crate) const STATE: &str = "/metadata/labels/dayshift~1state";
pub(crate) const SAVED: &str = "/metadata/labels/dayshift~1saved-replicas";

/// Allows dayshift to scale the kinds of `manifests/kinds`, as a user does. For separate control planes only:
/// on shared ones, only the shipped permissions must exist.
pub(crate) fn allow_every_kind(plane: &ControlPlane) {
    plane.install();
    for entry in std::fs::read_dir("manifests/kinds").unwrap() {
        plane.apply_file(entry.unwrap().path().to_str().unwrap());
    }
}

/// Applies the definitions in a file of `tests/cluster/e2e/kinds`, and waits until `collection` is
/// served.
pub(crate) fn define(plane: &ControlPlane, file: &str, collection: &str) {
    plane.apply_file(&format!("tests/cluster/e2e/kinds/{file}"));
    await_watchable(plane, collection);
}

/// Waits until `collection`, such as `toys.example.com/v1/balls`, can be watched.
pub(crate) fn await_watchable(plane: &ControlPlane, collection: &str) {
    // The server rejects watches at first.
    let watch = format!(
        "/apis/{collection}?watch=true&timeoutSeconds=1&allowWatchBookmarks=true\
         &sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
    );
    wait_until(&format!("{collection} can be watched"), || {
        let request = http::Request::get(&watch).body(Body::empty()).unwrap();
        let response = block_on(plane.client().send(request));
        response.is_ok_and(|response| response.status().is_success())
    });
}

/// Allows dayshift to scale a kind of `toys.example.com`, as `manifests/kinds` does for others.
fn allow_toys(plane: &ControlPlane, plural: &str) {
    let manifest = include_str!("../../../../manifests/kinds/rollouts.yaml");
    let manifest = manifest.replace("argoproj.io", "toys.example.com");
    plane.apply(&manifest.replace("rollouts", plural));
}

/// The API paths of the kubectl names that these scenarios use.
const COLLECTIONS: [(&str, &str); 17] = [
    ("balls", "apis/toys.example.com/v1/balls"),
    ("clusters", "apis/postgresql.cnpg.io/v1/clusters"),
    ("cj", "apis/batch/v1/cronjobs"),
    ("deploy", "apis/apps/v1/deployments"),
    ("hpa", "apis/autoscaling/v2/horizontalpodautoscalers"),
    ("job", "apis/batch/v1/jobs"),
    ("kites", "apis/toys.example.com/v1/kites"),
    ("notebooks", "apis/kubeflow.org/v1/notebooks"),
    (
        "postgresclusters",
        "apis/postgres-operator.crunchydata.com/v1beta1/postgresclusters",
    ),
    ("postgresqls", "apis/acid.zalan.do/v1/postgresqls"),
    (
        "rabbitmqclusters",
        "apis/rabbitmq.com/v1beta1/rabbitmqclusters",
    ),
    ("shoots", "apis/core.gardener.cloud/v1beta1/shoots"),
    ("virtualmachines", "apis/kubevirt.io/v1/virtualmachines"),
    ("robots", "apis/toys.example.com/v1/robots"),
    ("rollouts", "apis/argoproj.io/v1alpha1/rollouts"),
    ("so", "apis/keda.sh/v1alpha1/scaledobjects"),
    ("sts", "apis/apps/v1/statefulsets"),
];

/// The API path of an object in the Namespace, such as `deploy/web`.
pub(crate) fn path_of(team: &TestNamespace<'_>, object: &str) -> String {
    let (short, name) = object.split_once('/').unwrap();
    let collection = COLLECTIONS.iter().find(|(known, _)| *known == short);
    let (_, collection) = collection.unwrap_or_else(|| panic!("{short} is not in COLLECTIONS"));
    let (api, plural) = collection.rsplit_once('/').unwrap();
    format!("/{api}/namespaces/{}/{plural}/{name}", team.name())
}

/// A member of an object by its JSON pointer; empty if missing.
pub(crate) fn field(team: &TestNamespace<'_>, object: &str, pointer: &str) -> String {
    let object = team.plane().read(&path_of(team, object)).unwrap();
    match object.pointer(pointer) {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// Waits until a member of an object has this value, which must happen `before` a time.
fn before(
    team: &TestNamespace<'_>,
    instant: Soon,
    object: &str,
    pointer: &str,
    expected: impl Display,
) {
    let expected = expected.to_string();
    instant.await_true(&format!("{object} {pointer} {expected}"), || {
        field(team, object, pointer) == expected
    });
}

pub(crate) fn await_field(
    team: &TestNamespace<'_>,
    object: &str,
    pointer: &str,
    expected: impl Display,
) {
    let expected = expected.to_string();
    wait_until(&format!("{object} {pointer} {expected}"), || {
        field(team, object, pointer) == expected
    });
}

/// Creates objects from a manifest.
pub(crate) fn create(team: &TestNamespace<'_>, manifest: impl Display) {
    team.create_all(&manifest.to_string());
}
