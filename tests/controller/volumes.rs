//! No stop deletes the volumes of a StatefulSet, unless its own annotation allows it.

use serde_json::{Value, json};

use crate::sandbox::{DeploymentBuilder, Sandbox, stateful_set};

const POLICY: &str = "persistentVolumeClaimRetentionPolicy";

fn policy(when_scaled: &str) -> Value {
    json!({"spec": {POLICY: {"whenScaled": when_scaled}}})
}

fn that_deletes(set: DeploymentBuilder) -> Value {
    let mut set: Value = set.into();
    set["spec"][POLICY] = json!({"whenScaled": "Delete"});
    set
}

fn set(scenario: &Sandbox, name: &str) -> Value {
    scenario.api.get("StatefulSet", "dev", name).unwrap()
}

fn replicas(scenario: &Sandbox, name: &str) -> Value {
    set(scenario, name)["spec"]["replicas"].clone()
}

fn error(scenario: &Sandbox, name: &str) -> String {
    let error = &set(scenario, name)["metadata"]["annotations"]["dayshift/error"];
    error.as_str().unwrap_or_default().to_owned()
}

/// Every way in which dayshift lowers a count.
#[test]
fn rejects_every_lowering_of_a_stateful_set_that_deletes_volumes() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    let ways = [
        ("stop", vec![("stop", "18:30")]),
        (
            "hours",
            vec![("hours", "09:00-18:30"), ("stop-replicas", "1")],
        ),
        ("scale", vec![("scale", "09:00 = 3; 18:30 = 1")]),
        ("exact", vec![("start", "18:30"), ("replicas", "1")]),
        (
            "sleep",
            vec![("start", "09:00"), ("sleep-until", "2026-11-20 22:00")],
        ),
        ("enforce", vec![("hours", "09:00-17:00"), ("enforce", "1s")]),
        (
            "not-allowed",
            vec![("stop", "18:30"), ("allow-volume-deletion", "false")],
        ),
    ];
    for (name, annotations) in &ways {
        let set = annotations.iter();
        let set = set.fold(stateful_set(name).replicas(3), |set, (key, text)| {
            set.annotation(&format!("dayshift/{key}"), *text)
        });
        scenario.api.create(that_deletes(set)).unwrap();
    }
    scenario.settle();
    for (name, _) in &ways {
        let error = error(&scenario, name);
        assert!(
            error.starts_with("dayshift/allow-volume-deletion: ")
                && error.contains("spec.persistentVolumeClaimRetentionPolicy.whenScaled is Delete"),
            "{name}: {error}"
        );
        assert_eq!(scenario.events(name), ["InvalidSchedule"], "{name}");
    }
    scenario.sleep_until("23:00");
    for (name, _) in &ways {
        assert_eq!(replicas(&scenario, name), 3, "{name}");
    }
}

#[test]
fn stops_a_stateful_set_that_allows_volume_deletion() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    let db = |name: &str| stateful_set(name).replicas(3).stop("18:30");
    let may = that_deletes(db("may").annotation("dayshift/allow-volume-deletion", "true"));
    scenario.api.create(may).unwrap();
    // Only the claims of `own` are deleted with it.
    let mut deleted: Value = db("deleted").into();
    deleted["spec"][POLICY] = json!({"whenDeleted": "Delete"});
    scenario.api.create(deleted).unwrap();
    scenario.apply(db("plain"));
    scenario.sleep_until("18:31");
    for name in ["may", "deleted", "plain"] {
        assert_eq!(replicas(&scenario, name), 0, "{name}");
        assert_eq!(error(&scenario, name), "", "{name}");
    }
}

/// A patch of the object cannot test an annotation of the Namespace, and deleted data cannot be
/// restored.
#[test]
fn allow_volume_deletion_is_not_inherited() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario
        .api
        .create(that_deletes(stateful_set("db").replicas(3)))
        .unwrap();
    scenario.apply(stateful_set("web").replicas(3));
    for (key, text) in [("hours", "09:00-18:30"), ("allow-volume-deletion", "true")] {
        let key = format!("dayshift/{key}");
        let api = &scenario.api;
        api.annotate_of("Namespace", "", "dev", &key, Some(text))
            .unwrap();
    }
    scenario.settle();
    assert!(error(&scenario, "db").contains("on the object itself"));
    scenario.sleep_until("18:31");
    assert_eq!(
        (replicas(&scenario, "db"), replicas(&scenario, "web")),
        (json!(3), json!(0))
    );
    let (key, yes) = ("dayshift/allow-volume-deletion", Some("true"));
    scenario
        .api
        .annotate_of("StatefulSet", "dev", "db", key, yes)
        .unwrap();
    scenario.settle();
    assert_eq!(error(&scenario, "db"), "");
}

#[test]
fn detects_a_changed_volume_policy_before_the_patch() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(stateful_set("db").replicas(3).hours("09:00-18:30"));
    scenario.settle();
    let merge = |patch: &Value| {
        scenario
            .api
            .merge("StatefulSet", "dev", "db", patch)
            .unwrap();
        scenario.settle();
    };
    merge(&policy("Delete"));
    assert!(error(&scenario, "db").contains("is Delete"));
    scenario.sleep_until("18:31");
    assert_eq!(replicas(&scenario, "db"), 3);
    // When the policy is corrected, the missed stop is carried out.
    merge(&policy("Retain"));
    assert_eq!(
        (replicas(&scenario, "db"), error(&scenario, "db")),
        (json!(0), String::new())
    );
}
