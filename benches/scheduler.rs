//! Many jobs due in one second: our in-memory scheduler beside `tokio-cron-scheduler`.
//!
//! ```text
//! cargo bench --bench scheduler -- [JOBS]
//! ```
//!
//! Each job notes when it ran. Both get the same cron text for all of them, and 10 s after the
//! instant for what is late. See `docs/decisions/scheduler.md`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark may stop where it stands, and prints"
)]

use std::{
    env, fmt,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU32, Ordering},
    },
    time::Duration,
};

use chrono::{DateTime, DurationRound, TimeDelta, Utc};
use dayshift::{
    clock::Clock,
    controller::Scheduler,
    schedule::{ExceptedDates, Rule, Schedule, Times, Zone},
};
use rustix::time::{ClockId, clock_gettime};
use tokio::{runtime, task, time::sleep};
use tokio_cron_scheduler::{Job, JobScheduler};

/// How long there is for adding all jobs and for measuring that nothing happens.
const BEFORE: TimeDelta = TimeDelta::seconds(20);
const IDLE: TimeDelta = TimeDelta::seconds(5);
/// How long a job may be late before it is given up.
const AFTER: TimeDelta = TimeDelta::seconds(10);

fn main() {
    if !env::args().any(|argument| argument == "--bench") {
        println!("to measure, say: cargo bench --bench scheduler");
        return;
    }
    let jobs = env::args().find_map(|argument| argument.parse().ok());
    let jobs: u32 = jobs.unwrap_or(20_000);
    println!(
        "{jobs} jobs due in one second      ran  twice  first ms  last ms  adding ms  idle CPU ms/s  CPU ms"
    );
    row("dayshift", &ours(jobs));
    for channel in [200, 2 * jobs as usize] {
        let name = format!("tokio-cron-scheduler, {channel}");
        row(&name, &theirs(jobs, channel));
    }
}

fn row(name: &str, outcome: &Outcome) {
    println!("{name:<32}{outcome}");
}

/// When the jobs are due, and when each of them ran.
struct Roll {
    due: DateTime<Utc>,
    runs: Vec<Run>,
}

#[derive(Default)]
struct Run {
    times: AtomicU32,
    /// In microseconds after they were due.
    late: AtomicI64,
}

impl Roll {
    fn new(jobs: u32) -> Arc<Self> {
        let due = Utc::now() + BEFORE;
        Arc::new(Self {
            due: due.duration_trunc(TimeDelta::seconds(1)).unwrap(),
            runs: (0..jobs).map(|_| Run::default()).collect(),
        })
    }

    fn cron(&self) -> String {
        self.due.format("%-S %-M %-H * * *").to_string()
    }

    fn ran(&self, job: u32) {
        let late = (Utc::now() - self.due).num_microseconds().unwrap();
        let run = &self.runs[job as usize];
        run.late.store(late, Ordering::Relaxed);
        run.times.fetch_add(1, Ordering::Relaxed);
    }

    fn all_ran(&self) -> bool {
        self.runs
            .iter()
            .all(|run| run.times.load(Ordering::Relaxed) > 0)
    }
}

struct Outcome {
    ran: usize,
    twice: usize,
    first: f64,
    last: f64,
    adding: TimeDelta,
    /// Milliseconds of CPU time in each idle second, and from a second before the instant on.
    idle: f64,
    cpu: f64,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:6} {:6} {:9.1} {:8.1} {:10} {:14.2} {:7.0}",
            self.ran,
            self.twice,
            self.first,
            self.last,
            self.adding.num_milliseconds(),
            self.idle,
            self.cpu
        )
    }
}

/// Waits for the instant and what comes after it; the jobs run elsewhere.
async fn watch(roll: &Roll, added: DateTime<Utc>, adding: TimeDelta) -> Outcome {
    assert!(
        added < roll.due - IDLE - TimeDelta::seconds(2),
        "adding took {adding}: too long"
    );
    until(roll.due - IDLE - TimeDelta::seconds(1)).await;
    let before = cpu();
    until(roll.due - TimeDelta::seconds(1)).await;
    let idle = (cpu() - before) / IDLE.as_seconds_f64();
    let before = cpu();
    until(roll.due).await;
    while !roll.all_ran() && Utc::now() < roll.due + AFTER {
        sleep(Duration::from_millis(100)).await;
    }
    let spent = cpu() - before;

    let times = |run: &&Run| run.times.load(Ordering::Relaxed);
    let ran: Vec<_> = roll.runs.iter().filter(|run| times(run) > 0).collect();
    let late = ran.iter().map(|run| run.late.load(Ordering::Relaxed));
    #[expect(clippy::cast_precision_loss, reason = "a few seconds at most")]
    let milliseconds =
        |microseconds: Option<i64>| microseconds.map_or(f64::NAN, |it| it as f64 / 1e3);
    Outcome {
        ran: ran.len(),
        twice: ran.iter().filter(|run| times(run) > 1).count(),
        first: milliseconds(late.clone().min()),
        last: milliseconds(late.max()),
        adding,
        idle,
        cpu: spent,
    }
}

/// As `dayshift run` does: one thread that sleeps until the next job is due, a second at most.
fn ours(jobs: u32) -> Outcome {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let roll = Roll::new(jobs);
        let begun = Utc::now();
        let mut scheduler = Scheduler::new();
        for job in 0..jobs {
            let times = Times::parse(&roll.cron()).unwrap();
            let rule = Rule::Times {
                start: Some(times),
                stop: None,
            };
            let schedule = Schedule::new(rule, ExceptedDates::default(), Zone::UTC);
            let next = schedule.next_after(begun, TimeDelta::zero()).unwrap();
            scheduler.set(job, next.at);
        }
        let added = Utc::now();
        let running = task::spawn({
            let roll = roll.clone();
            async move {
                let clock = Clock::system();
                while let Some(next) = scheduler.next() {
                    clock.sleep_until(next).await;
                    while let Some((job, _)) = scheduler.take_due(clock.now()) {
                        roll.ran(job);
                    }
                }
            }
        });
        let outcome = watch(&roll, added, added - begun).await;
        running.abort();
        outcome
    })
}

/// As its documentation shows, on a runtime of several threads.
fn theirs(jobs: u32, channel: usize) -> Outcome {
    let runtime = runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let outcome = runtime.block_on(async {
        let roll = Roll::new(jobs);
        let begun = Utc::now();
        let scheduler = JobScheduler::new_with_channel_size(channel).await.unwrap();
        scheduler.start().await.unwrap();
        for number in 0..jobs {
            let roll = roll.clone();
            let job = Job::new_async(roll.cron(), move |_, _| {
                let roll = roll.clone();
                Box::pin(async move { roll.ran(number) })
            });
            scheduler.add(job.unwrap()).await.unwrap();
        }
        let added = Utc::now();
        watch(&roll, added, added - begun).await
    });
    runtime.shutdown_background();
    outcome
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
