//! A limited number of workloads start at once; the other starts wait for a slot.

use std::{num::NonZeroUsize, time::Duration};

use dayshift_controller::{Settings, WorkStatus};
use kube_in_memory::{Fault, Status};
use serde_json::{Value, json};

use super::{OFFICE, ready, sent, waiting};
use crate::sandbox::{
    DeploymentBuilder, Sandbox, cron_job, default_with, deployment, logged, stateful_set,
};

fn at_most(count: usize) -> Settings {
    default_with(|settings| settings.max_starting = NonZeroUsize::new(count))
}

/// `web-1`, `web-2` and so on, stopped on Thursday evening, with this limit of concurrent starts.
fn evening(max: usize, count: usize) -> Sandbox {
    let names: Vec<_> = (1..=count).map(|number| format!("web-{number}")).collect();
    let objects = names.iter().map(|name| web(name));
    evening_of(max, objects)
}

fn evening_of(max: usize, objects: impl Iterator<Item = DeploymentBuilder>) -> Sandbox {
    let mut scenario = Sandbox::empty_at("2026-11-19 18:00 UTC");
    scenario.api.namespace("test");
    scenario.start_controller(at_most(max));
    for object in objects {
        scenario.api.apply(object.into()).unwrap();
    }
    scenario.sleep_until("19:01");
    scenario
}

fn web(name: &str) -> DeploymentBuilder {
    deployment(name).replicas(3).hours(OFFICE)
}

/// The running workloads, ordered by name.
fn running(scenario: &Sandbox) -> Vec<String> {
    let runs = |it: &Value| it["spec"]["replicas"].as_u64() > Some(0);
    let name = |it: Value| it["metadata"]["name"].as_str().unwrap().to_owned();
    let objects = scenario.api.list("Deployment").into_iter();
    let mut names: Vec<_> = objects.filter(runs).map(name).collect();
    names.sort();
    names
}

fn overdue(scenario: &Sandbox) -> bool {
    !scenario
        .metrics()
        .contains("dayshift_overdue_workloads 0\n")
}

#[test]
fn next_start_follows_within_milliseconds_of_readiness() {
    let scenario = evening(2, 6);
    let before = sent(&scenario);
    scenario.sleep_until("2026-11-20 09:05");
    assert_eq!(running(&scenario), ["web-1", "web-2"]);
    assert_eq!(
        (waiting(&scenario).as_str(), overdue(&scenario)),
        ("4", false)
    );
    // Waiting starts cost no request.
    assert_eq!(sent(&scenario) - before, 2);
    let snapshot = scenario.telemetry.snapshot().unwrap();
    let works: Vec<_> = snapshot.objects.iter().map(|it| it.work).collect();
    let waits = WorkStatus::WaitingForSlot;
    assert_eq!(
        works,
        [[WorkStatus::Idle; 2].as_slice(), &[waits; 4]].concat()
    );
    for (name, next) in [("web-2", "web-3"), ("web-1", "web-4"), ("web-4", "web-5")] {
        ready(&scenario, name, 2);
        assert_eq!(scenario.replicas(next), 0);
        let now = scenario.now();
        ready(&scenario, name, 3);
        assert_eq!(scenario.replicas(next), 3);
        let took = *scenario.patched(next).last().unwrap() - now;
        assert!(took.num_milliseconds() <= 5, "{took}");
    }
    assert_eq!(
        (running(&scenario).len(), waiting(&scenario)),
        (5, "1".to_owned())
    );
    // A start that waited is not counted as late, and its `ready-within` begins with the start.
    let metrics = scenario.metrics();
    let late = "dayshift_transition_lateness_seconds_bucket{le=\"0.01\",action=\"start\"} 5";
    assert!(metrics.contains(late), "{metrics}");
    assert!(metrics.contains("dayshift_boundaries_skipped_total 0"));
    assert_eq!(
        scenario.label("web-1", "last").unwrap(),
        "2026-11-20T09.00.00Z"
    );
    assert_eq!(
        scenario.label("web-5", "last").unwrap(),
        "2026-11-20T09.05.00Z"
    );
    scenario.sleep_until("19:01");
    assert_eq!(
        (running(&scenario), waiting(&scenario)),
        (vec![], "0".to_owned())
    );
}

