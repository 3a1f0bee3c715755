//! The measurements of a run, as a table and as JSON.

use std::time::Duration;

use serde::Serialize;

/// One cluster.
#[derive(Debug, Serialize)]
pub(crate) struct Figures {
    /// A description of the workloads.
    pub(crate) what: &'static str,
    /// The number of workloads of all kinds.
    pub(crate) workloads: u32,
    pub(crate) scheduled: u32,
    /// From the start until all are listed and the scheduled ones adopted; per Deployment.
    pub(crate) ready: Phase,
    /// An edit of the Namespace that all inherit from; per adopted workload.
    pub(crate) edit: Option<Phase>,
    /// A minute in which another scheduled object changes each second; per change.
    pub(crate) busy: Phase,
    /// One boundary of all of them; per transition.
    pub(crate) stop: Phase,
    /// The longest CPU time of one poll of the controller at that boundary.
    pub(crate) longest_poll_ms: f64,
    /// An hour without a boundary; per minute.
    pub(crate) idle: Phase,
    /// A scrape of the metrics while they are stopped; per workload.
    pub(crate) scrape: Phase,
    /// One boundary of all of them with a slow API server; per transition.
    pub(crate) slow: Phase,
}

/// The cost of the controller during a part of the day.
#[derive(Debug, Serialize)]
pub(crate) struct Phase {
    seconds: f64,
    microseconds_each: f64,
    /// The peak of allocated bytes.
    peak: i64,
    /// The allocated bytes at the end.
    held: i64,
}

impl Phase {
    pub(crate) fn new(each_of: u32, time: Duration, peak: i64, held: i64) -> Self {
        let seconds = time.as_secs_f64();
        Self {
            seconds,
            microseconds_each: seconds * 1e6 / f64::from(each_of),
            peak,
            held,
        }
    }

    /// The cost without the bytes that were allocated before.
    pub(crate) fn beyond(self, before: i64) -> Self {
        Self {
            peak: self.peak - before,
            held: self.held - before,
            ..self
        }
    }
}

type Column = fn(&Figures) -> String;

const ROWS: [(&str, Column); 20] = [
    ("", |run| run.what.to_owned()),
    ("workloads", |run| run.workloads.to_string()),
    ("with a schedule", |run| run.scheduled.to_string()),
    ("listed and adopted: CPU, s", |run| {
        format!("{:.3}", run.ready.seconds)
    }),
    ("  each workload listed, µs", |run| each(&run.ready)),
    ("  memory, peak, MB", |run| megabytes(run.ready.peak)),
    ("  memory at its end, MB", |run| megabytes(run.ready.held)),
    ("edit of a Namespace: CPU, s", |run| {
        let edit = run.edit.as_ref();
        edit.map_or("-".to_owned(), |it| format!("{:.3}", it.seconds))
    }),
    ("  each workload, µs", |run| {
        run.edit.as_ref().map_or("-".to_owned(), each)
    }),
    ("a change each second, µs", |run| each(&run.busy)),
    ("boundary: CPU, s", |run| format!("{:.3}", run.stop.seconds)),
    ("  each transition, µs", |run| each(&run.stop)),
    ("  longest poll, ms", |run| {
        format!("{:.3}", run.longest_poll_ms)
    }),
    ("  memory, peak, MB", |run| megabytes(run.stop.peak)),
    ("  each, with a slow server, µs", |run| each(&run.slow)),
    ("an idle minute, µs", |run| each(&run.idle)),
    ("a scrape, µs", |run| {
        format!("{:.1}", run.scrape.seconds * 1e6)
    }),
    ("  each workload, ns", |run| {
        format!("{:.1}", run.scrape.microseconds_each * 1e3)
    }),
    ("memory, steady, MB", |run| megabytes(run.idle.held)),
    ("  each with a schedule, bytes", |run| {
        (run.idle.held / i64::from(run.scheduled)).to_string()
    }),
];

/// Prints a column for each cluster.
pub(crate) fn print(runs: &[Figures]) {
    for (name, column) in ROWS {
        let cells: Vec<_> = runs
            .iter()
            .map(|run| format!("{:>10}", column(run)))
            .collect();
        println!("{name:30}{}", cells.join(" "));
    }
}

fn each(phase: &Phase) -> String {
    format!("{:.1}", phase.microseconds_each)
}

/// In units of 1,000,000 bytes.
fn megabytes(bytes: i64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "far from 2^53")]
    let bytes = bytes as f64;
    format!("{:.1}", bytes / 1e6)
}
