//! `kubectl rollout undo` restores the annotations of an older revision and keeps the labels: the schedule is
//! the older one, and the state is the current one.

use serde_json::{Value, json};

use crate::e2e::test_namespace::TestNamespace;
use crate::support::{
    ControlPlane, DeploymentBuilder, Parts, Scenario, Soon, deployment, scenarios, soon,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Pods;
        undo_while_running_adopts_the_older_schedule,
        undo_while_stopped_keeps_the_saved_count,
    ]
}

/// Creates it, and waits until its three pods exist.
pub(crate) fn create(
    team: &TestNamespace<'_>,
    name: &str,
    deployment: DeploymentBuilder,
    before: Soon,
) {
    team.create(deployment.replicas(3));
    team.await_adopted(name, before);
    team.await_pods(name, 3);
}

/// Rolls out another revision with these annotations.
pub(crate) fn roll_out(team: &TestNamespace<'_>, name: &str, annotations: &Value) {
    let container = json!({"name": "nginx", "image": "nginx:2"});
    team.merge(
        name,
        &json!({
            "metadata": {"annotations": annotations},
            "spec": {"template": {"spec": {"containers": [container]}}},
        }),
    );
    await_rollout(team, name);
}

pub(crate) fn undo(team: &TestNamespace<'_>, name: &str) {
    let of = format!("deployment/{name}");
    let message = team.kubectl(&["rollout", "undo", &of]).success();
    assert_contains!(message, "rolled back");
    await_rollout(team, name);
    assert_eq!(image(team, name), "nginx", "the older revision runs");
}

pub(crate) fn await_rollout(team: &TestNamespace<'_>, name: &str) {
    let of = format!("deployment/{name}");
    team.kubectl(&["rollout", "status", &of, "--timeout=30s"])
        .success();
}

fn image(team: &TestNamespace<'_>, name: &str) -> String {
    let template = team.get(name).spec.unwrap().template;
    template.spec.unwrap().containers.remove(0).image.unwrap()
}

fn undo_while_running_adopts_the_older_schedule(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "undo-day");
    let stop = soon(18);
    create(&team, "web", deployment("web").stop(stop.text()), stop);
    roll_out(
        &team,
        "web",
        &json!({"dayshift/stop": stop.plus(36_000).text()}),
    );
    let changes = |count| {
        let events = team.events("web");
        let changes = events.iter().filter(|event| event.0 == "ScheduleChanged");
        (changes.count() == count).then_some(())
    };
    stop.before("the edit is adopted", || changes(1));
    undo(&team, "web");
    assert_eq!(team.annotation("web", "dayshift/stop"), Some(stop.text()));
    stop.before("the undo is adopted", || changes(2));

    team.await_replicas("web", 0);
    team.await_pods("web", 0);
    assert_eq!(
        team.label("web", "dayshift/saved-replicas").as_deref(),
        Some("3")
    );
    team.assert_punctual("web", 3, stop);
    team.ends([("web", 4)]);
}

fn undo_while_stopped_keeps_the_saved_count(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "undo-night");
    let stop = soon(20);
    let start = stop.plus(14);
    let (older, newer) = (start.plus(1), start.plus(36_000));
    let web = |name| deployment(name).stop(stop.text());
    create(&team, "same", web("same").start(start.text()), stop);
    create(&team, "older", web("older").start(older.text()), stop);
    create(&team, "typo", web("typo").start(start.text()), stop);
    roll_out(&team, "same", &json!({}));
    roll_out(&team, "older", &json!({"dayshift/start": newer.text()}));
    roll_out(&team, "typo", &json!({"dayshift/stop": "Mon-Fry 19:00"}));
    team.await_event("typo", "InvalidSchedule");
    stop.assert_in_future("all revisions are rolled out before the stop");

    for name in ["same", "older"] {
        team.await_stopped(name, start);
        team.await_pods(name, 0);
    }
    team.assert_replicas("typo", 3, start);
    for name in ["same", "older", "typo"] {
        undo(&team, name);
    }
    // The schedule is again the one that it had at the stop.
    team.await_stopped("typo", start);
    assert_eq!(team.annotation("typo", "dayshift/error"), None);
    assert_eq!(
        team.annotation("older", "dayshift/start"),
        Some(older.text())
    );
    team.await_adopted("older", start);
    for name in ["same", "older", "typo"] {
        let saved = team.label(name, "dayshift/saved-replicas");
        start.assert_in_future("all rollouts are undone before the start");
        assert_eq!(saved.as_deref(), Some("3"), "{name}");
    }

    for (name, at, index) in [("same", start, 2), ("older", older, 4), ("typo", start, 3)] {
        team.await_pods(name, 3);
        team.assert_punctual(name, index, at);
    }
    team.ends([("same", 3), ("older", 5), ("typo", 4)]);
}
