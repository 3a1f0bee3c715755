//! Kinds that are defined later, or move to another version.

use dayshift_controller::{Scope, Settings};
use dayshift_workload::{Kind, KindTable};
use serde_json::json;

use super::line::{Line, begin, object, rollout, saved};
use crate::sandbox::Sandbox;

#[test]
fn finds_a_custom_kind_that_is_defined_later() {
    let line = Line::default();
    let story = begin(&line, &[]);
    story.api.withdraw("Rollout");
    story.sleep_until("18:30");
    let why = "cannot watch rollouts.argoproj.io: the API server does not have this kind";
    assert_eq!(story.telemetry.unwatched(), [why]);
    assert_eq!(story.telemetry.ready(), Ok(()));
    story.api.serve_again("Rollout");
    story.api.create(rollout(&json!({"replicas": 3}))).unwrap();
    story.sleep_until("18:32");
    assert_eq!(story.telemetry.unwatched(), [""; 0]);
    story.sleep_until("19:00");
    let object = story.api.get("Rollout", "dev", "web").unwrap();
    assert_eq!(object["spec"]["replicas"], 0);
}

/// Its operator runs three without a number; other kinds run one.
#[test]
fn kafka_connect_without_a_count_starts_with_three() {
    let mut story = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let group = "kafka.strimzi.io";
    let all = [
        ("kafkaconnects", "KafkaConnect", 3),
        ("kafkamirrormaker2s", "KafkaMirrorMaker2", 3),
        ("kafkabridges", "KafkaBridge", 1),
    ];
    for (plural, kind, _) in all {
        story.api.serve_custom(group, "v1", plural, kind);
        let bare = object("kafka.strimzi.io/v1", kind, &json!({"image": "it"}));
        story.api.create(bare).unwrap();
    }
    story.start_scaler(Settings {
        scope: Scope {
            kinds: all
                .map(|(plural, ..)| KindTable::default().resource(plural, group))
                .to_vec(),
            ..Scope::default()
        },
        ..Settings::default()
    });
    for (time, is_up) in [("20:00", false), ("22:00", true)] {
        story.sleep_until(time);
        for (_, kind, count) in all {
            let count = if is_up { count } else { 0 };
            let object = story.api.get(kind, "dev", "web").unwrap();
            assert_eq!(object["spec"]["replicas"], count, "{kind} at {time}");
        }
    }
}

/// The version in which it was found is no longer served, and another is: the same objects exist
/// with the same state. A boundary that passed meanwhile is carried out once, and nothing else.
#[test]
fn follows_a_custom_kind_to_another_version() {
    let mut story = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let (group, plural) = ("sky.example.com", "gliders");
    story.api.serve_custom(group, "v1alpha1", plural, "Glider");
    let kind = KindTable::default().resource(plural, group);
    let line = Line::default();
    story.start_scaler_with(
        |api| line.client(api),
        Settings {
            scope: Scope {
                kinds: vec![kind, Kind::DEPLOYMENT],
                ..Scope::default()
            },
            ..Settings::default()
        },
    );
    let glider = object(
        "sky.example.com/v1alpha1",
        "Glider",
        &json!({"replicas": 3}),
    );
    story.api.create(glider).unwrap();
    let replicas = |story: &Sandbox| {
        let object = story.api.get("Glider", "dev", "web").unwrap();
        let shown = (&object["apiVersion"], &object["spec"]["replicas"]);
        (shown.0.as_str().unwrap().to_owned(), shown.1.clone())
    };
    let at = |version: &str, count: u32| (format!("sky.example.com/{version}"), json!(count));
    // It moves in the hour of the stop: the stop is late, and the count is saved.
    story.sleep_until("18:59");
    story.api.withdraw("Glider");
    story.sleep_until("19:10");
    let why = "cannot watch gliders.sky.example.com: the API server does not have this kind";
    assert_eq!(story.telemetry.unwatched(), [why]);
    assert_eq!(story.telemetry.ready(), Ok(()));
    let requests = story.api.requests().into_iter();
    let asked = requests
        .filter(|it| it.resource == "/apis/sky.example.com")
        .count();
    assert!((3..30).contains(&asked), "at growing intervals: {asked}");
    story.api.serve_again("Glider");
    story.api.serve_in("Glider", "v1beta1").unwrap();
    story.sleep_until("19:12");
    assert_eq!(replicas(&story), at("v1beta1", 0));
    assert_eq!(saved(&story, "Glider"), "3");
    assert_eq!(story.telemetry.unwatched(), [""; 0]);
    let what = "an adoption, the stop that met a 404, and the stop";
    assert_eq!(line.count(), 3, "{what}");

    // Directly from one to the other: nothing happens that was not due.
    story.api.serve_in("Glider", "v1").unwrap();
    story.sleep_until("20:59");
    assert_eq!((replicas(&story), line.count()), (at("v1", 0), 3));
    story.sleep_until("21:00");
    assert_eq!((replicas(&story), line.count()), (at("v1", 3), 4));
    // And back to an earlier version.
    story.api.serve_in("Glider", "v1alpha1").unwrap();
    story.sleep_until("2026-11-21 19:00");
    assert_eq!((replicas(&story), line.count()), (at("v1alpha1", 0), 5));
}
