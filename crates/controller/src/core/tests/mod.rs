//! Tests of the invariants of the core, without a runtime.

use std::time::Duration;

use chrono::TimeDelta;

use dayshift_cluster::write::{FailureKind, PatchError, Unavailable};
use serde_json::json;

use crate::{
    core::tests::rig::{Deployment, NO_EFFECTS, Rig, deployment},
    object::work::Class,
    settings::Settings,
};

mod backlog;
mod rig;
mod slots;
mod texts;

const EVENING: &str = "2026-11-20T18:00:00Z";

fn web(number: usize) -> Deployment {
    deployment(&format!("web-{number}")).stop("19:00")
}

#[test]
fn a_stop_is_one_patch_at_its_time() {
    let mut rig = Rig::at(EVENING);
    rig.apply(deployment("web").replicas(3).hours("09:00-19:00"));
    assert_eq!(rig.take_effects(), ["patch web: adopt"]);
    rig.respond_to("web");
    rig.take_effects();
    assert_eq!(rig.next_wake(), "19:00:00");
    assert_eq!(rig.tick("18:59:59.999"), NO_EFFECTS);
    assert_eq!(rig.tick("19:00:00"), ["patch web: stop 3 -> 0", "flush"]);
    let test = json!({"op": "test", "path": "/metadata/uid", "value": "web"});
    assert_eq!(rig.json_patch("web")[0], test);
    rig.respond_to("web");
    rig.echo("web");
    assert_eq!(rig.take_effects(), ["event web: Stopped"]);
    assert_eq!(rig.state("web"), Some("stopped"));
    // The adoption, one after its response, the stop, and one after its response. None for the echo.
    assert_eq!(rig.decisions("web"), 4);
}

#[test]
fn the_first_of_ten_thousand_stops_is_sent_after_one_decision_and_steps_are_bounded() {
    let all = (0..10_000).map(|number| web(number).namespace(&format!("team-{}", number % 9)));
    let mut rig = Rig::at(EVENING).adopted(all);
    let before = rig.all_decisions();
    let first = rig.tick("19:00:00");
    assert_eq!(first, ["patch web-0: stop 3 -> 0", "flush"]);
    assert_eq!(rig.all_decisions() - before, 1);
    assert_eq!(rig.next_wake(), "19:00:00");
    let second = rig.tick_next();
    assert_eq!(second.len(), 39, "40 can be in flight");
    while rig.next_wake() == "19:00:00" {
        assert_eq!(rig.tick_next(), NO_EFFECTS);
    }
    rig.respond_to_all();
    assert!(rig.max_decisions() <= 64 + 40, "{}", rig.max_decisions());
    assert_eq!(rig.state("web-9999"), Some("stopped"));
}

#[test]
fn objects_retry_a_forbidden_patch_in_turn_and_the_first_success_releases_all() {
    let all = ["a", "b", "c"].map(|name| deployment(name).stop("19:00"));
    let mut rig = Rig::at(EVENING).adopted(all);
    assert_eq!(rig.tick("19:00:00"), ["patch a: stop 3 -> 0", "flush"]);
    rig.forbid("a");
    assert_eq!(rig.take_effects(), ["event a: ScaleFailed"]);
    for name in ["a", "b", "c"] {
        assert_eq!(rig.tick_next(), [format!("patch {name}: stop 3 -> 0")]);
        rig.forbid(name);
    }
    assert!(!rig.has_condition("permission"));
    assert_eq!(rig.tick_next(), ["patch a: stop 3 -> 0"]);
    rig.respond_to("a");
    let mut effects = rig.take_effects();
    effects.sort();
    let expected = [
        "event a: Stopped",
        "patch b: stop 3 -> 0",
        "patch c: stop 3 -> 0",
    ];
    assert_eq!(effects, expected);
    assert!(rig.has_condition("permission"));
}

