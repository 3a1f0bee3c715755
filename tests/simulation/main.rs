//! The unchanged controller on paused time, against the cluster in memory, with everything going
//! wrong that can.
//!
//! From a seed comes a story: schedules, users, other writers, one to three scalers that are
//! killed and started again, clocks that are set, and faults between any two messages. An oracle
//! that knows the documentation alone looks at every write that the API accepts, and at the
//! objects whenever all has been well for long enough. A story that fails is made shorter as long
//! as it still fails, and printed with the command that tells it again.
//!
//! `SIMULATION_SEEDS=1000000` tells more of them, `SIMULATION_SEEDS=10000..20000` others, and
//! `SIMULATION_SEED=123` one again.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr
)]

#[path = "../oracle/asked.rs"]
mod asked;
#[path = "../oracle/calendar.rs"]
mod calendar;
mod generate;
mod given;
mod hands;
mod judge;
mod object;
mod outcome;
#[path = "../oracle/phase.rs"]
mod phase;
#[path = "../oracle/plans.rs"]
mod plans;
mod rules;
mod scaler;
mod shrink;
mod story;
mod texts;
mod timeline;
mod weather;
mod wire;
mod witness;
mod world;

use std::{
    env,
    hash::{DefaultHasher, Hash, Hasher},
    ops::Range,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Instant,
};

use story::Story;
use world::{Told, tell};

/// Some minutes on two cores.
const SEEDS: u64 = 10_000;

fn number(variable: &str) -> Option<u64> {
    env::var(variable).ok()?.parse().ok()
}

/// `SIMULATION_SEEDS` is a number of seeds, or a range of them: `10000..20000`.
fn seeds() -> Range<u64> {
    let Ok(text) = env::var("SIMULATION_SEEDS") else {
        return 0..SEEDS;
    };
    let (from, to) = text.split_once("..").unwrap_or(("0", &text));
    from.parse().unwrap()..to.parse().unwrap()
}

#[test]
fn no_count_is_lost_and_the_newest_boundary_wins() {
    if let Some(seed) = number("SIMULATION_SEED") {
        return tell_again(seed);
    }
    let (seeds, begun) = (seeds(), Instant::now());
    let next = AtomicU64::new(seeds.start);
    let (faults, writes) = (AtomicU64::new(0), AtomicU64::new(0));
    let failed = Mutex::new(None);
    let work = || {
        while failed.lock().unwrap().is_none() {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return;
            }
            let told = told(&Story::of(seed));
            faults.fetch_add(told.faults as u64, Ordering::Relaxed);
            writes.fetch_add(told.writes as u64, Ordering::Relaxed);
            if told.failure.is_some() {
                let mut failed = failed.lock().unwrap();
                *failed = Some(failed.unwrap_or(seed).min(seed));
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    eprintln!(
        "{} stories with {} writes and {} faults in {:.1} s",
        next.load(Ordering::Relaxed).min(seeds.end) - seeds.start,
        writes.load(Ordering::Relaxed),
        faults.load(Ordering::Relaxed),
        begun.elapsed().as_secs_f64()
    );
    if let Some(seed) = failed.into_inner().unwrap() {
        tell_again(seed);
    }
}

/// Seeds beyond those of every day that have found a defect.
#[test]
fn what_a_night_has_found_stays_mended() {
    for seed in [10_297, 12_248, 22_293, 24_247] {
        if told(&Story::of(seed)).failure.is_some() {
            tell_again(seed);
        }
    }
}

#[test]
fn a_seed_is_told_the_same_way_each_time() {
    for seed in 0..50 {
        let hash = || {
            let mut hasher = DefaultHasher::new();
            told(&Story::of(seed)).trace.hash(&mut hasher);
            hasher.finish()
        };
        assert_eq!(hash(), hash(), "seed {seed}");
    }
}

/// Tells one story, and fails with the shortest that still does.
fn tell_again(seed: u64) {
    let story = Story::of(seed);
    let first = told(&story);
    let Some(why) = &first.failure else {
        eprintln!("{story}{}", first.trace.join("\n"));
        return;
    };
    let (story, steps) = match env::var("SIMULATION_STEPS") {
        Ok(steps) => shrink::only(&story, &steps),
        Err(_) => shrink::shortest(&story),
    };
    let told = told(&story);
    panic!(
        "{}\nat first: {why}\nThe story:\n{story}What happened:\n  {}\n\
         To repeat it: SIMULATION_SEED={seed} cargo test --test simulation\n\
         Its shortest form: SIMULATION_SEED={seed} SIMULATION_STEPS={steps} cargo test --test simulation",
        told.failure.as_deref().unwrap_or("it does not fail"),
        told.trace.join("\n  "),
    );
}

/// What came of a story, a panic included.
fn told(story: &Story) -> Told {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    catch_unwind(AssertUnwindSafe(|| tell(story))).unwrap_or_else(|_| Told {
        failure: Some("it panicked".to_owned()),
        ..Told::default()
    })
}
