//! Nights on which somebody connects to Services of what is stopped: the controller, the activator on loopback
//! sockets, and requests.
//!
//! - `night`: what is there and what happens, from a seed
//! - `world`: the cluster in memory, both programs and the clients
//! - `judge`: what a request may wake and what is told of it, from `docs/guides/wake-on-request.md` alone

mod judge;
mod night;
mod world;

use night::Night;

use crate::{number, seeds};

/// So many nights for each story of the others.
const SHARE: usize = 16;

/// Linux takes every address of 127.0.0.0/8 without being told to, so that each process has one of its own.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "an address of its own on loopback")]
fn only_counted_requests_wake_a_workload() {
    if let Some(seed) = number("SIMULATION_NIGHT") {
        return fail_if_wrong(seed);
    }
    let (mut nights, mut wakes) = (0, 0);
    for seed in seeds().into_iter().step_by(SHARE) {
        let told = world::run(&Night::of(seed));
        if told.failure.is_some() {
            return fail_if_wrong(seed);
        }
        nights += 1;
        wakes += told.wakes;
    }
    eprintln!("{nights} nights with {wakes} wakes");
    assert!(wakes >= nights, "too few are woken");
}

fn fail_if_wrong(seed: u64) {
    let night = Night::of(seed);
    let told = world::run(&night);
    let trace = told.trace.join("\n  ");
    let Some(why) = told.failure else {
        return eprintln!("{night:#?}\n  {trace}");
    };
    eprintln!("seed {seed} fails: {why}");
    panic!(
        "{night:#?}\n  {trace}\nTo repeat it: SIMULATION_NIGHT={seed} cargo test --test simulation no_count"
    );
}