/// A Role contains the name of one object.
#[test]
fn a_permission_that_only_one_object_lacks_is_reported_once() {
    let all = ["a", "b"].map(|name| deployment(name).stop("19:00"));
    let mut rig = Rig::at(EVENING).adopted(all);
    rig.tick("19:00:00");
    assert_eq!(rig.tick_next(), ["patch b: stop 3 -> 0"]);
    rig.forbid("a");
    assert_eq!(rig.take_effects(), ["event a: ScaleFailed"]);
    rig.respond_to("b");
    let mut effects = rig.take_effects();
    effects.sort();
    assert_eq!(effects, ["event b: Stopped", "patch a: stop 3 -> 0"]);
    rig.forbid("a");
    assert_eq!(rig.take_effects(), NO_EFFECTS);
}

#[test]
fn a_conflict_costs_one_read_and_one_patch() {
    let mut rig = Rig::at(EVENING).adopted([deployment("web").stop("19:00")]);
    rig.tick("19:00:00");
    rig.fail("web", PatchError::Conflict);
    assert_eq!(rig.take_effects(), ["read web"]);
    rig.respond_to("web");
    assert_eq!(rig.take_effects(), ["patch web: stop 3 -> 0"]);
    rig.respond_to("web");
    assert_eq!(rig.take_effects(), ["event web: Stopped"]);
}

#[test]
fn at_most_five_conflicts_in_a_row_are_retried_at_once() {
    let mut rig = Rig::at(EVENING).adopted([deployment("web").stop("19:00")]);
    rig.tick("19:00:00");
    for _ in 0..5 {
        rig.fail("web", PatchError::Conflict);
        rig.respond_to("web");
        rig.take_effects();
    }
    rig.fail("web", PatchError::Conflict);
    assert_eq!(rig.take_effects(), ["event web: ScaleFailed"]);
    assert_eq!(
        rig.tick_next(),
        ["patch web: stop 3 -> 0"],
        "the patch is sent again after a backoff"
    );
}

#[test]
fn a_failed_request_delays_only_its_own_object() {
    let all = ["a", "b"].map(|name| deployment(name).stop("19:00"));
    let mut rig = Rig::at(EVENING).adopted(all);
    rig.tick("19:00:00");
    rig.fail("a", PatchError::Rejected("by policy".to_owned()));
    assert!(
        rig.take_effects()
            .contains(&"patch b: stop 3 -> 0".to_owned())
    );
    rig.respond_to("b");
    assert_eq!(rig.state("b"), Some("stopped"));
}

#[test]
fn nothing_is_sent_while_the_server_is_unreachable() {
    let all = ["a", "b"].map(|name| deployment(name).stop("19:00"));
    let mut rig = Rig::at(EVENING).adopted(all);
    rig.tick("19:00:00");
    let unreachable = Unavailable {
        reason: "no route to host".to_owned(),
        retry_after: Some(Duration::from_secs(7)),
        kind: FailureKind::Unreachable,
    };
    rig.fail("a", PatchError::Unavailable(unreachable));
    assert_eq!(rig.take_effects(), NO_EFFECTS);
    assert_eq!(rig.next_wake(), "19:00:07");
    let mut sent = rig.tick_next();
    sent.sort();
    assert_eq!(sent, ["patch a: stop 3 -> 0", "patch b: stop 3 -> 0"]);
}

#[test]
fn only_the_server_time_is_requested_while_the_clock_is_wrong() {
    let mut rig = Rig::at(EVENING).adopted([deployment("web").stop("19:00")]);
    rig.set_clock_ahead(7_200);
    assert_eq!(rig.take_effects(), ["version of Deployment"]);
    assert_eq!(
        rig.next_wake(),
        "20:00:05",
        "the server's time is requested again after 5 s"
    );
    assert_eq!(rig.tick_next(), ["version of Deployment"]);
    rig.apply(deployment("api").stop("19:00"));
    assert_eq!(rig.take_effects(), NO_EFFECTS);
    rig.set_clock_ahead(0);
    assert_eq!(rig.take_effects(), ["patch api: adopt"]);
    assert_eq!(rig.next_wake(), "18:00:06", "the adoption becomes slow");
    rig.respond_to_all();
    rig.take_effects();
    assert_eq!(rig.next_wake(), "19:00:00");
}

