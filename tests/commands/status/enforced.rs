//! `dayshift status` for `enforce` with a grace period.

use chrono::{DateTime, Days, Utc};

use super::{OFFICE, STOPPED, evening, state};
use crate::{dashboard::browser::Served, fake_server::Cluster, program::wait_until};

/// The notes of one workload.
fn notes(cluster: &Cluster, name: &str) -> Vec<String> {
    let ran = cluster.dayshift(&["status", name, "-o", "json"]).json();
    let notes = ran["workloads"][0]["notes"].as_array().unwrap().iter();
    notes.map(|it| it.as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_workload_in_its_grace_period_stops_within_it() {
    let cluster = evening();
    let enforced = [OFFICE, &[("enforce", "30m")]].concat();
    for (name, phase) in [("new", "adopted"), ("raised", "stopped")] {
        cluster.deployment(name, 3, &enforced);
        state(&cluster, name, STOPPED);
        state(&cluster, name, &[("state", phase)]);
    }
    let slept = [&*enforced, &[("sleep-until", "2026-11-20 22:00")]].concat();
    cluster.deployment("slept", 3, &slept);
    let until = ("next", "2026-11-20T13.00.00Z");
    state(&cluster, "slept", STOPPED);
    state(&cluster, "slept", &[("state", "slept"), until]);
    // Workloads in the desired state, and workloads to which the grace does not apply.
    cluster.deployment("down", 0, &enforced);
    state(&cluster, "down", STOPPED);
    let at_once = [OFFICE, &[("enforce", "true")]].concat();
    cluster.deployment("old", 3, &at_once);
    state(&cluster, "old", STOPPED);
    state(&cluster, "old", &[("state", "adopted")]);
    for name in ["new", "raised", "slept"] {
        let stops = format!(
            "the schedule specifies stopped; dayshift/enforce stops it within 30 min. \
             To keep it running, run `dayshift wake deploy/{name} -n dev --for 2h`"
        );
        assert_eq!(notes(&cluster, name), [stops], "{name}");
    }
    assert_eq!(notes(&cluster, "down"), [""; 0]);
    let old = notes(&cluster, "old").concat();
    assert_contains!(old, "it runs until");
}

#[test]
fn names_a_start_before_the_end_of_the_grace_period() {
    let now = "2026-11-22T23:50:00Z".parse().unwrap();
    let cluster = Cluster::at(move || now);
    let enforced = [OFFICE, &[("enforce", "30m")]].concat();
    cluster.deployment("web", 3, &enforced);
    state(&cluster, "web", STOPPED);
    assert_eq!(
        notes(&cluster, "web"),
        [
            "the schedule specifies stopped; dayshift/enforce stops it within 30 min, unless its start of \
             09:00 JST comes first. To keep it running, run `dayshift wake deploy/web -n dev --for 2h`"
        ]
    );
}

#[test]
fn status_plan_and_dashboard_agree_about_a_count_raised_in_a_grace_period() {
    let cluster = Cluster::new();
    let stopped = [("stop", "00:00"), ("start", "2099-12-24 18:00")];
    let tomorrow = Utc::now().date_naive() + Days::new(1);
    let label = |date: chrono::NaiveDate| date.format("%Y-%m-%dT00.00.00Z").to_string();
    let enforced = [&stopped[..], &[("enforce", "30m")]].concat();
    for (name, annotations) in [("raised", &*enforced), ("free", &stopped)] {
        cluster.deployment(name, 3, annotations);
        state(&cluster, name, STOPPED);
        let (last, next) = (label(tomorrow - Days::new(1)), label(tomorrow));
        state(&cluster, name, &[("last", &last), ("next", &next)]);
    }
    let truth = "the schedule specifies stopped; dayshift/enforce stops it within 30 min";
    let by_status = notes(&cluster, "raised");
    assert_contains!(by_status.concat(), truth);
    let of_free = notes(&cluster, "free").concat();
    assert_contains!(of_free, "manually until");

    let plan = cluster.dayshift(&["plan", "deploy", "raised", "free"]);
    assert_eq!(plan.status, 0, "{plan:?}");
    // A workload that runs is not stopped until then.
    let words: Vec<_> = plan.out.split_whitespace().collect();
    let from_then = "from the first start or stop on";
    assert!(words.join(" ").contains(from_then), "{}", plan.out);
    let mut reported: Vec<_> = plan.err.lines().collect();
    reported.sort_unstable();
    let expected = [("free", of_free), ("raised", by_status.concat())];
    let expected = expected.map(|(name, note)| format!("note: dev/{name}: {note}"));
    assert_eq!(reported, expected);

    let served = Served::of(&cluster, &[]);
    for (name, truth) in [("raised", truth), ("free", "manually until")] {
        let page = served.page(&format!("/object/dev/deploy/{name}"));
        assert_contains!(page.text(), truth);
    }
}

/// The controller corrects a count three times between two boundaries, then emits this Event.
fn limit_reached(cluster: &Cluster, name: &str, at: DateTime<Utc>) {
    let event = serde_json::json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event",
        "metadata": {"namespace": "dev", "name": format!("limit-{name}")},
        "regarding": {
            "apiVersion": "apps/v1", "kind": "Deployment", "namespace": "dev", "name": name,
        },
        "reason": "CorrectionLimitReached", "note": "3 corrections", "type": "Warning",
        "action": "Enforce", "eventTime": at.format("%Y-%m-%dT%H:%M:%S%.6fZ").to_string(),
        "reportingController": "dayshift", "reportingInstance": "dayshift-1",
    });
    cluster.api.create(event).unwrap();
}

