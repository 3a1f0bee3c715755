//! Mornings: starts that wait for dependencies, and for a slot of `--max-starting`.
//!
//! - `scenario`: the objects and events, from a seed
//! - `world`: the controller, pods that become ready, users, and kills
//! - `known`: the oracle's knowledge of an object, and its due start
//! - `notices`: Events about starts that wait for a slot
//! - `oracle`: which starts are allowed, only from the documentation: `docs/guides/start-order.md`
//!
//! Dependencies on Services have their own tests in `tests/controller/starts/waits/services.rs`.

mod known;
mod notices;
mod oracle;
mod scenario;
mod world;

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use scenario::Morning;

use crate::{number, seeds};

/// One morning for this many of the other scenarios.
const SHARE: usize = 4;

#[test]
fn no_start_precedes_its_dependency_or_waits_forever() {
    if let Some(seed) = number("SIMULATION_MORNING") {
        return assert_passes(seed, true);
    }
    let seeds: Vec<_> = seeds().into_iter().step_by(SHARE).collect();
    let next = AtomicUsize::new(0);
    let [starts, waited, notices] = [const { AtomicUsize::new(0) }; 3];
    let work = || {
        while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = world::run(&Morning::of(*seed));
            starts.fetch_add(outcome.starts, Ordering::Relaxed);
            waited.fetch_add(outcome.waited, Ordering::Relaxed);
            notices.fetch_add(outcome.notices, Ordering::Relaxed);
            if outcome.failure.is_some() {
                return Some(*seed);
            }
        }
        None
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let failed = thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let seeds = all.into_iter().filter_map(|it| it.join().unwrap());
        seeds.min()
    });
    let [starts, waited, notices] = [starts, waited, notices].map(AtomicUsize::into_inner);
    eprintln!(
        "{} mornings with {starts} starts, of which {waited} waited, and {notices} notices of it",
        seeds.len()
    );
    if let Some(seed) = failed {
        assert_passes(seed, false);
    }
    assert!(waited * 5 > starts, "too few starts wait");
    assert!(
        notices * 4 > seeds.len(),
        "too few Events about waiting starts"
    );
}

fn assert_passes(seed: u64, prints_trace: bool) {
    let morning = Morning::of(seed);
    let outcome = world::run(&morning);
    if let Some(why) = &outcome.failure {
        eprintln!("seed {seed} fails: {why}");
    }
    let trace = outcome.trace.join("\n  ");
    assert!(
        outcome.failure.is_none(),
        "{morning:#?}\n  {trace}\nTo repeat it: SIMULATION_MORNING={seed} cargo test --test simulation no_start"
    );
    if prints_trace {
        eprintln!("{morning:#?}\n  {trace}");
    }
}