#[test]
fn no_patch_is_sent_after_shutdown_and_responses_are_reported() {
    let all = ["a", "b"].map(|name| deployment(name).stop("19:00"));
    let mut rig = Rig::at(EVENING).adopted(all);
    rig.tick("19:00:00");
    rig.shut_down();
    assert_eq!(rig.take_effects(), NO_EFFECTS);
    assert!(!rig.core.is_done());
    rig.respond_to("a");
    assert_eq!(rig.take_effects(), ["event a: Stopped"]);
}

#[test]
fn the_oldest_slow_request_is_aborted_for_a_newer_one_and_its_response_is_ignored() {
    let all = (0..80).map(web);
    let mut rig = Rig::at(EVENING).adopted(all);
    rig.tick("19:00:00");
    rig.tick("19:00:00");
    let taken = |rig: &Rig, class| rig.core.flight.slots().taken(class);
    assert_eq!(taken(&rig, Class::Transition), 32);
    rig.tick("19:00:01");
    assert_eq!(taken(&rig, Class::Slow), 32);
    assert_eq!(taken(&rig, Class::Transition), 32);
    let effects = rig.tick("19:00:02");
    assert!(effects.contains(&"abort".to_owned()));
    assert_eq!(taken(&rig, Class::Slow), 32);
    rig.respond_to("web-0"); // It was aborted.
    assert_eq!(taken(&rig, Class::Slow), 32);
}

#[test]
fn deleted_objects_leave_no_state() {
    let mut rig = Rig::at(EVENING);
    for number in 0..1_000 {
        let name = format!("web-{number}");
        rig.apply(web(number).namespace(&format!("team-{number}")));
        rig.respond_to(&name);
        rig.delete(&name);
    }
    rig.take_effects();
    let core = &rig.core;
    let left = (core.store.len(), core.store.namespaces.len());
    assert_eq!(left, (0, 0));
    assert!(core.boundaries.next().is_none());
    assert!(core.boundaries.is_empty() && core.retries.is_empty());
}

#[test]
fn the_same_inputs_have_the_same_effects() {
    let run = || {
        let all = (0..50).map(|number| web(number).namespace(&format!("team-{}", number % 7)));
        let mut rig = Rig::at(EVENING).adopted(all);
        let mut effects = rig.tick("19:00:00");
        for number in [0, 7, 14] {
            effects.extend(rig.tick_next());
            rig.fail(&format!("web-{number}"), PatchError::Conflict);
            effects.extend(rig.take_effects());
        }
        rig.respond_to_all();
        effects.extend(rig.take_effects());
        effects
    };
    assert_eq!(run(), run());
}

#[test]
fn a_step_without_due_work_makes_no_decision() {
    let mut rig = Rig::at(EVENING).adopted((0..100).map(web));
    let before = rig.all_decisions();
    rig.tick("18:30:00");
    assert_eq!(rig.next_wake(), "19:00:00");
    assert_eq!(rig.all_decisions(), before);
}

/// A controller that has just stopped these objects.
fn stopped(names: impl IntoIterator<Item = String>) -> Rig {
    let all = names
        .into_iter()
        .map(|name| deployment(&name).stop("19:00"));
    let mut rig = Rig::at(EVENING).adopted(all);
    rig.tick("19:00:00");
    rig.respond_to_all();
    rig.take_effects();
    rig
}

#[test]
fn the_manager_of_a_revert_is_read_once_and_only_within_the_window() {
    let mut rig = stopped(["web".to_owned()]);
    rig.set_count("web", 3);
    assert_eq!(rig.take_effects(), ["managers web"]);
    rig.set_count("web", 0);
    rig.set_count("web", 3);
    assert_eq!(rig.take_effects(), NO_EFFECTS);
    let mut late = stopped(["web".to_owned()]);
    late.tick("19:15:01");
    late.set_count("web", 3);
    assert_eq!(late.take_effects(), NO_EFFECTS);
}

