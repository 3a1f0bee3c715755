//! Defaults of a team: the ConfigMap `dayshift` in a namespace.

use std::{fs, time::Duration};

use chrono::TimeDelta;
use dayshift_controller::Settings;
use kube_in_memory::{Fault, Status};
use serde_json::{Value, json};

use super::{annotate, office, patches};
use crate::sandbox::{Sandbox, cron_job, default_with, deployment, logged};

fn with_teams() -> Settings {
    default_with(|settings| settings.scope.team_defaults = true)
}

/// A cluster whose API server has ConfigMaps, and no controller.
fn cluster(at: &str) -> Sandbox {
    let scenario = Sandbox::empty_at(at);
    scenario
        .api
        .serve_custom("", "v1", "configmaps", "ConfigMap");
    scenario
}

/// A Friday noon with a controller that reads the defaults of teams.
fn noon() -> Sandbox {
    let mut scenario = cluster("2026-11-20 12:00 UTC");
    scenario.start_controller(with_teams());
    scenario
}

/// A Friday noon with a Deployment of each of two teams, whose defaults have these hours.
fn two_teams(hours: &str) -> Sandbox {
    let scenario = noon();
    scenario.api.namespace("shop");
    for namespace in ["dev", "shop"] {
        scenario.apply(deployment("web").namespace(namespace).replicas(3));
        write(&scenario, namespace, json!({"hours": hours}));
    }
    scenario
}

fn config_map(namespace: &str, name: &str, data: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"namespace": namespace, "name": name},
        "data": data,
    })
}

/// Writes the defaults of a team in place of the former ones, and waits until they are in effect.
fn write(scenario: &Sandbox, namespace: &str, data: Value) {
    put(scenario, namespace, data);
    scenario.pass(Duration::from_secs(2));
}

fn put(scenario: &Sandbox, namespace: &str, data: Value) {
    let api = &scenario.api;
    if api.get("ConfigMap", namespace, "dayshift").is_none() {
        let created = api.create(config_map(namespace, "dayshift", &data));
        created.unwrap();
        return;
    }
    let old = api.get("ConfigMap", namespace, "dayshift").unwrap();
    let mut changes = data;
    for key in old["data"].as_object().unwrap().keys() {
        if changes.get(key).is_none() {
            changes[key] = Value::Null;
        }
    }
    let merged = api.merge(
        "ConfigMap",
        namespace,
        "dayshift",
        &json!({"data": changes}),
    );
    merged.unwrap();
}

fn delete(scenario: &Sandbox, namespace: &str) {
    let deleted = scenario.api.delete_of("ConfigMap", namespace, "dayshift");
    deleted.unwrap();
    scenario.pass(Duration::from_secs(2));
}

fn count(scenario: &Sandbox, namespace: &str, name: &str) -> i32 {
    scenario.api.replicas(namespace, name).unwrap()
}

fn inherited(scenario: &Sandbox, name: &str) -> Value {
    let object = scenario.object(name);
    let text = object["metadata"]["annotations"]["dayshift/inherited"].as_str();
    serde_json::from_str(text.unwrap_or("null")).unwrap()
}

/// The reasons of the Events about the ConfigMap of a namespace.
fn events_of_team(scenario: &Sandbox, namespace: &str) -> Vec<Value> {
    let mut events = scenario.api.list("Event");
    events.retain(|event| {
        let about = &event["regarding"];
        about["kind"] == "ConfigMap" && about["namespace"] == namespace
    });
    events
}

#[test]
fn team_defaults_come_before_those_of_the_namespace_key_by_key() {
    let scenario = noon();
    scenario.apply(deployment("web").replicas(3));
    scenario.apply(deployment("own").replicas(3).hours("Mon-Fri 09:00-18:00"));
    scenario.apply(cron_job("report"));
    annotate(
        &scenario,
        "dev",
        &[
            ("hours", Some("Mon-Fri 09:00-22:00")),
            ("timezone", Some("Europe/Berlin")),
            ("notice", Some("15m")),
        ],
    );
    write(
        &scenario,
        "dev",
        json!({"hours": "Mon-Fri 09:00-19:00", "timezone": "UTC"}),
    );
    assert_eq!(
        inherited(&scenario, "web"),
        json!({
            "from": "Namespace", "notice": "15m",
            "team": {"hours": "Mon-Fri 09:00-19:00", "timezone": "UTC"},
        })
    );
    let is_suspended = || {
        let job = scenario.api.get("CronJob", "dev", "report").unwrap();
        job["spec"]["suspend"] == true
    };
    scenario.sleep_until("18:00");
    assert_eq!((scenario.replicas("own"), scenario.replicas("web")), (0, 3));
    scenario.sleep_until("19:00");
    assert_eq!((scenario.replicas("web"), is_suspended()), (0, true));
    scenario.sleep_until("2026-11-23 09:00");
    assert_eq!((scenario.replicas("web"), is_suspended()), (3, false));
}

