//! Many jobs due in one second.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use dayshift::clock::Clock;
use rustix::time::{ClockId, clock_gettime};
use tokio::time::sleep;

use super::{ours, roll::Roll, theirs};

/// How long it is looked on while nothing is due.
const IDLE: TimeDelta = TimeDelta::seconds(2);
/// How long a job may be late before it is given up.
const AFTER: TimeDelta = TimeDelta::seconds(6);

/// How long there is for adding all jobs and for measuring that nothing happens.
fn before(jobs: u32) -> TimeDelta {
    TimeDelta::seconds(5) + TimeDelta::microseconds(100) * i32::try_from(jobs).unwrap()
}

/// A table with a row for each size and scheduler.
pub(crate) fn print(sizes: &[u32]) {
    println!("Jobs that are due in one second, each on a cron text of its own.");
    println!(
        "`channel` is how many messages tokio-cron-scheduler's channels hold (200 by default).\n"
    );
    println!(
        "{:>7}  {:38} {:>7} {:>6} {:>9} {:>9} {:>10} {:>14} {:>7}",
        "jobs", "", "ran", "twice", "first ms", "last ms", "adding ms", "idle CPU ms/s", "CPU ms"
    );
    for jobs in sizes {
        row(*jobs, "dayshift", &ours::run(*jobs, before(*jobs)));
        let enough = 2 * *jobs as usize;
        for (name, channel) in [
            ("tokio-cron-scheduler", 200),
            ("the same, channel of twice the jobs", enough),
        ] {
            row(*jobs, name, &theirs::run(*jobs, before(*jobs), channel));
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

/// What came of it.
pub(crate) struct Outcome {
    ran: usize,
    twice: usize,
    late: Option<(f64, f64)>,
    adding: TimeDelta,
    /// Milliseconds of CPU time in each idle second; none where adding left no idle second.
    idle: Option<f64>,
    /// The same in all, from a second before the instant on.
    cpu: f64,
}

/// Waits for the instant and what comes after it; the jobs run elsewhere.
pub(crate) async fn look_on(roll: &Roll, begun: DateTime<Utc>) -> Outcome {
    let added = Utc::now();
    let calm = roll.due - IDLE - TimeDelta::seconds(1);
    let in_time = added < calm;
    until(calm).await;
    let start = cpu();
    until(roll.due - TimeDelta::seconds(1)).await;
    let idle = in_time.then(|| (cpu() - start) / IDLE.as_seconds_f64());
    let start = cpu();
    until(roll.due).await;
    while !roll.all_ran() && Utc::now() < roll.due + AFTER {
        sleep(Duration::from_millis(100)).await;
    }
    let spent = cpu() - start;
    let (ran, twice) = roll.counts();
    Outcome {
        ran,
        twice,
        late: roll.first_and_last(),
        adding: added - begun,
        idle,
        cpu: spent,
    }
}

async fn until(instant: DateTime<Utc>) {
    Clock::system().sleep_until(instant).await;
}

/// Milliseconds of CPU time that this process has taken.
fn cpu() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    #[expect(clippy::cast_precision_loss, reason = "far from 2^53")]
    let milliseconds = time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6;
    milliseconds
}
