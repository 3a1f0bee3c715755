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

fn set(story: &Sandbox, name: &str) -> Value {
    story.api.get("StatefulSet", "dev", name).unwrap()
}

fn replicas(story: &Sandbox, name: &str) -> Value {
    set(story, name)["spec"]["replicas"].clone()
}

fn error(story: &Sandbox, name: &str) -> String {
    let error = &set(story, name)["metadata"]["annotations"]["dayshift/error"];
    error.as_str().unwrap_or_default().to_owned()
}

/// Every way in which dayshift lowers a count.
#[test]
fn rejects_every_lowering_of_a_stateful_set_that_deletes_volumes() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
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
        story.api.create(that_deletes(set)).unwrap();
    }
    story.settle();
    for (name, _) in &ways {
        let error = error(&story, name);
        assert!(
            error.starts_with("dayshift/allow-volume-deletion: ")
                && error.contains("spec.persistentVolumeClaimRetentionPolicy.whenScaled is Delete"),
            "{name}: {error}"
        );
        assert_eq!(story.events(name), ["InvalidSchedule"], "{name}");
    }
    story.sleep_until("23:00");
    for (name, _) in &ways {
        assert_eq!(replicas(&story, name), 3, "{name}");
    }
}

#[test]
fn stops_a_stateful_set_that_allows_volume_deletion() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    let db = |name: &str| stateful_set(name).replicas(3).stop("18:30");
    let may = that_deletes(db("may").annotation("dayshift/allow-volume-deletion", "true"));
    story.api.create(may).unwrap();
    // Only its own claims are deleted with it.
    let mut deleted: Value = db("deleted").into();
    deleted["spec"][POLICY] = json!({"whenDeleted": "Delete"});
    story.api.create(deleted).unwrap();
    story.apply(db("plain"));
    story.sleep_until("18:31");
    for name in ["may", "deleted", "plain"] {
        assert_eq!(replicas(&story, name), 0, "{name}");
        assert_eq!(error(&story, name), "", "{name}");
    }
}

/// A patch of the object cannot test an annotation of the Namespace, and deleted data cannot be
/// restored.
#[test]
fn allow_volume_deletion_is_not_inherited() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story
        .api
        .create(that_deletes(stateful_set("db").replicas(3)))
        .unwrap();
    story.apply(stateful_set("web").replicas(3));
    for (key, text) in [("hours", "09:00-18:30"), ("allow-volume-deletion", "true")] {
        let key = format!("dayshift/{key}");
        let api = &story.api;
        api.annotate_of("Namespace", "", "dev", &key, Some(text))
            .unwrap();
    }
    story.settle();
    assert!(error(&story, "db").contains("on the object itself"));
    story.sleep_until("18:31");
    assert_eq!(
        (replicas(&story, "db"), replicas(&story, "web")),
        (json!(3), json!(0))
    );
    let (key, yes) = ("dayshift/allow-volume-deletion", Some("true"));
    story
        .api
        .annotate_of("StatefulSet", "dev", "db", key, yes)
        .unwrap();
    story.settle();
    assert_eq!(error(&story, "db"), "");
}

#[test]
fn detects_a_changed_volume_policy_before_the_patch() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(stateful_set("db").replicas(3).hours("09:00-18:30"));
    story.settle();
    let merge = |patch: &Value| {
        story.api.merge("StatefulSet", "dev", "db", patch).unwrap();
        story.settle();
    };
    merge(&policy("Delete"));
    assert!(error(&story, "db").contains("is Delete"));
    story.sleep_until("18:31");
    assert_eq!(replicas(&story, "db"), 3);
    // Once corrected, the missed stop is caught up with.
    merge(&policy("Retain"));
    assert_eq!(
        (replicas(&story, "db"), error(&story, "db")),
        (json!(0), String::new())
    );
}