/// An edit is an edit of each workload that inherits: nothing in the past is applied, and a workload that
/// dayshift stopped starts if it should run now. Without the ConfigMap, the Namespace's hours apply.
#[test]
fn edit_and_removal_are_edits_of_all_workloads_that_inherit() {
    let scenario = noon();
    scenario.apply(deployment("web").replicas(3));
    scenario.apply(deployment("bare").replicas(2));
    annotate(&scenario, "dev", &office());
    write(&scenario, "dev", json!({"hours": "Mon-Fri 09:00-13:00"}));
    scenario.sleep_until("13:00");
    assert_eq!(
        (scenario.replicas("web"), scenario.replicas("bare")),
        (0, 0)
    );
    write(&scenario, "dev", json!({"hours": "Mon-Fri 09:00-15:00"}));
    assert_eq!(
        (scenario.replicas("web"), scenario.replicas("bare")),
        (3, 2)
    );
    write(&scenario, "dev", json!({"hours": "Mon-Fri 09:00-12:00"}));
    assert_eq!(scenario.replicas("web"), 3, "the past is not applied");
    delete(&scenario, "dev");
    scenario.sleep_until("18:59");
    assert_eq!(scenario.replicas("web"), 3);
    scenario.sleep_until("19:00");
    assert_eq!(
        (scenario.replicas("web"), scenario.replicas("bare")),
        (0, 0)
    );
}

/// The override of the team wakes all workloads except those with an override of their own, also if it is
/// ended by its time or by its removal.
#[test]
fn overrides_act_on_the_whole_namespace() {
    let scenario = noon();
    for name in ["web", "api"] {
        scenario.apply(deployment(name).replicas(3));
    }
    scenario.apply(deployment("own").replicas(3).hours("Mon-Fri 09:00-19:00"));
    let held = deployment("held").replicas(3).hours("Mon-Fri 09:00-19:00");
    scenario.apply(held.annotation("dayshift/pause", "false"));
    annotate(&scenario, "dev", &office());
    write(&scenario, "dev", json!({"notice": "5m"}));
    scenario.sleep_until("20:00");
    let all = || ["web", "api", "own", "held"].map(|name| scenario.replicas(name));
    assert_eq!(all(), [0; 4]);
    let wake = |until: &str| json!({"notice": "5m", "wake-until": until});
    write(&scenario, "dev", wake("2026-11-20 21:00"));
    assert_eq!(all(), [3; 4]);
    let snapshot = scenario.label("web", "state");
    assert_eq!(snapshot.as_deref(), Some("woken"));
    scenario.sleep_until("21:00");
    assert_eq!(all(), [0; 4], "the end");
    write(&scenario, "dev", wake("2026-11-20 23:00"));
    assert_eq!(all(), [3; 4]);
    write(&scenario, "dev", json!({"notice": "5m"}));
    assert_eq!(all(), [0; 4], "it is removed");
    // The pause of the team is before the wake of the Namespace, and an own `pause: "false"` cancels it.
    annotate(
        &scenario,
        "dev",
        &[("wake-until", Some("2026-11-21 06:00"))],
    );
    assert_eq!(all(), [3; 4]);
    write(&scenario, "dev", json!({"pause": "true"}));
    scenario.sleep_until("2026-11-21 08:00");
    assert_eq!(all(), [3, 3, 3, 0], "paused, except for one");
    write(&scenario, "dev", json!({"pause": "false"}));
    scenario.sleep_until("2026-11-23 19:00");
    assert_eq!(all(), [0; 4]);
}

#[test]
fn nothing_is_requested_without_the_setting() {
    let mut scenario = cluster("2026-11-20 12:00 UTC");
    scenario.apply(deployment("web").replicas(3));
    put(&scenario, "dev", json!({"hours": "Mon-Fri 09:00-19:00"}));
    scenario.start_controller(Settings::default());
    scenario.sleep_until("19:30");
    assert_eq!((scenario.replicas("web"), patches(&scenario)), (3, 0));
    let requests = scenario.api.requests();
    assert!(requests.iter().all(|line| line.resource != "configmaps"));
}

