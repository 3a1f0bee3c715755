//! Sudden changes in the middle of a boundary: clock steps, deleted namespaces, replaced objects, another API
//! version.

use std::time::Duration;

use chrono::TimeDelta;
use dayshift_controller::Settings;
use dayshift_workload::{Kind, KindTable};
use kube_in_memory::{Fault, RequestLine};
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, deployment};

/// 18:59, with 200 Deployments in four namespaces that stop at 19:00; each patch takes 50 ms.
fn two_hundred(settings: Settings) -> Sandbox {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    for number in 0..200 {
        let namespace = format!("team-{}", number % 4);
        scenario.api.namespace(&namespace);
        let web = deployment(&format!("web-{number}")).namespace(&namespace);
        let web = web.replicas(3).stop("19:00");
        scenario.api.apply(web.into()).unwrap();
    }
    scenario.start_controller(settings);
    scenario.sleep_until("18:59");
    scenario.api.forget_requests();
    let slow = |line: &RequestLine| {
        (line.verb == "patch").then_some(Fault::Delay(Duration::from_millis(50)))
    };
    scenario.api.on_request(slow);
    scenario
}

fn stopped(scenario: &Sandbox) -> usize {
    let is_stopped = |number: &usize| {
        let namespace = format!("team-{}", number % 4);
        scenario.api.replicas(&namespace, &format!("web-{number}")) == Some(0)
    };
    (0..200).filter(is_stopped).count()
}

/// Asserts that each object got exactly one successful patch.
fn assert_each_was_patched_once(scenario: &Sandbox) {
    for number in 0..200 {
        let name = format!("web-{number}");
        assert_eq!(scenario.patched(&name).len(), 1, "{name}");
    }
}

#[test]
fn clock_step_back_in_the_middle_of_a_boundary_repeats_nothing() {
    let hour = TimeDelta::hours(1);
    for is_noticed in [true, false] {
        let scenario = two_hundred(Settings::default());
        scenario.pass(Duration::from_millis(60_060));
        let first = stopped(&scenario);
        // The server's clock stays right, so the controller notices the difference. If both clocks are
        // set back, it cannot.
        if is_noticed {
            scenario.server_is_ahead(hour.num_seconds());
        }
        scenario.step_clock(-hour);
        scenario.pass(Duration::from_secs(60));
        let sent = scenario.requests("patch").len();
        assert!(
            (1..200).contains(&first),
            "{first}: not in the middle of the boundary"
        );
        assert!(
            sent < 200,
            "{sent}: nothing is sent while the clock shows 18:01"
        );
        if is_noticed {
            scenario.server_is_ahead(0);
            scenario.step_clock(hour);
            scenario.pass(Duration::from_secs(10));
        } else {
            scenario.pass(Duration::from_secs(3600));
        }
        assert_eq!(stopped(&scenario), 200, "noticed: {is_noticed}");
        assert_each_was_patched_once(&scenario);
        scenario.pass(Duration::from_secs(7200));
        assert_each_was_patched_once(&scenario);
    }
}

/// For example, a migration to another storage version, which writes every object.
#[test]
fn objects_replaced_in_the_middle_of_a_boundary_stop_once() {
    let scenario = two_hundred(Settings::default());
    scenario.pass(Duration::from_millis(59_900));
    for round in 0..20 {
        for number in 0..200 {
            let namespace = format!("team-{}", number % 4);
            let metadata = json!({"metadata": {"annotations": {"migrated": format!("{round}")}}});
            let name = format!("web-{number}");
            let written = scenario
                .api
                .merge("Deployment", &namespace, &name, &metadata);
            written.unwrap();
        }
        scenario.pass(Duration::from_millis(20));
    }
    scenario.sleep_until("19:00:05");
    assert_eq!(stopped(&scenario), 200);
    assert_each_was_patched_once(&scenario);
    assert_eq!(scenario.requests("get").len(), 0, "none met a conflict");
}

