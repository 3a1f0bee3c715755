//! Tests of start slots (`--max-starting`).

use std::num::NonZeroUsize;

use chrono::TimeDelta;
use dayshift_cluster::write::PatchError;

use crate::{
    core::tests::{
        EVENING,
        rig::{Deployment, NO_EFFECTS, Rig, deployment},
    },
    settings::Settings,
    telemetry::snapshot::WorkStatus,
};

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

/// A workload that never becomes ready, and whose user has written the labels of a start. Its schedule is
/// invalid, so dayshift does not correct the labels.
fn forged(name: &str) -> Deployment {
    let forged = deployment(name).namespace("evil").hours("never");
    let forged = forged.label("state", "running");
    forged.label("last", "2099-01-01T00.00.00Z")
}

#[test]
fn labels_that_users_write_take_no_start_slot_from_waiting_starts() {
    let team = ["web", "db", "api"].map(|name| office(name, "team"));
    let mut rig = two_slots(team);
    rig.tick_tomorrow("08:59:00");
    for name in ["a", "b", "c"] {
        rig.apply(forged(name));
    }
    rig.respond_to_all();
    rig.tick("09:00:00");
    rig.respond_to_all();
    assert_eq!(rig.core.gate.waiting(), 3, "all slots are taken");
    let before = rig.tick("09:08:59");
    assert!(before.iter().all(|effect| !effect.starts_with("patch ")));
    // A time in the future does not prolong the slot.
    let mut started = rig.tick("09:09:00");
    started.retain(|effect| effect.starts_with("patch "));
    assert_eq!(
        started,
        ["patch web: start 0 -> 3", "patch db: start 0 -> 3"]
    );
    rig.respond_to_all();
    for name in ["a", "b", "c"] {
        rig.apply(forged(name).replicas(0));
        rig.apply(forged(name));
    }
    rig.respond_to_all();
    rig.take_effects();
    rig.make_ready("web");
    assert_eq!(rig.take_patches(), ["patch api: start 0 -> 3"]);
}

/// The slot is free at the time of the next stop.
#[test]
fn a_start_that_has_a_slot_too_late_does_not_wait_any_more() {
    let settings = Settings {
        max_starting: NonZeroUsize::new(1),
        ready_within: TimeDelta::hours(10),
        ..Settings::default()
    };
    let all = ["a", "b"].map(|name| office(name, "dev"));
    let mut rig = Rig::with(EVENING, settings).adopted(all);
    rig.tick("19:00:00");
    rig.respond_to_all();
    rig.tick_tomorrow("09:00:00");
    rig.respond_to_all();
    assert_eq!(rig.work("b"), WorkStatus::WaitingForSlot);
    // The first step stops `a`. In the second one, its slot expires while `b` is queued for its stop.
    rig.tick("19:00:00");
    rig.tick("19:00:00");
    rig.respond_to_all();
    assert_eq!(rig.state("b"), Some("stopped"));
    assert_eq!(rig.work("b"), WorkStatus::Idle);
    assert_eq!(rig.core.gate.waiting(), 0);
}