/// It is late only 10 s after it got its slot, although it was due minutes before.
#[test]
fn start_that_has_just_got_its_slot_is_not_overdue() {
    let scenario = evening(1, 2);
    let (_guard, log) = logged();
    scenario.sleep_until("2026-11-20 09:05");
    scenario
        .api
        .on_request(|line| (line.verb == "patch").then_some(Fault::Delay(Duration::from_secs(25))));
    ready(&scenario, "web-1", 3);
    scenario.pass(Duration::from_secs(1));
    assert!(!overdue(&scenario), "{}", scenario.metrics());
    scenario.pass(Duration::from_secs(8));
    assert!(!overdue(&scenario));
    scenario.pass(Duration::from_secs(3));
    assert!(overdue(&scenario), "the API server has not responded");
    scenario.api.clear_fault();
    scenario.pass(Duration::from_secs(120));
    assert_eq!(running(&scenario), ["web-1", "web-2"]);
    assert!(!overdue(&scenario));
    let log = std::fs::read_to_string(log.path()).unwrap();
    assert!(log.matches("not done within").count() <= 1, "{log}");
}

#[test]
fn start_that_is_not_ready_in_time_releases_its_slot() {
    let scenario = evening(2, 5);
    scenario.annotate("web-1", "ready-within", Some("3m"));
    scenario.sleep_until("2026-11-20 09:02:59");
    assert_eq!(running(&scenario), ["web-1", "web-2"]);
    for name in ["web-1", "web-2"] {
        ready(&scenario, name, 0);
    }
    scenario.sleep_until("09:03:01");
    assert_eq!(running(&scenario), ["web-1", "web-2", "web-3"]);
    scenario.sleep_until("09:12:59");
    assert_eq!(running(&scenario).len(), 4);
    scenario.sleep_until("09:13:01");
    assert_eq!(
        (running(&scenario).len(), waiting(&scenario)),
        (5, "0".to_owned())
    );
    let events = scenario.api.list("Event");
    let not_ready = events.iter().filter(|it| it["reason"] == "NotReady");
    assert_eq!(not_ready.count(), 2);
}

#[test]
fn namespaces_take_turns_and_user_requests_go_first() {
    let dev = (1..=4).map(|number| web(&format!("web-{number}")));
    let test = (1..=2).map(|number| web(&format!("test-{number}")).namespace("test"));
    let asked = std::iter::once(deployment("mine").replicas(3).hours("Thu 18:00-19:00"));
    let scenario = evening_of(1, dev.chain(test).chain(asked));
    scenario.sleep_until("2026-11-20 09:00:30");
    assert_eq!(running(&scenario), ["web-1"]);
    scenario.annotate("mine", "wake-until", Some("2026-11-20 12:30"));
    scenario.pass(Duration::from_secs(1));
    assert_eq!(
        (running(&scenario).len(), waiting(&scenario).as_str()),
        (1, "6")
    );
    for expected in ["mine", "web-2", "test-1", "web-3", "test-2", "web-4"] {
        let before = running(&scenario);
        for name in &before {
            let namespace = if name.starts_with("test") {
                "test"
            } else {
                "dev"
            };
            let object = scenario.api.get("Deployment", namespace, name).unwrap();
            let generation = object["metadata"]["generation"].clone();
            let status = json!({"observedGeneration": generation, "readyReplicas": 3});
            scenario
                .api
                .set_status("Deployment", namespace, name, status)
                .unwrap();
        }
        scenario.settle();
        let after = running(&scenario);
        let new: Vec<_> = after.iter().filter(|it| !before.contains(it)).collect();
        assert_eq!(new, [expected]);
    }
}

/// Five workloads that never become ready, in one namespace.
#[test]
fn slots_of_one_namespace_are_released_for_others_in_time() {
    let slow = (1..=5)
        .map(|number| web(&format!("web-{number}")).annotation("dayshift/ready-within", "24h"));
    let more = (6..=9).map(|number| web(&format!("web-{number}")));
    let test = web("test-1").namespace("test").hours("Mon-Fri 09:05-19:00");
    let scenario = evening_of(5, slow.chain(more).chain(std::iter::once(test)));
    scenario.sleep_until("2026-11-20 09:00:30");
    for number in 1..=5 {
        ready(&scenario, &format!("web-{number}"), 0);
    }
    scenario.sleep_until("09:09:59");
    assert_eq!(running(&scenario).len(), 5);
    assert_eq!(waiting(&scenario), "5");
    // `test-1` has waited for the shortest time, but its namespace holds no slot.
    let started = |name: &str| {
        let patches = scenario.requests("patch").into_iter();
        let mut patches = patches.filter(|line| line.name == name);
        patches.next_back().map(|line| line.at)
    };
    scenario.sleep_until("09:10:01");
    assert_eq!(running(&scenario).len(), 10);
    let first = started("test-1").unwrap();
    assert!(first <= started("web-9").unwrap(), "{first}");
}