#[test]
fn reports_enforcement_that_gave_up() {
    let cluster = evening();
    for (name, enforce) in [("grace", "8s"), ("strict", "true")] {
        cluster.deployment(name, 3, &[OFFICE, &[("enforce", enforce)]].concat());
        state(&cluster, name, STOPPED);
    }
    let text = "another client keeps reverting dayshift's changes; dayshift corrects nothing until Mon \
        09:00 JST. To apply the schedule now, run `dayshift sync deploy/";
    let gave_up = |name: &str| notes(&cluster, name).concat().contains(text);
    assert!(!gave_up("grace") && !gave_up("strict"));
    for name in ["grace", "strict"] {
        limit_reached(&cluster, name, "2026-11-20T10:30:00Z".parse().unwrap());
    }
    for name in ["grace", "strict"] {
        assert!(gave_up(name), "{name}: {:?}", notes(&cluster, name));
    }
    let ran = cluster.dayshift(&["status"]);
    assert_eq!(ran.status, 1, "{}", ran.out);
    ran.assert_out_lacks("stops it within");
}

/// The dashboard reads the Events as `status` does.
#[test]
fn the_dashboard_reports_enforcement_that_gave_up() {
    let cluster = Cluster::new();
    let stopped = [("stop", "00:00"), ("start", "2099-12-24 18:00")];
    cluster.deployment("web", 3, &[&stopped[..], &[("enforce", "30m")]].concat());
    let today = Utc::now().date_naive();
    let label = |date: chrono::NaiveDate| date.format("%Y-%m-%dT00.00.00Z").to_string();
    state(&cluster, "web", STOPPED);
    let (last, next) = (label(today), label(today + Days::new(1)));
    state(&cluster, "web", &[("last", &last), ("next", &next)]);
    limit_reached(&cluster, "web", Utc::now());
    let served = Served::of(&cluster, &[]);
    let text = "another client keeps reverting dayshift's changes";
    let shown = || served.page("/object/dev/deploy/web").text().to_owned();
    wait_until("shown on the page", || shown().contains(text));
    let shown = shown();
    assert_lacks!(shown, "stops it within");
}
