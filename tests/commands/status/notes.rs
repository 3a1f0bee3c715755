//! What `dayshift status` says beside the rows: what is overdue, and what explains a count.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use chrono::{DateTime, TimeDelta, Utc};

use super::{OFFICE, STOPPED, evening, state};
use crate::fake_server::Cluster;

/// One that was started in the morning and that nobody has stopped an hour ago.
fn running_on(cluster: &Cluster, name: &str) {
    cluster.deployment(name, 3, OFFICE);
    state(
        cluster,
        name,
        &[
            ("state", "running"),
            ("last", "2026-11-20T00.00.00Z"),
            ("next", "2026-11-20T10.00.00Z"),
        ],
    );
}

#[test]
fn what_should_have_been_done_by_now_is_a_problem_and_told_once() {
    let cluster = evening();
    running_on(&cluster, "web");
    let ran = cluster.dayshift(&["status"]);
    assert_eq!(ran.status, 1);
    assert!(ran.out.contains("stop 19:00 JST (60m ago)"), "{}", ran.out);
    let warning = "warning: dev/web: its stop of 19:00:00 is 60 min overdue; is the controller running? \
                   kubectl events --for deploy/web -n dev\n";
    assert!(ran.out.ends_with(warning), "{}", ran.out);
    let json = cluster.dayshift(&["status", "-o", "json"]);
    assert!(
        json.out
            .contains("\"overdueSince\": \"2026-11-20T19:00:00+09:00\""),
        "{}",
        json.out
    );

    for at in 1..=6 {
        running_on(&cluster, &format!("web-{at}"));
    }
    let ran = cluster.dayshift(&["status", "--problems"]);
    let folded = "warning: dev/web, dev/web-1, dev/web-2 and 4 more: its stop of 19:00:00 is 60 min overdue;";
    assert!(ran.out.contains(folded), "{}", ran.out);
    assert_eq!(ran.out.matches("overdue").count(), 1, "{}", ran.out);
}

/// The clock of the server stands at 20:00; what was written there at 19:00 is an hour old.
#[test]
fn an_override_or_a_schedule_that_nobody_obeys_is_a_problem_once_it_is_old() {
    let now = Arc::new(AtomicI64::new(0));
    let cluster = Cluster::at({
        let now = now.clone();
        move || {
            let evening: DateTime<Utc> = "2026-11-20T11:00:00Z".parse().unwrap();
            evening + TimeDelta::seconds(now.load(Ordering::Relaxed))
        }
    });
    cluster.deployment("new", 3, OFFICE);
    let woken = [OFFICE, &[("wake-until", "2026-11-20 22:00")]].concat();
    cluster.deployment("woken", 0, &woken);
    state(&cluster, "woken", STOPPED);
    now.store(9, Ordering::Relaxed);
    assert_eq!(cluster.dayshift(&["status"]).status, 0);
    now.store(73, Ordering::Relaxed);
    let ran = cluster.dayshift(&["status"]);
    assert_eq!(ran.status, 1);
    for warning in [
        "warning: dev/new: its schedule is new or edited, and no controller has seen that; is the",
        "warning: dev/woken: its `dayshift/wake-until` is 73 s overdue; is the controller running?",
    ] {
        assert!(ran.out.contains(warning), "{warning}: {}", ran.out);
    }
}

#[test]
fn a_count_that_the_schedule_does_not_explain_is_explained() {
    let cluster = evening();
    let labels = |name: &str, labels: &[(&str, &str)]| state(&cluster, name, labels);
    cluster.deployment("held", 6, OFFICE);
    labels("held", STOPPED);
    cluster.deployment("adopted", 3, OFFICE);
    let next = ("next", "2026-11-23T00.00.00Z");
    let last = ("last", "2026-11-20T10.30.00Z");
    labels("adopted", &[("state", "adopted"), last, next]);
    cluster.deployment("stop-only", 0, &[OFFICE[1], ("stop", "Mon-Fri 19:00")]);
    let stopped: Vec<_> = STOPPED
        .iter()
        .copied()
        .filter(|it| it.0 != "next")
        .collect();
    labels(
        "stop-only",
        &[&stopped[..], &[("next", "2026-11-23T10.00.00Z")]].concat(),
    );
    let ran = cluster.dayshift(&[
        "status",
        "--sort-by",
        "name",
        "--annotation-prefix",
        "dayshift",
    ]);
    assert_eq!(ran.status, 0, "{ran:?}");
    for note in [
        "note: dev/held: held at 6 by hand until Mon 09:00 JST; `dayshift sync deploy/held -n dev` stops it now",
        "note: dev/adopted: the schedule says stopped; it runs until Mon 19:00 JST; `dayshift sync deploy/adopted -n dev` stops it now",
        "note: dev/stop-only: nothing will start it again: its schedule has no start to come; `dayshift restore deploy/stop-only -n dev` does",
        "stop Mon 19:00 JST (in 2d23h)",
    ] {
        assert!(ran.out.contains(note), "{note}: {}", ran.out);
    }
}