/// The Events about waiting starts: time, Namespace, and text.
fn starts_wait_events(scenario: &Sandbox) -> Vec<(String, String, String)> {
    let mut events = scenario.api.list("Event");
    events.retain(|event| event["reason"] == "StartsWait");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let reported = |event: &Value| {
        assert_eq!(event["regarding"]["kind"], "Namespace");
        assert_eq!(event["type"], "Normal");
        let at = text(&event["eventTime"]);
        let name = text(&event["regarding"]["name"]);
        (at[11..19].to_owned(), name, text(&event["note"]))
    };
    let mut reported: Vec<_> = events.iter().map(reported).collect();
    reported.sort();
    reported
}

#[test]
fn reports_waiting_starts_on_their_namespace() {
    let dev = (1..=4)
        .map(|number| web(&format!("web-{number}")).annotation("dayshift/ready-within", "0"));
    let test = std::iter::once(web("test-1").namespace("test"));
    let scenario = evening_of(1, dev.chain(test));
    assert_eq!(starts_wait_events(&scenario), []);
    scenario.sleep_until("2026-11-20 09:07");
    let entry = |at: &str, namespace: &str, starts: &str| {
        let text = format!("{starts} until fewer workloads are starting (--max-starting 1)");
        (at.to_owned(), namespace.to_owned(), text)
    };
    let mut expected = vec![
        entry("09:00:01", "dev", "3 starts wait"),
        entry("09:00:01", "test", "1 start waits"),
        entry("09:05:01", "dev", "3 starts wait"),
        entry("09:05:01", "test", "1 start waits"),
    ];
    assert_eq!(starts_wait_events(&scenario), expected);
    ready(&scenario, "web-1", 3);
    assert_eq!(
        scenario.api.get("Deployment", "test", "test-1").unwrap()["spec"]["replicas"],
        0
    );
    ready(&scenario, "web-2", 3);
    assert_eq!(
        scenario.api.get("Deployment", "test", "test-1").unwrap()["spec"]["replicas"],
        3
    );
    assert_eq!(waiting(&scenario), "2");
    // No start waits in the other namespace any more.
    scenario.sleep_until("09:10:30");
    expected.push(entry("09:10:01", "dev", "2 starts wait"));
    assert_eq!(starts_wait_events(&scenario), expected);
    scenario.sleep_until("19:01");
    let before = starts_wait_events(&scenario).len();
    scenario.sleep_until("23:00");
    assert_eq!(
        (starts_wait_events(&scenario).len(), waiting(&scenario)),
        (before, "0".to_owned())
    );
}

#[test]
fn stops_need_no_slot_and_end_a_wait() {
    let scenario = evening(1, 4);
    scenario.sleep_until("2026-11-20 09:00:30");
    assert_eq!(waiting(&scenario), "3");
    scenario.annotate("web-2", "sleep-until", Some("2026-11-20 12:00"));
    scenario.annotate("web-3", "hours", Some("Mon-Fri 11:00-19:00"));
    assert_eq!(waiting(&scenario), "1");
    scenario.annotate("web-1", "sleep-until", Some("2026-11-20 12:00"));
    // Its slot is free at once.
    assert_eq!(
        (running(&scenario), waiting(&scenario)),
        (vec!["web-4".to_owned()], "0".to_owned())
    );
    scenario.apply(deployment("new").replicas(3).hours("Mon-Fri 08:00-19:00"));
    ready(&scenario, "web-4", 3);
    scenario.sleep_until("11:00:01");
    assert_eq!(running(&scenario), ["new", "web-3", "web-4"]);
}

#[test]
fn restarted_controller_counts_running_starts() {
    let mut scenario = evening(2, 6);
    scenario.sleep_until("2026-11-20 09:00:30");
    ready(&scenario, "web-1", 3);
    assert_eq!(running(&scenario), ["web-1", "web-2", "web-3"]);
    for _ in 0..2 {
        scenario.kill_controllers();
        scenario.start_controller(at_most(2));
        scenario.pass(Duration::from_secs(20));
        assert_eq!(running(&scenario).len(), 3);
        assert_eq!(
            (waiting(&scenario).as_str(), overdue(&scenario)),
            ("3", false)
        );
    }
    ready(&scenario, "web-2", 3);
    assert_eq!(running(&scenario).len(), 4);
    scenario.kill_controllers();
    scenario.start_controller(Settings::default());
    scenario.settle();
    assert_eq!(
        (running(&scenario).len(), waiting(&scenario)),
        (6, "0".to_owned())
    );
}

