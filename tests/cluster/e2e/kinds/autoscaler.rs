//! A HorizontalPodAutoscaler with Kubernetes' own controller.

use serde_json::{Value, json};

use super::{SAVED, STATE, allow_every_kind, await_field, before, create, field};
use crate::{
    e2e::test_namespace::TestNamespace,
    support::{ControlPlane, Parts, Scenario, deployment, scenarios, soon},
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Pods;
        stop_lowers_the_minimum_of_an_autoscaler_and_start_restores_it,
        an_autoscaler_that_never_scales_down_is_a_problem,
    ]
}

/// Without metrics the autoscaler still keeps the count between its minimum and its maximum.
fn stop_lowers_the_minimum_of_an_autoscaler_and_start_restores_it(plane: &ControlPlane) {
    allow_every_kind(plane);
    let mut team = TestNamespace::without_controller(plane, "minimum");
    team.run(&["--kinds=hpa,deployments"]);
    let stop = soon(12);
    let start = stop.plus(12);
    team.create(deployment("app").replicas(3));
    let autoscaler = |name: &str, minimum: Value| {
        json!({
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": name, "annotations": {
                "dayshift/stop": stop.text(), "dayshift/start": start.text(),
            }},
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "app"},
                "minReplicas": minimum,
                "maxReplicas": 5,
            },
        })
    };
    create(&team, autoscaler("web", json!(3)));
    before(&team, stop, "hpa/web", STATE, "adopted");
    team.await_pods("app", 3);
    before(&team, start, "hpa/web", "/spec/minReplicas", 1);
    before(&team, start, "hpa/web", SAVED, 3);
    // A lower minimum does not scale by itself: metrics or a user do.
    team.assert_replicas("app", 3, start);
    team.scale("app", 1);
    team.await_pods("app", 1);
    start.assert_in_future("the autoscaler has reduced the count to 1");
    await_field(&team, "hpa/web", "/spec/minReplicas", 3);
    team.await_replicas("app", 3);
    assert_eq!(field(&team, "hpa/web", SAVED), "");
    team.assert_punctual("web", 1, stop);
    team.assert_punctual("web", 2, start);
    let run = |command: &str| {
        let line = format!("dayshift {command} hpa/web -n {}", team.name());
        plane.shell(&line).success()
    };
    let slept = run("sleep --for 1h");
    assert_starts_with!(
        slept,
        "horizontalpodautoscaler.autoscaling/web asleep until "
    );
    let shown = run("status");
    assert_contains!(shown, "min 1");
    run("resume");
    await_field(&team, "hpa/web", "/spec/minReplicas", 3);
    team.ends([("web", 5)]);
}

fn an_autoscaler_that_never_scales_down_is_a_problem(plane: &ControlPlane) {
    allow_every_kind(plane);
    let mut team = TestNamespace::without_controller(plane, "never-down");
    team.run(&["--kinds=hpa,deployments"]);
    let stop = soon(8);
    team.create(deployment("app").replicas(3));
    create(
        &team,
        json!({
            "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "web", "annotations": {"dayshift/stop": stop.text()}},
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "app"},
                "minReplicas": 3, "maxReplicas": 5,
                "behavior": {"scaleDown": {"selectPolicy": "Disabled"}},
            },
        }),
    );
    await_field(&team, "hpa/web", "/status/currentReplicas", 3);
    await_field(&team, "hpa/web", STATE, "stopped");
    assert_eq!(field(&team, "hpa/web", "/spec/minReplicas"), "1");
    let line = format!("dayshift status --kinds hpa -n {}", team.name());
    let shown = plane.shell(&line);
    let warning = "behavior.scaleDown.selectPolicy: Disabled keeps its target at 3";
    assert!(!shown.ok && shown.stdout.contains(warning), "{shown:?}");
    assert_eq!(team.replicas("app"), 3);
}