/// The permission is for objects with that name, so each request must name it.
#[test]
fn requests_only_the_config_maps_with_the_name() {
    for namespaces in [vec![], vec!["dev".to_owned(), "shop".to_owned()]] {
        let mut scenario = cluster("2026-11-20 12:00 UTC");
        scenario.api.namespace("shop");
        scenario.apply(deployment("web").replicas(3));
        put(&scenario, "dev", json!({"hours": "Mon-Fri 09:00-19:00"}));
        let other = config_map("dev", "other", &json!({"hours": "Mon-Fri 09:00-12:30"}));
        scenario.api.create(other).unwrap();
        let mut settings = with_teams();
        settings.scope.namespaces.clone_from(&namespaces);
        settings.scope.excluded_namespaces = vec!["kube-system".to_owned()];
        scenario.start_controller(settings);
        scenario.sleep_until("19:00");
        assert_eq!(scenario.replicas("web"), 0);
        let requests = scenario.api.requests();
        let mut asked: Vec<_> = requests
            .iter()
            .filter(|line| line.resource == "configmaps")
            .inspect(|line| {
                let named = "metadata.name%3Ddayshift";
                assert!(line.query.contains(named), "{line:?}");
                assert!(matches!(line.verb, "list" | "watch"), "{line:?}");
            })
            .map(|line| line.namespace.clone())
            .collect();
        asked.sort();
        asked.dedup();
        let expected = if namespaces.is_empty() {
            vec![String::new()]
        } else {
            namespaces
        };
        assert_eq!(asked, expected);
    }
}

#[test]
fn namespace_can_forbid_the_defaults_of_its_team() {
    let scenario = noon();
    scenario.api.namespace("shop");
    for namespace in ["dev", "shop"] {
        scenario.apply(deployment("web").namespace(namespace).replicas(3));
        annotate(&scenario, namespace, &office());
        write(
            &scenario,
            namespace,
            json!({"hours": "Mon-Fri 09:00-15:00", "wake-until": "2026-11-30 10:00"}),
        );
    }
    annotate(&scenario, "dev", &[("team-defaults", Some("false"))]);
    scenario.sleep_until("19:00");
    let all = || ["dev", "shop"].map(|namespace| count(&scenario, namespace, "web"));
    assert_eq!(all(), [0, 3]);
    annotate(&scenario, "dev", &[("team-defaults", None)]);
    assert_eq!(all(), [3, 3], "the wake of the team applies again");
}

/// It is neither allowed nor forbidden, so nothing changes in this namespace.
#[test]
fn unclear_permission_rejects_only_the_workloads_of_its_namespace() {
    let scenario = two_teams("Mon-Fri 09:00-15:00");
    annotate(&scenario, "dev", &[("team-defaults", Some("maybe"))]);
    scenario.pass(Duration::from_secs(2));
    let events = scenario.api.list("Event");
    let rejected = events
        .iter()
        .find(|event| event["regarding"]["kind"] == "Namespace");
    let note = rejected.unwrap()["note"].as_str().unwrap();
    let expected = "dayshift/team-defaults on the Namespace: `maybe` is neither `true` nor `false`";
    assert!(note.starts_with(expected), "{note}");
    scenario.sleep_until("15:00");
    let all = || ["dev", "shop"].map(|namespace| count(&scenario, namespace, "web"));
    assert_eq!(all(), [3, 0]);
    annotate(&scenario, "dev", &[("team-defaults", Some("true"))]);
    assert_eq!(all(), [0, 0], "the missed stop");
}

