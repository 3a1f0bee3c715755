//! Failures of one workload, of one namespace and of Events affect nothing else.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_controller::Settings;
use kube_in_memory::{Fault, RequestLine, Status};

use crate::sandbox::{DeploymentBuilder, Sandbox, deployment};

/// The API server's response if a webhook could not be called.
fn webhook_fails() -> Fault {
    Fault::Answer(Status::internal(
        r#"failed calling webhook "deny.example": EOF"#,
    ))
}

/// A denial by a webhook, which chooses the code.
pub(crate) fn denial(code: u16) -> Fault {
    let message = r#"admission webhook "deny.example" denied the request: not tonight"#;
    Fault::Answer(Status::new(code, "Whatever", message))
}

/// 18:59, with this many Deployments in `dev` that stop at 19:00 and whose patches fail in this way.
pub(crate) fn with_failing_workloads(count: usize, fault: Fault) -> Sandbox {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    for number in 0..count {
        let bad = deployment(&format!("bad-{number}")).replicas(3);
        scenario.api.apply(bad.stop("19:00").into()).unwrap();
    }
    scenario.start_controller(Settings::default());
    scenario.api.namespace("prod");
    for second in [3, 12, 40] {
        for namespace in ["dev", "prod"] {
            scenario.apply(healthy(namespace, second));
        }
    }
    scenario.sleep_until("18:59");
    scenario.api.forget_requests();
    scenario.api.on_request(move |line| {
        let is_bad = line.verb == "patch" && line.name.starts_with("bad");
        is_bad.then(|| fault.clone())
    });
    scenario
}

pub(crate) fn healthy(namespace: &str, second: u32) -> DeploymentBuilder {
    deployment(&format!("healthy-{second}"))
        .namespace(namespace)
        .replicas(3)
        .stop(format!("{second} 0 19 * * *"))
}

/// The lateness of each healthy Deployment in milliseconds; asserts that each was stopped.
fn lateness(scenario: &Sandbox) -> Vec<i64> {
    lateness_until(scenario, &[3, 12, 40])
}

fn lateness_until(scenario: &Sandbox, seconds: &[u32]) -> Vec<i64> {
    let mut late = Vec::new();
    for &second in seconds {
        let name = format!("healthy-{second}");
        for namespace in ["dev", "prod"] {
            let due = scenario.utc("2026-11-20 19:00") + TimeDelta::seconds(second.into());
            let at = answered(scenario, namespace, &name).unwrap();
            late.push((at - due).num_milliseconds());
            assert_eq!(scenario.api.replicas(namespace, &name), Some(0));
        }
    }
    late
}

pub(crate) fn answered(scenario: &Sandbox, namespace: &str, name: &str) -> Option<DateTime<Utc>> {
    let mut lines = scenario.requests("patch").into_iter();
    let at = lines.rfind(|line| line.namespace == namespace && line.name == name)?;
    assert_eq!(at.code, Some(200));
    Some(at.at)
}

#[test]
fn hanging_request_delays_its_namespace_by_a_second_and_no_other() {
    for count in [60, 500] {
        let scenario = with_failing_workloads(count, Fault::Hang);
        scenario.sleep_until("19:00:20");
        assert_eq!(scenario.telemetry.ready(), Ok(()), "others are answered");
        scenario.sleep_until("19:02");
        // Each workload in `dev` might wait for the earlier ones, 32 at a time for a second.
        let most = 1_000 * (count as i64 / 32);
        for (number, late) in lateness(&scenario).into_iter().enumerate() {
            let shares_namespace = number % 2 == 0;
            assert!(
                late <= if shares_namespace { most } else { 0 },
                "{count}: {number} {late}"
            );
        }
    }
}

#[test]
fn retries_a_hanging_request_with_backoff_until_it_succeeds() {
    let scenario = with_failing_workloads(60, Fault::Hang);
    scenario.sleep_until("19:05");
    let tries = scenario.requests("patch").len();
    assert!(tries < 60 * 12, "{tries}");
    for name in ["bad-0", "bad-59"] {
        let reported = scenario.events(name);
        assert_eq!(reported, ["ScaleFailed"], "{name}: once");
    }
    scenario.api.clear_fault();
    scenario.sleep_until("19:07");
    for number in 0..60 {
        let name = format!("bad-{number}");
        assert_eq!(scenario.replicas(&name), 0, "{name}");
        assert_eq!(scenario.events(&name), ["ScaleFailed", "Stopped"], "{name}");
    }
}

