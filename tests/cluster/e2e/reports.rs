//! What commands and Events report about states that are easy to misjudge, with the shipped
//! permissions and real controllers.

use std::time::{Duration, Instant};

use chrono::{Days, Utc};
use serde_json::{Value, json};

use crate::e2e::kinds::{STATE, allow_every_kind, await_field, create, define, field};
use crate::e2e::test_namespace::TestNamespace;
use crate::support::{
    ControlPlane, Dayshift, Output, Parts, Scenario, deployment, eventually, scenarios, soon,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    [
        scenarios![
            Parts::Server;
            enforce_that_gave_up_is_a_problem_and_announces_no_stop,
            a_shorter_wake_needs_the_shorten_flag,
            a_manual_0_stays_and_sync_restores_the_running_count,
            a_wake_of_a_namespace_ends_what_sync_has_written,
            the_state_of_a_later_version_has_one_explanation,
            a_killed_controller_and_the_next_change_are_shown,
        ],
        scenarios![
            Parts::Pods;
            an_autoscaler_that_never_scales_down_is_a_problem,
            a_start_after_a_wait_is_not_overdue,
            a_copy_of_a_scheduled_owner_is_reported_with_the_annotation_to_exclude_it,
        ],
    ]
    .concat()
}

/// Runs `dayshift …` in the namespace, as the admin.
fn dayshift(team: &TestNamespace<'_>, line: &str) -> Output {
    let line = format!("dayshift {line} -n {}", team.name());
    team.plane().shell(&line)
}

fn status(team: &TestNamespace<'_>, flags: &str) -> Output {
    dayshift(team, &format!("status {flags}"))
}

fn reasons(team: &TestNamespace<'_>, name: &str) -> Vec<String> {
    let events = team.events(name).into_iter();
    events.map(|(reason, _)| reason).collect()
}

fn enforce_that_gave_up_is_a_problem_and_announces_no_stop(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "gave-up");
    let now = soon(0);
    let (ago, later) = (now.plus(-3600).text(), now.plus(36_000).text());
    let web = deployment("web").replicas(0).stop(ago).start(later);
    team.create(web.annotation("dayshift/enforce", "1s"));
    team.await_label("web", "dayshift/state", "adopted");
    for _ in 0..3 {
        team.scale("web", 2);
        team.await_replicas("web", 0);
    }
    // Events arrive later than the corrections that they report.
    let before = eventually("the Events of three corrections", || {
        let reasons = reasons(&team, "web");
        let enforced = reasons.iter().filter(|reason| *reason == "Enforced");
        (enforced.count() == 3).then_some(reasons)
    });
    team.scale("web", 2);
    team.await_event("web", "CorrectionLimitReached");
    let after = reasons(&team, "web").split_off(before.len());
    assert!(
        !after.iter().any(|reason| reason == "StopsSoon"),
        "{after:?} after {before:?}"
    );
    let shown = status(&team, "");
    assert!(!shown.ok, "{shown:?}");
    let sync = format!("`dayshift sync deploy/web -n {}`", team.name());
    for expected in ["another client keeps reverting dayshift's changes", &sync] {
        assert!(shown.stdout.contains(expected), "{shown:?}");
    }
    assert!(!shown.stdout.contains("stops it within"), "{shown:?}");
    // The remedy works.
    dayshift(&team, "sync deploy/web").success();
    assert_eq!(team.replicas("web"), 0);
    assert!(status(&team, "").ok, "{:?}", status(&team, ""));
}

fn a_shorter_wake_needs_the_shorten_flag(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "shorten");
    let now = soon(0);
    let (ago, later) = (now.plus(-3600).text(), now.plus(36_000).text());
    team.create(deployment("web").replicas(1).stop(ago).start(later));
    team.await_label("web", "dayshift/state", "adopted");
    let wake = |flags: &str| dayshift(&team, &format!("wake deploy/web {flags}"));
    wake("--for 3h --reason 'load test'").success();
    let until = team.annotation("web", "dayshift/wake-until");
    let refused = wake("--for 30m --reason other");
    assert!(!refused.ok, "{refused:?}");
    for expected in ["load test", "--shorten ends it earlier"] {
        assert!(refused.stderr.contains(expected), "{refused:?}");
    }
    assert_eq!(team.annotation("web", "dayshift/wake-until"), until);
    let reason = team.annotation("web", "dayshift/reason");
    assert_eq!(reason.as_deref(), Some("load test"));
    wake("--for 30m --reason other --shorten").success();
    assert_ne!(team.annotation("web", "dayshift/wake-until"), until);
}

