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
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("web").replicas(3).hours("09:00-19:00"));
    story.sleep_until("18:59");
    story.api.forget_requests();
    story
}

#[test]
fn lost_response_does_no_harm() {
    let story = ready_to_stop();
    story
        .api
        .fail_next(|line| line.verb == "patch", Fault::DropAfter);
    story.sleep_until("19:01");
    assert_eq!(
        (
            story.replicas("web"),
            story.label("web", "saved-replicas").unwrap()
        ),
        (0, "3".into())
    );
    assert_eq!(
        story.patched("web").len(),
        0,
        "the one that took effect was not answered"
    );
    assert!(story.requests("patch").len() <= 2);
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
        let story = ready_to_stop();
        story
            .api
            .fail_next(|line| line.verb == "patch", fault.clone());
        story.sleep_until("19:01");
        assert_eq!(story.replicas("web"), 0, "{fault:?}");
        assert_eq!(story.requests("patch").len(), 2, "{fault:?}");
    }
}

#[test]
fn honors_retry_after() {
    let story = ready_to_stop();
    story.api.fail_next(
        |line| line.verb == "patch",
        Fault::Answer(Status::too_many_requests(7)),
    );
    story.sleep_until("19:01");
    let at: Vec<_> = story.requests("patch").iter().map(|line| line.at).collect();
    assert!(at[1] - at[0] >= chrono::TimeDelta::seconds(7), "{at:?}");
}

#[test]
fn halves_the_window_after_a_429() {
    let at_once = asked_at_once_of_a_busy_server(Duration::from_millis(1));
    assert_eq!(at_once[..2], [32, 16], "{at_once:?}");
}

/// The first of many is sent before the others are evaluated, so that its response can be honored.
#[test]
fn a_429_for_the_first_of_many_holds_the_others() {
    let at_once = asked_at_once_of_a_busy_server(Duration::ZERO);
    assert_eq!(at_once[..2], [1, 16], "{at_once:?}");
}

/// The number of stops, of 60, that are sent at each time to a server which rejects the first one
/// this long after it arrived.
fn asked_at_once_of_a_busy_server(refuses_after: Duration) -> Vec<usize> {
    let mut story = Sandbox::empty_at("2026-11-20 18:00 UTC");
    for number in 0..60 {
        story.apply(
            deployment(&format!("web-{number}"))
                .replicas(3)
                .stop("19:00"),
        );
    }
    story.start_scaler(Settings::default());
    story.sleep_until("18:59");
    story.api.forget_requests();
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
    story.api.on_request(busy);
    story.sleep_until("19:01");
    assert_eq!(story.replicas("web-59"), 0);
    let mut at_once: Vec<(DateTime<Utc>, usize)> = Vec::new();
    for line in story.requests("patch") {
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
    let mut story = Sandbox::empty_at("2026-11-20 18:00 UTC");
    story.start_scaler(Settings {
        max_in_flight: NonZeroUsize::MIN,
        ..Settings::default()
    });
    for name in ["api", "web"] {
        story.apply(deployment(name).replicas(3).hours("09:00-19:00"));
    }
    story.sleep_until("18:59");
    let patch = |line: &RequestLine| line.verb == "patch";
    story
        .api
        .fail_next(patch, Fault::Answer(Status::too_many_requests(1)));
    story.sleep_until("19:00");
    story.api.fail_next(patch, Fault::Hang);
    story.sleep_until("19:01");
    assert_eq!((story.replicas("api"), story.replicas("web")), (0, 0));
}

#[test]
fn is_unready_if_patches_fail_while_watches_work() {
    for fault in no_effect() {
        let story = ready_to_stop();
        story.apply(deployment("api").replicas(3).hours("09:00-19:00"));
        story
            .api
            .on_request(move |line| matches!(line.verb, "patch" | "list").then(|| fault.clone()));
        assert_eq!(story.telemetry.ready(), Ok(()));
        story.sleep_until("19:01");
        let why = "the API server does not answer or refuses";
        assert_eq!(story.telemetry.ready(), Err(vec![why]));
        story.api.serve_well();
        story.sleep_until("19:02");
        assert_eq!(story.telemetry.ready(), Ok(()));
        assert_eq!(story.replicas("web"), 0);
    }
}

#[test]
fn applies_a_boundary_that_fell_into_an_outage() {
    let story = ready_to_stop();
    story.api.on_request(|_| Some(Fault::DropBefore));
    story.api.close_watches();
    story.sleep_until("19:10");
    assert!(story.telemetry.ready().is_err());
    let asked = story.api.requests().len();
    let most = 300 * Kind::DEFAULT.len();
    assert!(asked < most, "{asked} requests in eleven minutes");
    story.api.serve_well();
    story.pass(Duration::from_secs(10));
    assert_eq!(story.replicas("web"), 0);
    assert_eq!(story.telemetry.ready(), Ok(()));
}

#[test]
fn reports_an_admission_denial_and_retries_slowly() {
    let story = ready_to_stop();
    let refusal = || Status::forbidden("apps", "deployments", "web", "not on my watch");
    story
        .api
        .on_admission(move |write| (write.resource == "deployments").then(refusal));
    story.sleep_until("19:59");
    assert_eq!(story.replicas("web"), 3);
    assert_eq!(story.events("web"), ["ScaleFailed"]);
    let tries = story.requests("patch").len();
    assert!((5..=20).contains(&tries), "{tries} tries in an hour");
    story.api.admit_all();
    story.sleep_until("20:15");
    assert_eq!(story.replicas("web"), 0);
}

#[test]
fn one_probe_finds_a_restored_permission_for_all() {
    let story = ready_to_stop();
    let names: Vec<String> = (0..20).map(|number| format!("web-{number}")).collect();
    for name in &names {
        story.apply(deployment(name).replicas(3).hours("09:00-19:00"));
    }
    story.sleep_until("18:59:30");
    let why = r#"User "dayshift" cannot patch resource "deployments" in API group "apps""#;
    let refusal = || Status::forbidden("apps", "deployments", "web", why);
    story
        .api
        .on_request(move |line| (line.verb == "patch").then(|| Fault::Answer(refusal())));
    story.api.forget_requests();
    story.sleep_until("19:10");
    let tries = story.requests("patch").len();
    // The first denial holds the others.
    assert!((21..=45).contains(&tries), "{tries} tries in ten minutes");
    let why = "the permission to patch workloads is missing in a namespace";
    assert_eq!(story.telemetry.ready(), Err(vec![why]));

    // The workload that probes the permission may proceed.
    let last = story.requests("patch").pop().unwrap().name;
    story.api.delete("dev", &last).unwrap();
    story.sleep_until("19:11");
    story.api.serve_well();
    story.sleep_until("19:12");
    for name in names.iter().filter(|name| **name != last) {
        assert_eq!(story.replicas(name), 0, "{name}");
    }
    assert_eq!(story.telemetry.ready(), Ok(()));
}

/// A Role can name the objects that may be patched.
#[test]
fn permission_by_resource_name_does_not_wait_for_denied_names() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    let why = r#"User "dayshift" cannot patch resource "deployments" in API group "apps""#;
    let refusal = || Status::forbidden("apps", "deployments", "api", why);
    story.api.on_request(move |line| {
        let is_unnamed = line.verb == "patch" && line.name != "web";
        is_unnamed.then(|| Fault::Answer(refusal()))
    });
    for name in ["api", "db"] {
        story.apply(deployment(name).replicas(3).hours("09:00-19:00"));
    }
    story.pass(Duration::from_secs(60));
    story.apply(deployment("web").replicas(3).hours("09:00-19:00"));
    story.sleep_until("18:59");
    assert_eq!(story.label("web", "state").as_deref(), Some("adopted"));
    story.api.forget_requests();
    story.sleep_until("19:00:01");
    assert_eq!(story.replicas("web"), 0, "it waits for nobody");
    story.sleep_until("20:00");
    let tries = story.requests("patch").len();
    assert!((60..=250).contains(&tries), "{tries} tries in an hour");
}

