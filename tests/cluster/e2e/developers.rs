//! Users who may read and change the workloads of one namespace, and no Namespaces.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::e2e::test_namespace::TestNamespace;
use crate::support::{
    ControlPlane, Parts, Scenario, dayshift, deployment, scenarios, soon, wait_until,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Server;
        user_without_namespace_permission_sees_and_wakes_inheriting_workloads,
    ]
}

/// The `status` of a namespace, by name.
fn status(who: &Path, team: &TestNamespace<'_>) -> Vec<Value> {
    let ran = dayshift(who, &["status", "-n", team.name(), "-o", "json"]);
    let message: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    message["workloads"].as_array().unwrap().clone()
}

/// A user who may read and change Deployments of one namespace, and no Namespaces.
fn developer(team: &TestNamespace<'_>) -> PathBuf {
    let name = "developer";
    team.create_account(name);
    let workloads = "deployments.apps,statefulsets.apps,cronjobs.batch";
    let scalers = "horizontalpodautoscalers.autoscaling,scaledobjects.keda.sh";
    let rules = [
        ("get,list,watch,patch", workloads, ""),
        ("list", scalers, ""),
    ];
    team.grant(name, name, &rules);
    let who = team.plane().kubeconfig_of(team.name(), name);
    wait_until("the API server knows the new permission", || {
        let can = |verb, resource| team.can(name, verb, resource);
        assert!(!can("get", "namespaces"));
        can("patch", "deployments.apps") && can("list", "cronjobs.batch")
    });
    who
}

fn user_without_namespace_permission_sees_and_wakes_inheriting_workloads(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "developers");
    let now = soon(0);
    let (start, stop) = (now.plus(7200).text(), now.plus(14_400).text());
    team.annotate_namespace(&[
        &format!("dayshift/start={start}"),
        &format!("dayshift/stop={stop}"),
    ]);
    team.create(deployment("web").replicas(3));
    team.create(deployment("api").replicas(2));
    for name in ["web", "api"] {
        team.await_label(name, "dayshift/state", "adopted");
    }
    let who = developer(&team);
    let shown = status(&who, &team);
    let names: Vec<_> = shown
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["api", "web"], "{shown:?}");
    for (command, count) in [("sleep", [0, 0]), ("wake", [2, 3])] {
        let arguments = [command, "--all", "-n", team.name(), "--for", "1h"];
        let ran = dayshift(&who, &arguments);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let found = ["api", "web"].map(|name| team.replicas(name));
        assert_eq!(found, count, "{command}");
        // The effective schedule is shown too, and there is no problem.
        let ran = dayshift(&who, &["status", "-n", team.name()]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
}
