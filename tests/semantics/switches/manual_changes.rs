//! Manual changes of on/off fields, and rejected objects.

use dayshift_workload::{CustomField, KindDefinition, KindTable, Switch, SwitchConstant};
use serde_json::{Value, json};

use super::{
    live::{Live, apply},
    table::{CNPG, CRUNCHY, put, running},
};
use crate::object::utc;

#[test]
fn a_manually_stopped_object_stays_stopped_until_a_wake() {
    for (kind, object, path, stopped) in running() {
        let mut live = Live::new(kind, object);
        put(&mut live.object, path, stopped.clone());
        live.until("2026-11-21 12:00");
        assert_eq!(live.object.pointer(path), Some(&stopped), "{kind}");
        live.annotate("wake-until", "2026-11-21 22:00")
            .until("2026-11-21 13:00");
        assert_ne!(live.object.pointer(path), Some(&stopped), "{kind}");
    }
}

#[test]
fn keeps_a_manual_change_while_stopped() {
    // With another value, or none, it runs and the start keeps that value.
    for value in [json!("off"), json!("false"), Value::Null] {
        let off = json!({"metadata": {"annotations": {"cnpg.io/hibernation": "off"}}});
        let mut live = Live::new(CNPG, off);
        live.until("2026-11-19 20:00");
        let annotations = live.object["metadata"]["annotations"]
            .as_object_mut()
            .unwrap();
        match &value {
            Value::Null => annotations.remove("cnpg.io/hibernation"),
            text => annotations.insert("cnpg.io/hibernation".to_owned(), text.clone()),
        };
        let theirs = live.theirs();
        live.until("2026-11-20 12:00");
        assert_eq!(live.theirs(), theirs, "{value}");
        // The next stop saves it.
        live.until("2026-11-20 20:00");
        assert_eq!(
            live.object["metadata"]["annotations"]["cnpg.io/hibernation"],
            "on"
        );
        live.until("2026-11-21 12:00");
        assert_eq!(live.theirs(), theirs, "{value}");
    }
}

#[test]
fn enforce_keeps_the_saved_value() {
    let off = json!({"metadata": {"annotations": {"cnpg.io/hibernation": "off"}}});
    let mut live = Live::new(CNPG, off);
    let before = live.theirs();
    live.annotate("enforce", "true").until("2026-11-19 20:00");
    for raised in ["2026-11-19 21:00", "2026-11-19 22:00"] {
        let annotations = live.object["metadata"]["annotations"]
            .as_object_mut()
            .unwrap();
        annotations.remove("cnpg.io/hibernation");
        live.until(raised);
        assert_eq!(
            live.object["metadata"]["annotations"]["cnpg.io/hibernation"],
            "on"
        );
    }
    live.until("2026-11-20 12:00");
    assert_eq!(live.theirs(), before);
}

/// The operator's words for true, as users write them.
#[test]
fn accepts_every_clickhouse_word_for_true() {
    for word in [
        "yes", "Yes", "1", "true", "True", "on", "On", "enable", "Enabled",
    ] {
        let spec = json!({"spec": {"stop": word}});
        let mut live = Live::new("clickhouseinstallations.clickhouse.altinity.com", spec);
        live.until("2026-11-21 12:00");
        assert_eq!(live.object["spec"]["stop"], word);
    }
}

#[test]
fn rejects_a_value_that_no_label_can_store() {
    let long = "x".repeat(64);
    for text in ["not a label", "absent", &long] {
        let annotations = json!({"cnpg.io/hibernation": text});
        let mut live = Live::new(CNPG, json!({"metadata": {"annotations": annotations}}));
        live.until("2026-11-20 20:00");
        assert_eq!(
            live.object["metadata"]["annotations"]["cnpg.io/hibernation"],
            json!(text)
        );
        let expected = "metadata.annotations.cnpg.io/hibernation: `";
        assert_starts_with!(live.error(), expected);
        assert_contains!(live.error(), "cannot be kept in a label");
    }
}

