//! Live Namespaces: inherited schedules, and overrides of a whole namespace.

mod several;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::fake_server::{Cluster, Controller};
use crate::rows::words;

const ALWAYS: &[(&str, &str)] = &[("hours", "00:00-24:00"), ("timezone", "Asia/Tokyo")];

/// A cluster whose Namespace `dev` has these annotations.
fn cluster(annotations: &[(&str, &str)]) -> Cluster {
    let cluster = Cluster::new();
    annotate(&cluster, annotations);
    cluster
}

fn annotate(cluster: &Cluster, annotations: &[(&str, &str)]) {
    for (key, text) in annotations {
        let key = format!("dayshift/{key}");
        let done = cluster
            .api
            .annotate_of("Namespace", "", "dev", &key, Some(text));
        done.unwrap();
    }
}

fn of_namespace(cluster: &Cluster, key: &str) -> Option<String> {
    let namespace = cluster.api.get("Namespace", "", "dev").unwrap();
    let text = &namespace["metadata"]["annotations"][format!("dayshift/{key}")];
    text.as_str().map(str::to_owned)
}

#[test]
fn status_and_plan_show_inherited_schedules() {
    let cluster = cluster(ALWAYS);
    cluster.deployment("inherits", 1, &[]);
    cluster.deployment("own", 1, &[("stop", "19:00")]);
    cluster.deployment("excluded", 1, &[("exclude", "true")]);
    for all in [&[][..], &["-A"]] {
        let ran = cluster.dayshift(&[&["status", "-o", "json"], all].concat());
        let status = ran.json();
        let workloads = status["workloads"].as_array().unwrap().iter();
        let mut rows: Vec<_> = workloads
            .map(|it| format!("{} {} {}", it["name"], it["from"], it["timezone"]))
            .collect();
        rows.sort();
        assert_eq!(
            rows,
            [
                r#""inherits" "namespace" "Asia/Tokyo""#,
                r#""own" "object" "Asia/Tokyo""#
            ]
        );
        let ran = cluster.dayshift(&[&["plan", "-o", "json"], all].concat());
        let plan = ran.json();
        assert_eq!(plan["workloads"][0]["name"], "inherits");
        assert_eq!(plan["workloads"][0]["from"], "namespace");
        assert_eq!(plan["workloads"][1]["from"], Value::Null);
    }
    let wide = cluster.dayshift(&["status", "-o", "wide"]).out;
    assert_ends_with!(wide.lines().next().unwrap(), "FROM");
    assert_eq!(wide.matches("   namespace\n").count(), 1, "{wide}");
    let whole = cluster.dayshift(&["status", "ns/dev"]);
    assert_eq!(
        whole
            .out
            .lines()
            .filter(|it| it.starts_with("dev "))
            .count(),
        2,
        "{whole:?}"
    );
}

#[test]
fn reports_an_invalid_namespace_annotation_on_the_namespace() {
    let cluster = cluster(&[("hours", "9-5")]);
    cluster.deployment("api", 1, &[]);
    cluster.deployment("web", 1, &[]);
    let ran = cluster.dayshift(&["status"]);
    assert_eq!(ran.status, 1);
    let reported: Vec<_> = ran
        .out
        .lines()
        .filter(|it| it.starts_with("error: "))
        .collect();
    assert_eq!(reported.len(), 1, "{ran:?}");
    assert_starts_with!(reported[0], "error: Namespace dev: dayshift/hours: `9");
}

/// The notes of `status` for one workload.
fn notes(cluster: &Cluster, name: &str) -> String {
    let ran = cluster.dayshift(&["status", name, "-o", "json"]).json();
    let notes = ran["workloads"][0]["notes"].as_array().unwrap().iter();
    let notes: Vec<_> = notes.map(|it| it.as_str().unwrap()).collect();
    notes.join("\n")
}

