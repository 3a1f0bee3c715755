//! What answers and events tell of an object, whichever comes first.

use chrono::DateTime;
use dayshift_cluster::{Workload, clock::Clock, decode::Version, read::ObservedNamespace};
use dayshift_workload::{Annotations, Key, Kind, Replicas};
use serde_json::json;

use crate::{
    objects::{index::Index, shown_by::ShownBy},
    settings::Settings,
    telemetry::metrics::Telemetry,
    time::guarded_clock::SeenAt,
};

const EPOCH: SeenAt = SeenAt {
    by_clock: DateTime::UNIX_EPOCH,
    monotonic: None,
};

fn web(version: u32, replicas: u32) -> Workload {
    named("web", version, replicas)
}

fn named(name: &str, version: u32, replicas: u32) -> Workload {
    placed("dev", name, version, replicas)
}

fn placed(namespace: &str, name: &str, version: u32, replicas: u32) -> Workload {
    serde_json::from_value(json!({
        "metadata": {
            "namespace": namespace, "name": name, "uid": name,
            "resourceVersion": version.to_string(),
            "annotations": {"dayshift/stop": "19:00"},
        },
        "spec": {"replicas": replicas},
    }))
    .unwrap()
}

fn version(of: u32) -> Version {
    web(of, 0).version()
}

/// What is known after an answer of an older version that was asked for when `known` was.
fn replicas_after_an_older_answer(known: u32) -> u32 {
    let mut index = Index::new(&Settings::default());
    let id = index
        .observe(Kind::DEPLOYMENT, &web(100, 3), ShownBy::change_of(0), EPOCH)
        .id
        .unwrap();
    assert!(
        index
            .observe(Kind::DEPLOYMENT, &web(50, 5), ShownBy::change_of(0), EPOCH)
            .id
            .is_none(),
        "it is merely late"
    );
    assert!(index.observe_answer(id, &web(50, 5), version(known), EPOCH));
    index.get(id).unwrap().observed.replicas.get()
}

/// As where etcd was restored from a backup: conflicts would go on until versions catch up.
#[test]
fn an_answer_is_believed_though_its_version_is_older() {
    assert_eq!(replicas_after_an_older_answer(100), 5);
}

#[test]
fn an_answer_is_late_where_the_watch_has_shown_something_newer_since_it_was_asked_for() {
    assert_eq!(replicas_after_an_older_answer(90), 3);
}

/// A watch may lag behind an answer; what a list shows is what there is.
#[test]
fn a_change_is_late_where_its_version_is_older_and_a_list_counts() {
    for (shown, expected) in [(ShownBy::change_of(0), 3), (ShownBy::list_of(0), 5)] {
        let mut index = Index::new(&Settings::default());
        let mut show = |object: &Workload, shown: ShownBy| {
            index.observe(Kind::DEPLOYMENT, object, shown, EPOCH).id
        };
        let id = show(&web(100, 3), ShownBy::change_of(0)).unwrap();
        show(&web(90, 5), shown);
        let replicas = index.get(id).unwrap().observed.replicas.get();
        assert_eq!(replicas, expected, "{shown:?}");
    }
}

/// Whether it has said something since this process runs, or only before.
#[test]
fn what_a_namespace_said_before_it_said_nothing_is_late() {
    for first in [&[(90, "19:00"), (100, "")][..], &[(100, "")]] {
        let mut index = Index::new(&Settings::default());
        let mut show = |(version, stop), shown| {
            index.observe_namespace(&team(version, stop), shown, EPOCH);
            index.namespaces.defaults("team").is_some()
        };
        for one in first {
            show(*one, ShownBy::list_of(1));
        }
        assert!(!show((90, "19:00"), ShownBy::change_of(1)), "{first:?}");
        assert!(show((110, "19:00"), ShownBy::change_of(1)), "{first:?}");
    }
}

