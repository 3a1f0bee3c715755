//! Requests that the server rejects.

use chrono::TimeDelta;
use serde_json::json;

use crate::e2e::test_namespace::TestNamespace;
use crate::support::{
    ControlPlane, Dayshift, Parts, Scenario, Soon, deployment, eventually, scenarios, soon,
    wait_until,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Server;
        denial_by_an_admission_policy_is_reported_and_retried_slowly,
        controller_without_permission_is_unready_and_retries,
    ]
}

fn denial_by_an_admission_policy_is_reported_and_retried_slowly(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "policy");
    deny(&team, "object.spec.replicas > 0", "this team never sleeps");
    let stop = soon(7);
    for name in ["refused", "good"] {
        let web = deployment(name).replicas(3).stop(stop.text());
        team.create(web.label("tier", name));
    }
    await_denied(&team, "refused", 0, stop);
    for name in ["refused", "good"] {
        team.await_adopted(name, stop);
    }

    let reported = team.await_event("refused", "ScaleFailed");
    assert_contains!(reported, "this team never sleeps");
    team.await_replicas("good", 0);
    team.assert_punctual("good", 1, stop);
    // The second attempt follows about 30 s after the first, on machines of any speed.
    Soon(stop.0 + TimeDelta::seconds(8)).wait();
    assert_eq!(team.replicas("refused"), 3);
    assert_eq!(
        team.label("refused", "dayshift/saved-replicas"),
        None,
        "count and state change together or not at all"
    );
    assert_eq!(
        team.writes("refused").len(),
        2,
        "an adoption and one attempt"
    );

    let bindings = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
    plane.remove(&format!("{bindings}/{}", team.name()));
    team.await_replicas("refused", 0);
    // The server's log might be slightly late.
    wait_until("the last attempt is in the audit log", || {
        team.made("refused").len() == 2
    });
    let tries = team.writes("refused").len();
    assert!((3..=4).contains(&tries), "{tries} tries");
    assert_eq!(
        team.events("refused")
            .iter()
            .filter(|each| each.0 == "ScaleFailed")
            .count(),
        1
    );
    team.ends([("refused", 2), ("good", 2)]);
}

/// Denies each update of objects with the label `tier: refused` if `expression` is false.
fn deny(team: &TestNamespace<'_>, expression: &str, message: &str) {
    let namespace = team.name();
    let metadata = json!({"name": namespace});
    let policy = json!({"apiVersion": "v1", "kind": "List", "items": [
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": metadata,
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": {
                    "namespaceSelector": {
                        "matchLabels": {"kubernetes.io/metadata.name": namespace},
                    },
                    "objectSelector": {"matchLabels": {"tier": "refused"}},
                    "resourceRules": [{
                        "apiGroups": ["apps"], "apiVersions": ["v1"],
                        "operations": ["UPDATE"], "resources": ["deployments"],
                    }],
                },
                "validations": [{"expression": expression, "message": message}],
            },
        },
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": metadata,
            "spec": {"policyName": namespace, "validationActions": ["Deny"]},
        },
    ]});
    team.create_all(&policy.to_string());
}

/// Waits until the policy of [`deny`] is in force, which must happen `before` a time.
fn await_denied(team: &TestNamespace<'_>, name: &str, replicas: i32, before: Soon) {
    let count = json!({"spec": {"replicas": replicas}});
    before.await_true("the policy is in force", || {
        let denial = team.refusal(name, &count);
        denial.is_some_and(|denial| denial.contains("denied request"))
    });
}

/// With `manifests/namespaced.yaml`, whose ServiceAccount and binding only this scenario uses.
fn controller_without_permission_is_unready_and_retries(plane: &ControlPlane) {
    let team = TestNamespace::without_controller(plane, "forbidden");
    team.apply_file("manifests/namespaced.yaml");
    let bindings = "/apis/rbac.authorization.k8s.io/v1/namespaces";
    plane.remove(&format!("{bindings}/{}/rolebindings/dayshift", team.name()));
    let kubeconfig = plane.kubeconfig_of(team.name(), "dayshift");
    let mut dayshift = Dayshift::run_as(&kubeconfig, &["run", "-n", team.name()]);
    wait_until("a request has been forbidden", || {
        dayshift.log().contains("cannot list resource")
    });
    eventually("the log reports the missing permission", || {
        let (status, why) = dayshift.get("/readyz")?;
        assert_eq!(status, 503, "{why}");
        why.contains("the API server does not answer or refuses")
            .then_some(())
    });
    let alive = eventually("/healthz answers", || dayshift.get("/healthz"));
    assert_eq!(alive.0, 200, "a restart would not help");

    team.apply_file("manifests/namespaced.yaml");
    dayshift.wait_ready();
    let stop = soon(4);
    team.create(deployment("web").replicas(3).stop(stop.text()));
    team.await_adopted("web", stop);
    team.await_replicas("web", 0);
    assert!(dayshift.stop().success());
}