/// A controller without the calendar reports the error on the Namespace, and does not patch the
/// workloads.
#[test]
fn reports_a_rejected_namespace_until_it_is_corrected() {
    let cluster = cluster(ALWAYS);
    cluster.deployment("web", 1, &[]);
    for (name, command) in [("paused", "pause"), ("woken", "wake")] {
        cluster.deployment(name, 1, &[]);
        let _controller = Controller::on(&cluster);
        let until = ["--until", "2099-12-24 18:00", "--timeout", "20s"];
        let ran = cluster.dayshift(&[&[command, name], &until[..]].concat());
        assert_eq!(ran.status, 0, "{ran:?}");
    }
    let _controller = Controller::on(&cluster);
    assert_eq!(notes(&cluster, "web"), "");
    annotate(&cluster, &[("except", "calendar:lacking")]);
    cluster.deployment("late", 1, &[]);
    let command = ". To see why, run `kubectl events --for namespace/dev`";
    let seen = "the Namespace dev has annotations that no controller has adopted: none runs in this cluster, or it rejects them";
    let unseen = "no controller has adopted it yet: none runs in this cluster, or it rejects the \
                  annotations of the Namespace dev";
    for _ in 0..2 {
        assert_eq!(notes(&cluster, "web"), format!("{seen}{command}"));
        assert_eq!(notes(&cluster, "late"), format!("{unseen}{command}"));
        assert_eq!(cluster.dayshift(&["status", "web"]).status, 1);
    }
    annotate(&cluster, &[("except", "2026-12-25")]);
    for name in ["web", "late", "paused", "woken"] {
        let begun = std::time::Instant::now();
        while !notes(&cluster, name).is_empty() {
            let seconds = begun.elapsed().as_secs();
            assert!(seconds < 20, "{name}: {}", notes(&cluster, name));
        }
    }
}

#[test]
fn wakes_one_workload_with_an_inherited_schedule() {
    let cluster = cluster(ALWAYS);
    cluster.deployment("web", 0, &[]);
    let _controller = Controller::on(&cluster);
    let ran = cluster.dayshift(&["wake", "web", "--until", "2099-12-24T18:00+09:00"]);
    let output = "deployment.apps/web awake until Thu 2099-12-24 18:00 JST, 0 -> 1\n";
    assert_eq!(
        (ran.status, ran.out.as_str(), ran.err.as_str()),
        (0, output, "")
    );
}

