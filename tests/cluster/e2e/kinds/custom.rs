//! Custom resources: KEDA's, Argo Rollouts', and kinds that are missing, forbidden or unusual.

use serde_json::{Value, json};

use super::{
    SAVED, STATE, allow_every_kind, allow_toys, await_field, before, create, define, field,
};
use crate::{
    e2e::test_namespace::TestNamespace,
    support::{
        ControlPlane, Dayshift, Parts, Scenario, Soon, deployment, eventually, scenarios, soon,
        wait_until,
    },
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Pods;
        stop_pauses_a_scaled_object_and_start_resumes_it,
        argo_rollout_stops_and_starts,
        finds_a_kind_that_is_installed_later_beside_a_forbidden_one,
        invalid_count_does_not_hide_other_objects_of_the_list,
        ready_replicas_in_one_namespace_delay_no_start_in_another,
    ]
}

const PAUSED: &str = "/metadata/annotations/autoscaling.keda.sh~1paused-replicas";

fn stop_pauses_a_scaled_object_and_start_resumes_it(plane: &ControlPlane) {
    allow_every_kind(plane);
    define(
        plane,
        "scaled_objects.yaml",
        "keda.sh/v1alpha1/scaledobjects",
    );
    let mut team = TestNamespace::without_controller(plane, "keda");
    team.run(&["--kinds", "deployments,scaledobjects"]);
    let stop = soon(12);
    let start = stop.plus(10);
    let scaled = |name: &str, more: &[(&str, &str)]| {
        let mut annotations = json!({
            "dayshift/stop": stop.text(), "dayshift/start": start.text(),
        });
        for (key, text) in more {
            annotations[*key] = (*text).into();
        }
        create(
            &team,
            json!({
                "apiVersion": "keda.sh/v1alpha1",
                "kind": "ScaledObject",
                "metadata": {"name": name, "annotations": annotations},
                "spec": {
                    "scaleTargetRef": {"name": "app"},
                    "minReplicaCount": 2,
                    "triggers": [{"type": "cpu", "metadata": {"value": "60"}}],
                },
            }),
        );
    };
    scaled("web", &[]);
    scaled("two", &[("dayshift/stop-replicas", "2")]);
    scaled("theirs", &[("autoscaling.keda.sh/paused-replicas", "4")]);
    for name in ["so/web", "so/two", "so/theirs"] {
        before(&team, stop, name, STATE, "adopted");
    }
    for (name, count) in [("so/web", "0"), ("so/two", "2"), ("so/theirs", "4")] {
        before(&team, start, name, STATE, "stopped");
        before(&team, start, name, PAUSED, count);
        before(&team, start, name, "/spec/minReplicaCount", 2);
    }
    for (name, count) in [("so/web", ""), ("so/two", ""), ("so/theirs", "4")] {
        await_field(&team, name, STATE, "running");
        assert_eq!(field(&team, name, PAUSED), count, "{name}");
    }
    team.assert_punctual("web", 1, stop);
    team.assert_punctual("web", 2, start);
    let run = |command: &str| {
        let line = format!("dayshift {command} so/web -n {}", team.name());
        plane.shell(&line).success()
    };
    let slept = run("sleep --for 1h");
    assert_starts_with!(slept, "scaledobject.keda.sh/web asleep until ");
    await_field(&team, "so/web", PAUSED, 0);
    let shown = run("status");
    assert_contains!(shown, "paused");
    run("resume");
    await_field(&team, "so/web", PAUSED, "");
    team.ends([("web", 5), ("two", 3), ("theirs", 3)]);
}

fn rollout(name: &str, replicas: Value, stop: Soon, start: Soon) -> Value {
    let mut rollout = Value::from(deployment(name).stop(stop.text()).start(start.text()));
    rollout["apiVersion"] = "argoproj.io/v1alpha1".into();
    rollout["kind"] = "Rollout".into();
    rollout["spec"]["replicas"] = replicas;
    rollout
}

fn argo_rollout_stops_and_starts(plane: &ControlPlane) {
    allow_every_kind(plane);
    define(plane, "rollouts.yaml", "argoproj.io/v1alpha1/rollouts");
    let mut team = TestNamespace::without_controller(plane, "rollouts");
    team.run(&["--kinds", "deployments,rollouts.argoproj.io"]);
    let stop = soon(12);
    let start = stop.plus(10);
    create(&team, rollout("web", json!(3), stop, start));
    // No controller sets a missing count to 1 here.
    create(&team, rollout("absent", Value::Null, stop, start));
    for name in ["rollouts/web", "rollouts/absent"] {
        before(&team, stop, name, STATE, "adopted");
    }
    for (name, saved) in [("rollouts/web", "3"), ("rollouts/absent", "1")] {
        before(&team, start, name, "/spec/replicas", 0);
        before(&team, start, name, SAVED, saved);
    }
    await_field(&team, "rollouts/web", "/spec/replicas", 3);
    await_field(&team, "rollouts/absent", "/spec/replicas", 1);
    team.assert_punctual("web", 1, stop);
    team.assert_punctual("web", 2, start);
    let run = |command: &str| {
        let line = format!(
            "dayshift {command} rollouts.argoproj.io/web -n {}",
            team.name()
        );
        plane.shell(&line).success()
    };
    let slept = run("sleep --for 1h");
    assert_starts_with!(slept, "rollout.argoproj.io/web asleep until ");
    let events = team.kubectl(&["events", "--for", "rollout/web"]).success();
    assert_contains!(events, "Rollout/web");
    run("resume");
    await_field(&team, "rollouts/web", "/spec/replicas", 3);
    team.ends([("web", 5), ("absent", 3)]);
}

