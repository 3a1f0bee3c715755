//! Invalid schedules, and requests that the server rejects.

use chrono::{DateTime, TimeDelta};
use serde_json::json;

use crate::e2e::test_namespace::TestNamespace;
use crate::support::{
    ControlPlane, Dayshift, Parts, Scenario, Soon, deployment, eventually, nightly, scenarios,
    soon, too_late,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    [
        scenarios![
            Parts::Server;
            denial_by_an_admission_policy_is_reported_and_retried_slowly,
            controller_without_permission_is_unready_and_retries,
        ],
        nightly(scenarios![
            Parts::Server;
            reports_an_invalid_schedule_within_a_second,
            denied_starts_do_not_delay_stops,
            corrected_schedule_is_adopted_and_reverted_typo_catches_up,
        ]),
    ]
    .concat()
}

fn reports_an_invalid_schedule_within_a_second(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "bad");
    let stop = soon(5);
    let web = |name: &str| deployment(name).replicas(3).stop(stop.text());
    let mark = plane.audit().mark();
    team.create(web("schedule").stop("Mon-Fry 19:00"));
    team.create(web("zone").timezone("Asia/Tokio"));
    team.create(web("key").annotation("dayshift/strat", "09:00"));
    team.create(web("good"));

    for (name, annotation, hint) in [
        ("schedule", "dayshift/stop: ", "`Fry`"),
        ("zone", "dayshift/timezone: ", "Asia/Tokyo"),
        ("key", "dayshift/strat: ", "did you mean `start`?"),
    ] {
        let reported = team.await_event(name, "InvalidSchedule");
        assert!(
            reported.starts_with(annotation) && reported.contains(hint),
            "{reported}"
        );
        assert_eq!(team.annotation(name, "dayshift/error"), Some(reported));
        let warnings = team.kubectl(&["events", "--for", &format!("deployment/{name}")]);
        let warnings = warnings.success();
        assert!(warnings.contains("Warning") && warnings.contains("InvalidSchedule"));
    }
    let requests = plane.audit().since(mark);
    let here = || requests.iter().filter(|each| each.namespace == team.name());
    let events = here().filter(|each| each.is_dayshift() && each.resource == "events");
    let last_told = events.map(|each| each.answered).max().unwrap();
    let made = here().filter(|each| each.verb == "create" && each.name != "good");
    let last_made = made
        .filter(|each| each.resource == "deployments")
        .map(|each| each.answered)
        .max()
        .unwrap();
    let late = last_told - last_made;
    if late >= 1_000_000 {
        let due = DateTime::from_timestamp_micros(last_made).unwrap();
        too_late("an Event was sent", due, late as f64 / 1e6, 1.0);
    }
    stop.assert_in_future("each error is reported");
    team.await_adopted("good", stop);

    team.await_replicas("good", 0);
    team.assert_punctual("good", 1, stop);
    for name in ["schedule", "zone", "key"] {
        assert_eq!(team.replicas(name), 3, "{name} is unchanged");
    }
    team.ends([("schedule", 1), ("zone", 1), ("key", 1), ("good", 2)]);
}

