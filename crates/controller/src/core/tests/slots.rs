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
