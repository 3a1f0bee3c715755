//! Tests of the invariants of the core, without a runtime.

use std::{num::NonZeroUsize, time::Duration};

use chrono::TimeDelta;

use dayshift_cluster::write::{FailureKind, PatchError, Unavailable};
use serde_json::json;

use crate::{
    core::rig::{Deployment, NO_EFFECTS, Rig, deployment},
    object::work::Class,
    settings::Settings,
};

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
    assert!(core.next_boundary().is_none());
    assert!(core.timers.len() < 20, "{}", core.timers.len());
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

#[test]
fn readiness_frees_a_start_slot_and_namespaces_get_slots_in_turn() {
    let settings = Settings {
        max_starting: NonZeroUsize::new(1),
        ..Settings::default()
    };
    let all = [("a", "dev"), ("b", "dev"), ("c", "dev"), ("d", "test")];
    let all =
        all.map(|(name, namespace)| deployment(name).namespace(namespace).hours("09:00-19:00"));
    let mut rig = Rig::with(EVENING, settings).adopted(all);
    rig.tick("19:00:00");
    rig.respond_to_all();
    rig.take_effects();
    let mut started = rig.tick_tomorrow("09:00:00");
    started.retain(|effect| effect.starts_with("patch"));
    assert_eq!(started, ["patch a: start 0 -> 3"]);
    for (ready, next) in [("a", "b"), ("b", "d"), ("d", "c")] {
        rig.respond_to(ready);
        assert_eq!(rig.take_patches(), NO_EFFECTS);
        rig.make_ready(ready);
        assert_eq!(rig.take_patches(), [format!("patch {next}: start 0 -> 3")]);
    }
    rig.respond_to("c");
    rig.make_ready("c");
    assert_eq!(rig.take_patches(), NO_EFFECTS);
    assert_eq!(rig.core.gate.waiting(), 0);
}

