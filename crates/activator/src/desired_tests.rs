//! Updates of the desired state: only the changed namespaces are computed, and slices follow their Service.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

use chrono::TimeDelta;
use dayshift_cluster::watch::{ObjectName, ReflectorEvent};
use dayshift_workload::Kind;
use serde_json::json;

use crate::{
    desired::DesiredState,
    index::WatchEvent,
    ports::PortTable,
    routes::Prospect,
    service::is_of_kubernetes,
    test_cluster::{Cluster, at, name, slice},
};

/// Makes a random change of an object of this namespace.
fn change(cluster: &mut Cluster, random: &mut fastrand::Rng, namespace: &str) {
    let name = ["web", "db"][random.usize(0..2)];
    let key = ObjectName {
        namespace: namespace.into(),
        name: name.into(),
    };
    let mut meta =
        json!({"name": name, "namespace": namespace, "uid": format!("{namespace}-{name}")});
    match random.u8(0..10) {
        9 => {
            let until = [
                "2026-11-25T22:20:00Z",
                "2026-11-25T23:00:00Z",
                "2026-11-25T21:00:00Z",
            ];
            meta["labels"] =
                json!({"dayshift/state": "woken", "dayshift/last": "2026-11-25T21.00.00Z"});
            meta["annotations"] = json!({
                "dayshift/hours": "09:00-19:00", "dayshift/wake-on-request": "30m; while-used",
                "dayshift/wake-until": until[random.usize(0..3)],
            });
            cluster.observe_workload(json!({
                "metadata": meta,
                "spec": {"replicas": 1, "template": {"metadata": {"labels": {"app": name}}}},
            }));
        }
        0..=2 => {
            let state = ["stopped", "running", "paused"][random.usize(0..3)];
            meta["labels"] = json!({"dayshift/state": state});
            meta["annotations"] = [
                json!({"dayshift/hours": "09:00-19:00"}),
                json!({"dayshift/hours": "09:00-19:00", "dayshift/wake-on-request": "2h"}),
                json!({"dayshift/wake-on-request": "1h", "dayshift/after": "deploy/db"}),
            ][random.usize(0..3)]
            .clone();
            cluster.observe_workload(json!({
                "metadata": meta,
                "spec": {"replicas": random.u8(0..2), "template": {"metadata": {"labels": {"app": name}}}},
            }));
        }
        3 | 4 => {
            let port = |number| json!({"name": format!("p{number}"), "port": 80 + number});
            let ports: Vec<_> = (0..random.u16(1..4)).map(port).collect();
            let address = ["None", "10.96.0.1"][usize::from(random.u8(0..6) > 0)];
            let spec = json!({
                "selector": {"app": name}, "ipFamilies": ["IPv4"], "ports": ports, "clusterIP": address,
            });
            cluster.observe_service(json!({"metadata": meta, "spec": spec}));
        }
        5 => cluster.slice(
            namespace,
            name,
            &[&format!("10.0.0.{}", random.u8(1..5))],
            8080,
        ),
        6 => {
            let wake = ["1h", "soon"][random.usize(0..2)];
            cluster.observe_namespace(json!({
                "metadata": {"name": namespace, "annotations": {"dayshift/wake-on-request": wake}},
            }));
        }
        7 => {
            let gone = ReflectorEvent::Deleted {
                name: key,
                uid: None,
            };
            cluster
                .index
                .observe(0, WatchEvent::Workload(Kind::DEPLOYMENT, Box::new(gone)));
        }
        _ => {
            let gone = ReflectorEvent::Deleted {
                name: key,
                uid: None,
            };
            cluster
                .index
                .observe(1, WatchEvent::Service(Box::new(gone)));
        }
    }
}

