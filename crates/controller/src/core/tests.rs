//! The invariants of the core, without a runtime.

use std::{num::NonZeroUsize, time::Duration};

use chrono::TimeDelta;

use dayshift_cluster::write::{FailureKind, PatchError, Unavailable};
use serde_json::json;

use crate::{
    core::rig::{Deployment, NOTHING, Rig, deployment},
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
    rig.shows(deployment("web").replicas(3).hours("09:00-19:00"));
    assert_eq!(rig.take(), ["patch web: adopt"]);
    rig.responds("web");
    rig.take();
    assert_eq!(rig.next_wake(), "19:00:00");
    assert_eq!(rig.tick("18:59:59.999"), NOTHING);
    assert_eq!(rig.tick("19:00:00"), ["patch web: stop 3 -> 0", "flush"]);
    let test = json!({"op": "test", "path": "/metadata/uid", "value": "web"});
    assert_eq!(rig.json_patch("web")[0], test);
    rig.responds("web");
    rig.echoes("web");
    assert_eq!(rig.take(), ["event web: Stopped"]);
    assert_eq!(rig.state("web"), Some("stopped"));
    // The adoption, after it, the stop, and after it: none for the echo.
    assert_eq!(rig.decisions("web"), 4);
}

#[test]
fn the_first_of_ten_thousand_leaves_after_one_decision_and_no_step_is_long() {
    let all = (0..10_000).map(|number| web(number).namespace(&format!("team-{}", number % 9)));
    let mut rig = Rig::at(EVENING).adopted(all);
    let before = rig.all_decisions();
    let first = rig.tick("19:00:00");
    assert_eq!(first, ["patch web-0: stop 3 -> 0", "flush"]);
    assert_eq!(rig.all_decisions() - before, 1);
    assert_eq!(rig.next_wake(), "19:00:00");
    let second = rig.tick_next();
    assert_eq!(second.len(), 39, "the window is 40");
    while rig.next_wake() == "19:00:00" {
        assert_eq!(rig.tick_next(), NOTHING);
    }
    rig.respond_to_all();
    assert!(rig.longest_step() <= 64 + 40, "{}", rig.longest_step());
    assert_eq!(rig.state("web-9999"), Some("stopped"));
}

#[test]
fn one_object_asks_for_a_missing_permission_and_its_success_releases_the_others() {
    let all = ["a", "b", "c"].map(|name| deployment(name).stop("19:00"));
    let mut rig = Rig::at(EVENING).adopted(all);
    assert_eq!(rig.tick("19:00:00"), ["patch a: stop 3 -> 0", "flush"]);
    rig.forbidden("a");
    assert_eq!(rig.take(), ["event a: ScaleFailed"]);
    for asks in ["a", "b", "c"] {
        // Half-open: each in its turn.
        assert_eq!(rig.tick_next(), [format!("patch {asks}: stop 3 -> 0")]);
        rig.forbidden(asks);
    }
    assert!(!rig.is_met("permission"));
    assert_eq!(rig.tick_next(), ["patch a: stop 3 -> 0"]);
    rig.responds("a");
    let mut effects = rig.take();
    effects.sort();
    let expected = [
        "event a: Stopped",
        "patch b: stop 3 -> 0",
        "patch c: stop 3 -> 0",
    ];
    assert_eq!(effects, expected);
    assert!(rig.is_met("permission"));
}

#[test]
fn a_conflict_costs_one_read_and_one_patch() {
    let mut rig = Rig::at(EVENING).adopted([deployment("web").stop("19:00")]);
    rig.tick("19:00:00");
    rig.fails("web", PatchError::Conflict);
    assert_eq!(rig.take(), ["read web"]);
    rig.responds("web");
    assert_eq!(rig.take(), ["patch web: stop 3 -> 0"]);
    rig.responds("web");
    assert_eq!(rig.take(), ["event web: Stopped"]);
}

#[test]
fn at_most_five_conflicts_in_a_row_are_retried_at_once() {
    let mut rig = Rig::at(EVENING).adopted([deployment("web").stop("19:00")]);
    rig.tick("19:00:00");
    for _ in 0..5 {
        rig.fails("web", PatchError::Conflict);
        rig.responds("web");
        rig.take();
    }
    rig.fails("web", PatchError::Conflict);
    assert_eq!(rig.take(), ["event web: ScaleFailed"]);
    assert_eq!(
        rig.tick_next(),
        ["patch web: stop 3 -> 0"],
        "after a back-off"
    );
}

#[test]
fn a_failed_request_delays_only_its_own_object() {
    let all = ["a", "b"].map(|name| deployment(name).stop("19:00"));
    let mut rig = Rig::at(EVENING).adopted(all);
    rig.tick("19:00:00");
    rig.fails("a", PatchError::Rejected("by policy".to_owned()));
    assert!(rig.take().contains(&"patch b: stop 3 -> 0".to_owned()));
    rig.responds("b");
    assert_eq!(rig.state("b"), Some("stopped"));
}

