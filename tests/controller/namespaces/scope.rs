//! The default schedule of the controller, and the namespaces in scope.

use std::fs;

use dayshift_controller::{OwnPod, Scope, Settings};
use dayshift_workload::{DefaultSchedule, Key};

use super::{annotate, office, patches};
use crate::sandbox::{Sandbox, cron_job, deployment, logged};

fn by_default(scope: Scope) -> Settings {
    let hours = [(Key::Hours, "Mon-Fri 09:00-19:00".to_owned())];
    Settings {
        default_schedule: DefaultSchedule::from_texts(hours),
        own_pod: Some(OwnPod {
            namespace: "ops".to_owned(),
            name: "dayshift-6c8f7d9b5-x2x4z".to_owned(),
        }),
        scope,
        ..Settings::default()
    }
}

/// Most users of other tools do this: every workload of these namespaces stops outside office
/// hours.
#[test]
fn default_schedule_adopts_and_reports_workloads_without_a_schedule() {
    let (_guard, log) = logged();
    let mut story = Sandbox::empty_at("2026-11-20 12:00 UTC");
    for namespace in ["team", "ops", "kube-system", "far"] {
        story.api.namespace(namespace);
    }
    story.apply(deployment("plain").replicas(3));
    story.apply(deployment("own").replicas(3).hours("08:00-22:00"));
    story.apply(
        deployment("out")
            .replicas(3)
            .annotation("dayshift/exclude", "true"),
    );
    for namespace in ["team", "ops", "kube-system", "far"] {
        story.apply(deployment("web").namespace(namespace).replicas(2));
    }
    annotate(&story, "team", &[("hours", Some("08:00-20:00"))]);
    let namespaces = ["dev", "team", "ops", "kube-system"].map(str::to_owned);
    story.start_scaler(by_default(Scope {
        namespaces: namespaces.into(),
        ..Scope::default()
    }));
    let text = fs::read_to_string(log.path()).unwrap();
    let said = text
        .lines()
        .find(|line| line.contains("by the default schedule"));
    let said = said.unwrap();
    assert!(said.contains("by the default schedule: dev (1)"), "{said}");
    assert!(said.contains("objects=1 namespaces=1"), "{said}");
    story.apply(deployment("late").replicas(4));
    let count = |namespace: &str, name: &str| story.api.replicas(namespace, name).unwrap();
    let all = || {
        let dev = ["plain", "own", "out", "late"].map(|name| count("dev", name));
        let web = ["team", "ops", "kube-system", "far"].map(|it| count(it, "web"));
        (dev, web)
    };
    story.sleep_until("19:00");
    assert_eq!(all(), ([0, 3, 3, 0], [2, 2, 2, 2]));
    story.sleep_until("20:00");
    assert_eq!(all(), ([0, 3, 3, 0], [0, 2, 2, 2]), "its Namespace's own");
    story.sleep_until("2026-11-23 09:00");
    assert_eq!(all(), ([3, 3, 3, 4], [2, 2, 2, 2]));
}

/// A CronJob cannot have exact counts, so its Namespace gives it no schedule.
#[test]
fn cron_job_follows_the_default_schedule_if_its_namespace_has_only_counts() {
    let mut story = Sandbox::empty_at("2026-11-20 12:00 UTC");
    annotate(&story, "dev", &[("scale", Some("08:00 = 5; 21:00 = 1"))]);
    story.apply(deployment("web").replicas(5));
    story.apply(cron_job("report"));
    story.start_scaler(by_default(Scope {
        namespaces: vec!["dev".to_owned()],
        ..Scope::default()
    }));
    let suspended = || {
        let job = story.api.get("CronJob", "dev", "report").unwrap();
        job["spec"]["suspend"] == true
    };
    story.sleep_until("19:00");
    assert_eq!((story.replicas("web"), suspended()), (5, true));
    story.sleep_until("21:00");
    assert_eq!((story.replicas("web"), suspended()), (1, true));
    story.sleep_until("2026-11-23 09:00");
    assert_eq!((story.replicas("web"), suspended()), (5, false));
}

