//! Notes below the table: overdue transitions, and reasons for a count.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_workload::{Inputs, Key};
use serde_json::json;

use super::{OFFICE, STOPPED, evening, state};
use crate::fake_server::Cluster;
use crate::rows::words;

/// A workload that was started at 09:00, and whose stop an hour ago is missing.
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
fn an_overdue_workload_is_a_problem_and_reported_once() {
    let cluster = evening();
    running_on(&cluster, "web");
    let ran = cluster.dayshift(&["status"]);
    assert_eq!(ran.status, 1);
    ran.assert_out("stop 19:00 JST (1 h ago)");
    let warning = "warning: dev/web: its stop of 19:00:00 is 1 h overdue. Check that the controller is running, \
                   and run `kubectl events --for deploy/web -n dev`\n";
    assert_ends_with!(ran.out, warning);
    let json = cluster.dayshift(&["status", "-o", "json"]);
    json.assert_out("\"overdueSince\": \"2026-11-20T19:00:00+09:00\"");

    for at in 1..=6 {
        running_on(&cluster, &format!("web-{at}"));
    }
    let ran = cluster.dayshift(&["status", "--problems"]);
    let folded = "warning: dev/web, dev/web-1, dev/web-2 and 4 more: its stop of 19:00:00 is 1 h overdue. For the first: check";
    ran.assert_out(folded);
    assert_eq!(ran.out.matches("overdue").count(), 1, "{}", ran.out);
}

/// The annotations are set at 20:00 on the server's clock. The latest write by a controller is the stop
/// at 19:00, so no controller has applied them.
#[test]
fn an_override_without_effect_becomes_a_problem() {
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
        "warning: dev/new: its schedule is new or edited, and no controller has adopted it yet. \
            Check",
        "warning: dev/woken: its `dayshift/wake-until` is 73 s overdue. Check that the controller is running",
    ] {
        ran.assert_out(warning);
    }
}

#[test]
fn explains_a_count_that_differs_from_the_schedule() {
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
    let ran = cluster.dayshift(&words("status --sort-by name --annotation-prefix dayshift"));
    assert_eq!(ran.status, 0, "{ran:?}");
    for note in [
        "note: dev/held: scaled to 6 manually until Mon 09:00 JST. To stop it now, run `dayshift sync deploy/held -n dev`",
        "note: dev/adopted: the schedule specifies stopped; it runs until Mon 19:00 JST. To stop it now, run `dayshift sync deploy/adopted -n dev`",
        "note: dev/stop-only: nothing will start it again: its schedule has no further start. To restore it, run `dayshift restore deploy/stop-only -n dev`",
        // Its next stop changes nothing.
        "dev         stop-only   0 of 3     stopped   19:00 JST   <none>",
    ] {
        ran.assert_out(note);
    }
}

