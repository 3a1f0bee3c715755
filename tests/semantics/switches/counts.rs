//! Operators' resources whose count is in another field or has another meaning.

use serde_json::{Value, json};

use super::live::Live;

#[test]
fn a_count_in_a_field_of_another_name_is_a_count() {
    let spec = json!({"spec": {"numberOfInstances": 3}});
    let mut live = Live::new("postgresqls.acid.zalan.do", spec);
    let count = |live: &Live| live.object["spec"]["numberOfInstances"].clone();
    live.until("2026-11-19 20:00");
    assert_eq!(
        (count(&live), live.label("saved-replicas")),
        (json!(0), Some("3"))
    );
    assert_eq!(live.label("saved-value"), None);
    live.object["spec"]["numberOfInstances"] = json!(1);
    live.until("2026-11-20 12:00");
    assert_eq!(count(&live), 3, "raised to the saved count");
    live.annotate("replicas", "2")
        .annotate("stop-replicas", "1");
    live.until("2026-11-20 20:00");
    assert_eq!(count(&live), 1);
    live.until("2026-11-21 12:00");
    assert_eq!(count(&live), 2);
}

/// A queue cluster must be restored with exactly the same number of nodes.
#[test]
fn an_exact_count_is_neither_raised_nor_invented() {
    let rabbit = |replicas: u32| {
        let spec = json!({"spec": {"replicas": replicas}});
        Live::new("rabbitmqclusters.rabbitmq.com", spec)
    };
    let count = |live: &Live| live.object["spec"]["replicas"].clone();
    let mut live = rabbit(3);
    live.until("2026-11-19 20:00");
    assert_eq!(count(&live), 0);
    live.until("2026-11-20 12:00");
    assert_eq!(count(&live), 3);
    // A manually started object keeps its state, whatever was saved.
    live.until("2026-11-20 20:00");
    live.object["spec"]["replicas"] = json!(1);
    live.until("2026-11-21 12:00");
    assert_eq!(count(&live), 1);
    live.until("2026-11-21 20:00");
    assert_eq!(
        (count(&live), live.label("saved-replicas")),
        (json!(0), Some("1"))
    );
    // The number of nodes is unknown.
    let mut live = rabbit(0);
    live.until("2026-11-21 12:00");
    assert_eq!(count(&live), 0);
    live.annotate("wake-until", "2026-11-21 14:00")
        .until("2026-11-21 13:00");
    assert_eq!(count(&live), 0);
    for key in ["replicas", "stop-replicas", "scale"] {
        let mut live = rabbit(3);
        live.annotate(key, if key == "scale" { "12:00 = 2" } else { "2" });
        live.until("2026-11-19 20:00");
        assert_eq!(count(&live), 3, "{key}");
        assert_contains!(live.error(), "with its own count or not at all", "{key}");
    }
}

#[test]
fn a_missing_minimum_of_runners_stays_missing() {
    let set = "autoscalingrunnersets.actions.github.com";
    let least = |live: &Live| live.object["spec"]["minRunners"].clone();
    let mut live = Live::new(set, json!({"spec": {}}));
    live.until("2026-11-21 12:00");
    assert_eq!(least(&live), Value::Null);
    let mut live = Live::new(set, json!({"spec": {"minRunners": 5}}));
    live.until("2026-11-20 20:00");
    assert_eq!(least(&live), 0);
    live.until("2026-11-21 12:00");
    assert_eq!(least(&live), 5);
    // A user removes the annotation while it is stopped: the count is 0, and the next start restores 5.
    live.until("2026-11-21 20:00");
    live.object["spec"]
        .as_object_mut()
        .unwrap()
        .remove("minRunners");
    live.until("2026-11-22 12:00");
    assert_eq!(least(&live), 5);
}