#[test]
fn changed_default_schedule_is_an_edit() {
    let mut story = Sandbox::empty_at("2026-11-20 12:00 UTC");
    story.apply(deployment("web").replicas(3));
    let scope = || Scope {
        namespaces: vec!["dev".to_owned()],
        ..Scope::default()
    };
    story.start_scaler(by_default(scope()));
    story.sleep_until("19:00");
    assert_eq!(story.replicas("web"), 0);
    story.stop_scalers();
    let hours = [(Key::Hours, "Mon-Fri 09:00-21:00".to_owned())];
    story.start_scaler(Settings {
        default_schedule: DefaultSchedule::from_texts(hours),
        ..by_default(scope())
    });
    story.sleep_until("19:30");
    assert_eq!(story.replicas("web"), 3, "it says running now");
    story.sleep_until("21:30");
    assert_eq!(story.label("web", "saved-replicas").as_deref(), Some("3"));
    story.sleep_until("2026-11-23 09:00");
    assert_eq!(story.replicas("web"), 3);
}

/// The labels of a namespace decide the scope, and can change.
#[test]
fn namespace_selector_limits_the_scope() {
    let mut story = Sandbox::empty_at("2026-11-20 12:00 UTC");
    story.api.namespace("other");
    let label = |namespace: &str, text: Option<&str>| {
        let patch = serde_json::json!({"metadata": {"labels": {"env": text}}});
        story.api.merge("Namespace", "", namespace, &patch).unwrap();
    };
    label("dev", Some("dev"));
    story.apply(deployment("web").replicas(3));
    story.apply(deployment("own").replicas(3).hours("09:00-18:00"));
    story.apply(
        deployment("own")
            .namespace("other")
            .replicas(3)
            .hours("09:00-18:00"),
    );
    story.start_scaler(by_default(Scope {
        namespace_selector: Some("env=dev".to_owned()),
        ..Scope::default()
    }));
    let count = |namespace: &str, name: &str| story.api.replicas(namespace, name).unwrap();
    let all = || {
        [
            count("dev", "web"),
            count("dev", "own"),
            count("other", "own"),
        ]
    };
    story.sleep_until("19:00");
    assert_eq!(all(), [0, 0, 3]);
    // One leaves, and is forgotten without a write; another enters, and is adopted.
    let before = patches(&story);
    let label = |namespace: &str, text: Option<&str>| {
        let patch = serde_json::json!({"metadata": {"labels": {"env": text}}});
        story.api.merge("Namespace", "", namespace, &patch).unwrap();
    };
    label("dev", None);
    label("other", Some("dev"));
    story.settle();
    assert_eq!(patches(&story) - before, 1);
    story.sleep_until("2026-11-21 18:00");
    assert_eq!(all(), [0, 0, 0]);
    story.sleep_until("2026-11-23 12:00");
    assert_eq!(all(), [0, 0, 3], "what has left stays as it is");
    // After its return it continues: the missed start is caught up with.
    label("dev", Some("dev"));
    story.settle();
    assert_eq!(all(), [3, 3, 3]);
}

#[test]
fn sends_no_namespace_request_without_namespace_defaults() {
    let mut story = Sandbox::empty_at("2026-11-20 12:00 UTC");
    story.apply(deployment("web").replicas(3));
    annotate(&story, "dev", &office());
    story.start_scaler(Settings {
        scope: Scope {
            namespace_defaults: false,
            ..Scope::default()
        },
        ..Settings::default()
    });
    story.sleep_until("19:00");
    assert_eq!((story.replicas("web"), patches(&story)), (3, 0));
    let asked = story.api.requests();
    assert!(
        asked
            .iter()
            .all(|line| line.resource != "namespaces" || line.verb == "patch")
    );
}