#[test]
fn immediate_failure_delays_no_other_workload() {
    let codes = [400, 401, 403, 404, 409, 422, 429, 500, 503].map(denial);
    let few = codes.into_iter().map(|fault| (40, fault));
    for (count, fault) in few.chain([(200, webhook_fails())]) {
        let scenario = with_failing_workloads(count, fault.clone());
        scenario.sleep_until("19:02");
        assert_eq!(lateness(&scenario), [0; 6], "{fault:?}");
        let reported = scenario.events("bad-39");
        assert_eq!(reported, ["ScaleFailed"], "{fault:?}: once");
        assert_eq!(scenario.telemetry.ready(), Ok(()), "{fault:?}");
        scenario.api.clear_fault();
        scenario.sleep_until("19:30");
        assert_eq!(
            scenario.replicas("bad-0"),
            0,
            "{fault:?}: the request is still retried"
        );
    }
}

/// Meanwhile, no request succeeds, because the controller sends only those of the failing workload.
#[test]
fn permanent_failure_in_an_idle_cluster_does_not_make_it_unready() {
    let slow = Status::new(504, "Timeout", "Timeout: request did not complete");
    for fault in [Fault::Answer(slow), Fault::Answer(Status::internal("no"))] {
        let scenario = with_failing_workloads(1, fault.clone());
        scenario.sleep_until("19:30");
        assert_eq!(scenario.telemetry.ready(), Ok(()), "{fault:?}");
        assert_eq!(scenario.events("bad-0"), ["ScaleFailed"], "{fault:?}");
    }
}

/// So many workloads fail that not all can be retried by 19:00:20, because retries are queued behind new
/// work.
#[test]
fn slow_failures_are_queued_after_workloads_that_have_not_failed() {
    let slowly = Duration::from_millis(90);
    let message = r#"failed calling webhook "deny.example": EOF"#;
    let fault = Fault::AnswerAfter(slowly, Status::internal(message));
    let scenario = with_failing_workloads(600, fault);
    scenario.sleep_until("19:00:20");
    for (late, most) in lateness_until(&scenario, &[3, 12])
        .into_iter()
        .zip([200, 0, 200, 0])
    {
        assert!(late <= most, "{late} ms, at most {most}");
    }
    let tried = |name: &str| {
        let lines = scenario.requests("patch").into_iter();
        lines.filter(|line| line.name == name).count()
    };
    assert!(
        tried("bad-0") >= 3 && tried("bad-599") >= 3,
        "both are still retried"
    );
}

/// Conflicts also affect only their own object: another client writes to it before every patch.
#[test]
fn workload_that_changes_constantly_delays_no_other_and_is_reported_once() {
    let conflict = Status::new(422, "Invalid", "the server rejected our request");
    let scenario = with_failing_workloads(60, Fault::Answer(conflict));
    scenario.sleep_until("19:02");
    assert_eq!(lateness(&scenario), [0; 6]);
    assert_eq!(scenario.events("bad-0"), ["ScaleFailed"]);
}

#[test]
fn failures_across_many_namespaces_are_attributed_to_the_server() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    for number in 0..200 {
        let namespace = format!("team-{}", number % 4);
        scenario.api.namespace(&namespace);
        let web = deployment(&format!("web-{number}")).namespace(&namespace);
        scenario.api.apply(web.stop("19:00").into()).unwrap();
    }
    scenario.start_controller(Settings::default());
    scenario.sleep_until("18:59");
    scenario.api.forget_requests();
    let etcd = Fault::Answer(Status::internal("etcdserver: request timed out"));
    scenario
        .api
        .on_request(move |line| (line.verb == "patch").then(|| etcd.clone()));
    scenario.sleep_until("19:01");
    // The probes are finally five seconds apart, with 40 in flight. Without the shared backoff, 200 workloads
    // would each have tried 6 times.
    let tries = scenario.requests("patch").len();
    assert!(tries < 40 * 20, "{tries}");
    assert!(scenario.telemetry.ready().is_err());
    scenario.api.clear_fault();
    scenario.sleep_until("19:02");
    let left = (0..200).filter(|number| {
        let namespace = format!("team-{}", number % 4);
        scenario.api.replicas(&namespace, &format!("web-{number}")) != Some(0)
    });
    assert_eq!(left.count(), 0);
    assert_eq!(scenario.telemetry.ready(), Ok(()));
}

#[test]
fn failures_of_events_do_not_affect_transitions() {
    let too_many = Fault::Answer(Status::too_many_requests(30));
    let away = Fault::Answer(Status::internal("etcd is away"));
    for fault in [
        Fault::Hang,
        Fault::DropBefore,
        too_many,
        webhook_fails(),
        away,
    ] {
        let scenario = Sandbox::at("2026-11-20 18:00 UTC");
        for number in 0..40 {
            scenario.apply(
                deployment(&format!("web-{number}"))
                    .replicas(3)
                    .stop("19:00"),
            );
        }
        scenario.apply(healthy("dev", 5));
        scenario.sleep_until("18:59");
        let shown = format!("{fault:?}");
        scenario
            .api
            .on_request(move |line| (line.resource == "events").then(|| fault.clone()));
        scenario.sleep_until("19:01");
        let due = scenario.utc("2026-11-20 19:00") + TimeDelta::seconds(5);
        assert_eq!(
            answered(&scenario, "dev", "healthy-5"),
            Some(due),
            "{shown}"
        );
        assert_eq!(
            answered(&scenario, "dev", "web-39"),
            Some(due - TimeDelta::seconds(5))
        );
    }
}

