//! The cost of a transition in dayshift itself: the decision, the patch, and the scheduler with up
//! to a million jobs. The cost of a job should not depend on their number.
//!
//! `cargo bench --bench transition`
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

#[path = "../tests/support/measuring/large.rs"]
mod large;
#[path = "../tests/support/measuring/stopped.rs"]
mod stopped;

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::write::guarded_patch;
use dayshift_controller::Scheduler;
use dayshift_workload::Prefix;
use divan::{Bencher, black_box, counter::ItemsCount};
use stopped::{MORNING, NIGHT, Stopped, at, hours, stored_object};

fn main() {
    divan::main();
}

#[divan::bench]
fn decide_that_nothing_is_due(bencher: Bencher<'_, '_>) {
    let stopped = Stopped::observe();
    bencher.bench_local(|| stopped.decide(black_box(at(NIGHT, 60))));
}

#[divan::bench]
fn decide_that_a_start_is_due(bencher: Bencher<'_, '_>) {
    let stopped = Stopped::observe();
    bencher.bench_local(|| stopped.decide(black_box(at(MORNING, 0))));
}

#[divan::bench]
fn decide_at_the_first_observation(bencher: Bencher<'_, '_>) {
    let new = Stopped::from_object(stored_object(&hours()));
    bencher.bench_local(|| new.decide(black_box(at(NIGHT, -60))));
}

/// Builds a patch and serializes it.
#[divan::bench]
fn patch_of_a_start(bencher: Bencher<'_, '_>) {
    let stopped = Stopped::observe();
    let start = stopped.write(at(MORNING, 0));
    bencher.bench_local(|| {
        let patch = guarded_patch(&stopped.observed, black_box(&start), &Prefix::default());
        serde_json::to_vec(&patch).unwrap()
    });
}

const JOBS: [u32; 3] = [10_000, 100_000, 1_000_000];

/// One of the seconds of a day: many jobs are due in each.
fn due(job: u32) -> DateTime<Utc> {
    at(NIGHT, 0) + TimeDelta::seconds(i64::from(job) * 7919 % 86_400)
}

fn scheduler(jobs: u32) -> Scheduler<u32, DateTime<Utc>> {
    let mut scheduler = Scheduler::new();
    for job in 0..jobs {
        scheduler.set(job, due(job));
    }
    scheduler
}

#[divan::bench(args = JOBS, sample_count = 20)]
fn make_all_due(bencher: Bencher<'_, '_>, jobs: u32) {
    bencher
        .counter(ItemsCount::new(jobs))
        .bench_local(|| scheduler(jobs));
}

#[divan::bench(args = JOBS, sample_count = 20)]
fn pop_all(bencher: Bencher<'_, '_>, jobs: u32) {
    bencher
        .counter(ItemsCount::new(jobs))
        .with_inputs(|| scheduler(jobs))
        .bench_local_values(|mut scheduler| {
            while let Some(job) = scheduler.take_due(at(NIGHT, 1440)) {
                black_box(job);
            }
        });
}

/// Changes the due time of one job, as after a transition.
#[divan::bench(args = JOBS)]
fn move_one(bencher: Bencher<'_, '_>, jobs: u32) {
    let mut scheduler = scheduler(jobs);
    let mut job = 0;
    bencher.bench_local(|| {
        job = (job + 7919) % jobs;
        scheduler.set(job, due(black_box(job)) + TimeDelta::days(1));
    });
}

#[divan::bench(args = JOBS)]
fn next_instant(bencher: Bencher<'_, '_>, jobs: u32) {
    let scheduler = scheduler(jobs);
    bencher.bench_local(|| black_box(&scheduler).next());
}
