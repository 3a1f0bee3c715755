//! Nights on which clients connect to Services of stopped workloads: the controller, the activator on
//! loopback sockets, and the requests.
//!
//! - `night`: the objects and events, from a seed
//! - `world`: the cluster in memory, both programs, and the clients
//! - `oracle`: which workloads a request wakes, and the Events, only from `docs/guides/wake-on-request.md`

mod night;
mod oracle;
mod world;

use night::Night;

use crate::{number, seeds};

/// One night for this many of the other scenarios.
const SHARE: usize = 16;

/// Linux accepts every address of 127.0.0.0/8 without configuration, so that each process has its
/// own.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "an address of its own on loopback")]
fn only_counted_requests_wake_a_workload() {
    if let Some(seed) = number("SIMULATION_NIGHT") {
        return assert_passes(seed);
    }
    let (mut nights, mut wakes) = (0, 0);
    for seed in seeds().into_iter().step_by(SHARE) {
        let outcome = world::run(&Night::of(seed));
        if outcome.failure.is_some() {
            return assert_passes(seed);
        }
        nights += 1;
        wakes += outcome.wakes;
    }
    eprintln!("{nights} nights with {wakes} wakes");
    assert!(wakes >= nights, "too few workloads are woken");
}

fn assert_passes(seed: u64) {
    let night = Night::of(seed);
    let outcome = world::run(&night);
    let trace = outcome.trace.join("\n  ");
    let Some(why) = outcome.failure else {
        return eprintln!("{night:#?}\n  {trace}");
    };
    eprintln!("seed {seed} fails: {why}");
    panic!(
        "{night:#?}\n  {trace}\nTo repeat it: SIMULATION_NIGHT={seed} cargo test --test simulation only_counted"
    );
}