#[test]
fn rejects_an_invalid_on_off_value() {
    for odd in [json!("yes"), json!(1), json!({"at": "night"})] {
        let mut live = Live::new(CRUNCHY, json!({"spec": {"shutdown": odd}}));
        live.until("2026-11-20 20:00");
        assert_eq!(live.object["spec"]["shutdown"], odd);
        assert_starts_with!(live.error(), "spec.shutdown: `");
        assert_contains!(live.error(), "is not true or false");
        // After a correction, it continues.
        live.object["spec"]["shutdown"] = json!(false);
        live.until("2026-11-21 20:00");
        assert_eq!(live.object["spec"]["shutdown"], json!(true));
    }
}

#[test]
fn rejects_counts_on_kinds_with_an_on_off_field() {
    for key in ["replicas", "stop-replicas"] {
        let mut live = Live::new(CRUNCHY, json!({"spec": {}}));
        live.annotate(key, "1").until("2026-11-19 20:00");
        assert_eq!(live.object["spec"]["shutdown"], Value::Null);
        assert_contains!(
            live.error(),
            "has no meaning on a kind that is only stopped and started"
        );
    }
}

#[test]
fn rejects_a_virtual_machine_with_both_fields() {
    let spec = json!({"spec": {"runStrategy": "Always", "running": true}});
    let mut live = Live::new("virtualmachines.kubevirt.io", spec.clone());
    live.until("2026-11-20 20:00");
    assert_eq!(live.object["spec"], spec["spec"]);
    let expected = "spec.runStrategy: cannot be combined with spec.running";
    assert_starts_with!(live.error(), expected);
    // The field is added between the decision and the patch; the patch tests that it is missing.
    let mut live = Live::new(
        "virtualmachines.kubevirt.io",
        json!({"spec": {"runStrategy": "Always"}}),
    );
    live.now = utc("2026-11-19 19:00");
    let (_, stop) = live.due().unwrap();
    live.object["spec"]["running"] = json!(true);
    assert!(apply(&mut live.object, &stop).is_err());
}

/// Any value of the other field is an error, including a count, wherever the field is.
#[test]
fn rejects_a_custom_kind_with_an_excluded_field() {
    let row = |plural: &str, beside: &[&str]| {
        let tokens = |path: &[&str]| path.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let switch = Switch {
            not_beside: Some(tokens(beside)),
            ..Switch::new(SwitchConstant::Flag(true), None)
        };
        let definition = KindDefinition::custom(
            "Mill",
            (plural, "beside.example.com"),
            &tokens(&["spec", "paused"]),
            CustomField::Switch(switch),
            Vec::new(),
        );
        KindTable::default().add(definition).unwrap()
    };
    let mills = row("mills", &["spec", "replicas"]);
    let pumps = row("pumps", &["spec", "pool", "size"]);
    for (kind, spec, message) in [
        (&mills, json!({"replicas": 3}), "spec.replicas"),
        (&mills, json!({"replicas": "three"}), "spec.replicas"),
        (&pumps, json!({"pool": {"size": 3}}), "spec.pool.size"),
        (
            &pumps,
            json!({"pool": {"size": {"min": 1}}}),
            "spec.pool.size",
        ),
    ] {
        let mut live = Live::with_kind(kind.clone(), json!({"spec": spec.clone()}));
        live.until("2026-11-19 20:00");
        assert_eq!(live.object["spec"], spec, "{}", kind.resource());
        let expected = format!("spec.paused: cannot be combined with {message}");
        assert_starts_with!(live.error(), expected);
    }
    for (kind, object) in [
        (&mills, json!({"spec": {"size": 3}})),
        (&mills, json!({})),
        (&pumps, json!({"spec": {"size": 3}})),
        (&pumps, json!({"spec": {"pool": {"name": "x"}}})),
        (&pumps, json!({"spec": {"pool": null}})),
        (&pumps, json!({})),
    ] {
        let mut live = Live::with_kind(kind.clone(), object);
        let before = live.theirs();
        live.until("2026-11-19 20:00");
        assert_eq!(live.object["spec"]["paused"], true, "{kind} {before}");
        live.until("2026-11-20 12:00");
        assert_eq!(live.theirs(), before, "{kind}");
    }
}
