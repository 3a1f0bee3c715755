//! `--max-starting`, with pods that never become ready.

use serde_json::{Value, json};

use crate::e2e::test_namespace::TestNamespace;
use crate::support::{ControlPlane, Parts, Scenario, deployment, scenarios, soon, wait_until};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![Parts::Pods; status_distinguishes_waiting_from_missed_starts]
}

fn status_distinguishes_waiting_from_missed_starts(plane: &ControlPlane) {
    let mut team = TestNamespace::without_controller(plane, "waits-for-place");
    team.run(&["--max-starting=1", "--namespace-defaults=false"]);
    let start = soon(10);
    for name in ["first", "second"] {
        let mut web = Value::from(deployment(name).replicas(0).start(start.text()));
        // No node has this label, so its pods stay pending.
        web["spec"]["template"]["spec"]["nodeSelector"] = json!({"scenario": "none"});
        team.create_all(&web.to_string());
    }
    for name in ["first", "second"] {
        team.await_adopted(name, start);
    }
    let status = format!("dayshift status -n {} -o json", team.name());
    let notes = || {
        let shown = plane.shell(&status);
        let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
        let workloads = shown["workloads"].as_array().unwrap().iter();
        let notes = workloads.filter_map(|it| it["notes"].as_array()).flatten();
        notes
            .map(|it| it.as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let message = "its start waits until fewer workloads are starting (--max-starting)";
    let waits = |expected: bool| {
        wait_until(
            &format!("status shows that a start waits: {expected}"),
            || {
                let notes = notes();
                let waits = notes.iter().any(|it| it == message);
                let is_late = notes.iter().any(|it| it.contains("overdue"));
                // Ten seconds after its boundary, a start is late or waiting; before, it is neither.
                waits == expected && is_late != expected
            },
        );
    };
    waits(true);
    // The waiting start is reported only by that Event.
    team.kill_controllers();
    let delete = ["delete", "events", "--field-selector=reason=StartsWait"];
    team.kubectl(&delete).success();
    waits(false);
}
