//! How long starts take, and which do not come to their end.

use chrono::TimeDelta;
use dayshift_workload::{Kind, ReadyForm};
use prometheus_client::{
    metrics::{family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

use crate::telemetry::shapes::{Labels, registered, registered_in_seconds, whole};

/// From a second (an image that is there) to two hours.
const DURATION_SECONDS: [f64; 12] = [
    1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 3600.0, 7200.0,
];

/// How long starts take, and which do not come to their end.
#[derive(Debug)]
pub(crate) struct StartMetrics {
    pub(crate) not_ready: Gauge,
    waiting: Gauge,
    durations: Family<Labels<1, String>, Histogram, fn() -> Histogram>,
}

impl StartMetrics {
    pub(crate) fn registered(registry: &mut Registry) -> Self {
        let not_ready = registered(
            registry,
            "not_ready_workloads",
            "Workloads that dayshift started longer ago than --ready-within or their own ready-within and that have not been ready since",
        );
        let waiting = registered(
            registry,
            "waiting_starts",
            "Starts that are due and wait for a dependency or for a start slot of --max-starting",
        );
        let histogram: fn() -> Histogram = || Histogram::new(DURATION_SECONDS);
        let durations = registered_in_seconds(
            registry,
            "start_duration",
            "From the sending of a start to the workload being ready",
            Family::new_with_constructor(histogram),
        );
        // Begun at zero, so that `increase()` sees the first of each too.
        let says_it = |kind: &Kind| kind.ready_form() != ReadyForm::Nowhere;
        for kind in Kind::DEFAULT.into_iter().filter(says_it) {
            drop(durations.get_or_create(&[("kind", kind.name().to_owned())]));
        }
        Self {
            not_ready,
            waiting,
            durations,
        }
    }

    /// Sets how many starts wait.
    pub(crate) fn waiting(&self, count: usize) {
        self.waiting.set(whole(count));
    }

    /// An object of that kind is ready, so long after its start was sent.
    pub(crate) fn ready(&self, kind: &Kind, took: TimeDelta) {
        let kind = kind.name().to_owned();
        let histogram = self.durations.get_or_create(&[("kind", kind)]);
        histogram.observe(took.as_seconds_f64());
    }
}
