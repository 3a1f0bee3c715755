//! Workloads of other kinds than Deployments, under the shipped RBAC and `manifests/kinds`.

mod autoscaler;
mod cron_job;
mod custom;
mod stateful_set;

use std::{
    fmt::Display,
    sync::{Mutex, PoisonError},
};

use tempfile::NamedTempFile;

use crate::{
    e2e::team::Team,
    support::{ControlPlane, Soon, Story, eventually},
};

pub(crate) fn stories() -> Vec<Story> {
    [
        cron_job::stories(),
        custom::stories(),
        autoscaler::stories(),
        stateful_set::stories(),
    ]
    .concat()
}

pub(crate) const STATE: &str = ".metadata.labels.dayshift/state";
const SAVED: &str = ".metadata.labels.dayshift/saved-replicas";

/// Lets dayshift scale the kinds of `manifests/kinds`, as a user would. On a control plane of its
/// own: elsewhere the shipped permissions are all there are.
pub(crate) fn allow_every_kind(plane: &ControlPlane) {
    plane.install();
    apply(plane, "manifests/kinds");
}

/// Has the API server serve what a file of `tests/cluster/e2e/kinds` defines, which it has under
/// `collection`.
pub(crate) fn define(plane: &ControlPlane, file: &str, collection: &str) {
    apply(plane, &format!("tests/cluster/e2e/kinds/{file}"));
    // At first it puts off whoever watches.
    let watch = format!(
        "/apis/{collection}?watch=true&timeoutSeconds=1&allowWatchBookmarks=true\
         &sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
    );
    eventually(&format!("{collection} can be watched"), || {
        plane.kubectl(&["get", "--raw", &watch]).ok.then_some(())
    });
}

/// `kubectl apply` of a file or folder of the whole cluster, one at a time: stories share them.
pub(crate) fn apply(plane: &ControlPlane, path: &str) {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let applied = plane.kubectl(&["apply", "-f", path]);
    assert_eq!(applied.stderr, "", "{}", applied.command);
    applied.success();
}

/// Lets dayshift scale a kind of `toys.example.com`, as `manifests/kinds` has it for others.
fn allow_toys(plane: &ControlPlane, plural: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/manifests/kinds/rollouts.yaml");
    let manifest = std::fs::read_to_string(path).unwrap();
    let manifest = manifest.replace("argoproj.io", "toys.example.com");
    let file = NamedTempFile::new().unwrap();
    std::fs::write(file.path(), manifest.replace("rollouts", plural)).unwrap();
    apply(plane, file.path().to_str().unwrap());
}

/// A member of an object; empty where it has none.
pub(crate) fn field(team: &Team<'_>, object: &str, path: &str) -> String {
    let path = format!("jsonpath={{{path}}}");
    team.kubectl(&["get", object, "-o", &path]).success()
}

/// Waits until a member of an object is so, which the story needs `before` an instant.
fn before(team: &Team<'_>, instant: Soon, object: &str, path: &str, expected: impl Display) {
    let expected = expected.to_string();
    instant.before(&format!("{object} {path} {expected}"), || {
        (field(team, object, path) == expected).then_some(())
    });
}

pub(crate) fn await_field(team: &Team<'_>, object: &str, path: &str, expected: impl Display) {
    let expected = expected.to_string();
    eventually(&format!("{object} {path} {expected}"), || {
        (field(team, object, path) == expected).then_some(())
    });
}

/// Creates objects from a manifest.
pub(crate) fn create(team: &Team<'_>, manifest: impl Display) {
    team.kubectl_with(&["create"], &manifest.to_string())
        .success();
}