#[test]
fn update_of_the_changed_namespaces_equals_a_computation_of_all() {
    for seed in 0..8 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut cluster = Cluster::new();
        cluster.settings.ports = (20000, 20099);
        let [mut table, mut table_of_all] =
            [(); 2].map(|()| PortTable::new(cluster.settings.ports, usize::MAX));
        let mut desired = DesiredState::default();
        for step in 0..200 {
            let namespace = format!("ns-{}", random.u8(0..4));
            change(&mut cluster, &mut random, &namespace);
            if step % 50 == 49 {
                let own = format!("10.0.1.{step}");
                cluster.slice("dayshift", "dayshift-activator", &[&own], 8080);
            }
            if let Some(written) = desired.slices.values().next() {
                cluster.observe_slice(written.object());
            }
            let now = at("2026-11-25T22:00:00Z");
            let (changed, settings) = (cluster.index.take_changed(), &cluster.settings);
            desired.update(&cluster.index, settings, &mut table, changed, now);
            let all = DesiredState::new(&cluster.index, settings, &mut table_of_all, now);
            assert_eq!(desired.routes, all.routes, "seed {seed}, step {step}");
            assert_eq!(desired.slices, all.slices, "seed {seed}, step {step}");
            for namespace in cluster.index.namespaces() {
                let needs = [&desired, &all].map(|desired| desired.needs(&namespace));
                assert_eq!(needs[0], needs[1], "seed {seed}, step {step}");
            }
            assert_eq!(desired.problems, all.problems, "seed {seed}, step {step}");
        }
    }
}

#[test]
fn edits_in_one_namespace_cost_no_work_for_another() {
    let mut cluster = Cluster::new().asleep().with_service();
    let mut table = PortTable::new(cluster.settings.ports, usize::MAX);
    let now = at("2026-11-25T22:00:00Z");
    let mut desired = DesiredState::new(&cluster.index, &cluster.settings, &mut table, now);
    let route = Arc::clone(&desired.routes[&name("dev", "web")]);
    cluster.index.take_changed();
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..100 {
        change(&mut cluster, &mut random, "busy");
        let changed = cluster.index.take_changed();
        assert_eq!(changed, ["busy".into()].into());
        desired.update(&cluster.index, &cluster.settings, &mut table, changed, now);
    }
    let same = &desired.routes[&name("dev", "web")];
    assert!(Arc::ptr_eq(same, &route), "computed again");
}

/// The shortest of five durations, because other processes use the processor too.
fn shortest(mut work: impl FnMut()) -> Duration {
    let durations = (0..5).map(|_| {
        let begun = Instant::now();
        work();
        begun.elapsed()
    });
    durations.min().unwrap()
}

/// A hundred workloads that are awake, with hours of 4 kB that do not include the time, and dependencies that do
/// not exist, behind a hundred Services.
#[test]
fn long_annotations_behind_many_services_delay_no_update_and_no_connection() {
    let mut cluster = Cluster::new();
    cluster.settings.ports = (20000, 20999);
    let window = |minute: u32| {
        format!(
            "{:02}:{:02}-{:02}:{:02}",
            minute / 60,
            minute % 60,
            minute / 60,
            minute % 60 + 1
        )
    };
    let windows: Vec<_> = (0..290).map(|number| window(number * 2)).collect();
    let needed: Vec<_> = (0..16)
        .map(|number| format!("sts/missing-{number}"))
        .collect();
    for number in 0..100 {
        cluster.observe_workload(json!({
            "metadata": {
                "name": format!("web-{number}"), "namespace": "dev", "uid": format!("u-{number}"),
                "annotations": {
                    "dayshift/hours": "09:00-19:00", "dayshift/wake-until": "2026-11-25T22:20:00Z",
                    "dayshift/wake-on-request": format!("30m; while-used; {}", windows.join("; ")),
                    "dayshift/after": needed.join("; "),
                },
                "labels": {"dayshift/state": "woken", "dayshift/last": "2026-11-25T21.00.00Z"},
            },
            "spec": {"replicas": 1, "template": {"metadata": {"labels": {"app": "web"}}}},
        }));
    }
    let service = |number: u32| {
        json!({
            "metadata": {"name": format!("web-{number}"), "namespace": "dev", "uid": number.to_string()},
            "spec": {
                "selector": {"app": "web"}, "clusterIP": "10.96.0.1", "ipFamilies": ["IPv4"],
                "ports": [{"name": "http", "port": 80}],
            },
        })
    };
    (0..100).for_each(|number| cluster.observe_service(service(number)));
    let mut table = PortTable::new(cluster.settings.ports, usize::MAX);
    let mut desired = DesiredState::default();
    let now = at("2026-11-25T22:00:00Z");
    let changed = cluster.index.take_changed();
    desired.update(&cluster.index, &cluster.settings, &mut table, changed, now);
    assert_eq!(desired.routes.len(), 100);
    assert!(desired.routes.values().all(|route| !route.observes_use));

    let update = shortest(|| {
        cluster.observe_service(service(7));
        let changed = cluster.index.take_changed();
        desired.update(&cluster.index, &cluster.settings, &mut table, changed, now);
    });
    let connections = shortest(|| {
        for route in desired.routes.values() {
            assert_eq!(route.prospect(now), Prospect::Running);
            assert_eq!(route.opens_at(now), None);
            let mut targets = route.targets.iter();
            assert!(targets.all(|target| target.closed_at(now).is_some()));
        }
    });
    assert!(update < Duration::from_secs(3), "{update:?}");
    assert!(connections < Duration::from_millis(200), "{connections:?}");
}