/// A copy: its count was saved for another object, so it stays stopped until its next start.
#[test]
fn a_workload_stopped_against_its_schedule_is_a_problem() {
    let now = "2026-11-20T03:00:00Z".parse().unwrap();
    let cluster = Cluster::at(move || now);
    let hours = [OFFICE, &[("stop-replicas", "1")]].concat();
    for (name, count, texts) in [("web", 0, OFFICE), ("some", 1, &hours), ("up", 3, OFFICE)] {
        cluster.deployment(name, count, texts);
        let object = cluster.api.get("Deployment", "dev", name).unwrap();
        let inputs = texts.iter().fold(Inputs::default(), |inputs, (key, text)| {
            inputs.with(Key::from_name(key).unwrap(), text)
        });
        let uid = object["metadata"]["uid"].as_str().unwrap();
        let fingerprint = inputs.fingerprint(uid).to_string();
        let labels = [
            ("state", "adopted"),
            ("last", "2026-11-20T02.00.00Z"),
            ("next", "2026-11-20T10.00.00Z"),
            ("saved-replicas", "3"),
            ("fingerprint", &*fingerprint),
        ];
        state(&cluster, name, &labels);
    }
    let ran = cluster.dayshift(&["status"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    for (name, count) in [("web", 0), ("some", 1)] {
        let warning = format!(
            "warning: dev/{name}: the schedule specifies running, but dayshift keeps it stopped: it stays \
                at {count} until \
             Mon 09:00 JST. To start it now, run `dayshift sync deploy/{name} -n dev`"
        );
        ran.assert_out(&warning);
    }
    assert_eq!(ran.out.matches("warning").count(), 2, "{}", ran.out);
}

/// The schedule of a Namespace keeps a count of 0.
#[test]
fn a_0_under_a_namespace_schedule_has_no_note() {
    let now = "2026-11-20T03:00:00Z".parse().unwrap();
    let cluster = Cluster::at(move || now);
    let texts = OFFICE
        .iter()
        .map(|(key, text)| (format!("dayshift/{key}"), json!(text)));
    let annotations: serde_json::Map<_, _> = texts.collect();
    let change = json!({"metadata": {"annotations": annotations}});
    cluster.api.merge("Namespace", "", "dev", &change).unwrap();
    cluster.deployment("web", 0, &[]);
    let labels = [
        ("state", "running"),
        ("last", "2026-11-20T00.00.00Z"),
        ("next", "2026-11-20T10.00.00Z"),
    ];
    state(&cluster, "web", &labels);
    let ran = cluster.dayshift(&["status"]);
    ran.assert_out_lacks("manually");
}

/// `nextAction` is the action at the end of the active override. Then the override with the next lower
/// precedence begins: pause, then wake, then sleep (`docs/guides/overrides.md`). If there is none, the
/// schedule applies again.
#[test]
fn shows_the_override_that_begins_next() {
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
        // The schedule has no state yet, so the end of the sleep starts the workload.
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

/// One replica runs, but five were saved when the schedule was removed.
#[test]
fn reports_a_removed_schedule_above_0() {
    let cluster = evening();
    cluster.deployment("web", 1, &[]);
    state(&cluster, "web", &[("saved-replicas", "5")]);
    let ran = cluster.dayshift(&["status"]);
    ran.assert_out("left stopped");
    assert_eq!(ran.status, 1);
}

/// Earlier versions did not write an inherited schedule on the workload. Its labels then look as if the
/// schedule had been removed.
#[test]
fn inherited_schedule_is_not_reported_as_removed() {
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
    ran.assert_out("stopped");
    let output = "its labels show that it is scheduled, but it has no schedule annotation; an";
    ran.assert_out(output);
    // An override of such a workload is not an error.
    let (key, text) = ("dayshift/sleep-until", Some("2026-11-20 12:00"));
    cluster.api.annotate("dev", "web", key, text).unwrap();
    let ran = cluster.dayshift(&["status"]);
    assert_eq!(ran.status, 0, "{}{}", ran.out, ran.err);
    // A next boundary in the past is not used.
    state(&cluster, "web", &labels("2026-11-20T10.30.00Z"));
    let ran = cluster.dayshift(&["status"]);
    assert_eq!(ran.status, 1, "{}", ran.out);
    let output = "nothing happened at 10:30 UTC, perhaps because no controller is running. If the \
        annotation was removed, run `dayshift restore deploy/web -n dev` to restore it to 3";
    ran.assert_out(output);
}

#[test]
fn commands_include_a_custom_prefix() {
    let cluster = evening();
    cluster.deployment("web", 1, &[]);
    cluster
        .api
        .label("dev", "web", "x.io/saved-replicas", Some("5"))
        .unwrap();
    let ran = cluster.dayshift(&["status", "--annotation-prefix", "x.io"]);
    let command =
        "To restore it to 5, run `dayshift restore deploy/web -n dev --annotation-prefix x.io`";
    ran.assert_out(command);
}

/// Until it is overdue, a due boundary is expected, because the controller might be about to act.
#[test]
fn a_boundary_due_now_is_shown_as_due() {
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
    ran.assert_out_lacks("note:");
}

#[test]
fn explains_a_count_that_differs_from_an_override() {
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
        "note: dev/slept: scaled to 2 manually until 22:00 JST",
        "note: dev/woken: scaled to 0 manually until 22:00 JST",
    ] {
        assert_contains!(ran.out, format!("{line}\n"), "{line}");
    }
}

/// The controller ignores it, so it has no next boundary and nothing is overdue.
#[test]
fn reports_a_workload_that_is_being_deleted() {
    let cluster = evening();
    cluster.deployment("web", 0, OFFICE);
    state(&cluster, "web", STOPPED);
    let finalizers = serde_json::json!({"metadata": {"finalizers": ["example.com/wait"]}});
    let api = &cluster.api;
    api.merge("Deployment", "dev", "web", &finalizers).unwrap();
    api.delete("dev", "web").unwrap();
    let ran = cluster.dayshift(&["status"]);
    assert_eq!(ran.status, 0, "{}", ran.out);
    let note = "note: dev/web: it is being deleted, and dayshift does not change it\n";
    ran.assert_out(note);
    ran.assert_out_lacks("start Mon");
    for line in ["wake deploy/web --for 2h", "sync deploy/web"] {
        let words = words(line);
        let ran = cluster.dayshift(&words);
        assert_eq!(ran.status, 1, "{line}: {ran:?}");
        assert_contains!(ran.err, "it is being deleted", "{line}");
    }
}

/// This is shown before a controller has observed it.
#[test]
fn volumes_that_a_stop_would_delete_are_a_problem() {
    let cluster = evening();
    let set = serde_json::json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": {"name": "db", "namespace": "dev", "annotations": {"dayshift/hours": "09:00-19:00"}},
        "spec": {
            "serviceName": "db", "selector": {"matchLabels": {"app": "db"}},
            "persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete"},
            "template": {
                "metadata": {"labels": {"app": "db"}},
                "spec": {"containers": [{"name": "db", "image": "example.com/db"}]},
            },
        },
    });
    cluster.api.create(set).unwrap();
    let ran = cluster.dayshift(&["status"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    let error =
        "error: dev/sts/db: dayshift/allow-volume-deletion: scaling this down deletes its volumes";
    ran.assert_out(error);
}

#[test]
fn reports_a_workload_that_its_start_leaves_at_0() {
    let cluster = evening();
    cluster.deployment("web", 0, OFFICE);
    state(&cluster, "web", STOPPED);
    state(&cluster, "web", &[("saved-replicas", "0")]);
    let ran = cluster.dayshift(&["status"]);
    let note = "note: dev/web: it was at 0 when it was stopped, and the start leaves it at 0. To \
                start it, run `dayshift wake deploy/web -n dev --for 2h`";
    ran.assert_out(note);
    assert_eq!(ran.status, 0);
}

/// Adopted at 3 and scaled to 0 before the first boundary. `sync` can only restore what the schedule
/// requires now, so the note differs outside of the hours.
#[test]
fn reports_a_manual_0_before_the_first_boundary() {
    for (now, note) in [
        (
            "2026-11-20T05:00:00Z", // Friday, 14:00 in Tokyo
            "scaled to 0 manually until 19:00 JST. To start it now, run `dayshift sync deploy/web -n dev`",
        ),
        (
            "2026-11-20T11:00:00Z", // Friday, 20:00 in Tokyo
            "it was scaled to 0 manually, and the start leaves it at 0. To start it, run `dayshift wake \
             deploy/web -n dev --for 2h`",
        ),
    ] {
        let now: DateTime<Utc> = now.parse().unwrap();
        let cluster = Cluster::at(move || now);
        cluster.deployment("web", 0, OFFICE);
        let labels = [
            ("state", "adopted"),
            ("last", "2026-11-20T04.00.00Z"),
            ("next", "2026-11-20T10.00.00Z"),
            ("saved-replicas", "0"),
        ];
        state(&cluster, "web", &labels);
        if now.to_rfc3339().as_str() > "2026-11-20T10" {
            let later = [
                ("last", "2026-11-20T10.30.00Z"),
                ("next", "2026-11-23T00.00.00Z"),
            ];
            state(&cluster, "web", &later);
        }
        let ran = cluster.dayshift(&["status"]);
        ran.assert_out(format!("note: dev/web: {note}"));
        assert_eq!(
            (ran.status, ran.out.matches("note:").count()),
            (0, 1),
            "{}",
            ran.out
        );
    }
}

/// The API server does not record who removed an annotation, nor when.
#[test]
fn a_removed_override_is_overdue_since_an_unknown_time() {
    let begin: DateTime<Utc> = "2026-11-20T11:00:00Z".parse().unwrap();
    let passed = Arc::new(AtomicI64::new(0));
    let cluster = Cluster::at({
        let passed = passed.clone();
        move || begin + TimeDelta::seconds(passed.load(Ordering::Relaxed))
    });
    let woken = [OFFICE, &[("wake-until", "2026-11-20 23:00")]].concat();
    cluster.deployment("web", 3, &woken);
    state(&cluster, "web", STOPPED);
    let labels = [("state", "woken"), ("next", "2026-11-20T14.00.00Z")];
    state(&cluster, "web", &labels);
    passed.store(112, Ordering::Relaxed);
    let resume = cluster.dayshift(&["resume", "web", "--no-wait"]);
    assert_eq!(resume.status, 0, "{resume:?}");
    passed.store(114, Ordering::Relaxed);
    let ran = cluster.dayshift(&["status"]);
    let warning = "warning: dev/web: the end of its `dayshift/wake-until` is overdue. Check";
    ran.assert_out(warning);
}

#[test]
fn reports_the_state_of_a_later_version() {
    let cluster = evening();
    cluster.deployment("web", 0, OFFICE);
    state(&cluster, "web", STOPPED);
    let labels = [
        ("fingerprint", "v9-0123456789abcdef"),
        ("next", "2026-11-20T01.00.00Z"),
    ];
    state(&cluster, "web", &labels);
    let ran = cluster.dayshift(&["status"]);
    let note = "its state was written by a later version of dayshift";
    ran.assert_out(note);
    ran.assert_out_lacks("controller is running");
    assert_eq!(ran.status, 1);
}
