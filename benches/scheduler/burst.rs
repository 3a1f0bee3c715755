//! Many jobs that are due in the same second.

use chrono::TimeDelta;

use super::{dayshift, outcome::Outcome, tokio_cron_scheduler};

/// The time to add all jobs and to measure the idle cost.
fn before(jobs: u32) -> TimeDelta {
    TimeDelta::seconds(5) + TimeDelta::microseconds(100) * i32::try_from(jobs).unwrap()
}

/// Prints a table with a row for each size and scheduler.
pub(crate) fn print(sizes: &[u32]) {
    println!("Jobs that are due in the same second, each with its own cron expression.");
    println!("`channel` is the capacity of tokio-cron-scheduler's channels (200 by default).\n");
    println!(
        "{:>7}  {:38} {:>7} {:>6} {:>9} {:>9} {:>10} {:>14} {:>7}",
        "jobs", "", "ran", "twice", "first ms", "last ms", "adding ms", "idle CPU ms/s", "CPU ms"
    );
    for jobs in sizes {
        row(*jobs, "dayshift", &dayshift::run(*jobs, before(*jobs)));
        let enough = 2 * *jobs as usize;
        for (name, channel) in [
            ("tokio-cron-scheduler", 200),
            ("the same, channel of twice the jobs", enough),
        ] {
            row(
                *jobs,
                name,
                &tokio_cron_scheduler::run(*jobs, before(*jobs), channel),
            );
        }
    }
}

fn row(jobs: u32, name: &str, outcome: &Outcome) {
    let Outcome {
        ran,
        twice,
        late,
        adding,
        idle,
        cpu,
    } = outcome;
    let [first, last] = late.map_or(["-".to_owned(), "-".to_owned()], |(first, last)| {
        [format!("{first:.1}"), format!("{last:.1}")]
    });
    let adding = adding.num_milliseconds();
    let idle = idle.map_or("-".to_owned(), |idle| format!("{idle:.2}"));
    println!(
        "{jobs:7}  {name:38} {ran:7} {twice:6} {first:>9} {last:>9} {adding:10} {idle:>14} {cpu:7.0}"
    );
}
