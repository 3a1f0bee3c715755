//! The scheduler of `dayshift run`: one thread that sleeps until the next job is due.

use chrono::{TimeDelta, Utc};
use dayshift_cluster::clock::Clock;
use dayshift_controller::Scheduler;
use dayshift_schedule::{ExcludedDates, Schedule, ScheduleRule, Times, Zone};
use tokio::{runtime, task};

use super::{
    outcome::{Outcome, measure_run},
    recorder::Recorder,
};

pub(crate) fn run(jobs: u32, before: TimeDelta) -> Outcome {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let recorder = Recorder::new(jobs, before);
        let begun = Utc::now();
        let mut scheduler = Scheduler::new();
        for job in 0..jobs {
            let schedule = schedule(&recorder.cron());
            let next = schedule.next_after(begun, TimeDelta::zero()).unwrap();
            scheduler.set(job, next.at);
        }
        let running = task::spawn({
            let recorder = recorder.clone();
            async move {
                let clock = Clock::system();
                while let Some(next) = scheduler.next() {
                    clock.sleep_until(next).await;
                    while let Some((job, _)) = scheduler.take_due(clock.now()) {
                        recorder.ran(job);
                    }
                }
            }
        });
        let outcome = measure_run(&recorder, begun).await;
        running.abort();
        outcome
    })
}

fn schedule(cron: &str) -> Schedule {
    let rule = ScheduleRule::start_and_stop(Some(Times::parse(cron).unwrap()), None);
    Schedule::new(rule, ExcludedDates::default(), Zone::UTC)
}
