//! The metrics of starts: their duration, waiting starts, and workloads that are not ready in time.

use chrono::TimeDelta;
use dayshift_workload::{Kind, ReadyForm};
use prometheus_client::{
    metrics::{family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

use crate::telemetry::shapes::{Labels, gauge_value, registered, registered_in_seconds};

/// Buckets from a second (the image is on the node) to two hours.
const DURATION_SECONDS: [f64; 12] = [
    1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 3600.0, 7200.0,
];

/// The metrics of starts.
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
        // Each histogram begins at zero, so that `increase()` includes its first observation.
        let shows_readiness = |kind: &Kind| kind.ready_form() != ReadyForm::Nowhere;
        for kind in Kind::DEFAULT.into_iter().filter(shows_readiness) {
            drop(durations.get_or_create(&[("kind", kind.name().to_owned())]));
        }
        Self {
            not_ready,
            waiting,
            durations,
        }
    }

    /// Sets the number of waiting starts.
    pub(crate) fn set_waiting(&self, count: usize) {
        self.waiting.set(gauge_value(count));
    }

    /// Records that an object became ready, and the time from the sending of its start to readiness.
    pub(crate) fn record_ready(&self, kind: &Kind, took: TimeDelta) {
        let kind = kind.name().to_owned();
        let histogram = self.durations.get_or_create(&[("kind", kind)]);
        histogram.observe(took.as_seconds_f64());
    }
}
