//! Inherited schedules, as commands read them from the workloads: without the flags of the
//! controller, and without permission to read Namespaces.

use serde_json::{Value, json};

use crate::rows::words;
use crate::{
    dashboard::browser::Served,
    fake_server::{Cluster, Controller},
};

/// Two namespaces of a team and a controller with a default schedule for one of them.
struct Central {
    cluster: Cluster,
    _controller: Controller,
}

/// The schedule runs at any time, and its next boundary is a stop.
const CENTRAL: &[&str] = &[
    "--namespace-selector=env=dev",
    "--default-start=2000-01-01 00:00",
    "--default-stop=2099-01-01 00:00",
    "--timezone=Asia/Tokyo",
];

impl Central {
    fn new() -> Self {
        let cluster = Cluster::new();
        cluster.api.namespace("prod");
        let label = json!({"metadata": {"labels": {"env": "dev"}}});
        cluster.api.merge("Namespace", "", "dev", &label).unwrap();
        cluster.deployment("web", 3, &[]);
        let mut other = cluster.api.get("Deployment", "dev", "web").unwrap();
        other["metadata"] = json!({"namespace": "prod", "name": "api"});
        cluster.api.create(other).unwrap();
        let controller = Controller::with(&cluster, CENTRAL);
        let central = Self {
            cluster,
            _controller: controller,
        };
        central.cluster.wait_for_state(&["web"], "adopted");
        central
    }

    /// The entry for `web` in `status -A`, without flags of the controller.
    fn status(&self) -> Value {
        let ran = self.cluster.dayshift(&["status", "-A", "-o", "json"]);
        let document = ran.json();
        assert_eq!(
            document["workloads"].as_array().unwrap().len(),
            1,
            "{ran:?}"
        );
        assert_eq!(document["unread"], json!([]), "{ran:?}");
        assert_eq!((ran.status, &*ran.err), (0, ""), "{ran:?}");
        document["workloads"][0].clone()
    }
}

#[test]
fn every_override_works_under_a_central_default_schedule() {
    let central = Central::new();
    for (args, state) in [
        ("wake web --for=1h", "woken"),
        ("resume web", "running"),
        ("sleep web --for=1h", "slept"),
        ("resume --all", "running"),
        ("pause web", "paused"),
        ("resume web", "adopted"),
        ("sleep --all --for=1h", "slept"),
        ("wake --all --for=1h", "woken"),
        ("resume ns/dev", "woken"),
        ("resume -A", "running"),
        ("sleep ns/dev --for=1h", "slept"),
        ("wake ns/dev --for=1h", "woken"),
        ("pause ns/dev", "paused"),
        ("resume ns/dev", "adopted"),
        ("sync web", "adopted"),
    ] {
        let words = words(args);
        let ran = central.cluster.dayshift(&words);
        // The Namespace has no override that `resume` could end, and the override of the workload stays.
        let kept = "error: namespace/dev resumed: 0 of 1 workload; 1 has an override of its own: \
                    `dayshift resume --all -n dev`\n";
        let is_kept = (args, state) == ("resume ns/dev", "woken");
        let expected = if is_kept { (1, kept) } else { (0, "") };
        assert_eq!((ran.status, &*ran.err), expected, "{args}: {ran:?}");
        assert_eq!(
            central.cluster.label("web", "state").as_deref(),
            Some(state),
            "{args}"
        );
        let status = central.status();
        assert_eq!(status["state"], state, "{args}");
        assert_eq!(status["error"], Value::Null, "{args}");
        assert_eq!(status["notes"], json!([]), "{args}");
        let from = (&status["from"], &status["timezone"]);
        assert_eq!(from, (&json!("scaler"), &json!("Asia/Tokyo")), "{args}");
    }
}

/// A workload records the time zone of the controller, and the commands read it there.
#[test]
fn local_times_use_the_zone_of_the_controller() {
    let central = Central::new();
    let ran = central
        .cluster
        .dayshift(&["wake", "web", "--until=2098-12-24 18:00"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let until = central.cluster.annotation("web", "wake-until");
    assert_eq!(until.as_deref(), Some("2098-12-24T18:00:00+09:00"));
    let plan = central
        .cluster
        .dayshift(&["plan", "-o=json", "--from=2098-12-31", "--days=2"]);
    let plan = &plan.json()["workloads"];
    assert_eq!(plan[0]["boundaries"][0]["at"], "2099-01-01T00:00:00+09:00");
}

#[test]
fn the_dashboard_shows_the_inherited_schedule_and_its_effect() {
    let central = Central::new();
    let served = Served::of(&central.cluster, &[]);
    let page = served.page("/object/dev/deploy/web");
    let text = page.text();
    assert_contains!(text, "2099-01-01 00:00");
    assert_lacks!(text, "No schedule.");
    let overview = served.page("/");
    assert_lacks!(overview.text(), "prod");
}

/// A developer may access only the workloads of one namespace.
#[test]
fn commands_work_without_permission_to_read_namespaces() {
    let central = Central::new();
    let verbs = &["get", "list", "watch", "patch"];
    central.cluster.refuse(verbs, "namespaces");
    let ran = central.cluster.dayshift(&["status"]);
    assert_eq!((ran.status, &*ran.err), (0, ""), "{ran:?}");
    ran.assert_out("stop");
    let ran = central.cluster.dayshift(&["wake", "--all", "--for=1h"]);
    assert_eq!((ran.status, &*ran.err), (0, ""), "{ran:?}");
    central.cluster.wait_for_state(&["web"], "woken");
    assert_eq!(central.status()["state"], "woken");
}

/// Live commands read inherited values from the workloads, so they have no flags for them.
#[test]
fn live_commands_have_no_flags_for_inherited_schedules() {
    let central = Central::new();
    for command in [
        "status",
        "wake web --for=1h",
        "sleep web --for=1h",
        "pause web",
        "resume web",
        "sync web",
        "dashboard",
        "restore web",
    ] {
        let words: Vec<_> = command
            .split(' ')
            .chain(["--default-hours=09:00-17:00"])
            .collect();
        let ran = central.cluster.dayshift(&words);
        assert_eq!(ran.status, 2, "{command}: {ran:?}");
        assert!(ran.err.contains("--default-hours"), "{command}: {ran:?}");
    }
}

/// The labels must match the schedule of the controller; otherwise they are ignored.
#[test]
fn ignores_an_inherited_schedule_that_a_rollback_restored() {
    let central = Central::new();
    let annotate = |text| {
        let key = "dayshift/inherited";
        let api = &central.cluster.api;
        api.annotate("dev", "web", key, text).unwrap();
    };
    annotate(Some(r#"{"from":"Namespace","hours":"09:00-10:00"}"#));
    let status = central.status();
    assert_eq!(status["state"], "adopted");
    assert_eq!(status["next"], "2098-12-31T15:00:00+00:00");
    assert_eq!(status["nextAction"], Value::Null);
    let notes = status["notes"].to_string();
    assert_contains!(notes, "it has no schedule annotation");
    let plan = central.cluster.dayshift(&["plan", "-A", "-o=json"]);
    plan.assert_out_lacks("09:00");
    for text in [None, Some("{"), Some("[]")] {
        annotate(text);
        assert_eq!(central.status()["state"], "adopted", "{text:?}");
    }
    // A wake still works, and corrects the labels.
    let ran = central.cluster.dayshift(&["wake", "web", "--for=1h"]);
    assert_eq!((ran.status, &*ran.err), (0, ""), "{ran:?}");
    assert_eq!(central.status()["notes"], json!([]));
    let ran = central.cluster.dayshift(&["resume", "web"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(central.status()["nextAction"], "stop");
}