#[test]
fn a_failed_start_frees_its_slot_for_the_next_start() {
    let settings = Settings {
        max_starting: NonZeroUsize::new(1),
        ..Settings::default()
    };
    let all = ["a", "b"].map(|name| deployment(name).hours("09:00-19:00"));
    let mut rig = Rig::with(EVENING, settings).adopted(all);
    rig.tick("19:00:00");
    rig.respond_to_all();
    rig.tick_tomorrow("09:00:00");
    while rig.next_wake() == "09:00:00" {
        rig.tick("09:00:00");
    }
    rig.fail("a", PatchError::Rejected("by policy".to_owned()));
    assert_eq!(rig.take_patches(), ["patch b: start 0 -> 3"]);
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

/// A Deployment with unique annotations of 8 kB. Its creation time increases with `number`.
fn long(number: u32) -> Deployment {
    let padded = |text: String| text + &" ".repeat(4_000);
    deployment(&format!("long-{number:03}"))
        .created(number)
        .annotation("start", &padded("09:00".to_owned()))
        .stop(&padded(format!(
            "19:00; {}:{:02}",
            20 + number / 60,
            number % 60
        )))
}

/// How many such Deployments fit into the text budget of a namespace.
const FIT: u32 = 65;

#[test]
fn the_newest_long_texts_of_a_namespace_are_rejected_until_older_ones_are_deleted() {
    let short = deployment("short").stop("19:00").created(1_000);
    let elsewhere = deployment("elsewhere").namespace("team").created(1_001);
    let elsewhere = elsewhere.stop(&("19:00".to_owned() + &" ".repeat(4_000)));
    // The newest are observed first.
    let all = (0..FIT + 15).rev().map(long);
    let mut rig = Rig::at("2026-11-20T08:00:00Z").adopted(all.chain([short, elsewhere]));
    for number in 0..FIT + 15 {
        let name = format!("long-{number:03}");
        let is_accepted = rig.error(&name).is_none() && rig.state(&name).is_some();
        assert_eq!(is_accepted, number < FIT, "{name}: {:?}", rig.error(&name));
    }
    let error = rig.error("long-079").unwrap();
    let expected = "dayshift/start: the annotations of dayshift have 8017 bytes";
    assert!(error.starts_with(expected), "{error}");
    assert!(rig.state("short").is_some() && rig.state("elsewhere").is_some());

    rig.take_effects();
    rig.delete("long-007");
    assert_eq!(rig.take_effects(), ["read long-065"]);
    rig.respond_to("long-065");
    assert_eq!(rig.take_effects(), ["patch long-065: adopt"]);
    rig.respond_to_all();
    assert_eq!(rig.error("long-065"), None);
    assert!(rig.error("long-066").is_some());
    rig.take_effects();
    rig.apply(deployment("long-066").stop("19:00"));
    assert_eq!(
        rig.take_effects(),
        ["patch long-066: adopt"],
        "an object with a short annotation is adopted"
    );
}

#[test]
fn a_stopped_object_whose_text_has_no_room_keeps_its_saved_count() {
    let mut rig = Rig::at("2026-11-20T18:00:00Z").adopted([long(79)]);
    rig.tick("19:00:00");
    rig.respond_to_all();
    assert_eq!(rig.saved("long-079"), Some("3"));
    for number in 0..FIT {
        rig.apply(long(number));
    }
    rig.respond_to_all();
    assert!(rig.error("long-079").is_some());
    rig.tick_tomorrow("09:00:00");
    rig.respond_to_all();
    assert_eq!(rig.saved("long-079"), Some("3"));
    assert_eq!(rig.state("long-079"), Some("stopped"));

    rig.take_effects();
    rig.delete("long-000");
    assert_eq!(rig.take_effects(), ["read long-079"]);
    rig.respond_to("long-079");
    // The start has become due meanwhile.
    assert_eq!(rig.take_effects(), ["patch long-079: start 0 -> 3"]);
}

/// A controller with two start slots.
fn two_slots(objects: impl IntoIterator<Item = Deployment>) -> Rig {
    let settings = Settings {
        max_starting: NonZeroUsize::new(2),
        ready_within: TimeDelta::minutes(10),
        ..Settings::default()
    };
    let mut rig = Rig::with(EVENING, settings).adopted(objects);
    rig.tick("19:00:00");
    rig.respond_to_all();
    rig
}

fn office(name: &str, namespace: &str) -> Deployment {
    deployment(name).namespace(namespace).hours("09:00-19:00")
}

#[test]
fn a_workload_holds_a_start_slot_at_most_for_the_time_of_the_controller() {
    let slow = ["a", "b"].map(|name| office(name, "dev").annotation("ready-within", "24h"));
    let mut rig = two_slots(slow.into_iter().chain([office("c", "team")]));
    rig.tick_tomorrow("09:00:00");
    rig.respond_to_all();
    for name in ["a", "b"] {
        rig.make_not_ready(name);
    }
    let before = rig.tick("09:09:59");
    assert_eq!(
        before,
        ["event team: StartsWait"],
        "no start before the slot expires"
    );
    assert_eq!(rig.tick("09:10:00"), ["patch c: start 0 -> 3"]);
}

#[test]
fn a_free_start_slot_goes_to_a_namespace_that_holds_fewer() {
    let evil = ["a", "b", "c", "d"].map(|name| office(name, "evil"));
    let later = office("e", "team").annotation("hours", "09:01-19:00");
    let mut rig = two_slots(evil.into_iter().chain([later]));
    rig.tick_tomorrow("09:00:00");
    rig.respond_to_all();
    for name in ["a", "b"] {
        rig.make_not_ready(name);
    }
    rig.tick("09:01:00");
    rig.take_effects();
    rig.make_ready("a");
    let started = rig.take_patches();
    assert_eq!(
        started,
        ["patch e: start 0 -> 3"],
        "c has waited longer, but its namespace has a slot"
    );
    rig.respond_to("e");
    rig.make_ready("b");
    assert_eq!(rig.take_patches(), ["patch c: start 0 -> 3"]);
}
