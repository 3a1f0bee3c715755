//! A server that is unavailable, denies requests or loses responses, and other controllers.

mod answers;
mod between;
mod busy;
mod isolation;
mod overdue;
mod permission;
mod retry_after;
mod silence;
mod upheaval;

use std::{num::NonZeroUsize, time::Duration};

use chrono::{DateTime, Utc};
use dayshift_controller::Settings;
use dayshift_workload::Kind;
use kube_in_memory::{Fault, RequestLine, Status};

use crate::sandbox::{Sandbox, deployment};

fn ready_to_stop() -> Sandbox {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours("09:00-19:00"));
    scenario.sleep_until("18:59");
    scenario.api.forget_requests();
    scenario
}

#[test]
fn lost_response_does_no_harm() {
    let scenario = ready_to_stop();
    scenario
        .api
        .fail_next(|line| line.verb == "patch", Fault::DropAfter);
    scenario.sleep_until("19:01");
    assert_eq!(
        (
            scenario.replicas("web"),
            scenario.label("web", "saved-replicas").unwrap()
        ),
        (0, "3".into())
    );
    assert_eq!(
        scenario.patched("web").len(),
        0,
        "the response to the successful patch was lost"
    );
    assert!(scenario.requests("patch").len() <= 2);
}

/// The faults that keep a patch from taking effect.
fn no_effect() -> [Fault; 4] {
    [
        Fault::DropBefore,
        Fault::Hang,
        Fault::Answer(Status::too_many_requests(1)),
        Fault::Answer(Status::internal("etcd is away")),
    ]
}

#[test]
fn resends_a_patch_that_never_arrived() {
    for fault in no_effect() {
        let scenario = ready_to_stop();
        scenario
            .api
            .fail_next(|line| line.verb == "patch", fault.clone());
        scenario.sleep_until("19:01");
        assert_eq!(scenario.replicas("web"), 0, "{fault:?}");
        assert_eq!(scenario.requests("patch").len(), 2, "{fault:?}");
    }
}

#[test]
fn honors_retry_after() {
    let scenario = ready_to_stop();
    scenario.api.fail_next(
        |line| line.verb == "patch",
        Fault::Answer(Status::too_many_requests(7)),
    );
    scenario.sleep_until("19:01");
    let at: Vec<_> = scenario
        .requests("patch")
        .iter()
        .map(|line| line.at)
        .collect();
    assert!(at[1] - at[0] >= chrono::TimeDelta::seconds(7), "{at:?}");
}

#[test]
fn halves_the_window_after_a_429() {
    let at_once = asked_at_once_of_a_busy_server(Duration::from_millis(1));
    assert_eq!(at_once[..2], [32, 16], "{at_once:?}");
}

/// The first patch of many is sent before the others are evaluated, so that a 429 for it delays the others
/// too.
#[test]
fn a_429_response_delays_all_queued_requests() {
    let at_once = asked_at_once_of_a_busy_server(Duration::ZERO);
    assert_eq!(at_once[..2], [1, 16], "{at_once:?}");
}

/// Sends 60 stops to a server that rejects the first one this long after it arrived. Returns the number of
/// stops that were sent at each time.
fn asked_at_once_of_a_busy_server(refuses_after: Duration) -> Vec<usize> {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    for number in 0..60 {
        scenario.apply(
            deployment(&format!("web-{number}"))
                .replicas(3)
                .stop("19:00"),
        );
    }
    scenario.start_controller(Settings::default());
    scenario.sleep_until("18:59");
    scenario.api.forget_requests();
    let stop: DateTime<Utc> = "2026-11-20T19:00:00Z".parse().unwrap();
    let busy = move |line: &RequestLine| {
        let refusal = Status::too_many_requests(1);
        let fault = match line.at == stop {
            true if refuses_after.is_zero() => Fault::Answer(refusal),
            true => Fault::AnswerAfter(refuses_after, refusal),
            false => Fault::Delay(Duration::from_secs(1)),
        };
        (line.verb == "patch").then_some(fault)
    };
    scenario.api.on_request(busy);
    scenario.sleep_until("19:01");
    assert_eq!(scenario.replicas("web-59"), 0);
    let mut at_once: Vec<(DateTime<Utc>, usize)> = Vec::new();
    for line in scenario.requests("patch") {
        match at_once.last_mut() {
            Some((at, count)) if *at == line.at => *count += 1,
            _ => at_once.push((line.at, 1)),
        }
    }
    at_once.into_iter().map(|(_, count)| count).collect()
}