/// Adopted at 3, and scaled to 0 before the first boundary.
fn a_manual_0_stays_and_sync_restores_the_running_count(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "manual-0");
    let now = soon(0);
    let start = now.plus(9);
    let (ago, later) = (now.plus(-3600).text(), now.plus(36_000).text());
    let web = |name: &str| deployment(name).replicas(3);
    team.create(web("synced").start(ago.clone()).stop(later));
    team.create(web("left").stop(ago).start(start.text()));
    for name in ["synced", "left"] {
        team.await_adopted(name, start);
        team.kubectl(&["scale", "deploy", name, "--replicas=0"])
            .success();
    }
    let shown = status(&team, "").stdout;
    let name = team.name();
    let note = format!("{name}/left, {name}/synced: no count is saved for it");
    assert!(shown.contains(&note), "{note}: {shown}");
    let unless = ", unless it was scaled to 0 manually since its adoption";
    assert!(shown.contains(unless), "{shown}");
    start.assert_in_future("both workloads are scaled to 0 before the first boundary");
    dayshift(&team, "sync deploy/synced").success();
    assert_eq!(
        team.replicas("synced"),
        3,
        "the last count that the controller observed"
    );
    team.await_label("left", "dayshift/state", "running");
    assert_eq!(team.replicas("left"), 0);
    // The same at a stop: its next start leaves it at 0, too.
    let stop = soon(4);
    let times = [
        format!("dayshift/stop={}", stop.text()),
        format!("dayshift/start={}", stop.plus(36_000).text()),
        "--overwrite".to_owned(),
    ];
    let annotate = ["annotate", "deploy/left"].into_iter();
    let annotate: Vec<_> = annotate.chain(times.iter().map(String::as_str)).collect();
    team.kubectl(&annotate).success();
    team.await_label("left", "dayshift/state", "stopped");
    let shown = status(&team, "").stdout;
    let note =
        format!("note: {name}/left: it was at 0 when it was stopped, and the start leaves it at 0");
    assert!(shown.contains(&note), "{shown}");
}

/// `sync` stops all workloads, and a colleague wakes the namespace.
fn a_wake_of_a_namespace_ends_what_sync_has_written(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "synced-wake");
    let now = soon(0);
    let (ago, later) = (now.plus(-3600).text(), now.plus(36_000).text());
    for name in ["one", "two", "own"] {
        let web = deployment(name).replicas(2);
        team.create(web.stop(ago.clone()).start(later.clone()));
        team.await_label(name, "dayshift/state", "adopted");
    }
    dayshift(&team, "sync --all --yes").success();
    dayshift(&team, "sleep deploy/own --for 2h").success();
    let counts = || ["one", "two", "own"].map(|name| team.replicas(name));
    assert_eq!(counts(), [0; 3]);
    let name = team.name();
    let woken = plane.shell(&format!("dayshift wake ns/{name} --for 1h"));
    let expected =
        format!("2 of 3 workloads; 1 has an override of its own: `dayshift wake --all -n {name}`");
    assert!(woken.ok && woken.stdout.contains(&expected), "{woken:?}");
    assert_eq!(counts(), [2, 2, 0]);
    dayshift(&team, "sleep --all --for 2h --yes").success();
    let woken = plane.shell(&format!("dayshift wake ns/{name} --for 90m"));
    for expected in ["0 of 3 workloads", "3 have an override of their own"] {
        assert!(!woken.ok && woken.stderr.contains(expected), "{woken:?}");
    }
    assert_eq!(counts(), [0; 3]);
}