#[test]
fn at_most_four_reverted_objects_are_read_at_once() {
    let names = (0..10).map(|number| format!("web-{number}"));
    let mut rig = stopped(names.clone());
    for name in names {
        rig.set_count(&name, 3);
    }
    let read = rig.take_effects();
    assert_eq!(read.len(), 4, "{read:?}");
}

#[test]
fn many_reverts_in_one_namespace_do_not_delay_the_lookup_of_another() {
    let evil: Vec<_> = (0..50).map(|number| format!("evil-{number}")).collect();
    let of_evil = |name: &String| deployment(name).namespace("evil").stop("19:00");
    let web = deployment("web").namespace("team").stop("19:00");
    let mut rig = Rig::at(EVENING).adopted(evil.iter().map(of_evil).chain([web]));
    rig.tick("19:00:00");
    rig.respond_to_all();
    for name in evil.iter().map(|name| &**name).chain(["web"]) {
        rig.set_count(name, 3);
    }
    rig.take_effects();
    rig.respond_to("evil-0");
    rig.respond_to("evil-1");
    assert_eq!(rig.take_effects(), ["managers evil-4", "managers web"]);
}

#[test]
fn set_counts_are_forgotten_after_the_revert_window() {
    let mut rig = stopped(["web".to_owned()]);
    let is_kept = |rig: &Rig| {
        let store = &rig.core.store;
        store
            .ids()
            .any(|id| store.get(id).unwrap().set_count.is_some())
    };
    rig.tick("19:15:00");
    assert!(is_kept(&rig));
    rig.tick("19:15:01");
    assert!(!is_kept(&rig));
}

#[test]
fn simultaneous_stops_in_a_namespace_are_announced_together_and_once() {
    let settings = Settings {
        notice: TimeDelta::minutes(10),
        ..Settings::default()
    };
    let all = [("a", "dev"), ("b", "dev"), ("c", "ops")];
    let all = all.map(|(name, namespace)| deployment(name).namespace(namespace).stop("19:00"));
    let mut rig = Rig::with(EVENING, settings).adopted(all);
    assert_eq!(rig.next_wake(), "18:50:00");
    let announced = ["event dev: StopsSoon", "event c: StopsSoon"];
    assert_eq!(rig.tick("18:50:00"), announced);
    assert_eq!(rig.next_wake(), "19:00:00");
}

#[test]
fn a_stop_is_not_announced_if_it_moves_or_its_object_is_deleted() {
    let settings = Settings {
        notice: TimeDelta::minutes(10),
        ..Settings::default()
    };
    let all = ["a", "b"].map(|name| deployment(name).stop("19:00"));
    let mut rig = Rig::with(EVENING, settings).adopted(all);
    rig.delete("a");
    rig.apply(deployment("b").stop("20:00"));
    rig.respond_to_all();
    rig.take_effects();
    assert_eq!(rig.tick("18:50:00"), NO_EFFECTS);
    assert_eq!(rig.tick("19:50:00"), ["event b: StopsSoon"]);
}

#[test]
fn a_rejected_patch_at_a_boundary_is_retried_after_a_backoff() {
    let first = deployment("web").hours("01:00-04:45");
    let mut rig = Rig::at("2026-11-15T05:28:11Z").adopted([first]);
    rig.tick("08:50:50");
    rig.apply(deployment("web").hours("21:45-09:00"));
    rig.fail("web", PatchError::Rejected("by policy".to_owned()));
    let rejected = |rig: &mut Rig| {
        rig.fail("web", PatchError::Rejected("by policy".to_owned()));
        rig.take_patches().is_empty()
    };
    while rig.next_wake() != "09:00:00" {
        let sent = rig.tick_next();
        if sent.iter().any(|effect| effect.starts_with("patch")) {
            assert!(rejected(&mut rig));
        }
    }
    let sent = rig.tick_next();
    assert!(sent[0].starts_with("patch web"), "{sent:?}");
    assert!(rejected(&mut rig));
    assert_ne!(rig.next_wake(), "09:00:00");
}