/// If the controller spun instead, simulated time would not advance, and the test would not end.
#[test]
fn sleeps_while_a_retry_waits_for_a_full_queue() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    scenario.start_with(|settings| settings.max_in_flight = NonZeroUsize::MIN);
    for name in ["api", "web"] {
        scenario.apply(deployment(name).replicas(3).hours("09:00-19:00"));
    }
    scenario.sleep_until("18:59");
    let patch = |line: &RequestLine| line.verb == "patch";
    scenario
        .api
        .fail_next(patch, Fault::Answer(Status::too_many_requests(1)));
    scenario.sleep_until("19:00");
    scenario.api.fail_next(patch, Fault::Hang);
    scenario.sleep_until("19:01");
    assert_eq!((scenario.replicas("api"), scenario.replicas("web")), (0, 0));
}

#[test]
fn is_unready_if_patches_fail_while_watches_work() {
    for fault in no_effect() {
        let scenario = ready_to_stop();
        scenario.apply(deployment("api").replicas(3).hours("09:00-19:00"));
        scenario
            .api
            .on_request(move |line| matches!(line.verb, "patch" | "list").then(|| fault.clone()));
        assert_eq!(scenario.telemetry.ready(), Ok(()));
        scenario.sleep_until("19:01");
        let why = "the API server does not answer or refuses";
        assert_eq!(scenario.telemetry.ready(), Err(vec![why]));
        scenario.api.clear_fault();
        scenario.sleep_until("19:02");
        assert_eq!(scenario.telemetry.ready(), Ok(()));
        assert_eq!(scenario.replicas("web"), 0);
    }
}

#[test]
fn applies_a_boundary_that_fell_into_an_outage() {
    let scenario = ready_to_stop();
    scenario.api.on_request(|_| Some(Fault::DropBefore));
    scenario.api.close_watches();
    scenario.sleep_until("19:10");
    assert!(scenario.telemetry.ready().is_err());
    let asked = scenario.api.requests().len();
    let most = 300 * Kind::DEFAULT.len();
    assert!(asked < most, "{asked} requests in eleven minutes");
    scenario.api.clear_fault();
    scenario.pass(Duration::from_secs(10));
    assert_eq!(scenario.replicas("web"), 0);
    assert_eq!(scenario.telemetry.ready(), Ok(()));
}

#[test]
fn reports_an_admission_denial_and_retries_slowly() {
    let scenario = ready_to_stop();
    let refusal = || Status::forbidden("apps", "deployments", "web", "not on my watch");
    scenario
        .api
        .on_admission(move |write| (write.resource == "deployments").then(refusal));
    scenario.sleep_until("19:59");
    assert_eq!(scenario.replicas("web"), 3);
    assert_eq!(scenario.events("web"), ["ScaleFailed"]);
    let tries = scenario.requests("patch").len();
    assert!((5..=20).contains(&tries), "{tries} tries in an hour");
    scenario.api.admit_all();
    scenario.sleep_until("20:15");
    assert_eq!(scenario.replicas("web"), 0);
}

#[test]
fn one_probe_finds_a_restored_permission_for_all() {
    let scenario = ready_to_stop();
    let names: Vec<String> = (0..20).map(|number| format!("web-{number}")).collect();
    for name in &names {
        scenario.apply(deployment(name).replicas(3).hours("09:00-19:00"));
    }
    scenario.sleep_until("18:59:30");
    let why = r#"User "dayshift" cannot patch resource "deployments" in API group "apps""#;
    let refusal = || Status::forbidden("apps", "deployments", "web", why);
    scenario
        .api
        .on_request(move |line| (line.verb == "patch").then(|| Fault::Answer(refusal())));
    scenario.api.forget_requests();
    scenario.sleep_until("19:10");
    let tries = scenario.requests("patch").len();
    // After the first denial, one workload probes for all.
    assert!((21..=45).contains(&tries), "{tries} tries in ten minutes");
    let why = "the permission to patch workloads is missing in a namespace";
    assert_eq!(scenario.telemetry.ready(), Err(vec![why]));

    // The probing workload is deleted: another one must take over.
    let last = scenario.requests("patch").pop().unwrap().name;
    scenario.api.delete("dev", &last).unwrap();
    scenario.sleep_until("19:11");
    scenario.api.clear_fault();
    scenario.sleep_until("19:12");
    for name in names.iter().filter(|name| **name != last) {
        assert_eq!(scenario.replicas(name), 0, "{name}");
    }
    assert_eq!(scenario.telemetry.ready(), Ok(()));
}