/// A cluster is rolled back from a newer version, which wrote other labels.
fn the_state_of_a_later_version_has_one_explanation(plane: &ControlPlane) {
    let mut team = TestNamespace::new(plane, "later-version");
    team.create(deployment("web").replicas(2).hours("00:00-24:00"));
    team.await_label("web", "dayshift/state", "adopted");
    let label = "dayshift/fingerprint=v9-0123456789abcdef";
    team.kubectl(&["label", "--overwrite", "deploy/web", label])
        .success();
    let explanation = "its state was written by a later version of dayshift, so this version leaves it \
                       unchanged; use that version";
    let message = team.await_event("web", "StateFromLaterVersion");
    assert_eq!(message, explanation);
    for line in ["status", "sleep deploy/web --for 1h --timeout 5s"] {
        let ran = dayshift(&team, line);
        let output = ran.stdout + &ran.stderr;
        assert!(!ran.ok && output.contains(explanation), "{line}: {output}");
        assert!(!output.contains("controller running"), "{line}: {output}");
    }
    assert_eq!(team.replicas("web"), 2);
    let log = team.stop_controllers();
    assert_eq!(log.matches(explanation).count(), 1, "{log}");
}

/// `web` is stopped on an excluded date, on which it has another stop but no start. The stop of `due` comes
/// after the controller was killed.
fn a_killed_controller_and_the_next_change_are_shown(plane: &ControlPlane) {
    let mut team = TestNamespace::without_controller(plane, "killed");
    let dashboard = Dayshift::run_as(
        &plane.kubeconfig(),
        &["dashboard", "-n", team.name(), "--kinds=deployments"],
    );
    let shows = |path: &str, expected: &str| {
        eventually(&format!("{path} shows {expected}"), || {
            dashboard.page(path)?.contains(expected).then_some(())
        });
    };
    let today = Utc::now().date_naive();
    let stop = soon(7);
    let (again, start) = (stop.plus(10_800), stop.plus(18_000));
    let web = deployment("web").replicas(2).start(start.text());
    let web = web.stop(format!("{}; {}", stop.text(), again.text()));
    let excluded = format!("{today}..{}", today + Days::new(1));
    team.create(web.annotation("dayshift/except", excluded));
    let due = stop.plus(8);
    team.create(deployment("due").replicas(2).stop(due.text()));
    shows("/", "No controller has acted yet");
    team.run(&[]);
    team.await_adopted("web", stop);
    team.await_stopped("web", due);
    shows("/", "dayshift is working");
    team.kill_controllers();
    due.assert_in_future("the controller was killed");

    let day = today + Days::new(2);
    let next = team.label("web", "dayshift/next").unwrap();
    assert!(
        !next.starts_with(&day.to_string()),
        "the boundary is {next}"
    );
    let shown: Value = serde_json::from_str(&status(&team, "web -o json").stdout).unwrap();
    let web = &shown["workloads"][0];
    let next = web["next"].as_str().unwrap();
    assert!(next.starts_with(&day.to_string()), "{web}");
    assert_eq!(web["nextAction"], "start", "{web}");

    due.plus(10).wait();
    shows("/", "1 workload overdue");
    let shown = status(&team, "");
    let expected = "overdue. Check that the controller is running";
    assert!(!shown.ok && shown.stdout.contains(expected), "{shown:?}");
    assert_eq!(team.replicas("due"), 2);
    team.run(&[]);
    team.await_replicas("due", 0);
    shows("/", "dayshift is working");
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
    let shown = status(&team, "--kinds hpa");
    let warning = "behavior.scaleDown.selectPolicy: Disabled keeps its target at 3";
    assert!(!shown.ok && shown.stdout.contains(warning), "{shown:?}");
    assert_eq!(team.replicas("app"), 3);
}

