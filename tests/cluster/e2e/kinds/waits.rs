//! A start that waits for its dependencies, with Kubernetes' own controllers and pods.

use serde_json::{Value, json};

use super::{allow_every_kind, await_field, create, field};
use crate::{
    e2e::test_namespace::TestNamespace,
    support::{ControlPlane, Parts, Scenario, deployment, scenarios, soon},
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Pods;
        app_starts_once_its_database_pods_are_ready,
        app_starts_once_its_service_has_a_ready_endpoint,
    ]
}

fn app_starts_once_its_database_pods_are_ready(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "waits");
    let stop = soon(10);
    let start = stop.plus(10);
    // No node has this label, so its pods stay pending.
    let mut db = Value::from(
        deployment("db")
            .replicas(2)
            .stop(stop.text())
            .start(start.text()),
    );
    db["spec"]["template"]["spec"]["nodeSelector"] = json!({"scenario": "none"});
    create(&team, db);
    for (name, after) in [("web", "deploy/db, 1h"), ("api", "deploy/db, 4s")] {
        let app = deployment(name).replicas(2);
        let app = app.stop(stop.text()).start(start.text());
        create(&team, Value::from(app.annotation("dayshift/after", after)));
    }
    for name in ["web", "api"] {
        team.await_stopped(name, start);
    }
    await_field(&team, "deploy/db", "/spec/replicas", 2);
    // The time limit of one start is over; the other start continues to wait.
    let reported = team.await_event("api", "StartedWithout");
    assert_eq!(
        reported,
        "started without deploy/db, which was not ready after 4 s"
    );
    await_field(&team, "deploy/api", "/spec/replicas", 2);
    assert_eq!(field(&team, "deploy/web", "/spec/replicas"), "0");
    let status = format!("dayshift status deploy/web -n {} -o json", team.name());
    let status: Value = serde_json::from_str(&plane.shell(&status).success()).unwrap();
    let waits = &status["workloads"][0]["waitsFor"]["objects"];
    assert_eq!(*waits, json!(["deploy/db"]));
    let any_node = json!({"spec": {"template": {"spec": {"nodeSelector": null}}}});
    team.merge("db", &any_node);
    await_field(&team, "deploy/web", "/spec/replicas", 2);
    let ready = field(&team, "deploy/db", "/status/readyReplicas");
    assert_eq!(ready, "2");
    let mut events = team.events("web").into_iter();
    assert!(!events.any(|(reason, _)| reason == "StartedWithout"));
    // Adopted, stopped and started.
    team.ends([("db", 3), ("web", 3), ("api", 3)]);
}

/// The Service selects the pods of a Deployment without a schedule, which become ready late.
fn app_starts_once_its_service_has_a_ready_endpoint(plane: &ControlPlane) {
    allow_every_kind(plane);
    let mut team = TestNamespace::without_controller(plane, "services");
    team.run(&["--services", "--namespace-defaults=false"]);
    let mut db = Value::from(deployment("db").replicas(1));
    db["spec"]["template"]["spec"]["nodeSelector"] = json!({"scenario": "none"});
    create(&team, db.clone());
    let labels = &db["spec"]["selector"]["matchLabels"];
    create(
        &team,
        json!({
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": "db"},
            "spec": {"selector": labels, "ports": [{"port": 5432}]},
        }),
    );
    let stop = soon(10);
    let start = stop.plus(10);
    for (name, after) in [("web", "svc/db, 1h"), ("api", "svc/dbb, 1h")] {
        let app = deployment(name).replicas(2);
        let app = app.stop(stop.text()).start(start.text());
        create(&team, Value::from(app.annotation("dayshift/after", after)));
    }
    for name in ["web", "api"] {
        team.await_stopped(name, start);
    }
    let reported = team.await_event("api", "StartedWithout");
    let why = "which does not exist, or has no EndpointSlice";
    assert_eq!(reported, format!("started without svc/dbb, {why}"));
    await_field(&team, "deploy/api", "/spec/replicas", 2);
    assert_eq!(field(&team, "deploy/web", "/spec/replicas"), "0");
    let any_node = json!({"spec": {"template": {"spec": {"nodeSelector": null}}}});
    team.merge("db", &any_node);
    await_field(&team, "deploy/web", "/spec/replicas", 2);
    let mut events = team.events("web").into_iter();
    assert!(!events.any(|(reason, _)| reason == "StartedWithout"));
    // Adopted, stopped and started.
    team.ends([("web", 3), ("api", 3)]);
}