/// A Role can name the objects that may be patched.
#[test]
fn permission_by_resource_name_does_not_wait_for_denied_names() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    let why = r#"User "dayshift" cannot patch resource "deployments" in API group "apps""#;
    let refusal = || Status::forbidden("apps", "deployments", "api", why);
    scenario.api.on_request(move |line| {
        let is_unnamed = line.verb == "patch" && line.name != "web";
        is_unnamed.then(|| Fault::Answer(refusal()))
    });
    for name in ["api", "db"] {
        scenario.apply(deployment(name).replicas(3).hours("09:00-19:00"));
    }
    scenario.pass(Duration::from_secs(60));
    scenario.apply(deployment("web").replicas(3).hours("09:00-19:00"));
    scenario.sleep_until("18:59");
    assert_eq!(scenario.label("web", "state").as_deref(), Some("adopted"));
    scenario.api.forget_requests();
    scenario.sleep_until("19:00:01");
    assert_eq!(
        scenario.replicas("web"),
        0,
        "the denials of other names do not delay it"
    );
    scenario.sleep_until("20:00");
    let tries = scenario.requests("patch").len();
    assert!((60..=250).contains(&tries), "{tries} tries in an hour");
}

#[test]
fn forgets_objects_that_vanished_during_a_watch_outage() {
    let scenario = ready_to_stop();
    scenario.apply(deployment("gone").replicas(3).stop("19:00"));
    scenario.api.on_request(|_| Some(Fault::DropBefore));
    scenario.api.close_watches();
    scenario.pass(Duration::from_millis(100));
    scenario.api.delete("dev", "gone").unwrap();
    scenario.api.compact();
    scenario.api.clear_fault();
    scenario.sleep_until("19:01");
    assert_eq!(scenario.replicas("web"), 0);
    let asked_for = scenario
        .requests("patch")
        .into_iter()
        .filter(|line| line.name == "gone");
    assert_eq!(asked_for.filter(|line| line.code == Some(404)).count(), 0);
}

#[test]
fn two_controllers_make_one_change_together() {
    let mut scenario = ready_to_stop();
    scenario.start_controller(Settings::default());
    scenario.sleep_until("2026-11-23 10:00");
    // Stop, start and so on: 19:00 on Friday to 09:00 on Monday.
    assert_eq!(scenario.patched("web").len(), 6);
    let conflicts = scenario
        .requests("patch")
        .iter()
        .filter(|line| line.code == Some(422))
        .count();
    assert!(conflicts > 0, "both controllers have sent a patch");
    assert_eq!(
        scenario.requests("get").len(),
        conflicts,
        "each conflict is followed by one read"
    );
}

#[test]
fn kill_in_the_middle_of_a_boundary_loses_no_count() {
    let mut scenario = Sandbox::at("2026-11-20 18:00 UTC");
    for n in 0..200 {
        scenario
            .api
            .apply(
                deployment(&format!("web-{n}"))
                    .replicas(n % 7 + 1)
                    .stop("19:00")
                    .into(),
            )
            .unwrap();
    }
    scenario.sleep_until("18:59");
    scenario.api.on_request(|line| {
        (line.verb == "patch").then_some(Fault::Delay(Duration::from_millis(100)))
    });
    scenario.pass(Duration::from_millis(60_000 - 50 + 250));
    scenario.kill_controllers();
    scenario.api.clear_fault();
    let count = |n: u32| scenario.replicas(&format!("web-{n}"));
    let stopped = (0..200).filter(|n| count(*n) == 0).count();
    assert!(stopped > 0 && stopped < 200, "{stopped}");
    for n in 0..200 {
        let name = format!("web-{n}");
        let saved = scenario.label(&name, "saved-replicas");
        let kept = if count(n) == 0 {
            saved.unwrap()
        } else {
            count(n).to_string()
        };
        assert_eq!(kept, (n % 7 + 1).to_string(), "{name}");
    }
    scenario.start_controller(Settings::default());
    scenario.settle();
    assert!((0..200).all(|n| scenario.replicas(&format!("web-{n}")) == 0));
}

#[test]
fn shutdown_waits_for_requests_in_flight() {
    let mut scenario = ready_to_stop();
    scenario
        .api
        .on_request(|line| (line.verb == "patch").then_some(Fault::Delay(Duration::from_secs(5))));
    scenario.sleep_until("19:00");
    scenario.stop_controllers();
    assert_eq!(scenario.replicas("web"), 0);
    assert_eq!(
        scenario.events("web"),
        ["Stopped"],
        "the completed stop has its Event"
    );
    let done = r#"dayshift_transitions_total{action="stop",outcome="done"} 1"#;
    assert!(scenario.metrics().lines().any(|line| line == done));
    assert_eq!(
        scenario.telemetry.ready(),
        Err(vec!["dayshift is shutting down"])
    );
}