/// The windows begin and end every two minutes from midnight on, and each workload has hours of its own.
#[test]
fn hours_of_hundreds_of_workloads_that_begin_at_the_same_time_cause_no_update() {
    let mut cluster = Cluster::new().with_service();
    let window = |minute: u32| {
        format!(
            "{0:02}:{1:02}-{0:02}:{2:02}",
            minute / 60,
            minute % 60,
            minute % 60 + 1
        )
    };
    let windows: Vec<_> = (0..290).map(|number| window(number * 2)).collect();
    for number in 0..500 {
        let wake = format!("{}s; {}; 22:01-22:02", 60 + number, windows.join("; "));
        let name = format!("web-{number:03}");
        let annotations = json!({"dayshift/wake-on-request": wake});
        cluster.workload_with_pods(&name, "stopped", 0, annotations, json!({"app": "web"}));
    }
    let (before, begin) = (at("2026-11-25T22:00:59Z"), at("2026-11-25T22:01:00Z"));
    let desired = cluster.desired_at(before);
    let route = &desired.routes[&name("dev", "web")];
    assert_eq!(route.targets.len(), 100);
    for (now, expected) in [
        (before, false),
        (begin, true),
        (begin + TimeDelta::minutes(1), false),
    ] {
        assert!(!desired.is_due(now), "computes the namespace at {now}");
        assert_eq!(route.prospect(now) == Prospect::Wakeable, expected, "{now}");
    }
}

/// The controller has not acted on the wake, so no event shows its end.
#[test]
fn namespace_is_computed_again_when_a_wake_ends_without_an_event() {
    let mut cluster = Cluster::new().with_service();
    let wake = json!({"dayshift/wake-on-request": "2h", "dayshift/wake-until": "2026-11-25 23:00"});
    cluster.workload("stopped", 0, wake);
    let mut table = PortTable::new(cluster.settings.ports, usize::MAX);
    let (before, end) = (at("2026-11-25T22:00:00Z"), at("2026-11-25T23:00:00Z"));
    let mut desired = DesiredState::new(&cluster.index, &cluster.settings, &mut table, before);
    assert!(!desired.is_due(before));
    assert!(desired.is_due(end));
    desired.update(
        &cluster.index,
        &cluster.settings,
        &mut table,
        BTreeSet::new(),
        end,
    );
    let route = &desired.routes[&name("dev", "web")];
    assert_eq!(route.prospect(end), Prospect::Wakeable);
    assert!(!desired.is_due(end));
}

/// A wake from 21:00 to 22:35, 35 minutes after it was last used at 22:00.
#[test]
fn slice_is_ready_beside_pods_only_while_use_can_prolong_the_wake() {
    let until = at("2026-11-25T22:35:00Z");
    for (wake, affinity, began, observed_at) in [
        (
            "30m; while-used",
            "None",
            "21:00:00",
            ["22:05", "22:34"].as_slice(),
        ),
        (
            "2h; while-used",
            "None",
            "21:00:00",
            &["22:00", "22:04", "22:05", "22:34"],
        ),
        ("30m", "None", "21:00:00", &[]),
        ("30m; while-used", "ClientIP", "21:00:00", &[]),
        // The wake is as long as it can be.
        ("30m; while-used", "None", "22:35:00 the day before", &[]),
        // The hours end.
        (
            "30m; while-used; 06:00-22:10",
            "None",
            "21:00:00",
            &["22:05"],
        ),
        (
            "30m; while-used; 22:10-23:00",
            "None",
            "21:00:00",
            &["22:34"],
        ),
    ] {
        let began = match began.split_once(' ') {
            Some((time, _)) => at(&format!("2026-11-24T{time}Z")),
            None => at(&format!("2026-11-25T{began}Z")),
        };
        let mut cluster = Cluster::new();
        cluster.awake("web", wake, began, until);
        cluster.service(json!({
            "selector": {"app": "web"}, "ports": [{"name": "http", "port": 80}],
            "ipFamilies": ["IPv4"], "sessionAffinity": affinity,
        }));
        cluster.slice("dev", "web", &["10.0.0.1"], 8081);
        let mut table = PortTable::new(cluster.settings.ports, usize::MAX);
        let mut desired = DesiredState::default();
        let mut changed = cluster.index.take_changed();
        // No event shows that time passes.
        for minute in 0..40 {
            let now = at("2026-11-25T22:00:00Z") + TimeDelta::minutes(minute);
            if minute == 0 || desired.is_due(now) {
                let (index, settings) = (&cluster.index, &cluster.settings);
                desired.update(
                    index,
                    settings,
                    &mut table,
                    std::mem::take(&mut changed),
                    now,
                );
            }
            let time = now.format("%H:%M").to_string();
            if !["22:00", "22:04", "22:05", "22:34", "22:36"].contains(&&*time) {
                continue;
            }
            let expected = observed_at.contains(&&*time);
            let conditions = slice(&desired)["endpoints"][0]["conditions"].clone();
            let ready = json!({"ready": expected, "serving": true, "terminating": !expected});
            assert_eq!(conditions, ready, "{wake} {affinity} at {time}");
        }
    }
}