#[test]
fn hanging_events_of_one_namespace_do_not_delay_those_of_others() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.api.namespace("prod");
    for number in 0..40 {
        scenario.apply(
            deployment(&format!("web-{number}"))
                .replicas(3)
                .stop("19:00"),
        );
    }
    scenario.sleep_until("18:59");
    scenario.api.on_request(|line| {
        let hangs = line.resource == "events" && line.namespace == "dev";
        hangs.then_some(Fault::Hang)
    });
    scenario.sleep_until("19:00");
    scenario.apply(deployment("web").namespace("prod").stop("Mon-Fry 19:00"));
    scenario.pass(Duration::from_secs(1));
    let is_told = |event: &serde_json::Value| event["reason"] == "InvalidSchedule";
    assert_eq!(
        scenario
            .api
            .list("Event")
            .iter()
            .filter(|it| is_told(it))
            .count(),
        1
    );
}

#[test]
fn one_object_probes_a_missing_permission() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:09 UTC");
    for number in 0..50 {
        let busy = deployment(&format!("busy-{number}")).replicas(3);
        let busy = busy.start("*/10 * * * * *").stop("5/10 * * * * *");
        scenario.api.apply(busy.into()).unwrap();
    }
    scenario.start_controller(Settings::default());
    scenario.sleep_until("18:10");
    scenario.api.forget_requests();
    let forbidden = Status::forbidden(
        "apps",
        "deployments",
        "web",
        r#"User "system:serviceaccount:dayshift:dayshift" cannot patch resource "deployments" in API group "apps" in the namespace "dev""#,
    );
    scenario
        .api
        .on_request(move |line| (line.verb == "patch").then(|| Fault::Answer(forbidden.clone())));
    scenario.sleep_until("18:20");
    // First the requests that were in flight together, then probes at growing intervals of up to half a
    // minute.
    let asked = scenario.requests("patch").len();
    assert!(asked < 24 + 60, "{asked}");
    scenario.api.clear_fault();
    scenario.api.forget_requests();
    scenario.sleep_until("18:21");
    assert!(scenario.requests("patch").len() > 50 * 4);
}

/// When the boundary of `last` is due, most of the 900 adoptions are still queued.
#[test]
fn boundary_precedes_adoptions_even_if_its_workload_waits_among_them() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.sleep_until("18:59");
    let slow = |line: &RequestLine| {
        let delay = Fault::Delay(Duration::from_secs(2));
        (line.verb == "patch").then_some(delay)
    };
    scenario.api.on_request(slow);
    let begun = scenario.utc("2026-11-20 18:59");
    for number in 0..900 {
        let new = deployment(&format!("new-{number}"))
            .replicas(3)
            .stop("20:00");
        scenario.api.apply(new.into()).unwrap();
    }
    let last = deployment("last").replicas(3).stop("10 59 18 * * *");
    scenario.api.apply(last.into()).unwrap();
    scenario.sleep_until("19:10");
    let patches = scenario.requests("patch").into_iter();
    let at = patches
        .filter(|line| line.name == "last")
        .map(|line| (line.at - begun).num_seconds());
    // It is adopted at the time of its boundary, and the boundary is carried out after the response to the
    // adoption.
    assert_eq!(at.collect::<Vec<_>>(), [10, 12]);
    assert_eq!(scenario.replicas("last"), 0);
}

#[test]
fn hanging_first_list_of_one_namespace_delays_no_other() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    for namespace in ["a", "b"] {
        scenario.api.namespace(namespace);
        scenario.apply(
            deployment("web")
                .namespace(namespace)
                .replicas(3)
                .stop("19:00"),
        );
    }
    scenario.api.on_request(|line| {
        let hangs = line.namespace == "a" && matches!(line.verb, "watch" | "list");
        hangs.then_some(Fault::Hang)
    });
    scenario.start_with(|settings| settings.scope.namespaces = vec!["a".into(), "b".into()]);
    scenario.pass(Duration::from_secs(1));
    let adopted = |namespace| {
        let web = scenario.api.get("Deployment", namespace, "web").unwrap();
        web["metadata"]["labels"]["dayshift/state"] == "adopted"
    };
    assert!(adopted("b") && !adopted("a"));
}