#[test]
fn nothing_is_sent_while_the_server_is_away() {
    let all = ["a", "b"].map(|name| deployment(name).stop("19:00"));
    let mut rig = Rig::at(EVENING).adopted(all);
    rig.tick("19:00:00");
    let away = Unavailable {
        reason: "no route to host".to_owned(),
        retry_after: Some(Duration::from_secs(7)),
        kind: FailureKind::Unreachable,
    };
    rig.fails("a", PatchError::Unavailable(away));
    assert_eq!(rig.take(), NOTHING);
    assert_eq!(rig.next_wake(), "19:00:07");
    let mut sent = rig.tick_next();
    sent.sort();
    assert_eq!(sent, ["patch a: stop 3 -> 0", "patch b: stop 3 -> 0"]);
}

#[test]
fn only_the_time_is_asked_for_while_the_clock_is_wrong() {
    let mut rig = Rig::at(EVENING).adopted([deployment("web").stop("19:00")]);
    rig.clock_is_ahead(7_200);
    assert_eq!(rig.take(), ["version of Deployment"]);
    assert_eq!(rig.next_wake(), "20:00:05", "the next question");
    assert_eq!(rig.tick_next(), ["version of Deployment"]);
    rig.shows(deployment("api").stop("19:00"));
    assert_eq!(rig.take(), NOTHING);
    rig.clock_is_ahead(0);
    assert_eq!(rig.take(), ["patch api: adopt"]);
    assert_eq!(rig.next_wake(), "18:00:06", "the adoption becomes slow");
    rig.respond_to_all();
    rig.take();
    assert_eq!(rig.next_wake(), "19:00:00");
}

#[test]
fn no_patch_leaves_after_a_shutdown_and_responses_are_reported() {
    let all = ["a", "b"].map(|name| deployment(name).stop("19:00"));
    let mut rig = Rig::at(EVENING).adopted(all);
    rig.tick("19:00:00");
    rig.shut_down();
    assert_eq!(rig.take(), NOTHING);
    assert!(!rig.core.is_done());
    rig.responds("a");
    assert_eq!(rig.take(), ["event a: Stopped"]);
}

#[test]
fn a_slow_request_is_given_up_for_a_newer_one_and_its_late_response_is_ignored() {
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
    rig.responds("web-0"); // It was given up.
    assert_eq!(taken(&rig, Class::Slow), 32);
}

#[test]
fn objects_that_come_and_go_leave_nothing_behind() {
    let mut rig = Rig::at(EVENING);
    for number in 0..1_000 {
        let name = format!("web-{number}");
        rig.shows(web(number).namespace(&format!("team-{number}")));
        rig.responds(&name);
        rig.deletes(&name);
    }
    rig.take();
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
            rig.fails(&format!("web-{number}"), PatchError::Conflict);
            effects.extend(rig.take());
        }
        rig.respond_to_all();
        effects.extend(rig.take());
        effects
    };
    assert_eq!(run(), run());
}

#[test]
fn a_wake_is_never_early_for_nothing() {
    let mut rig = Rig::at(EVENING).adopted((0..100).map(web));
    let before = rig.all_decisions();
    rig.tick("18:30:00");
    assert_eq!(rig.next_wake(), "19:00:00");
    assert_eq!(rig.all_decisions(), before);
}

#[test]
fn start_slots_go_to_the_namespaces_in_turn_and_are_freed_by_readiness() {
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
    rig.take();
    let mut started = rig.tick_tomorrow("09:00:00");
    started.retain(|effect| effect.starts_with("patch"));
    assert_eq!(started, ["patch a: start 0 -> 3"]);
    for (ready, next) in [("a", "b"), ("b", "d"), ("d", "c")] {
        rig.responds(ready);
        assert_eq!(rig.take_patches(), NOTHING);
        rig.is_ready(ready);
        assert_eq!(rig.take_patches(), [format!("patch {next}: start 0 -> 3")]);
    }
    rig.responds("c");
    rig.is_ready("c");
    assert_eq!(rig.take_patches(), NOTHING);
    assert_eq!(rig.core.gate.waiting(), 0);
}

#[test]
fn a_start_that_fails_gives_its_slot_to_the_next_one() {
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
    rig.fails("a", PatchError::Rejected("by policy".to_owned()));
    assert_eq!(rig.take_patches(), ["patch b: start 0 -> 3"]);
}

/// Objects that were stopped just now.
fn stopped(names: impl IntoIterator<Item = String>) -> Rig {
    let all = names
        .into_iter()
        .map(|name| deployment(&name).stop("19:00"));
    let mut rig = Rig::at(EVENING).adopted(all);
    rig.tick("19:00:00");
    rig.respond_to_all();
    rig.take();
    rig
}