/// The list of StatefulSets arrives first; the list of Deployments, one of which is starting, arrives later.
#[test]
fn waits_for_complete_lists_before_it_grants_slots() {
    let mut scenario = Sandbox::empty_at("2026-11-19 18:00 UTC");
    scenario.start_controller(at_most(1));
    scenario.apply(web("web").hours("Mon-Fri 08:59-19:00"));
    scenario.apply(stateful_set("db").replicas(1).hours(OFFICE));
    scenario.sleep_until("2026-11-20 09:00:30");
    let of_db = |scenario: &Sandbox| scenario.api.get("StatefulSet", "dev", "db").unwrap();
    assert_eq!(
        (running(&scenario).len(), waiting(&scenario).as_str()),
        (1, "1")
    );
    scenario.kill_controllers();
    scenario.api.on_request(|line| {
        let is_late = line.resource == "deployments" && line.verb != "patch";
        is_late.then_some(Fault::Delay(Duration::from_secs(5)))
    });
    scenario.start_controller(at_most(1));
    scenario.pass(Duration::from_secs(30));
    assert_eq!(of_db(&scenario)["spec"]["replicas"], 0);
    ready(&scenario, "web", 3);
    scenario.settle();
    assert_eq!(of_db(&scenario)["spec"]["replicas"], 1);
}

#[test]
fn missed_starts_need_slots_too() {
    let mut scenario = evening(2, 6);
    scenario.kill_controllers();
    scenario.sleep_until("2026-11-20 09:30");
    scenario.start_controller(at_most(2));
    scenario.sleep_until("09:39:59");
    assert_eq!(
        (running(&scenario).len(), waiting(&scenario).as_str()),
        (2, "4")
    );
    scenario.sleep_until("09:40:01");
    assert_eq!(
        (running(&scenario).len(), waiting(&scenario).as_str()),
        (4, "2")
    );
}

#[test]
fn kind_without_readiness_takes_no_slot() {
    let jobs = (1..=3).map(|number| cron_job(&format!("job-{number}")).hours(OFFICE));
    let scenario = evening_of(1, jobs.chain([web("web-1"), web("web-2")]));
    scenario.sleep_until("2026-11-20 09:00:01");
    let jobs = scenario.api.list("CronJob");
    assert!(jobs.iter().all(|it| it["spec"]["suspend"] == false));
    assert_eq!(
        (running(&scenario).len(), waiting(&scenario).as_str()),
        (1, "1")
    );
}

#[test]
fn failed_start_holds_no_slot() {
    let scenario = evening(1, 3);
    scenario.api.on_request(|line| {
        let fails = line.verb == "patch" && line.name == "web-1";
        let denied = Status::denied_by_policy;
        fails.then(|| Fault::Answer(denied("apps", "deployments", "web-1", "nights", "no")))
    });
    scenario.sleep_until("2026-11-20 09:00:05");
    assert_eq!(
        (running(&scenario), waiting(&scenario).as_str()),
        (vec!["web-2".to_owned()], "1")
    );
}

#[test]
fn start_that_waits_for_a_dependency_holds_no_slot() {
    let app = web("app").annotation("dayshift/after", "deploy/db");
    let scenario = evening_of(1, [app, web("db"), web("other")].into_iter());
    scenario.sleep_until("2026-11-20 09:00:01");
    assert_eq!(
        (running(&scenario), waiting(&scenario).as_str()),
        (vec!["db".to_owned()], "2")
    );
    ready(&scenario, "db", 3);
    assert_eq!(running(&scenario), ["db", "other"]);
    // `app` now waits for a slot instead of its dependency.
    assert_eq!(waiting(&scenario), "1");
    ready(&scenario, "other", 3);
    assert_eq!(
        (running(&scenario).len(), waiting(&scenario).as_str()),
        (3, "0")
    );
}

#[test]
fn hundreds_of_starts_waiting_for_a_slot_cost_no_request() {
    let objects = (0..500).map(|number| {
        deployment(&format!("web-{number}"))
            .replicas(1)
            .hours(OFFICE)
    });
    let scenario = evening_of(10, objects);
    scenario.sleep_until("2026-11-20 08:59");
    let before = sent(&scenario);
    scenario.sleep_until("09:09:59");
    assert_eq!(
        (waiting(&scenario).as_str(), sent(&scenario) - before),
        ("490", 10)
    );
}

#[test]
fn dry_run_needs_no_slots() {
    let mut scenario = evening(1, 3);
    scenario.kill_controllers();
    scenario.start_controller(Settings {
        dry_run: true,
        ..at_most(1)
    });
    scenario.sleep_until("2026-11-20 09:00:05");
    assert_eq!(waiting(&scenario), "0");
}
