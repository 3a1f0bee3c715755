//! Measures when due jobs run, independent of the scheduler.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::clock::Clock;
use rustix::time::{ClockId, clock_gettime};
use tokio::time::sleep;

use super::recorder::Recorder;

/// How long to measure while nothing is due.
const IDLE_TIME: TimeDelta = TimeDelta::seconds(2);
/// How late a job can be before it is considered lost.
const LOST_AFTER: TimeDelta = TimeDelta::seconds(6);

/// The measurements of one run.
pub(crate) struct Outcome {
    pub(crate) ran: usize,
    pub(crate) twice: usize,
    pub(crate) late: Option<(f64, f64)>,
    pub(crate) adding: TimeDelta,
    /// Milliseconds of CPU time in each idle second; `None` if adding the jobs left no idle
    /// second.
    pub(crate) idle: Option<f64>,
    /// Milliseconds of CPU time in total, from one second before the jobs are due.
    pub(crate) cpu: f64,
}

/// Waits until the jobs are due and have run. They run on other threads.
pub(crate) async fn measure_run(recorder: &Recorder, begun: DateTime<Utc>) -> Outcome {
    let added = Utc::now();
    let idle_from = recorder.due - IDLE_TIME - TimeDelta::seconds(1);
    let in_time = added < idle_from;
    until(idle_from).await;
    let start = cpu();
    until(recorder.due - TimeDelta::seconds(1)).await;
    let idle = in_time.then(|| (cpu() - start) / IDLE_TIME.as_seconds_f64());
    let start = cpu();
    until(recorder.due).await;
    while !recorder.all_ran() && Utc::now() < recorder.due + LOST_AFTER {
        sleep(Duration::from_millis(100)).await;
    }
    let spent = cpu() - start;
    let (ran, twice) = recorder.counts();
    Outcome {
        ran,
        twice,
        late: recorder.first_and_last(),
        adding: added - begun,
        idle,
        cpu: spent,
    }
}

async fn until(instant: DateTime<Utc>) {
    Clock::system().sleep_until(instant).await;
}

/// Milliseconds of CPU time of this process.
fn cpu() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    #[expect(clippy::cast_precision_loss, reason = "far from 2^53")]
    let milliseconds = time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6;
    milliseconds
}
