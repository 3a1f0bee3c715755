//! The fields of each kind that a patch tests and writes.

use dayshift_controller::OwnPod;
use dayshift_workload::Kind;
use kube_in_memory::Api;
use serde_json::{Value, json};

use super::line::{
    ConcurrentChange, Line, PAUSED, PAUSED_PATH, autoscaler, begin, report, rollout, saved,
    scaled_object,
};
use crate::sandbox::Sandbox;

/// The tests and writes of a stop and a start without concurrent changes.
#[test]
fn each_kind_tests_and_writes_its_count_in_one_patch() {
    let mut two = scaled_object();
    two["metadata"]["annotations"]["dayshift/stop-replicas"] = json!("2");
    let spec = "/spec/replicas";
    for (object, path, before, down, up) in [
        (
            report(),
            "/spec/suspend",
            json!(false),
            json!(true),
            json!(false),
        ),
        (
            autoscaler(Some(3)),
            "/spec/minReplicas",
            json!(3),
            json!(1),
            json!(3),
        ),
        (
            rollout(&json!({"replicas": 3})),
            spec,
            json!(3),
            json!(0),
            json!(3),
        ),
        (rollout(&json!({})), spec, Value::Null, json!(0), json!(1)),
        (
            scaled_object(),
            PAUSED_PATH,
            Value::Null,
            json!("0"),
            json!("-"),
        ),
        (two, PAUSED_PATH, Value::Null, json!("2"), json!("-")),
    ] {
        let shown = object.to_string();
        let line = Line::default();
        let scenario = begin(&line, &[object]);
        assert_eq!(line.count(), 1, "adopted: {shown}");
        scenario.sleep_until("19:00");
        let stop = [
            ("test".to_owned(), before),
            ("add".to_owned(), down.clone()),
        ];
        assert_eq!(line.last(path), stop, "{shown}");
        scenario.sleep_until("21:00");
        let goes = if up == "-" { "remove" } else { "add" };
        let start = [("test".to_owned(), down), (goes.to_owned(), up)];
        assert_eq!(line.last(path), start, "{shown}");
        assert_eq!(line.count(), 3, "each object is patched once: {shown}");
    }
}

/// A minimum that is already 1, so nothing is lowered.
#[test]
fn autoscaler_without_min_replicas_has_a_minimum_of_1() {
    let line = Line::default();
    let scenario = begin(&line, &[autoscaler(None)]);
    scenario.sleep_until("21:00");
    let object = scenario.api.get("HorizontalPodAutoscaler", "dev", "web");
    assert_eq!(object.unwrap()["spec"]["minReplicas"], 1);
}

/// A count that a user sets while the stop is sent is neither lost nor reverted by the start.
#[test]
fn keeps_a_count_that_a_user_sets_during_a_stop() {
    fn merge(api: &Api, kind: &str, patch: &Value) {
        api.merge(kind, "dev", "web", patch).unwrap();
    }
    let hands: [(Value, ConcurrentChange, &str, &str, Value, Value); 4] = [
        (
            report(),
            |api| merge(api, "CronJob", &json!({"spec": {"suspend": true}})),
            "CronJob",
            "/spec/suspend",
            json!("0"),
            json!(true),
        ),
        (
            autoscaler(Some(3)),
            |api| {
                let six = json!({"spec": {"minReplicas": 6}});
                merge(api, "HorizontalPodAutoscaler", &six);
            },
            "HorizontalPodAutoscaler",
            "/spec/minReplicas",
            json!("6"),
            json!(6),
        ),
        (
            rollout(&json!({})),
            |api| merge(api, "Rollout", &json!({"spec": {"replicas": 5}})),
            "Rollout",
            "/spec/replicas",
            json!("5"),
            json!(5),
        ),
        (
            scaled_object(),
            |api| {
                let paused = json!({"metadata": {"annotations": {PAUSED: "4"}}});
                merge(api, "ScaledObject", &paused);
            },
            "ScaledObject",
            PAUSED_PATH,
            json!("0"),
            json!("4"),
        ),
    ];
    for (object, change, kind, path, kept, morning) in hands {
        let line = Line::default();
        let scenario = begin(&line, &[object]);
        scenario.sleep_until("18:59");
        line.0.lock().unwrap().1 = Some(change);
        scenario.sleep_until("19:00");
        assert_eq!(saved(&scenario, kind), kept, "{kind}");
        scenario.sleep_until("21:00");
        let object = scenario.api.get(kind, "dev", "web").unwrap();
        assert_eq!(object.pointer(path), Some(&morning), "{kind}");
        assert_eq!(saved(&scenario, kind), Value::Null, "{kind}");
    }
}