#[test]
fn forgets_objects_that_vanished_during_a_watch_outage() {
    let story = ready_to_stop();
    story.apply(deployment("gone").replicas(3).stop("19:00"));
    story.api.on_request(|_| Some(Fault::DropBefore));
    story.api.close_watches();
    story.pass(Duration::from_millis(100));
    story.api.delete("dev", "gone").unwrap();
    story.api.compact();
    story.api.serve_well();
    story.sleep_until("19:01");
    assert_eq!(story.replicas("web"), 0);
    let asked_for = story
        .requests("patch")
        .into_iter()
        .filter(|line| line.name == "gone");
    assert_eq!(asked_for.filter(|line| line.code == Some(404)).count(), 0);
}

#[test]
fn two_controllers_make_one_change_together() {
    let mut story = ready_to_stop();
    story.start_scaler(Settings::default());
    story.sleep_until("2026-11-23 10:00");
    // Stop, start and so on: 19:00 on Friday to 09:00 on Monday.
    assert_eq!(story.patched("web").len(), 6);
    let conflicts = story
        .requests("patch")
        .iter()
        .filter(|line| line.code == Some(422))
        .count();
    assert!(conflicts > 0, "both have tried");
    assert_eq!(story.requests("get").len(), conflicts, "one GET a conflict");
}

#[test]
fn kill_in_the_middle_of_a_boundary_loses_no_count() {
    let mut story = Sandbox::at("2026-11-20 18:00 UTC");
    for n in 0..200 {
        story
            .api
            .apply(
                deployment(&format!("web-{n}"))
                    .replicas(n % 7 + 1)
                    .stop("19:00")
                    .into(),
            )
            .unwrap();
    }
    story.sleep_until("18:59");
    story.api.on_request(|line| {
        (line.verb == "patch").then_some(Fault::Delay(Duration::from_millis(100)))
    });
    story.pass(Duration::from_millis(60_000 - 50 + 250));
    story.kill_scalers();
    story.api.serve_well();
    let count = |n: u32| story.replicas(&format!("web-{n}"));
    let stopped = (0..200).filter(|n| count(*n) == 0).count();
    assert!(stopped > 0 && stopped < 200, "{stopped}");
    for n in 0..200 {
        let name = format!("web-{n}");
        let saved = story.label(&name, "saved-replicas");
        let kept = if count(n) == 0 {
            saved.unwrap()
        } else {
            count(n).to_string()
        };
        assert_eq!(kept, (n % 7 + 1).to_string(), "{name}");
    }
    story.start_scaler(Settings::default());
    story.settle();
    assert!((0..200).all(|n| story.replicas(&format!("web-{n}")) == 0));
}

#[test]
fn shutdown_waits_for_requests_in_flight() {
    let mut story = ready_to_stop();
    story
        .api
        .on_request(|line| (line.verb == "patch").then_some(Fault::Delay(Duration::from_secs(5))));
    story.sleep_until("19:00");
    story.stop_scalers();
    assert_eq!(story.replicas("web"), 0);
    assert_eq!(
        story.events("web"),
        ["Stopped"],
        "it is told like any other"
    );
    let done = r#"dayshift_transitions_total{action="stop",outcome="done"} 1"#;
    assert!(story.metrics().lines().any(|line| line == done));
    assert_eq!(
        story.telemetry.ready(),
        Err(vec!["dayshift is shutting down"])
    );
}