#[test]
fn a_reverted_count_is_looked_up_once_within_the_window() {
    let mut rig = stopped(["web".to_owned()]);
    rig.sets_count("web", 3);
    assert_eq!(rig.take(), ["managers web"]);
    rig.sets_count("web", 0);
    rig.sets_count("web", 3);
    assert_eq!(rig.take(), NOTHING);
    let mut late = stopped(["web".to_owned()]);
    late.tick("19:15:01");
    late.sets_count("web", 3);
    assert_eq!(late.take(), NOTHING);
}

#[test]
fn at_most_four_reverted_objects_are_read_at_once() {
    let names = (0..10).map(|number| format!("web-{number}"));
    let mut rig = stopped(names.clone());
    for name in names {
        rig.sets_count(&name, 3);
    }
    let read = rig.take();
    assert_eq!(read.len(), 4, "{read:?}");
}

#[test]
fn counts_are_forgotten_after_the_window() {
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
fn stops_at_one_time_are_announced_together_and_once() {
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
fn a_stop_that_no_longer_comes_is_not_announced() {
    let settings = Settings {
        notice: TimeDelta::minutes(10),
        ..Settings::default()
    };
    let all = ["a", "b"].map(|name| deployment(name).stop("19:00"));
    let mut rig = Rig::with(EVENING, settings).adopted(all);
    rig.deletes("a");
    rig.shows(deployment("b").stop("20:00"));
    rig.respond_to_all();
    rig.take();
    assert_eq!(rig.tick("18:50:00"), NOTHING);
    assert_eq!(rig.tick("19:50:00"), ["event b: StopsSoon"]);
}

#[test]
fn a_rejection_at_the_very_boundary_is_retried_after_its_back_off() {
    let first = deployment("web").hours("01:00-04:45");
    let mut rig = Rig::at("2026-11-15T05:28:11Z").adopted([first]);
    rig.tick("08:50:50");
    rig.shows(deployment("web").hours("21:45-09:00"));
    rig.fails("web", PatchError::Rejected("by policy".to_owned()));
    let rejected = |rig: &mut Rig| {
        rig.fails("web", PatchError::Rejected("by policy".to_owned()));
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

/// A Deployment with annotations of 8 kB that no other has, created after those with lower numbers.
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

/// How many of them fit into the budget of a namespace.
const FIT: u32 = 65;

#[test]
fn the_newest_long_texts_of_a_namespace_are_rejected_until_older_ones_go() {
    let short = deployment("short").stop("19:00").created(1_000);
    let elsewhere = deployment("elsewhere").namespace("team").created(1_001);
    let elsewhere = elsewhere.stop(&("19:00".to_owned() + &" ".repeat(4_000)));
    // The newest are shown first.
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

    rig.take();
    rig.deletes("long-007");
    assert_eq!(rig.take(), ["read long-065"]);
    rig.responds("long-065");
    assert_eq!(rig.take(), ["patch long-065: adopt"]);
    rig.respond_to_all();
    assert_eq!(rig.error("long-065"), None);
    assert!(rig.error("long-066").is_some());
    rig.take();
    rig.shows(deployment("long-066").stop("19:00"));
    assert_eq!(rig.take(), ["patch long-066: adopt"], "it is short now");
}

#[test]
fn a_stopped_object_whose_text_has_no_room_keeps_its_saved_count() {
    let mut rig = Rig::at("2026-11-20T18:00:00Z").adopted([long(79)]);
    rig.tick("19:00:00");
    rig.respond_to_all();
    assert_eq!(rig.saved("long-079"), Some("3"));
    for number in 0..FIT {
        rig.shows(long(number));
    }
    rig.respond_to_all();
    assert!(rig.error("long-079").is_some());
    rig.tick_tomorrow("09:00:00");
    rig.respond_to_all();
    assert_eq!(rig.saved("long-079"), Some("3"));
    assert_eq!(rig.state("long-079"), Some("stopped"));

    rig.take();
    rig.deletes("long-000");
    assert_eq!(rig.take(), ["read long-079"]);
    rig.responds("long-079");
    // The start that was due meanwhile.
    assert_eq!(rig.take(), ["patch long-079: start 0 -> 3"]);
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
        rig.is_not_ready(name);
    }
    let before = rig.tick("09:09:59");
    assert_eq!(before, ["event team: StartsWait"], "no start");
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
        rig.is_not_ready(name);
    }
    rig.tick("09:01:00");
    rig.take();
    rig.is_ready("a");
    let started = rig.take_patches();
    assert_eq!(
        started,
        ["patch e: start 0 -> 3"],
        "c has waited for longer"
    );
    rig.responds("e");
    rig.is_ready("b");
    assert_eq!(rig.take_patches(), ["patch c: start 0 -> 3"]);
}