/// The Event on the ConfigMap explains the mistake, and so do Events on the workloads that inherit it.
/// All others continue.
#[test]
fn mistakes_are_reported_on_the_config_map_and_on_the_workloads_that_inherit_from_it() {
    let scenario = noon();
    scenario.api.namespace("shop");
    scenario.apply(deployment("web").replicas(3));
    scenario.apply(deployment("own").replicas(3).hours("Mon-Fri 09:00-19:00"));
    scenario.apply(deployment("far").namespace("shop").replicas(3));
    write(&scenario, "dev", json!({"hours": "Mon-Fri 09:00-19:00"}));
    write(&scenario, "shop", json!({"hours": "Mon-Fri 09:00-19:00"}));
    for (data, expected) in [
        (
            json!({"hours": "Mon-Fry 09:00-19:00"}),
            "hours in the ConfigMap `dayshift`: `Fry` is not a day",
        ),
        (
            json!({"hours": "Mon-Fri 09:00-19:00", "timezon": "UTC"}),
            "timezon in the ConfigMap `dayshift`: ",
        ),
        (
            json!({"schedule": "office"}),
            "schedule in the ConfigMap `dayshift`: `office`",
        ),
        (
            json!({"hours": "Mon-Fri 09:00-19:00", "team-defaults": "true"}),
            "team-defaults in the ConfigMap `dayshift`: ",
        ),
        (
            json!({"hours": "09:00-19:00; ".repeat(1_000)}),
            "hours in the ConfigMap `dayshift`: ",
        ),
    ] {
        // A schedule with an unknown name can have any key, also for a workload with its own hours.
        let is_for_all = data.get("schedule").is_some();
        let before = events_of_team(&scenario, "dev").len();
        let others = patches_of(&scenario, "own");
        write(&scenario, "dev", data);
        let events = events_of_team(&scenario, "dev");
        assert_eq!(events.len(), before + 1, "{expected}");
        let notes: Vec<_> = events
            .iter()
            .map(|event| event["note"].as_str().unwrap())
            .collect();
        assert!(
            notes.iter().any(|note| note.starts_with(expected)),
            "{notes:?}"
        );
        let error = scenario.error("web").unwrap();
        assert!(error.starts_with(expected), "{error}");
        assert!(
            scenario
                .events("web")
                .contains(&"InvalidSchedule".to_owned())
        );
        assert_eq!(scenario.error("own").is_some(), is_for_all, "{expected}");
        let is_written = is_for_all || expected.starts_with("team-defaults");
        assert_eq!(
            patches_of(&scenario, "own") > others,
            is_written,
            "{expected}"
        );
        assert!(
            scenario
                .metrics()
                .contains("dayshift_invalid_namespaces 1\n")
        );
    }
    scenario.sleep_until("19:30");
    assert_eq!((scenario.replicas("web"), scenario.replicas("own")), (3, 0));
    assert_eq!(count(&scenario, "shop", "far"), 0);
    // The same schedule as before: the missed stop is applied.
    write(&scenario, "dev", json!({"hours": "Mon-Fri 09:00-19:00"}));
    assert_eq!((scenario.error("web"), scenario.replicas("web")), (None, 0));
    assert!(
        scenario
            .metrics()
            .contains("dayshift_invalid_namespaces 0\n")
    );
}

fn patches_of(scenario: &Sandbox, name: &str) -> usize {
    scenario.patched(name).len()
}

/// After a restart, no decision is made before the ConfigMaps are listed: the Namespace's hours would stop
/// the workload.
#[test]
fn waits_for_the_first_list_before_it_acts() {
    let mut scenario = noon();
    scenario.apply(deployment("web").replicas(3));
    annotate(&scenario, "dev", &[("hours", Some("Mon-Fri 09:00-13:00"))]);
    write(&scenario, "dev", json!({"hours": "Mon-Fri 09:00-19:00"}));
    scenario.kill_controllers();
    let hang = |line: &kube_in_memory::RequestLine| line.resource == "configmaps";
    scenario
        .api
        .on_request(move |line| hang(line).then_some(Fault::Hang));
    scenario.start_controller(with_teams());
    let before = patches(&scenario);
    scenario.sleep_until("13:00");
    scenario.pass(Duration::from_secs(5));
    assert_eq!((scenario.replicas("web"), patches(&scenario)), (3, before));
    scenario.api.clear_fault();
    scenario.api.close_watches();
    scenario.sleep_until("18:59");
    assert_eq!(scenario.replicas("web"), 3);
    scenario.sleep_until("19:00");
    assert_eq!(scenario.replicas("web"), 0);
}

