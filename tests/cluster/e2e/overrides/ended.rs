//! Ended overrides, and `kubectl rollout undo`, which restores their annotations.
//!
//! The Deployment controller copies annotations into the current ReplicaSet, and does not remove them there.
//! So an old revision keeps the annotations of an override after the override has ended.

use serde_json::{Value, json};

use crate::e2e::overrides::rollout::{await_rollout, create, roll_out, undo};
use crate::e2e::test_namespace::TestNamespace;
use crate::support::{ControlPlane, Parts, Scenario, deployment, eventually, scenarios, soon};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Pods;
        second_rollout_undo_does_not_revive_an_override,
    ]
}

/// Waits until the current revision contains the values that dayshift wrote when the override
/// began.
fn await_copied(team: &TestNamespace<'_>, name: &str) {
    let of = format!("replicasets?labelSelector=app%3D{name}");
    let began = team.annotation(name, "dayshift/override-began");
    assert!(began.is_some(), "{name}");
    eventually(
        &format!("a ReplicaSet of {name} has override-began"),
        || {
            let all = team.read("apis/apps/v1", &of)?;
            let has_it = |each: &Value| {
                let text = &each["metadata"]["annotations"]["dayshift/override-began"];
                text.as_str() == began.as_deref()
            };
            all["items"].as_array()?.iter().any(has_it).then_some(())
        },
    );
}

fn second_rollout_undo_does_not_revive_an_override(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "undo-override");
    let end = soon(40);
    let an_hour_before = end.plus(-3600);
    create(
        &team,
        "web",
        deployment("web").stop(an_hour_before.text()),
        end,
    );
    let wake = json!({"dayshift/wake-until": end.until()});
    roll_out(&team, "web", &wake);
    team.await_state("web", "woken", end);
    await_copied(&team, "web");
    undo(&team, "web");
    team.await_stopped("web", end);
    team.assert_replicas("web", 0, end);

    let again = ["rollout", "undo", "deployment/web"];
    team.kubectl(&again).success();
    team.await_event("web", "OverrideExpired");
    end.assert_in_future("the override would still be active");
    assert_eq!(team.annotation("web", "dayshift/wake-until"), None);
    assert_eq!(team.replicas("web"), 0);
    await_rollout(&team, "web");
    assert_eq!(
        team.label("web", "dayshift/saved-replicas").as_deref(),
        Some("3")
    );
    // The number of writes to the workload.
    team.ends([("web", 4)]);
}