#[test]
fn sleeps_and_resumes_a_whole_namespace() {
    let cluster = cluster(ALWAYS);
    cluster.deployment("api", 2, &[]);
    cluster.deployment("web", 3, &[("timezone", "UTC")]);
    cluster.deployment("excluded", 4, &[("exclude", "true")]);
    cluster.deployment("own", 5, &[("pause", "true")]);
    // A controller does not act on a workload that is being deleted.
    cluster.deployment("leaving", 6, &[]);
    let held = json!({"metadata": {"finalizers": ["example.com/held"]}});
    let api = &cluster.api;
    api.merge("Deployment", "dev", "leaving", &held).unwrap();
    api.delete("dev", "leaving").unwrap();
    let _controller = Controller::on(&cluster);
    let ran = cluster.dayshift(&["sleep", "ns/dev", "--until", "2099-12-24 18:00"]);
    assert_eq!(
        (ran.status, ran.out.as_str(), ran.err.as_str()),
        (
            0,
            "namespace/dev asleep until Thu 2099-12-24 18:00 JST: 2 of 3 workloads; 1 has an override \
             of its own: `dayshift sleep --all -n dev`\n",
            ""
        )
    );
    let until: DateTime<Utc> = of_namespace(&cluster, "sleep-until")
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(
        until,
        "2099-12-24T09:00:00Z".parse::<DateTime<Utc>>().unwrap()
    );
    let counts = |name| cluster.api.replicas("dev", name);
    assert_eq!(
        ["api", "web", "excluded", "own", "leaving"].map(counts),
        [Some(0), Some(0), Some(4), Some(5), Some(6)]
    );
    let status = cluster.dayshift(&["status", "api", "-o", "json"]).json();
    assert_eq!(status["workloads"][0]["override"]["from"], "namespace");
    let synced = cluster.dayshift(&["sync", "api"]);
    assert_eq!(synced.status, 1);
    synced.assert_err("run dayshift resume ns/dev, or");
    let resumed = cluster.dayshift(&["resume", "api"]);
    assert_eq!(resumed.err, synced.err.replace("not synced", "not resumed"));

    let paused = cluster.dayshift(&["pause", "namespace/dev"]);
    assert_eq!(
        paused.out,
        "namespace/dev paused: 2 of 3 workloads; it was asleep until Thu 2099-12-24 18:00 JST; 1 has an \
         override of its own: `dayshift pause --all -n dev`\n"
    );
    let refused = cluster.dayshift(&["wake", "namespaces/dev", "--for", "1h"]);
    assert_eq!(refused.status, 1);
    assert_starts_with!(refused.err, "error: namespace/dev: not woken: it is paused");

    let resumed = cluster.dayshift(&["resume", "ns/dev"]);
    assert_eq!(
        (resumed.status, resumed.err.as_str()),
        (0, ""),
        "{resumed:?}"
    );
    assert_eq!(
        ["pause", "sleep-until"].map(|key| of_namespace(&cluster, key)),
        [None, None]
    );
    assert_eq!(cluster.label("own", "state").as_deref(), Some("paused"));
    assert_ne!(cluster.label("api", "state").as_deref(), Some("paused"));
    let hours = of_namespace(&cluster, "hours");
    assert_eq!(hours.as_deref(), Some("00:00-24:00"));
}

#[test]
fn overrides_a_namespace_without_annotations() {
    let cluster = Cluster::new();
    cluster.deployment("web", 0, ALWAYS);
    let _controller = Controller::on(&cluster);
    let ran = cluster.dayshift(&["wake", "ns/dev", "--until", "2099-12-24T18:00Z"]);
    let output = "namespace/dev awake until Thu 2099-12-24 18:00 UTC: 1 of 1 workload\n";
    assert_eq!(
        (ran.status, ran.out.as_str(), ran.err.as_str()),
        (0, output, "")
    );
}

#[test]
fn the_patch_tests_the_values_that_it_changes() {
    let cluster = cluster(ALWAYS);
    cluster.deployment("web", 0, &[]);
    let patches = |line: &kube_in_memory::RequestLine| line.verb == "patch";
    // Another user wakes the Namespace in the meantime. The command reads it again and replaces the
    // shorter wake.
    let api = cluster.api.clone();
    let once = std::sync::atomic::AtomicBool::new(true);
    cluster.api.on_request(move |request| {
        if patches(request) && once.swap(false, std::sync::atomic::Ordering::Relaxed) {
            let until = Some("2098-01-01T00:00:00Z");
            api.annotate_of("Namespace", "", "dev", "dayshift/wake-until", until)
                .unwrap();
        }
        None
    });
    let until = "2099-01-01T00:00:00Z";
    let ran = cluster.dayshift(&["wake", "ns/dev", "--until", until, "--no-wait"]);
    assert_eq!((ran.status, ran.err.as_str()), (0, ""), "{ran:?}");
    let patched = cluster
        .api
        .requests()
        .into_iter()
        .filter(|it| patches(it))
        .count();
    assert_eq!(patched, 2, "the first one is refused by its tests");
}