fn corrected_schedule_is_adopted_and_reverted_typo_catches_up(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "mended");
    let stop = soon(5);
    let later = stop.plus(6);
    for name in ["mended", "undone"] {
        team.create(deployment(name).replicas(3).stop(stop.text()));
        team.await_adopted(name, stop);
        team.annotate(name, "dayshift/stop", "Mon-Fry 19:00");
        team.await_event(name, "InvalidSchedule");
    }
    stop.assert_in_future("the schedules are invalid");
    stop.plus(1).wait();
    assert_eq!(team.replicas("mended"), 3);
    assert_eq!(team.replicas("undone"), 3);

    team.annotate("mended", "dayshift/stop", &*later.text());
    team.annotate("undone", "dayshift/stop", &*stop.text());
    team.await_stopped("undone", later);
    assert_eq!(team.replicas("undone"), 0);
    team.await_adopted("mended", later);
    team.assert_replicas("mended", 3, later);
    for name in ["mended", "undone"] {
        assert_eq!(team.annotation(name, "dayshift/error"), None, "{name}");
    }
    team.await_replicas("mended", 0);
    team.assert_punctual("mended", 3, later);
    team.ends([("mended", 4), ("undone", 3)]);
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
    assert!(reported.contains("this team never sleeps"), "{reported}");
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

    team.kubectl(&["delete", "validatingadmissionpolicybinding", team.name()])
        .success();
    team.await_replicas("refused", 0);
    // The server's log might be slightly late.
    eventually("the last attempt is in the audit log", || {
        (team.made("refused").len() == 2).then_some(())
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

/// Each start is attempted at its time, and again after growing pauses, none of which delays the
/// stop.
fn denied_starts_do_not_delay_stops(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "denied");
    let is_no_start = "object.spec.replicas <= oldObject.spec.replicas";
    deny(&team, is_no_start, "this team is full");
    let stop = soon(20);
    let starts = [9, 7, 5, 3].map(|early| Soon(stop.0 - TimeDelta::seconds(early)));
    let names: Vec<_> = (0..12).map(|number| format!("web-{number}")).collect();
    for name in &names {
        let web = deployment(name).replicas(1).stop(stop.text());
        let web = web.annotation("dayshift/replicas", "3");
        let starts = starts.map(Soon::text).join("; ");
        team.create(web.start(starts).label("tier", "refused"));
    }
    for name in &names {
        team.await_adopted(name, starts[0]);
    }
    await_denied(&team, "web-0", 2, starts[0]);

    stop.wait();
    for name in &names {
        team.await_replicas(name, 0);
        team.assert_punctual(name, 1, stop);
        let writes = team.writes(name);
        let denied = writes
            .iter()
            .filter(|it| it.code == 422 && it.received < stop.micros());
        assert!(denied.count() >= 4, "{writes:#?}");
    }
    team.ends(names.iter().map(|name| (name.as_str(), 2)));
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
    team.kubectl_with(&["apply"], &policy.to_string()).success();
}

/// Waits until the policy of [`deny`] is in force, which must happen `before` a time.
fn await_denied(team: &TestNamespace<'_>, name: &str, replicas: i32, before: Soon) {
    let count = json!({"spec": {"replicas": replicas}}).to_string();
    let patch = [
        "patch",
        "deployment",
        name,
        "--dry-run=server",
        "-p",
        &count,
    ];
    before.before("the policy is in force", || {
        let output = team.kubectl(&patch);
        output.stderr.contains("denied request").then_some(())
    });
}

/// With `manifests/namespaced.yaml`, whose ServiceAccount and binding only this scenario uses.
fn controller_without_permission_is_unready_and_retries(plane: &ControlPlane) {
    let team = TestNamespace::without_controller(plane, "forbidden");
    team.kubectl(&["apply", "-f", "manifests/namespaced.yaml"])
        .success();
    team.kubectl(&["delete", "rolebinding", "dayshift"])
        .success();
    let kubeconfig = plane.kubeconfig_of(team.name(), "dayshift");
    let mut dayshift = Dayshift::run_as(&kubeconfig, &["run", "-n", team.name()]);
    eventually("a request has been forbidden", || {
        dayshift
            .log()
            .contains("cannot list resource")
            .then_some(())
    });
    eventually("the log reports the missing permission", || {
        let (status, why) = dayshift.get("/readyz")?;
        assert_eq!(status, 503, "{why}");
        why.contains("the API server does not answer or refuses")
            .then_some(())
    });
    let alive = eventually("/healthz answers", || dayshift.get("/healthz"));
    assert_eq!(alive.0, 200, "a restart would not help");

    team.kubectl(&["apply", "-f", "manifests/namespaced.yaml"])
        .success();
    dayshift.wait_ready();
    let stop = soon(4);
    team.create(deployment("web").replicas(3).stop(stop.text()));
    team.await_adopted("web", stop);
    team.await_replicas("web", 0);
    assert!(dayshift.stop().success());
}
