//! Days on which `stop-after` stops workloads, with defaults of teams, users and kills.
//!
//! - `scenario`: the workloads and events, from a seed
//! - `world`: the cluster in memory, the controller, and users
//! - `oracle`: when each workload runs, only from `docs/guides/stop-after.md`, `docs/guides/team-defaults.md` and
//!   `docs/concepts/behavior.md`

mod oracle;
mod scenario;
mod world;

use scenario::TimerDay;

use crate::{number, seeds};

/// One day for this many of the other scenarios.
const SHARE: usize = 16;

#[test]
fn a_timer_stops_each_workload_that_long_after_its_last_start() {
    if let Some(seed) = number("SIMULATION_TIMER") {
        return assert_passes(seed);
    }
    let (mut days, mut stops) = (0, 0);
    for seed in seeds().into_iter().step_by(SHARE) {
        let outcome = world::run(&TimerDay::of(seed));
        if outcome.failure.is_some() {
            return assert_passes(seed);
        }
        days += 1;
        stops += outcome.stops;
    }
    eprintln!("{days} days with {stops} stops by timers");
    assert!(stops >= 2 * days, "too few timers run out");
}

fn assert_passes(seed: u64) {
    let day = TimerDay::of(seed);
    let outcome = world::run(&day);
    let trace = outcome.trace.join("\n  ");
    let Some(why) = outcome.failure else {
        return eprintln!("{day:#?}\n  {trace}");
    };
    eprintln!("seed {seed} fails: {why}");
    panic!(
        "{day:#?}\n  {trace}\n  {why}\nTo repeat it: SIMULATION_TIMER={seed} cargo test --test simulation a_timer"
    );
}