/// For example, an operator cleans up at 09:00.
#[test]
fn deleting_three_hundred_namespaces_during_starts_delays_no_other() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let office = |name: &str, namespace: &str| {
        let web = deployment(name).namespace(namespace).replicas(3);
        Value::from(web.hours("09:00-19:00"))
    };
    for number in 0..300 {
        let namespace = format!("preview-{number}");
        scenario.api.namespace(&namespace);
        for name in ["api", "db", "web"] {
            scenario.api.apply(office(name, &namespace)).unwrap();
        }
    }
    for number in 0..10 {
        let healthy = office(&format!("healthy-{number}"), "dev");
        scenario.api.apply(healthy).unwrap();
    }
    scenario.start_controller(Settings::default());
    scenario.sleep_until("2026-11-21 08:59");
    scenario.api.remember_requests(usize::MAX);
    scenario.api.forget_requests();
    let slow = |line: &RequestLine| {
        (line.verb == "patch").then_some(Fault::Delay(Duration::from_millis(20)))
    };
    scenario.api.on_request(slow);
    scenario.pass(Duration::from_millis(59_960));
    let before = scenario.requests("patch").len();
    for number in 0..300 {
        let gone = scenario
            .api
            .delete_of("Namespace", "", &format!("preview-{number}"));
        gone.unwrap();
    }
    scenario.sleep_until("09:00:10");
    let (due, patches) = (scenario.utc("2026-11-21 09:00"), scenario.requests("patch"));
    assert!(
        (1..300).contains(&before),
        "{before}: not in the middle of the boundary"
    );
    for number in 0..10 {
        let name = format!("healthy-{number}");
        assert_eq!(scenario.replicas(&name), 3, "{name}");
        let sent = patches.iter().filter(|line| line.name == name);
        let late: Vec<_> = sent.map(|line| line.at - due).collect();
        assert!(
            late.len() == 1 && late[0] <= TimeDelta::milliseconds(250),
            "{late:?}"
        );
    }
    scenario.sleep_until("10:00");
    let after = scenario.requests("patch").len();
    assert_eq!(after, patches.len(), "deleted workloads are not retried");
    assert_eq!(scenario.snapshot().objects.len(), 10);
    assert_eq!(scenario.telemetry.ready(), Ok(()));
    let metrics = scenario.metrics();
    for line in [
        "dayshift_overdue_workloads 0\n",
        "dayshift_queue_depth{class=\"event\"} 0\n",
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
}

/// The object is deleted together with its CustomResourceDefinition. When the definition is back with
/// another version, an object of the same name is created.
#[test]
fn custom_resource_recreated_in_another_version_is_watched_again() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let (group, plural) = ("reef.example.com", "corals");
    scenario.api.serve_custom(group, "v1", plural, "Coral");
    scenario.start_with(|settings| {
        settings.scope.kinds = vec![
            KindTable::default().resource(plural, group),
            Kind::DEPLOYMENT,
        ];
    });
    let coral = |version: &str, replicas: u32| {
        let mut coral = Value::from(
            deployment("web")
                .replicas(replicas)
                .stop("19:00")
                .start("21:00"),
        );
        coral["apiVersion"] = json!(format!("{group}/{version}"));
        coral["kind"] = json!("Coral");
        coral
    };
    scenario.api.create(coral("v1", 3)).unwrap();
    scenario.sleep_until("18:59:59");
    // At the time of the stop.
    scenario.api.delete_of("Coral", "dev", "web").unwrap();
    scenario.api.withdraw("Coral");
    scenario.sleep_until("19:00:30");
    scenario.api.serve_again("Coral");
    scenario.api.serve_in("Coral", "v2").unwrap();
    scenario.api.create(coral("v2", 5)).unwrap();
    let replicas = |scenario: &Sandbox| {
        let object = scenario.api.get("Coral", "dev", "web").unwrap();
        object["spec"]["replicas"].clone()
    };
    // A first observation after a boundary does not act on the past.
    for (time, count) in [
        ("19:05", 5),
        ("2026-11-21 18:59", 5),
        ("2026-11-21 19:00", 0),
    ] {
        scenario.sleep_until(time);
        assert_eq!(replicas(&scenario), count, "{time}");
    }
    scenario.sleep_until("2026-11-21 21:00");
    assert_eq!(replicas(&scenario), 5);
    assert_eq!(scenario.telemetry.ready(), Ok(()));
}
