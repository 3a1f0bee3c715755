//! Records when each job was due and when it ran.

use std::sync::{
    Arc,
    atomic::{AtomicI64, AtomicU32, Ordering},
};

use chrono::{DateTime, DurationRound, TimeDelta, Utc};

pub(crate) struct Recorder {
    pub(crate) due: DateTime<Utc>,
    runs: Vec<Run>,
}

#[derive(Default)]
struct Run {
    times: AtomicU32,
    /// Microseconds after the job was due.
    late: AtomicI64,
}

impl Recorder {
    /// Creates this many jobs, all due in the second that begins `after` from now.
    pub(crate) fn new(jobs: u32, after: TimeDelta) -> Arc<Self> {
        let due = Utc::now() + after;
        Arc::new(Self {
            due: due.duration_trunc(TimeDelta::seconds(1)).unwrap(),
            runs: (0..jobs).map(|_| Run::default()).collect(),
        })
    }

    /// The due time as cron with seconds, which all crates accept.
    pub(crate) fn cron(&self) -> String {
        self.due.format("%-S %-M %-H * * *").to_string()
    }

    /// Records that a job runs now.
    pub(crate) fn ran(&self, job: u32) {
        let late = (Utc::now() - self.due).num_microseconds().unwrap();
        let run = &self.runs[job as usize];
        run.late.store(late, Ordering::Relaxed);
        run.times.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn all_ran(&self) -> bool {
        self.ran_times().all(|times| times > 0)
    }

    /// The number of jobs that ran, and of those that ran more than once.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let more_than = |least| self.ran_times().filter(|times| *times > least).count();
        (more_than(0), more_than(1))
    }

    /// The first and the last job that ran, in milliseconds after they were due.
    pub(crate) fn first_and_last(&self) -> Option<(f64, f64)> {
        let ran = self
            .runs
            .iter()
            .filter(|run| run.times.load(Ordering::Relaxed) > 0);
        let late = ran.map(|run| run.late.load(Ordering::Relaxed));
        #[expect(clippy::cast_precision_loss, reason = "a few seconds at most")]
        let milliseconds = |microseconds: i64| microseconds as f64 / 1e3;
        Some((milliseconds(late.clone().min()?), milliseconds(late.max()?)))
    }

    fn ran_times(&self) -> impl Iterator<Item = u32> {
        self.runs
            .iter()
            .map(|run| run.times.load(Ordering::Relaxed))
    }
}