#[test]
fn a_missing_permission_to_patch_namespaces_is_reported() {
    let cluster = cluster(ALWAYS);
    cluster.deployment("web", 0, &[]);
    cluster.refuse(&["patch"], "namespaces");
    let ran = cluster.dayshift(&["wake", "ns/dev", "--for", "1h"]);
    assert_eq!(ran.status, 3, "{ran:?}");
    assert_eq!(
        ran.err,
        "error: namespace/dev: not woken: the Namespace cannot be patched: the API server refuses: 403 \
         Forbidden: namespaces is forbidden: User \"me\" cannot patch resource \"namespaces\"; `-n dev --all` annotates the workloads in it instead\n"
    );
    let dry = cluster.dayshift(&["pause", "ns/dev", "--dry-run"]);
    assert_eq!(
        dry.out,
        "namespace/dev annotated dayshift/pause=true (dry run)\n"
    );
    assert_eq!(of_namespace(&cluster, "pause"), None);
}

#[test]
fn a_missing_namespace_is_an_error_in_plan() {
    let cluster = Cluster::new();
    for words in [&["-n", "lab"][..], &["ns/lab"], &["lab/web"]] {
        let ran = cluster.dayshift(&[&["plan"], words].concat());
        let expected = (3, "", "error: namespace lab does not exist\n");
        assert_eq!((ran.status, &*ran.out, &*ran.err), expected, "{words:?}");
    }
    assert_eq!(cluster.dayshift(&["plan"]).status, 0);
}

#[test]
fn reports_obstacles_of_a_namespace_override() {
    let empty = Cluster::new();
    empty.deployment("web", 0, &[]);
    let for_an_hour = ["--for", "1h"];
    for (word, status, error) in [
        (
            "ns/dev",
            1,
            "namespace/dev: not woken: no workload in it has a schedule",
        ),
        ("ns/lab", 3, "namespace lab does not exist"),
        (
            "ns/dev -n lab",
            2,
            "`ns/dev` is a whole namespace; give it alone",
        ),
        (
            "ns/dev web",
            2,
            "`ns/dev` is a whole namespace; give it alone",
        ),
        ("ns/Dev", 2, "is not the name of"),
    ] {
        let words = words(word);
        let ran = empty.dayshift(&[&["wake"], &words[..], &for_an_hour].concat());
        assert_eq!(ran.status, status, "{word}: {ran:?}");
        assert!(ran.err.contains(error), "{word}: {ran:?}");
    }
    let anonymous = cluster(ALWAYS);
    anonymous.deployment("web", 0, &[]);
    let ran = anonymous.dayshift(&["wake", "ns/dev", "--for", "1h", "--timeout", "1s"]);
    assert_eq!(ran.status, 1);
    assert_ends_with!(ran.out, ": 0 of 1 workload\n");
    let late =
        "error: namespace/dev: annotated, but no controller has acted on 1 workload within 1 s";
    assert_starts_with!(ran.err, late);
    let bad = cluster(&[("hours", "9-5")]);
    bad.deployment("web", 0, ALWAYS);
    let ran = bad.dayshift(&["wake", "ns/dev", "--for", "1h"]);
    assert_eq!(ran.status, 1);
    ran.assert_err("its schedule is rejected: dayshift/hours: `9");
}

/// The override of the workload has ended, but that of the Namespace is active.
#[test]
fn resume_reports_the_active_override_of_the_namespace() {
    let cluster = cluster(ALWAYS);
    cluster.deployment("web", 2, &[]);
    let _controller = Controller::on(&cluster);
    let done = |words: &[&str]| {
        let ran = cluster.dayshift(&[words, &["--timeout", "20s"]].concat());
        assert_eq!(ran.status, 0, "{ran:?}");
    };
    done(&["pause", "ns/dev", "--until", "2099-12-24 18:00"]);
    done(&["sleep", "web", "--until", "2099-12-31 18:00"]);
    let ran = cluster.dayshift(&["resume", "web", "--timeout", "20s"]);
    assert_eq!(
        (ran.status, ran.out.as_str(), ran.err.as_str()),
        (
            0,
            "deployment.apps/web resumed, replicas 0; an override of its Namespace is active: \
                paused until \
             Thu 2099-12-24 18:00 JST\n",
            ""
        )
    );
}
