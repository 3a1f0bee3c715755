//! A StatefulSet, with and without its pods.

use serde_json::{Value, json};

use super::{STATE, await_field, before, create, field};
use crate::{
    e2e::test_namespace::TestNamespace,
    support::{ControlPlane, Parts, Scenario, Soon, scenarios, soon, stateful_set, wait_until},
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Pods;
        stop_deletes_stateful_set_pods_and_start_creates_them,
        stop_deletes_volumes_only_with_permission,
    ]
}

fn stop_deletes_stateful_set_pods_and_start_creates_them(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "stateful-pods");
    let stop: Soon = soon(10);
    let start = stop.plus(8);
    let db = stateful_set("db").replicas(2);
    create(&team, Value::from(db.stop(stop.text()).start(start.text())));
    team.await_pods("db", 2);
    before(&team, stop, "sts/db", STATE, "adopted");
    team.await_pods("db", 0);
    start.assert_in_future("the pods are deleted");
    team.await_pods("db", 2);
    assert_eq!(field(&team, "sts/db", STATE), "running");
    team.ends([("db", 3)]);
}

/// With Kubernetes' own controller, which deletes the claims.
fn stop_deletes_volumes_only_with_permission(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "stateful-volumes");
    let stop: Soon = soon(8);
    let mut db = Value::from(stateful_set("db").replicas(2).stop(stop.text()));
    db["spec"]["podManagementPolicy"] = json!("Parallel");
    db["spec"]["persistentVolumeClaimRetentionPolicy"] = json!({"whenScaled": "Delete"});
    db["spec"]["volumeClaimTemplates"] = json!([{
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }]);
    create(&team, db);
    // No controller runs that removes the finalizer of a deleted claim.
    let claims = || {
        let listed = team.read("api/v1", "persistentvolumeclaims").unwrap();
        let claims = listed["items"].as_array().unwrap().iter();
        let kept = claims.filter(|it| it["metadata"]["deletionTimestamp"].is_null());
        kept.count()
    };
    wait_until("the claims of both pods", || claims() == 2);
    wait_until("the StatefulSet is rejected", || {
        let error = field(&team, "sts/db", "/metadata/annotations/dayshift~1error");
        error.contains("whenScaled is Delete")
    });
    stop.plus(2).wait();
    assert_eq!(field(&team, "sts/db", "/spec/replicas"), "2");
    assert_eq!(claims(), 2);
    // It was never adopted before, so the next stop is the first action.
    let again = soon(8);
    let annotations =
        json!({"dayshift/stop": again.text(), "dayshift/allow-volume-deletion": "true"});
    let patch = json!({"metadata": {"annotations": annotations}});
    team.patch("apis/apps/v1", "statefulsets/db", &patch);
    before(&team, again, "sts/db", STATE, "adopted");
    await_field(&team, "sts/db", "/spec/replicas", 0);
    wait_until("all claims are deleted", || claims() == 0);
    // Three writes: rejection, adoption and stop.
    team.ends([("db", 3)]);
}