/// The first start never becomes ready, so the second gets its slot 11 s after it was due.
fn a_start_after_a_wait_is_not_overdue(plane: &ControlPlane) {
    let mut team = TestNamespace::without_controller(plane, "after-wait");
    team.run(&["--max-starting=1", "--namespace-defaults=false"]);
    let start = soon(6);
    for name in ["first", "second"] {
        let web = deployment(name).replicas(0).start(start.text());
        let mut web = Value::from(web.annotation("dayshift/ready-within", "11s"));
        // No node has this label, so its pods stay pending.
        web["spec"]["template"]["spec"]["nodeSelector"] = json!({"scenario": "none"});
        team.kubectl_with(&["apply"], &web.to_string()).success();
    }
    for name in ["first", "second"] {
        team.await_adopted(name, start);
    }
    let counts = || ["first", "second"].map(|name| team.replicas(name));
    eventually("one of them starts", || (counts() != [0, 0]).then_some(()));
    let begin = Instant::now();
    // A scrape counts at once, and the log only every 30 s.
    while counts() != [1, 1] {
        assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", counts());
        assert_none_overdue(&team);
    }
    for _ in 0..200 {
        assert_none_overdue(&team);
    }
    let first = if reasons(&team, "first").contains(&"NotReady".to_owned()) {
        "first"
    } else {
        "second"
    };
    let message = team.await_event(first, "NotReady");
    let expected = "does not have minimum availability. To see more, run `kubectl describe";
    assert!(message.contains(expected), "{message}");
    let log = team.stop_controllers();
    assert!(!log.contains("not done within"), "{log}");
}

fn assert_none_overdue(team: &TestNamespace<'_>) {
    if let Some((_, metrics)) = team.newest().get("/metrics") {
        let none = metrics.contains("dayshift_overdue_workloads 0\n");
        assert!(none, "{metrics}");
    }
}

/// The Rollout plays the role of the custom resource of an operator, which copies its labels and annotations to the
/// Deployment that it owns.
fn a_copy_of_a_scheduled_owner_is_reported_with_the_annotation_to_exclude_it(plane: &ControlPlane) {
    allow_every_kind(plane);
    define(plane, "rollouts.yaml", "argoproj.io/v1alpha1/rollouts");
    let mut team = TestNamespace::without_controller(plane, "owned");
    let kinds = "--kinds=deployments,rollouts.argoproj.io";
    team.run(&[kinds]);
    let later = soon(36_000).text();
    create(
        &team,
        json!({
            "apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout",
            "metadata": {"name": "cache", "annotations": {"dayshift/stop": later}},
            "spec": {"replicas": 3},
        }),
    );
    await_field(&team, "rollouts/cache", STATE, "adopted");
    let uid = field(&team, "rollouts/cache", "/metadata/uid");
    let fingerprint = field(
        &team,
        "rollouts/cache",
        "/metadata/labels/dayshift~1fingerprint",
    );
    let owned = |team: &TestNamespace<'_>, name: &str, copies: Value| {
        let mut object = Value::from(deployment(name).replicas(3));
        for (key, value) in copies.as_object().unwrap() {
            object["metadata"][key] = value.clone();
        }
        object["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "name": "cache", "uid": uid,
            "controller": true,
        }]);
        create(team, object);
    };
    owned(
        &team,
        "annotated",
        json!({"annotations": {"dayshift/stop": later}}),
    );
    team.await_label("annotated", "dayshift/state", "adopted");
    // The controller would remove labels without a schedule, but it no longer runs here. This is the
    // state after a reconciliation of the operator.
    team.stop_controllers();
    let labels = json!({"labels": {
        "dayshift/state": "adopted", "dayshift/last": "2026-11-20T10.00.00Z",
        "dayshift/next": "never", "dayshift/fingerprint": fingerprint,
    }});
    owned(&team, "labeled", labels);
    let namespace = team.name().to_owned();
    let shown = status(&team, kinds);
    assert!(!shown.ok, "{shown:?}");
    let text = "the labels or annotations of this Deployment are copies of those of Rollout cache, whose \
                operator sets its count";
    assert!(shown.stdout.contains(text), "{shown:?}");
    for wrong in ["among its --kinds", "no schedule is written", "scaler"] {
        assert!(!shown.stdout.contains(wrong), "{wrong}: {shown:?}");
    }
    for name in ["annotated", "labeled"] {
        let exclude =
            format!("kubectl annotate deploy/{name} -n {namespace} dayshift/exclude=true");
        let json = status(&team, &format!("{kinds} -o json")).stdout;
        assert!(json.contains(&exclude), "{name}: {json}");
        plane.shell(&exclude).success();
    }
    let shown = status(&team, kinds);
    assert!(shown.ok && !shown.stdout.contains("copies"), "{shown:?}");
}