/// Whichever watch tells first, whatever they said, and whether anything is scheduled in them.
#[test]
fn namespaces_that_come_and_go_leave_nothing_behind() {
    for (stop, object_goes_first) in [("19:00", true), ("19:00", false), ("", false)] {
        let mut index = Index::new(&Settings::default());
        for number in 1..=10_000 {
            let namespace = ObservedNamespace {
                name: format!("preview-{number}").into(),
                ..team(number, stop)
            };
            index.observe_namespace(&namespace, ShownBy::change_of(1), EPOCH);
            let object = placed(&namespace.name, "web", number, 3);
            let id = index
                .observe(Kind::DEPLOYMENT, &object, ShownBy::change_of(0), EPOCH)
                .id
                .unwrap();
            if object_goes_first {
                index.remove(id);
            }
            index.namespace_gone(&namespace.name);
            assert!(object_goes_first || index.get(id).is_some());
            index.remove(id);
        }
        assert_eq!(index.namespaces.len(), 0, "{stop} {object_goes_first}");
        assert!(!index.names.has_any_in("preview-1"));
    }
}

#[test]
fn no_late_change_brings_a_namespace_back_that_is_gone() {
    let mut index = Index::new(&Settings::default());
    index.observe_namespace(&team(100, "whenever"), ShownBy::list_of(1), EPOCH);
    assert_eq!(index.namespaces.invalid(), 1);
    index.namespace_gone("team");
    for (version, invalid) in [(90, 0), (110, 1)] {
        index.observe_namespace(&team(version, "whenever"), ShownBy::change_of(1), EPOCH);
        assert_eq!(index.namespaces.invalid(), invalid);
    }
}

fn team(version: u32, stop: &str) -> ObservedNamespace {
    let texts = (!stop.is_empty()).then_some((Key::Stop, stop.to_owned()));
    ObservedNamespace {
        name: "team".into(),
        uid: "team".into(),
        version: self::version(version),
        annotations: Annotations::from_texts(texts),
        deleting: false,
    }
}

#[test]
fn a_list_that_was_asked_for_before_an_answer_says_nothing_of_that_object() {
    for (fails, expected) in [(None, 4), (Some(1), 4), (Some(0), 5)] {
        let mut index = Index::new(&Settings::default());
        let shown = |index: &mut Index, object: &Workload| {
            let shown = ShownBy::list_of(0);
            index.observe(Kind::DEPLOYMENT, object, shown, EPOCH).id
        };
        let id = shown(&mut index, &web(90, 3)).unwrap();
        assert!(index.observe_answer(id, &web(100, 4), version(90), EPOCH));
        if let Some(watch) = fails {
            index.expect_list(watch, None);
        }
        shown(&mut index, &web(95, 5));
        let replicas = index.get(id).unwrap().observed.replicas.get();
        assert_eq!(replicas, expected, "{fails:?}");
    }
}

/// Two kinds in two namespaces, a watch for each: 0 and 1 for `dev`, 2 and 3 for `ops`.
#[test]
fn a_list_of_one_namespace_ends_what_its_own_watch_has_shown_there() {
    let mut index = Index::new(&Settings::default());
    let mut ids = Vec::new();
    for (watch, namespace, kind) in [
        (0, "dev", Kind::DEPLOYMENT),
        (1, "dev", Kind::STATEFUL_SET),
        (2, "ops", Kind::DEPLOYMENT),
        (3, "ops", Kind::STATEFUL_SET),
    ] {
        index.begin_list(watch, Some(namespace));
        for name in ["kept", "gone"] {
            let shown = ShownBy::list_of(watch);
            let object = placed(namespace, name, 90, 3);
            ids.extend(index.observe(kind, &object, shown, EPOCH).id);
        }
        assert!(index.end_list(watch, Some(namespace)).is_empty());
    }
    index.begin_list(2, Some("ops"));
    let kept = placed("ops", "kept", 90, 3);
    index.observe(Kind::DEPLOYMENT, &kept, ShownBy::list_of(2), EPOCH);
    assert_eq!(index.end_list(2, Some("ops")), [ids[5]]);
}