/// The kind of `kites.yaml`, with its own group that no other scenario defines.
const KITES: &str = "kites.toys.example.com";

fn kite(name: &str, replicas: Value, stop: Soon) -> Value {
    json!({
        "apiVersion": "toys.example.com/v1",
        "kind": "Kite",
        "metadata": {"name": name, "annotations": {"dayshift/stop": stop.text()}},
        "spec": {"replicas": replicas},
    })
}

fn finds_a_kind_that_is_installed_later_beside_a_forbidden_one(plane: &ControlPlane) {
    allow_every_kind(plane);
    let mut team = TestNamespace::without_controller(plane, "later");
    let kinds = format!("deployments,balls.toys.example.com,{KITES}");
    let dayshift = team.run(&["--kinds", &kinds]);
    let absent = "cannot watch balls.toys.example.com in namespace ";
    eventually("/readyz is 200 and names balls", || {
        let (status, message) = dayshift.get("/readyz")?;
        let is_told = message.contains("the API server does not have this kind");
        (status == 200 && message.contains(absent) && is_told).then_some(())
    });

    define(plane, "balls.yaml", "toys.example.com/v1/balls");
    let forbidden = |plural: &str, dayshift: &Dayshift| {
        let message = dayshift.get("/readyz")?.1;
        let mut lines = message.lines();
        let line = lines.find(|line| line.contains(plural)).unwrap_or("");
        line.ends_with(": forbidden").then_some(())
    };
    eventually("the kind Ball is discovered and forbidden", || {
        forbidden("balls.", team.newest())
    });
    let stop = soon(14);
    team.create(deployment("web").replicas(3).stop(stop.text()));
    let mut ball = kite("ball", json!(3), stop);
    ball["kind"] = "Ball".into();
    create(&team, &ball);
    allow_toys(plane, "balls");
    eventually("the kind Ball is watched", || {
        let (_, message) = team.newest().get("/readyz")?;
        (!message.contains("balls.")).then_some(())
    });
    before(&team, stop, "balls/ball", STATE, "adopted");
    team.await_adopted("web", stop);
    await_field(&team, "balls/ball", "/spec/replicas", 0);
    team.await_replicas("web", 0);
    team.stop_controllers();
}

fn invalid_count_does_not_hide_other_objects_of_the_list(plane: &ControlPlane) {
    allow_every_kind(plane);
    define(plane, "kites.yaml", "toys.example.com/v1/kites");
    allow_toys(plane, "kites");
    let mut team = TestNamespace::without_controller(plane, "odd");
    let stop = soon(14);
    create(&team, kite("a-odd", json!("many"), stop));
    create(&team, kite("b-good", json!(3), stop));
    team.run(&["--kinds", KITES]);
    before(&team, stop, "kites/b-good", STATE, "adopted");
    create(&team, kite("c-odder", json!({"min": 1}), stop));
    create(&team, kite("d-good", json!(2), stop));
    before(&team, stop, "kites/d-good", STATE, "adopted");
    for name in ["kites/b-good", "kites/d-good"] {
        await_field(&team, name, "/spec/replicas", 0);
    }
    for (name, quoted) in [("a-odd", "\"many\""), ("c-odder", "{\"min\":1}")] {
        let error = "/metadata/annotations/dayshift~1error";
        let expected =
            format!("spec.replicas: `{quoted}` is not a count; write a number, such as 3");
        await_field(&team, &format!("kites/{name}"), error, expected);
        // The Event follows after the annotation.
        wait_until(&format!("{name} has an Event"), || {
            let events = team.kubectl(&["events", "--for", &format!("kite/{name}")]);
            events.stdout.contains("InvalidSchedule")
        });
    }
    team.ends([("a-odd", 1), ("b-good", 2), ("c-odder", 1), ("d-good", 2)]);
}

/// A start waits for an object of a custom kind only if the objects of the kind have `status.readyReplicas`. Every
/// user can write that on an object of their own.
fn ready_replicas_in_one_namespace_delay_no_start_in_another(plane: &ControlPlane) {
    allow_every_kind(plane);
    define(plane, "kites.yaml", "toys.example.com/v1/kites");
    allow_toys(plane, "kites");
    let evil = TestNamespace::without_controller(plane, "shows-ready");
    let mut team = TestNamespace::without_controller(plane, "shows-nothing");
    let stop = soon(7);
    let start = stop.plus(4);
    let mut object = kite("dependency", json!(1), stop);
    object["metadata"] = json!({"name": "dependency"});
    create(&team, &object);
    object["status"] = json!({"readyReplicas": 0});
    create(&evil, &object);
    for namespace in [&team, &evil] {
        let web = deployment("web").replicas(2);
        let web = web.stop(stop.text()).start(start.text());
        namespace.create(web.annotation("dayshift/after", format!("{KITES}/dependency, 1h")));
    }
    let kinds = format!("deployments,{KITES}");
    team.run(&["-n", evil.name(), "--kinds", &kinds]);
    for namespace in [&team, &evil] {
        namespace.await_stopped("web", start);
    }
    team.await_replicas("web", 2);
    team.assert_punctual("web", 2, start);
    let reported = team.await_event("web", "StartedWithout");
    assert_contains!(reported, "dependency");
    // In its own namespace, the field takes effect.
    assert_eq!(evil.replicas("web"), 0);
    let ready = json!({"status": {"readyReplicas": 1}});
    evil.patch("apis/toys.example.com/v1", "kites/dependency", &ready);
    evil.await_replicas("web", 2);
    team.stop_controllers();
}
