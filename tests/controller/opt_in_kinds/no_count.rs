//! A custom kind whose schema has no `spec.replicas`: the API server drops values written there.

use dayshift_controller::Scope;
use dayshift_workload::{Kind, KindTable};
use serde_json::{Value, json};

use super::line::object;
use crate::sandbox::{Sandbox, logged};

fn scenario(plural: &str, kind: &str) -> Sandbox {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let (group, version) = ("paper.example.com", "v1");
    scenario
        .api
        .serve_without_replicas(group, version, plural, kind);
    let kinds = vec![
        KindTable::default().resource(plural, group),
        Kind::DEPLOYMENT,
    ];
    let scope = Scope {
        kinds,
        ..Scope::default()
    };
    scenario.start_with(|settings| settings.scope = scope);
    scenario
}

fn plane(kind: &str, name: &str) -> Value {
    let mut plane = object("paper.example.com/v1", kind, &json!({"folds": 7}));
    plane["metadata"]["name"] = json!(name);
    plane
}

#[test]
fn rejects_objects_without_a_count_and_keeps_no_state() {
    let (_guard, log) = logged();
    let scenario = scenario("planes", "Plane");
    for name in ["web", "api"] {
        scenario.api.create(plane("Plane", name)).unwrap();
    }
    // Other workloads that are scheduled in the same minute are not affected.
    scenario.apply(
        crate::sandbox::deployment("deploy")
            .replicas(3)
            .stop("19:00"),
    );
    scenario.sleep_until("20:00");
    for name in ["web", "api"] {
        let object = scenario.api.get("Plane", "dev", name).unwrap();
        let (labels, spec) = (&object["metadata"]["labels"], &object["spec"]);
        assert_eq!(*spec, json!({"folds": 7}), "{name}");
        let ours = labels.as_object().into_iter().flatten();
        let ours: Vec<_> = ours
            .filter(|(key, _)| key.starts_with("dayshift/"))
            .collect();
        assert_eq!(ours, [], "{name}");
        let error = object["metadata"]["annotations"]["dayshift/error"].as_str();
        let error = error.unwrap();
        assert!(
            error.contains("a Plane has no such field"),
            "{name}: {error}"
        );
        assert_eq!(scenario.events(name), ["InvalidSchedule"], "{name}");
    }
    assert_eq!(scenario.replicas("deploy"), 0);
    let log = std::fs::read_to_string(log.path()).unwrap();
    assert_eq!(
        log.matches("this kind has no such field").count(),
        1,
        "{log}"
    );
    assert!(!log.contains("admission webhook"), "{log}");
    let before = scenario.requests("patch").len();
    scenario.sleep_until("2026-11-22 20:00");
    let after = scenario.requests("patch").len();
    assert_eq!(
        after - before,
        2,
        "the Deployment's two days, and nothing else"
    );
}

/// For example, in a newer version of its CustomResourceDefinition.
#[test]
fn scales_a_kind_whose_schema_gets_the_field_later() {
    let scenario = scenario("kites", "Kite");
    scenario.api.create(plane("Kite", "web")).unwrap();
    scenario.sleep_until("20:00");
    let error = |name: &str| {
        let object = scenario.api.get("Kite", "dev", name).unwrap();
        object["metadata"]["annotations"]["dayshift/error"].clone()
    };
    assert!(error("web").is_string());
    scenario.api.serve_in("Kite", "v2").unwrap();
    let with_field = json!({"spec": {"replicas": 3}});
    scenario
        .api
        .merge("Kite", "dev", "web", &with_field)
        .unwrap();
    // The other object does not have the field, which counts as 1 replica.
    scenario.api.create(plane("Kite", "api")).unwrap();
    scenario.sleep_until("2026-11-21 19:30");
    for name in ["web", "api"] {
        let object = scenario.api.get("Kite", "dev", name).unwrap();
        assert_eq!(object["spec"]["replicas"], 0, "{name}: {object}");
        assert_eq!(error(name), Value::Null, "{name}");
    }
    scenario.sleep_until("2026-11-21 21:30");
    for (name, count) in [("web", 3), ("api", 1)] {
        let object = scenario.api.get("Kite", "dev", name).unwrap();
        assert_eq!(object["spec"]["replicas"], count, "{name}");
    }
}

/// A mutating webhook of one namespace removes the field from its objects.
#[test]
fn webhook_that_drops_counts_in_one_namespace_affects_no_other() {
    let mut scenario = Sandbox::empty_at("2026-11-20 17:00 UTC");
    let api = &scenario.api;
    api.serve_custom("paper.example.com", "v1", "boats", "Boat");
    api.namespace("evil");
    api.on_mutation(|write| {
        let sets_count = write.namespace == "evil" && !write.new["spec"]["replicas"].is_null();
        sets_count.then(|| json!({"spec": {"replicas": null}}))
    });
    let scope = Scope {
        kinds: vec![KindTable::default().resource("boats", "paper.example.com")],
        ..Scope::default()
    };
    scenario.start_with(|settings| settings.scope = scope);
    let boat = |namespace: &str| {
        let mut boat = plane("Boat", "web");
        boat["metadata"]["namespace"] = json!(namespace);
        boat["metadata"]["annotations"] = json!({"dayshift/stop": "18:00"});
        boat
    };
    scenario.api.create(boat("evil")).unwrap();
    scenario.sleep_until("18:30");
    let get = |namespace: &str| scenario.api.get("Boat", namespace, "web").unwrap();
    let error = get("evil")["metadata"]["annotations"]["dayshift/error"].clone();
    assert!(error.is_string(), "{error}");
    // Without the field, this counts as 1 replica.
    scenario.api.create(boat("dev")).unwrap();
    scenario.sleep_until("2026-11-21 18:30");
    let boat = get("dev");
    assert_eq!(boat["spec"]["replicas"], 0, "{boat}");
    assert_eq!(
        boat["metadata"]["annotations"]["dayshift/error"],
        Value::Null
    );
}

/// For example, by a controller that restarted without its `--kind-file`.
#[test]
fn stopped_workload_keeps_its_state_while_its_kind_definition_is_missing() {
    let scenario = scenario("ships", "Ship");
    let mut ship = plane("Ship", "one");
    let ours = json!({
        "dayshift/state": "stopped", "dayshift/saved-replicas": "1", "dayshift/saved-value": "false",
    });
    ship["metadata"]["labels"] = ours.clone();
    scenario.api.create(ship).unwrap();
    scenario.sleep_until("2026-11-21 20:00");
    let ship = scenario.api.get("Ship", "dev", "one").unwrap();
    assert_eq!(ship["metadata"]["labels"], ours);
    let error = ship["metadata"]["annotations"]["dayshift/error"].as_str();
    assert!(error.unwrap().contains("with --kind-file"), "{ship}");
    assert_eq!(ship["spec"], json!({"folds": 7}));
}
