//! Kinds that are defined later, or move to another version.

use dayshift_workload::{Kind, KindTable};
use serde_json::json;

use super::line::{Line, begin, object, rollout, saved};
use crate::sandbox::{Sandbox, default_with};

#[test]
fn finds_a_custom_kind_that_is_defined_later() {
    let line = Line::default();
    let scenario = begin(&line, &[]);
    scenario.api.withdraw("Rollout");
    scenario.sleep_until("18:30");
    let why = "cannot watch rollouts.argoproj.io: the API server does not have this kind";
    assert_eq!(scenario.telemetry.unwatched(), [why]);
    assert_eq!(scenario.telemetry.ready(), Ok(()));
    scenario.api.serve_again("Rollout");
    scenario
        .api
        .create(rollout(&json!({"replicas": 3})))
        .unwrap();
    scenario.sleep_until("18:32");
    assert_eq!(scenario.telemetry.unwatched(), [""; 0]);
    scenario.sleep_until("19:00");
    let object = scenario.api.get("Rollout", "dev", "web").unwrap();
    assert_eq!(object["spec"]["replicas"], 0);
}

/// Its operator runs three without a number; other kinds run one.
#[test]
fn kafka_connect_without_a_count_starts_with_three() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let group = "kafka.strimzi.io";
    let all = [
        ("kafkaconnects", "KafkaConnect", 3),
        ("kafkamirrormaker2s", "KafkaMirrorMaker2", 3),
        ("kafkabridges", "KafkaBridge", 1),
    ];
    for (plural, kind, _) in all {
        scenario.api.serve_custom(group, "v1", plural, kind);
        let bare = object("kafka.strimzi.io/v1", kind, &json!({"image": "it"}));
        scenario.api.create(bare).unwrap();
    }
    scenario.start_with(|settings| {
        settings.scope.kinds = all
            .map(|(plural, ..)| KindTable::default().resource(plural, group))
            .to_vec();
    });
    for (time, is_up) in [("20:00", false), ("22:00", true)] {
        scenario.sleep_until(time);
        for (_, kind, count) in all {
            let count = if is_up { count } else { 0 };
            let object = scenario.api.get(kind, "dev", "web").unwrap();
            assert_eq!(object["spec"]["replicas"], count, "{kind} at {time}");
        }
    }
}

/// The API server stops serving the watched version and serves another one: the same objects exist with the
/// same state. A boundary that passed meanwhile is carried out once.
#[test]
fn follows_a_custom_kind_to_another_version() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let (group, plural) = ("sky.example.com", "gliders");
    scenario
        .api
        .serve_custom(group, "v1alpha1", plural, "Glider");
    let kind = KindTable::default().resource(plural, group);
    let line = Line::default();
    scenario.start_controller_with(
        |api| line.client(api),
        default_with(|settings| settings.scope.kinds = vec![kind, Kind::DEPLOYMENT]),
    );
    let glider = object(
        "sky.example.com/v1alpha1",
        "Glider",
        &json!({"replicas": 3}),
    );
    scenario.api.create(glider).unwrap();
    let replicas = |scenario: &Sandbox| {
        let object = scenario.api.get("Glider", "dev", "web").unwrap();
        let shown = (&object["apiVersion"], &object["spec"]["replicas"]);
        (shown.0.as_str().unwrap().to_owned(), shown.1.clone())
    };
    let at = |version: &str, count: u32| (format!("sky.example.com/{version}"), json!(count));
    // The version changes around the time of the stop: the stop is late, and the count is saved.
    scenario.sleep_until("18:59");
    scenario.api.withdraw("Glider");
    scenario.sleep_until("19:10");
    let why = "cannot watch gliders.sky.example.com: the API server does not have this kind";
    assert_eq!(scenario.telemetry.unwatched(), [why]);
    assert_eq!(scenario.telemetry.ready(), Ok(()));
    let requests = scenario.api.requests().into_iter();
    let asked = requests
        .filter(|it| it.resource == "/apis/sky.example.com")
        .count();
    assert!(
        (3..30).contains(&asked),
        "the kind is requested at growing intervals: {asked}"
    );
    scenario.api.serve_again("Glider");
    scenario.api.serve_in("Glider", "v1beta1").unwrap();
    scenario.sleep_until("19:12");
    assert_eq!(replicas(&scenario), at("v1beta1", 0));
    assert_eq!(saved(&scenario, "Glider"), "3");
    assert_eq!(scenario.telemetry.unwatched(), [""; 0]);
    let patches = "an adoption, the stop that met a 404, and the stop";
    assert_eq!(line.count(), 3, "{patches}");

    // From one version directly to the next: no extra request is sent.
    scenario.api.serve_in("Glider", "v1").unwrap();
    scenario.sleep_until("20:59");
    assert_eq!((replicas(&scenario), line.count()), (at("v1", 0), 3));
    scenario.sleep_until("21:00");
    assert_eq!((replicas(&scenario), line.count()), (at("v1", 3), 4));
    // To an earlier version.
    scenario.api.serve_in("Glider", "v1alpha1").unwrap();
    scenario.sleep_until("2026-11-21 19:00");
    assert_eq!((replicas(&scenario), line.count()), (at("v1alpha1", 0), 5));
}