#[test]
fn services_of_kubernetes_are_never_covered() {
    for (namespace, service, expected) in [
        ("default", "kubernetes", true),
        ("kube-system", "kube-dns", true),
        ("default", "web", false),
        ("team", "kubernetes", false),
    ] {
        assert_eq!(
            is_of_kubernetes(&name(namespace, service)),
            expected,
            "{namespace}/{service}"
        );
    }
}

#[test]
fn slice_without_ready_activator_pods_keeps_its_ports() {
    let mut cluster = Cluster::new().asleep().with_service();
    cluster.slice("dayshift", "dayshift-activator", &[], 8080);
    let slice = slice(&cluster.desired());
    assert_eq!(slice["endpoints"], json!([]));
    assert_eq!(slice["ports"].as_array().unwrap().len(), 1);
}

#[test]
fn deleted_service_has_no_route() {
    let mut cluster = Cluster::new().asleep().with_service();
    assert_eq!(cluster.desired().routes.len(), 1);
    let gone = ReflectorEvent::Deleted {
        name: ObjectName {
            namespace: "dev".into(),
            name: "web".into(),
        },
        uid: None,
    };
    cluster
        .index
        .observe(1, WatchEvent::Service(Box::new(gone)));
    assert!(cluster.desired().routes.is_empty());
}

/// Also if each workload is observed after the rules of the others are known.
#[test]
fn workloads_with_equal_annotations_share_their_rules() {
    let mut cluster = Cluster::new().with_service();
    let inherited =
        json!({"dayshift/wake-on-request": "2h; 06:00-23:00", "dayshift/after": "sts/db"});
    cluster.namespace(inherited);
    let mut table = PortTable::new(cluster.settings.ports, usize::MAX);
    let mut desired = DesiredState::default();
    let mut update = |cluster: &mut Cluster, minute: i64| {
        let now = at("2026-11-25T10:00:00Z") + TimeDelta::minutes(minute);
        let changed = cluster.index.take_changed();
        desired.update(&cluster.index, &cluster.settings, &mut table, changed, now);
        let targets = desired.routes[&name("dev", "web")].targets.iter();
        let closed = targets
            .clone()
            .map(|target| target.closed_at(now).is_some());
        let rules = targets.map(|target| Arc::as_ptr(&target.rules));
        (
            closed.filter(|is_closed| *is_closed).count(),
            rules.collect::<BTreeSet<_>>().len(),
        )
    };
    let pods = || json!({"app": "web"});
    for number in 0..20 {
        let name = format!("web-{number:02}");
        cluster.workload_with_pods(&name, "stopped", 0, json!({}), pods());
        assert_eq!(update(&mut cluster, number), (0, 1));
    }
    let sleep = json!({"dayshift/sleep-until": "2026-11-25 11:00; no-request-wake"});
    cluster.workload_with_pods("web-00", "slept", 0, sleep, pods());
    assert_eq!(update(&mut cluster, 30), (1, 2));
    assert_eq!(update(&mut cluster, 60), (0, 2), "the sleep has ended");
    assert_eq!(
        update(&mut cluster, 13 * 60),
        (20, 2),
        "outside of the hours"
    );
}