/// A scrape of very many objects takes time: meanwhile each of them can be published again.
#[tokio::test(start_paused = true)]
async fn readers_of_published_objects_do_not_hold_up_writers() {
    let telemetry = Telemetry::new(DateTime::UNIX_EPOCH);
    let clock = Clock::simulated(DateTime::UNIX_EPOCH);
    let publisher = telemetry.publisher(&clock, &Settings::default());
    let mut index = Index::new(&Settings::default());
    let mut change_all = |version: u32| {
        for number in 0..1_000 {
            let object = named(&format!("web-{number}"), version, version);
            index.observe(Kind::DEPLOYMENT, &object, ShownBy::change_of(0), EPOCH);
        }
        while index.has_unpublished() {
            index.publish(&publisher, clock.now(), clock.monotonic());
        }
    };
    change_all(1);
    let mut reading = publisher.objects().each();
    assert!(reading.next().is_some());
    change_all(2);
    assert!(reading.count() < 1_000, "it goes on");
    let replicas = publisher.objects().each().map(|(_, it)| it.replicas.get());
    assert_eq!(replicas.sum::<u32>(), 2_000);
}

/// The watch shows a change of ours a second time: its answer was taken in and decided about.
#[test]
fn an_echo_of_the_version_that_was_answered_is_no_news() {
    let mut index = Index::new(&Settings::default());
    let mut observe = |object: &Workload, shown| {
        let seen = index.observe(Kind::DEPLOYMENT, object, shown, EPOCH);
        if let (Some(id), 100) = (seen.id, object.count(Kind::DEPLOYMENT).0.get()) {
            index.observe_answer(id, &web(101, 0), version(100), EPOCH);
        }
        seen.id
    };
    let (change, list) = (ShownBy::change_of(0), ShownBy::list_of(0));
    let id = observe(&web(100, 100), change);
    assert!(id.is_some(), "and a patch of ours is answered with 101");
    assert_eq!(observe(&web(101, 0), change), None, "its echo");
    assert_eq!(observe(&web(102, 3), change), id, "somebody else's change");
    assert_eq!(observe(&web(102, 3), change), None);
    assert_eq!(observe(&web(102, 5), list), id, "of another history");
    let unknown = |replicas: u32| -> Workload {
        serde_json::from_value(json!({
            "metadata": {
                "namespace": "dev", "name": "web", "uid": "web", "resourceVersion": "x",
                "annotations": {"dayshift/stop": "19:00"},
            },
            "spec": {"replicas": replicas},
        }))
        .unwrap()
    };
    assert_eq!(observe(&unknown(1), change), id);
    assert_eq!(observe(&unknown(2), change), id, "it may be any version");
}

/// A rollout changes the status of an object many times.
#[test]
fn nothing_is_decided_from_how_much_is_ready() {
    let mut index = Index::new(&Settings::default());
    let shown = |version: u32, ready: u32, replicas: u32| -> Workload {
        serde_json::from_value(json!({
            "metadata": {
                "namespace": "dev", "name": "web", "uid": "web", "generation": 2,
                "resourceVersion": version.to_string(),
                "annotations": {"dayshift/stop": "19:00"},
            },
            "spec": {"replicas": replicas},
            "status": {"observedGeneration": 2, "readyReplicas": ready},
        }))
        .unwrap()
    };
    let observe = |index: &mut Index, object: &Workload| {
        index
            .observe(Kind::DEPLOYMENT, object, ShownBy::change_of(0), EPOCH)
            .id
    };
    let id = observe(&mut index, &shown(100, 0, 3)).unwrap();
    let ready = |index: &Index| index.get(id).unwrap().observed.readiness.replicas();
    for change in 1..=1_000 {
        let object = shown(100 + change, change % 4, 3);
        assert_eq!(observe(&mut index, &object), None, "{change}");
        assert_eq!(ready(&index), Some(Replicas::new(change % 4)));
    }
    observe(&mut index, &shown(500, 3, 3));
    assert_eq!(
        ready(&index),
        Some(Replicas::ZERO),
        "what is late counts less"
    );
    assert_eq!(observe(&mut index, &shown(1_101, 1, 5)), Some(id));
    let version = index.known_versions(id).unwrap().object;
    assert!(version.is_same(self::version(1_101)) && index.has_unpublished());
}
