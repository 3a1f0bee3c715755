//! Types, labels and buckets that several metrics share, and functions that register them.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use dayshift_schedule::Action;
use dayshift_workload::other_controllers::ManagerKind;
use prometheus_client::{
    encoding::{EncodeGaugeValue, EncodeMetric, MetricEncoder},
    metrics::{MetricType, family::Family, gauge::ConstGauge, histogram::Histogram},
    registry::{Metric, Registry, Unit},
};

use crate::telemetry::outcome::Outcome;

/// A histogram by action.
pub(super) type Lateness = Family<Labels<1>, Histogram, fn() -> Histogram>;

pub(crate) type Labels<const N: usize, V = &'static str> = [(&'static str, V); N];

/// A gauge without labels that has no series while its value is unknown.
#[derive(Clone, Debug, Default)]
pub(crate) struct OptionalGauge<V>(Arc<Mutex<Option<V>>>);

impl<V> OptionalGauge<V> {
    pub(crate) fn set(&self, value: Option<V>) {
        *lock(&self.0) = value;
    }
}

impl<V: EncodeGaugeValue + Copy> EncodeMetric for OptionalGauge<V> {
    fn encode(&self, encoder: MetricEncoder<'_>) -> fmt::Result {
        let value = *lock(&self.0);
        value.map_or(Ok(()), |value| ConstGauge::new(value).encode(encoder))
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Gauge
    }

    fn is_empty(&self) -> bool {
        lock(&self.0).is_none()
    }
}

/// Buckets from a millisecond (a boundary without load) to an hour (a boundary that was missed while
/// the controller was down).
pub(super) const LATENESS_SECONDS: [f64; 17] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
    600.0, 3600.0,
];

/// Registration of new metrics.
pub(super) trait Register {
    /// Registers a metric.
    fn add<M: Metric + Clone + Default>(&mut self, name: &str, help: &str) -> M;

    /// Registers a metric whose unit is seconds.
    fn add_in_seconds<M: Metric + Clone>(&mut self, name: &str, help: &str, metric: M) -> M;
}

impl Register for Registry {
    fn add<M: Metric + Clone + Default>(&mut self, name: &str, help: &str) -> M {
        let metric = M::default();
        self.register(name, help, metric.clone());
        metric
    }

    fn add_in_seconds<M: Metric + Clone>(&mut self, name: &str, help: &str, metric: M) -> M {
        self.register_with_unit(name, help, Unit::Seconds, metric.clone());
        metric
    }
}

pub(super) const fn transition_labels(action: Action, outcome: Outcome) -> Labels<2> {
    [("action", action.name()), ("outcome", outcome.name())]
}

/// The label of a manager that reverts counts: a known controller, or `other`.
pub(super) const fn manager_label(manager: ManagerKind) -> &'static str {
    match manager {
        ManagerKind::OtherController(owner) => owner.label(),
        ManagerKind::Dayshift | ManagerKind::Person | ManagerKind::Unknown => "other",
    }
}

/// Converts a count to the value of a gauge.
pub(crate) fn gauge_value(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