#[test]
fn missing_permission_is_reported_and_leaves_only_workloads_that_might_inherit() {
    let (_guard, log) = logged();
    let mut scenario = cluster("2026-11-20 12:00 UTC");
    scenario.api.namespace("shop");
    scenario.apply(deployment("web").replicas(3));
    scenario.apply(deployment("far").namespace("shop").replicas(3));
    scenario.apply(deployment("own").replicas(3).hours("Mon-Fri 09:00-19:00"));
    for namespace in ["dev", "shop"] {
        annotate(&scenario, namespace, &office());
    }
    annotate(&scenario, "shop", &[("team-defaults", Some("false"))]);
    let forbidden = Fault::Answer(Status::forbidden("", "configmaps", "", "no rule"));
    scenario
        .api
        .on_request(move |line| (line.resource == "configmaps").then(|| forbidden.clone()));
    scenario.start_controller(with_teams());
    scenario.sleep_until("19:30");
    assert_eq!((scenario.replicas("web"), scenario.replicas("own")), (3, 0));
    assert_eq!(
        count(&scenario, "shop", "far"),
        0,
        "its Namespace forbids them"
    );
    let text = fs::read_to_string(log.path()).unwrap();
    assert!(
        text.contains("the defaults of teams cannot be read"),
        "{text}"
    );
    assert!(
        scenario
            .metrics()
            .contains("dayshift_watch_up{kind=\"ConfigMap\"} 0")
    );
    scenario.api.clear_fault();
    scenario.pass(Duration::from_secs(120));
    assert_eq!(
        scenario.replicas("web"),
        0,
        "it was seen before the stop, which was missed"
    );
    assert!(
        scenario
            .metrics()
            .contains("dayshift_watch_up{kind=\"ConfigMap\"} 1")
    );
}

/// A megabyte, ten thousand keys, and bytes that are not text: each harms only its own namespace, and its
/// correction takes effect.
#[test]
fn hostile_config_map_affects_only_its_own_namespace() {
    let scenario = two_teams("Mon-Fri 09:00-19:00");
    let many: serde_json::Map<_, _> = (0..10_000)
        .map(|number| (format!("key-{number}"), json!("value")))
        .collect();
    for data in [
        json!({"notes": "<".repeat(1 << 20)}),
        json!({"hours": "\u{1}".repeat(1 << 20)}),
        json!({"hours": "Mon-Fri 09:00-19:00", "reason": "x".repeat(1 << 20)}),
        Value::Object(many),
        json!({"except": "2026-12-24;".repeat(50_000), "hours": "Mon-Fri 09:00-19:00"}),
    ] {
        let before = events_of_team(&scenario, "dev").len();
        write(&scenario, "dev", data);
        assert_eq!(events_of_team(&scenario, "dev").len(), before + 1);
    }
    let binary = json!({"binaryData": {"hours": "AAEC"}});
    let merged = scenario.api.merge("ConfigMap", "dev", "dayshift", &binary);
    merged.unwrap();
    scenario.sleep_until("19:00");
    assert_eq!(count(&scenario, "shop", "web"), 0);
    delete(&scenario, "dev");
    scenario.sleep_until("2026-11-21 12:00");
    write(
        &scenario,
        "dev",
        json!({"sleep-until": "2026-11-21 13:00", "hours": "09:00-19:00"}),
    );
    assert_eq!(
        (scenario.replicas("web"), count(&scenario, "shop", "web")),
        (0, 0)
    );
}

/// A user edits, deletes and creates the ConfigMap a hundred times a second. The boundary of another
/// namespace is applied in time, and each workload of the namespace is written at most once a second.
#[test]
fn constant_edits_delay_no_other_namespace() {
    let mut scenario = cluster("2026-11-20 18:59 UTC");
    scenario.api.namespace("other");
    for number in 0..200 {
        let web: Value = deployment(&format!("web-{number}")).replicas(2).into();
        scenario.api.apply(web).unwrap();
    }
    let far = deployment("far").namespace("other").replicas(3);
    scenario.apply(far.stop("19:00"));
    scenario.start_controller(with_teams());
    scenario.sleep_until("18:59:50");
    for edit in 0..2_000 {
        let minute = edit % 60;
        let hours = format!("Mon-Fri 09:00-20:{minute:02}");
        if edit % 7 == 6 {
            let _ = scenario.api.delete_of("ConfigMap", "dev", "dayshift");
        } else {
            put(&scenario, "dev", json!({"hours": hours}));
        }
        scenario.pass(Duration::from_millis(10));
    }
    assert_eq!(count(&scenario, "other", "far"), 0);
    let due = scenario.utc("2026-11-20 19:00");
    let requests = scenario.requests("patch");
    let mut stops = requests.iter().filter(|line| line.namespace == "other");
    let late = stops.find(|line| line.at >= due).unwrap().at - due;
    assert!(late < TimeDelta::milliseconds(50), "{late}");
    let writes = patches_of(&scenario, "web-7");
    assert!(writes <= 24, "{writes} writes in 20 s");
    write(&scenario, "dev", json!({"hours": "Mon-Fri 09:00-20:30"}));
    scenario.sleep_until("20:29");
    assert_eq!(scenario.replicas("web-7"), 2);
    scenario.sleep_until("20:30");
    assert_eq!(scenario.replicas("web-7"), 0);
}
