//! A start restores an on/off field verbatim.

use dayshift_cluster::{Workload, write::guarded_patch};
use dayshift_workload::{KindTable, Prefix, plan_restore};
use serde_json::{Value, json};

use super::{
    live::{Live, apply, as_sent},
    table::{CRUNCHY, put, running},
};
use crate::object::utc;

/// The value while stopped: a timestamp is that of its own stop.
fn at_night(stopped: &Value, day: u32) -> Value {
    let text = stopped.as_str().filter(|it| it.starts_with("2026"));
    text.map_or_else(
        || stopped.clone(),
        |text| json!(text.replace("-19T", &format!("-{day}T"))),
    )
}

#[test]
fn a_start_restores_the_on_off_field_verbatim() {
    for (kind, object, path, stopped) in running() {
        for is_killed in [false, true] {
            let mut live = Live::new(kind, object.clone());
            let before = live.theirs();
            for day in 19..23 {
                live.until(&format!("2026-11-{day} 20:00"));
                assert_eq!(
                    live.object.pointer(path),
                    Some(&at_night(&stopped, day)),
                    "{kind}"
                );
                assert_eq!(live.label("saved-replicas"), Some("1"), "{kind}");
                assert!(live.label("saved-value").is_some(), "{kind}");
                if is_killed {
                    live.killed();
                }
                live.until(&format!("2026-11-{} 10:00", day + 1));
                assert_eq!(live.theirs(), before, "{kind}");
                assert_eq!(live.label("saved-value"), None, "{kind}");
            }
        }
    }
}

#[test]
fn wake_and_sleep_restore_the_same_value() {
    for (kind, object, path, stopped) in running() {
        let mut live = Live::new(kind, object);
        let before = live.theirs();
        live.annotate("sleep-until", "2026-11-19 14:00")
            .until("2026-11-19 13:00");
        assert!(live.is_stopped(path, &stopped), "{kind}");
        live.until("2026-11-19 15:00");
        assert_eq!(live.theirs(), before, "{kind}");
        live.until("2026-11-19 20:00");
        live.annotate("wake-until", "2026-11-19 22:00")
            .until("2026-11-19 21:00");
        assert_eq!(live.theirs(), before, "{kind}");
        live.until("2026-11-19 23:00");
        assert!(live.is_stopped(path, &stopped), "{kind}");
        live.annotate("pause", "2026-11-20 12:00")
            .until("2026-11-20 11:00");
        assert!(live.is_stopped(path, &stopped), "{kind}");
        live.until("2026-11-20 13:00");
        assert_eq!(live.theirs(), before, "{kind}: stopped, and restored");
    }
}

#[test]
fn rewrites_removed_labels_with_the_value() {
    for (kind, object, ..) in running() {
        let mut live = Live::new(kind, object);
        let before = live.theirs();
        live.until("2026-11-19 20:00");
        let saved = live.label("saved-value").map(str::to_owned);
        live.object["metadata"]
            .as_object_mut()
            .unwrap()
            .remove("labels");
        live.obey();
        assert_eq!(
            live.label("saved-value").map(str::to_owned),
            saved,
            "{kind}"
        );
        live.object["metadata"]["labels"]
            .as_object_mut()
            .unwrap()
            .remove("dayshift/saved-value");
        live.obey();
        assert_eq!(
            live.label("saved-value").map(str::to_owned),
            saved,
            "{kind}"
        );
        live.until("2026-11-20 12:00");
        assert_eq!(live.theirs(), before, "{kind}");
    }
}

/// If the value is lost, the object still runs.
#[test]
fn uses_the_default_value_if_the_saved_one_is_lost() {
    for text in [None, Some("true"), Some("on"), Some("nonsense")] {
        let mut live = Live::new(CRUNCHY, json!({"spec": {}}));
        live.until("2026-11-19 20:00").killed();
        let labels = live.object["metadata"]["labels"].as_object_mut().unwrap();
        match text {
            None => labels.remove("dayshift/saved-value"),
            Some(text) => labels.insert("dayshift/saved-value".to_owned(), json!(text)),
        };
        live.until("2026-11-20 12:00");
        assert_eq!(live.object["spec"]["shutdown"], json!(false), "{text:?}");
    }
}

#[test]
fn a_patch_fails_if_the_field_was_changed_concurrently() {
    for (kind, object, path, stopped) in running() {
        let mut live = Live::new(kind, object);
        live.now = utc("2026-11-19 19:00");
        let (_, stop) = live.due().unwrap();
        let mut theirs = live.object.clone();
        put(&mut theirs, path, stopped);
        assert!(apply(&mut theirs, &stop).is_err(), "{kind}");
        apply(&mut live.object, &stop).unwrap();
        // The same patch is sent twice, or a second controller sends it.
        assert!(apply(&mut live.object, &stop).is_err(), "{kind}");
    }
}

#[test]
fn removing_the_schedule_keeps_the_saved_value() {
    let mut live = Live::new(CRUNCHY, json!({"spec": {"shutdown": false}}));
    live.until("2026-11-19 20:00");
    let annotations = live.object["metadata"]["annotations"]
        .as_object_mut()
        .unwrap();
    annotations.remove("dayshift/hours");
    annotations.insert("owner".to_owned(), json!("team"));
    live.obey();
    assert_eq!(live.label("state"), None);
    assert_eq!(live.label("saved-replicas"), Some("1"));
    assert_eq!(live.label("saved-value"), Some("false"));
}

/// `dayshift restore`, without a controller.
#[test]
fn restore_writes_the_saved_value() {
    for (kind, object, ..) in running() {
        let mut live = Live::new(kind, object);
        let before = live.theirs();
        live.until("2026-11-19 20:00");
        let prefix = Prefix::default();
        let workload: Workload = serde_json::from_value(live.object.clone()).unwrap();
        let observed = workload.observe(&live.kind, &prefix);
        let change = plan_restore(&observed, live.now).unwrap().unwrap();
        let patch = as_sent(&guarded_patch(&observed, &change, &prefix));
        apply(&mut live.object, &patch).unwrap();
        assert_eq!(live.theirs(), before, "{kind}");
        assert_eq!(live.label("saved-value"), None, "{kind}");
    }
}

#[test]
fn other_kinds_have_no_such_label() {
    let object = json!({"spec": {"replicas": 3}});
    let mut live = Live::new("rollouts.argoproj.io", object);
    live.now = utc("2026-11-19 19:00");
    let (_, stop) = live.due().unwrap();
    let patch = serde_json::to_string(&stop).unwrap();
    assert_lacks!(patch, "saved-value");
}

/// Every row must be tested, because its values are from documentation.
#[test]
fn each_row_stops_and_starts_something() {
    for kind in KindTable::default().operators() {
        let path = kind.pointer();
        let mut object = json!({"spec": {}});
        if kind.switch().is_none() {
            put(&mut object, &path, json!(3));
        }
        if kind.name() == "VirtualMachine" {
            put(&mut object, &path, json!("Always"));
        }
        let mut live = Live::new(kind.argument(), object);
        let before = live.theirs();
        live.until("2026-11-19 20:00");
        assert_ne!(live.theirs(), before, "{kind}");
        live.until("2026-11-20 12:00");
        assert_eq!(live.theirs(), before, "{kind}");
    }
}
