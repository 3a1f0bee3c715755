//! The default schedule of the controller, and the namespaces in scope.

use std::fs;

use dayshift_controller::{OwnPod, Scope, Settings};
use dayshift_workload::{DefaultSchedule, Key};

use super::{annotate, office, patches};
use crate::sandbox::{Sandbox, cron_job, default_with, deployment, logged};

fn by_default(scope: Scope) -> Settings {
    let hours = [(Key::Hours, "Mon-Fri 09:00-19:00".to_owned())];
    default_with(|settings| {
        settings.default_schedule = DefaultSchedule::from_texts(hours);
        settings.own_pod = Some(OwnPod {
            namespace: "ops".to_owned(),
            name: "dayshift-6c8f7d9b5-x2x4z".to_owned(),
        });
        settings.scope = scope;
    })
}

/// The most common use of other tools: every workload of these namespaces stops outside office hours.
#[test]
fn default_schedule_adopts_and_reports_workloads_without_a_schedule() {
    let (_guard, log) = logged();
    let mut scenario = Sandbox::empty_at("2026-11-19 12:00 UTC");
    for namespace in ["team", "ops", "kube-system", "far"] {
        scenario.api.namespace(namespace);
    }
    scenario.apply(deployment("plain").replicas(3));
    scenario.apply(deployment("own").replicas(3).hours("08:00-22:00"));
    scenario.apply(
        deployment("out")
            .replicas(3)
            .annotation("dayshift/exclude", "true"),
    );
    for namespace in ["team", "ops", "kube-system", "far"] {
        scenario.apply(deployment("web").namespace(namespace).replicas(2));
    }
    annotate(&scenario, "team", &[("hours", Some("08:00-20:00"))]);
    let namespaces = ["dev", "team", "ops", "kube-system"].map(str::to_owned);
    scenario.start_controller(by_default(Scope {
        namespaces: namespaces.into(),
        ..Scope::default()
    }));
    let text = fs::read_to_string(log.path()).unwrap();
    let expected = text
        .lines()
        .find(|line| line.contains("by the default schedule"));
    let expected = expected.unwrap();
    assert!(
        expected.contains("by the default schedule: dev (1)"),
        "{expected}"
    );
    assert!(expected.contains("objects=1 namespaces=1"), "{expected}");
    scenario.apply(deployment("late").replicas(4));
    let count = |namespace: &str, name: &str| scenario.api.replicas(namespace, name).unwrap();
    let all = || {
        let dev = ["plain", "own", "out", "late"].map(|name| count("dev", name));
        let web = ["team", "ops", "kube-system", "far"].map(|it| count(it, "web"));
        (dev, web)
    };
    scenario.sleep_until("19:00");
    assert_eq!(all(), ([0, 3, 3, 0], [2, 2, 2, 2]));
    scenario.sleep_until("20:00");
    assert_eq!(
        all(),
        ([0, 3, 3, 0], [0, 2, 2, 2]),
        "the schedule of its Namespace"
    );
    scenario.sleep_until("2026-11-20 09:00");
    assert_eq!(all(), ([3, 3, 3, 4], [2, 2, 2, 2]));
}

/// A CronJob cannot have exact counts, so its Namespace gives it no schedule.
#[test]
fn cron_job_follows_the_default_schedule_if_its_namespace_has_only_counts() {
    let mut scenario = Sandbox::empty_at("2026-11-19 12:00 UTC");
    annotate(&scenario, "dev", &[("scale", Some("08:00 = 5; 21:00 = 1"))]);
    scenario.apply(deployment("web").replicas(5));
    scenario.apply(cron_job("report"));
    scenario.start_controller(by_default(Scope {
        namespaces: vec!["dev".to_owned()],
        ..Scope::default()
    }));
    let suspended = || {
        let job = scenario.api.get("CronJob", "dev", "report").unwrap();
        job["spec"]["suspend"] == true
    };
    scenario.sleep_until("19:00");
    assert_eq!((scenario.replicas("web"), suspended()), (5, true));
    scenario.sleep_until("21:00");
    assert_eq!((scenario.replicas("web"), suspended()), (1, true));
    scenario.sleep_until("2026-11-20 09:00");
    assert_eq!((scenario.replicas("web"), suspended()), (5, false));
}