/// Wrong 4 of the first hour: the stop count goes with the schedule, what was saved does not.
/// What comes next is what the override does that then begins to hold (`docs/schedules/overrides.md`): pause
/// beats wake beats sleep.
#[test]
fn the_end_of_an_override_may_be_the_beginning_of_another() {
    let cluster = evening();
    let mut expected = Vec::new();
    for (name, phase, count, overrides, next) in [
        (
            "wake-sleep",
            "woken",
            3,
            &[("wake-until", "23 10:00"), ("sleep-until", "23 12:00")][..],
            "stop",
        ),
        (
            "pause-wake",
            "paused",
            0,
            &[("pause", "20 22:00"), ("wake-until", "20 23:00")],
            "start",
        ),
        (
            "pause-sleep",
            "paused",
            3,
            &[("pause", "23 10:00"), ("sleep-until", "23 12:00")],
            "stop",
        ),
        ("pause", "paused", 3, &[("pause", "23 10:00")], ""),
        ("sleep", "slept", 0, &[("sleep-until", "23 10:00")], "start"),
        // Its schedule says nothing yet: what was put to sleep is started again.
        ("first", "slept", 0, &[("sleep-until", "23 10:00")], "start"),
    ] {
        let at = |(key, day): &(&'static str, &str)| (*key, format!("2026-11-{day}"));
        let overrides: Vec<_> = overrides.iter().map(at).collect();
        let mut inputs: Vec<_> = overrides.iter().map(|(key, at)| (*key, &**at)).collect();
        let ends = match name {
            "pause-wake" => "2026-11-20T13.00.00Z",
            _ => "2026-11-23T01.00.00Z",
        };
        match name {
            "first" => inputs.extend([("stop", "2026-12-01 19:00"), ("timezone", "Asia/Tokyo")]),
            _ => inputs.extend(OFFICE),
        }
        cluster.deployment(name, count, &inputs);
        let labels = [
            ("state", phase),
            ("last", "2026-11-20T10.30.00Z"),
            ("next", ends),
        ];
        state(&cluster, name, &labels);
        expected.push((name.to_owned(), next.to_owned()));
    }
    let ran = cluster.dayshift(&["status", "-o", "json", "--sort-by", "name"]);
    let found: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let text = |it: &serde_json::Value| it.as_str().unwrap_or_default().to_owned();
    let found = found["workloads"].as_array().unwrap().iter();
    let found: Vec<_> = found
        .map(|it| (text(&it["name"]), text(&it["nextAction"])))
        .collect();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn one_that_is_left_above_0_is_left_down_too() {
    let cluster = evening();
    cluster.deployment("web", 1, &[]);
    state(&cluster, "web", &[("saved-replicas", "5")]);
    let ran = cluster.dayshift(&["status"]);
    assert!(ran.out.contains("left down"), "{ran:?}");
    assert_eq!(ran.status, 1);
}

/// `--default-hours` of a running scaler shows in nothing but what that writes.
#[test]
fn one_that_goes_by_the_default_of_a_scaler_is_not_left_down() {
    let cluster = evening();
    cluster.deployment("web", 0, &[]);
    let labels = |next| {
        [
            ("state", "stopped"),
            ("last", "2026-11-20T10.00.00Z"),
            ("next", next),
            ("saved-replicas", "3"),
        ]
    };
    state(&cluster, "web", &labels("2026-11-23T00.00.00Z"));
    let ran = cluster.dayshift(&["status"]);
    assert_eq!(ran.status, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("stopped"), "{}", ran.out);
    assert!(!ran.out.contains("removed"), "{}", ran.out);
    // Nobody goes by a time that has gone by.
    state(&cluster, "web", &labels("2026-11-20T10.30.00Z"));
    let ran = cluster.dayshift(&["status"]);
    assert_eq!(ran.status, 1, "{}", ran.out);
    assert!(ran.out.contains("its schedule was removed"), "{}", ran.out);
}

#[test]
fn commands_name_a_prefix_that_is_not_the_default() {
    let cluster = evening();
    cluster.deployment("web", 1, &[]);
    cluster
        .api
        .label("dev", "web", "x.io/saved-replicas", Some("5"))
        .unwrap();
    let ran = cluster.dayshift(&["status", "--annotation-prefix", "x.io"]);
    let command =
        "`dayshift restore deploy/web -n dev --annotation-prefix x.io` brings it back to 5";
    assert!(ran.out.contains(command), "{}", ran.out);
}

/// Stopped at 19:50, and set to 3 at 20:00 by that manager.
fn set_back(cluster: &Cluster, name: &str, by: (&str, &str)) {
    cluster.deployment(
        name,
        0,
        &[("hours", "Mon-Fri 09:00-19:50"), ("timezone", "Asia/Tokyo")],
    );
    state(
        cluster,
        name,
        &[
            ("state", "stopped"),
            ("last", "2026-11-20T10.50.00Z"),
            ("next", "2026-11-23T00.00.00Z"),
            ("saved-replicas", "3"),
        ],
    );
    let patch = serde_json::json!({"spec": {"replicas": 3}});
    let api = &cluster.api;
    api.merge_by(by, "Deployment", "dev", name, &patch).unwrap();
}

#[test]
fn who_has_set_a_count_back_is_named_with_the_cure() {
    let cluster = evening();
    set_back(&cluster, "argo", ("argocd-controller", ""));
    set_back(&cluster, "applied", ("kubectl-client-side-apply", ""));
    set_back(&cluster, "odd", ("\u{1b}[2J\u{202e}", ""));
    set_back(&cluster, "person", ("kubectl", "scale"));
    let ran = cluster.dayshift(&["status"]);
    assert_eq!(ran.status, 1, "somebody has to do something");
    for line in [
        "warning: dev/argo: argocd-controller set 3 again 10 minutes after the stop; that holds until Mon",
        "warning: dev/applied: kubectl-client-side-apply (kubectl apply) set 3 again 10 minutes after the stop;",
        "warning: dev/odd: \\u{1b}[2J\\u{202e} set 3 again 10 minutes after",
        "note: dev/person: held at 3 by hand until Mon",
        "    ignoreDifferences: [{group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}]\n",
        "(kubectl apply edit-last-applied), then out of the manifest",
    ] {
        assert!(ran.out.contains(line), "{line}: {}", ran.out);
    }
    let ran = cluster.dayshift(&["status", "-o", "json"]);
    let document = ran.json();
    let workloads = document["workloads"].as_array().unwrap();
    let by = |name: &str| {
        let found = workloads.iter().find(|it| it["name"] == name).unwrap();
        found["revertedBy"].clone()
    };
    assert_eq!(by("argo")["manager"], "argocd-controller");
    assert_eq!(by("argo")["at"], "2026-11-20T20:00:00+09:00");
    let cure = by("argo")["cure"].as_str().unwrap().to_owned();
    assert!(
        cure.starts_with("in the Application, set spec.ignoreDifferences"),
        "{cure}"
    );
    assert!(by("odd")["cure"].is_null() && by("person").is_null());
    assert!(!ran.out.contains(['\u{1b}', '\u{202e}']));
}

/// What somebody sets hours later is no fight: it is said, and is no problem.
#[test]
fn a_program_that_comes_hours_later_is_a_note() {
    let cluster = evening();
    cluster.deployment("web", 0, OFFICE);
    state(&cluster, "web", STOPPED);
    let patch = serde_json::json!({"spec": {"replicas": 2}});
    let by = ("helm", "");
    cluster
        .api
        .merge_by(by, "Deployment", "dev", "web", &patch)
        .unwrap();
    let ran = cluster.dayshift(&["status"]);
    assert_eq!(ran.status, 0);
    let note = "note: dev/web: helm set 2 60 minutes after the stop; that holds until Mon 09:00";
    assert!(ran.out.contains(note), "{}", ran.out);
}

#[test]
fn a_scaled_object_that_has_not_scaled_yet_is_told_with_its_cure() {
    let cluster = evening();
    for name in ["free", "web"] {
        cluster.deployment(name, 3, OFFICE);
    }
    let api = &cluster.api;
    api.serve_custom("keda.sh", "v1alpha1", "scaledobjects", "ScaledObject");
    // KEDA makes the HPA; kind and version may be left out.
    cluster.autoscaler("keda-hpa-web", ("apps/v1", "Deployment", "web"));
    let scaled = serde_json::json!({
        "apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject",
        "metadata": {"namespace": "dev", "name": "web"},
        "spec": {"scaleTargetRef": {"name": "web"}},
    });
    api.create(scaled).unwrap();
    let ran = cluster.dayshift(&["status", "-o", "wide"]);
    assert_eq!(ran.out.matches("KEDA").count(), 2, "{}", ran.out);
    assert!(
        ran.out
            .contains("ScaledObject instead, and add scaledobjects to --kinds"),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains("An HPA rests"), "{}", ran.out);
}

/// The API server counts what an admission webhook makes of a count as set by whoever wrote it.
#[test]
fn a_count_that_admission_has_changed_is_not_by_hand() {
    let cluster = evening();
    let hours: &[_] = &[("hours", "Mon-Fri 09:00-20:00"), ("timezone", "Asia/Tokyo")];
    for name in ["raised", "restored"] {
        cluster.deployment(name, 0, hours);
        let labels = [
            ("state", "stopped"),
            ("last", "2026-11-20T11.00.00Z"),
            ("next", "2026-11-23T00.00.00Z"),
            ("saved-replicas", "3"),
        ];
        state(&cluster, name, &labels);
    }
    // What dayshift itself sets later is its own.
    state(&cluster, "restored", &[("last", "2026-11-20T10.30.00Z")]);
    let patch = serde_json::json!({"spec": {"replicas": 2}});
    for name in ["raised", "restored"] {
        let by = ("dayshift", "");
        let api = &cluster.api;
        api.merge_by(by, "Deployment", "dev", name, &patch).unwrap();
    }
    let ran = cluster.dayshift(&["status"]);
    assert_eq!(ran.status, 1, "{}", ran.out);
    for line in [
        "warning: dev/raised: an admission webhook or policy set 2 less than 1 s after the stop; that holds until Mon",
        "note: dev/restored: held at 2 by hand until Mon",
    ] {
        assert!(ran.out.contains(line), "{line}: {}", ran.out);
    }
}

/// Until it is overdue, what is due is not denied: the controller may be on its way.
#[test]
fn what_is_due_at_this_moment_is_not_said_to_be_put_off() {
    let cluster = evening();
    let hours: &[_] = &[("hours", "Mon-Fri 09:00-20:00"), ("timezone", "Asia/Tokyo")];
    cluster.deployment("web", 3, hours);
    let labels = [
        ("state", "adopted"),
        ("last", "2026-11-20T10.30.00Z"),
        ("next", "2026-11-20T11.00.00Z"),
    ];
    state(&cluster, "web", &labels);
    let ran = cluster.dayshift(&["status"]);
    assert_eq!(ran.status, 0, "{}", ran.out);
    assert!(!ran.out.contains("note:"), "{}", ran.out);
}

#[test]
fn a_count_that_an_override_does_not_explain_is_explained() {
    let cluster = evening();
    let until = "2026-11-20T13.00.00Z";
    let slept = [OFFICE, &[("sleep-until", "2026-11-20 22:00")]].concat();
    let woken = [OFFICE, &[("wake-until", "2026-11-20 22:00")]].concat();
    for (name, replicas, annotations, phase) in
        [("slept", 2, slept, "slept"), ("woken", 0, woken, "woken")]
    {
        cluster.deployment(name, replicas, &annotations);
        let last = ("last", "2026-11-20T10.30.00Z");
        state(&cluster, name, &[("state", phase), last, ("next", until)]);
    }
    let ran = cluster.dayshift(&["status"]);
    for line in [
        "note: dev/slept: held at 2 by hand until 22:00 JST",
        "note: dev/woken: held at 0 by hand until 22:00 JST",
    ] {
        assert!(
            ran.out.contains(&format!("{line}\n")),
            "{line}: {}",
            ran.out
        );
    }
}

/// dayshift leaves it alone, so nothing of it is to come, nor overdue.
#[test]
fn one_that_is_being_deleted_says_so() {
    let cluster = evening();
    cluster.deployment("web", 0, OFFICE);
    state(&cluster, "web", STOPPED);
    let finalizers = serde_json::json!({"metadata": {"finalizers": ["example.com/wait"]}});
    let api = &cluster.api;
    api.merge("Deployment", "dev", "web", &finalizers).unwrap();
    api.delete("dev", "web").unwrap();
    let ran = cluster.dayshift(&["status"]);
    assert_eq!(ran.status, 0, "{}", ran.out);
    let note = "note: dev/web: it is being deleted, and dayshift leaves it alone\n";
    assert!(ran.out.contains(note), "{}", ran.out);
    assert!(!ran.out.contains("start Mon"), "{}", ran.out);
    for line in ["wake deploy/web --for 2h", "sync deploy/web"] {
        let words: Vec<_> = line.split(' ').collect();
        let ran = cluster.dayshift(&words);
        assert_eq!(ran.status, 1, "{line}: {ran:?}");
        assert!(
            ran.err.contains("it is being deleted"),
            "{line}: {}",
            ran.err
        );
    }
}