#[test]
fn manually_paused_scaled_object_stays_at_its_count() {
    let mut theirs = scaled_object();
    theirs["metadata"]["annotations"][PAUSED] = json!("4");
    let line = Line::default();
    let scenario = begin(&line, &[theirs]);
    let paused = || {
        let object = scenario.api.get("ScaledObject", "dev", "web").unwrap();
        object["metadata"]["annotations"][PAUSED].clone()
    };
    for time in ["19:00", "21:00", "2026-11-21 21:00"] {
        scenario.sleep_until(time);
        assert_eq!(paused(), "4", "{time}");
    }
    // The pause lasts until the user removes it.
    let free = json!({"metadata": {"annotations": {PAUSED: null}}});
    scenario
        .api
        .merge("ScaledObject", "dev", "web", &free)
        .unwrap();
    scenario.sleep_until("2026-11-22 19:00");
    assert_eq!(paused(), "0");
    scenario.sleep_until("2026-11-22 21:00");
    assert_eq!(paused(), Value::Null);
}

/// Its schedule comes from its Namespace, so its only annotation might be the inherited one, which
/// a user can remove.
#[test]
fn adds_the_annotations_map_to_a_scaled_object() {
    let line = Line::default();
    let mut bare = scaled_object();
    bare["metadata"]
        .as_object_mut()
        .unwrap()
        .remove("annotations");
    let scenario = begin(&line, &[]);
    let defaults = json!({"metadata": {"annotations": {
        "dayshift/stop": "19:00", "dayshift/start": "21:00",
    }}});
    scenario
        .api
        .merge("Namespace", "", "dev", &defaults)
        .unwrap();
    scenario.api.create(bare).unwrap();
    scenario.settle();
    let inherited = r#"{"from":"Namespace","start":"21:00","stop":"19:00"}"#;
    let map = line.last("/metadata/annotations");
    let whole = json!({"dayshift/inherited": inherited});
    assert_eq!(map[1], ("add".to_owned(), whole));
    let none = json!({"metadata": {"annotations": null}});
    scenario
        .api
        .merge("ScaledObject", "dev", "web", &none)
        .unwrap();
    scenario.sleep_until("19:00");
    let map = line.last("/metadata/annotations");
    let whole = json!({PAUSED: "0", "dayshift/inherited": inherited});
    assert_eq!(
        map,
        [("test".to_owned(), Value::Null), ("add".to_owned(), whole)]
    );
    scenario.sleep_until("21:00");
    let object = scenario.api.get("ScaledObject", "dev", "web").unwrap();
    assert_eq!(object["metadata"]["annotations"][PAUSED], Value::Null);
    assert_eq!(line.count(), 3);
}

/// dayshift never scales its own Deployment, and KEDA cannot be used to scale it to 0.
#[test]
fn ignores_the_scaled_object_of_its_own_deployment() {
    let target = |target: Value| {
        let mut object = scaled_object();
        object["spec"]["scaleTargetRef"] = target;
        object
    };
    for (pod, scaled, paused) in [
        (
            "dayshift-7c9f8d6b5-x2x4z",
            json!({"name": "dayshift"}),
            false,
        ),
        (
            "dayshift-0",
            json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "dayshift"}),
            false,
        ),
        ("dayshift-7c9f8d6b5-x2x4z", json!({"name": "web"}), true),
        ("dayshift-0", json!({"name": "dayshift"}), true),
    ] {
        let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
        let keda = ("keda.sh", "v1alpha1", "scaledobjects", "ScaledObject");
        scenario.api.serve_custom(keda.0, keda.1, keda.2, keda.3);
        scenario.api.create(target(scaled)).unwrap();
        scenario.start_with(|settings| {
            settings.scope.kinds = vec![Kind::SCALED_OBJECT];
            settings.own_pod = Some(OwnPod {
                namespace: "dev".to_owned(),
                name: pod.to_owned(),
            });
        });
        scenario.sleep_until("20:00");
        let object = scenario.api.get("ScaledObject", "dev", "web").unwrap();
        let is_paused = object["metadata"]["annotations"][PAUSED].is_string();
        assert_eq!(is_paused, paused, "{pod}: {object}");
    }
}