#[test]
fn changed_default_schedule_is_an_edit() {
    let mut scenario = Sandbox::empty_at("2026-11-19 12:00 UTC");
    scenario.apply(deployment("web").replicas(3));
    let scope = || Scope {
        namespaces: vec!["dev".to_owned()],
        ..Scope::default()
    };
    scenario.start_controller(by_default(scope()));
    scenario.sleep_until("19:00");
    assert_eq!(scenario.replicas("web"), 0);
    scenario.stop_controllers();
    let hours = [(Key::Hours, "Mon-Fri 09:00-21:00".to_owned())];
    scenario.start_controller(Settings {
        default_schedule: DefaultSchedule::from_texts(hours),
        ..by_default(scope())
    });
    scenario.sleep_until("19:30");
    assert_eq!(
        scenario.replicas("web"),
        3,
        "by the new schedule it runs now"
    );
    scenario.sleep_until("21:30");
    assert_eq!(
        scenario.label("web", "saved-replicas").as_deref(),
        Some("3")
    );
    scenario.sleep_until("2026-11-20 09:00");
    assert_eq!(scenario.replicas("web"), 3);
}

/// The labels of a namespace decide the scope, and can change.
#[test]
fn namespace_selector_limits_the_scope() {
    let mut scenario = Sandbox::empty_at("2026-11-20 12:00 UTC");
    scenario.api.namespace("other");
    let label = |namespace: &str, text: Option<&str>| {
        let patch = serde_json::json!({"metadata": {"labels": {"env": text}}});
        scenario
            .api
            .merge("Namespace", "", namespace, &patch)
            .unwrap();
    };
    label("dev", Some("dev"));
    scenario.apply(deployment("web").replicas(3));
    scenario.apply(deployment("own").replicas(3).hours("09:00-18:00"));
    scenario.apply(
        deployment("own")
            .namespace("other")
            .replicas(3)
            .hours("09:00-18:00"),
    );
    scenario.start_controller(by_default(Scope {
        namespace_selector: Some("env=dev".to_owned()),
        ..Scope::default()
    }));
    let count = |namespace: &str, name: &str| scenario.api.replicas(namespace, name).unwrap();
    let all = || {
        [
            count("dev", "web"),
            count("dev", "own"),
            count("other", "own"),
        ]
    };
    scenario.sleep_until("19:00");
    assert_eq!(all(), [0, 0, 3]);
    // One namespace leaves the scope, and its workloads are forgotten without a write; another enters, and
    // its workloads are adopted.
    let before = patches(&scenario);
    let label = |namespace: &str, text: Option<&str>| {
        let patch = serde_json::json!({"metadata": {"labels": {"env": text}}});
        scenario
            .api
            .merge("Namespace", "", namespace, &patch)
            .unwrap();
    };
    label("dev", None);
    label("other", Some("dev"));
    scenario.settle();
    assert_eq!(patches(&scenario) - before, 1);
    scenario.sleep_until("2026-11-21 18:00");
    assert_eq!(all(), [0, 0, 0]);
    scenario.sleep_until("2026-11-23 12:00");
    assert_eq!(all(), [0, 0, 3], "a namespace out of scope stays unchanged");
    // When it is in scope again, the missed start is carried out.
    label("dev", Some("dev"));
    scenario.settle();
    assert_eq!(all(), [3, 3, 3]);
}

#[test]
fn sends_no_namespace_request_without_namespace_defaults() {
    let mut scenario = Sandbox::empty_at("2026-11-20 12:00 UTC");
    scenario.apply(deployment("web").replicas(3));
    annotate(&scenario, "dev", &office());
    scenario.start_with(|settings| settings.scope.namespace_defaults = false);
    scenario.sleep_until("19:00");
    assert_eq!((scenario.replicas("web"), patches(&scenario)), (3, 0));
    let asked = scenario.api.requests();
    assert!(
        asked
            .iter()
            .all(|line| line.resource != "namespaces" || line.verb == "patch")
    );
}
