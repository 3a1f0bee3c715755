//! An account of saved resources: the current amount, and the amount multiplied by time, up to an
//! instant. All values are whole numbers, so sums are exact.

use chrono::TimeDelta;
use dayshift_workload::savings::{Saved, StoppedCapacity};
use tokio::time::Instant;

/// Saved resources, and their resource time up to `until` in amount × nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Account {
    pub(super) replicas: u128,
    pub(super) cpu_nanos: u128,
    pub(super) memory_bytes: u128,
    pub(super) replica_time: u128,
    pub(super) cpu_time: u128,
    pub(super) memory_time: u128,
    pub(super) until: Option<Instant>,
}

impl Account {
    /// Adds the resource time from `until` to `now`.
    pub(super) fn advanced_to(self, now: Instant) -> Self {
        let time = self.until.map(|until| now.saturating_duration_since(until));
        let nanos = time.unwrap_or_default().as_nanos();
        let add = |sum: u128, amount: u128| sum.saturating_add(amount.saturating_mul(nanos));
        Self {
            replica_time: add(self.replica_time, self.replicas),
            cpu_time: add(self.cpu_time, self.cpu_nanos),
            memory_time: add(self.memory_time, self.memory_bytes),
            until: Some(self.until.map_or(now, |until| until.max(now))),
            ..self
        }
    }

    /// Adds the resource time of a duration after `until`; a negative duration adds none.
    pub(super) fn advanced_by(self, time: TimeDelta) -> Self {
        let until = self.until.unwrap_or_else(Instant::now);
        self.advanced_to(until + time.to_std().unwrap_or_default())
    }

    /// The resource time in hours.
    pub(super) fn saved(&self) -> Saved {
        let hours = |time, one| seconds(time, one) / 3600.0;
        Saved {
            replica_hours: hours(self.replica_time, 1.0),
            cpu_core_hours: hours(self.cpu_time, 1e9),
            memory_gib_hours: hours(self.memory_time, f64::from(1 << 30)),
        }
    }

    /// Sets the resource time to zero and keeps the resources.
    pub(super) const fn without_time(&self) -> Self {
        Self {
            replica_time: 0,
            cpu_time: 0,
            memory_time: 0,
            ..*self
        }
    }

    /// Whether no resources are saved now.
    pub(super) const fn is_empty(&self) -> bool {
        self.replicas == 0 && self.cpu_nanos == 0 && self.memory_bytes == 0
    }

    /// Adds the resources of another account, without its resource time.
    pub(super) const fn plus(self, other: &Self) -> Self {
        Self {
            replicas: self.replicas.saturating_add(other.replicas),
            cpu_nanos: self.cpu_nanos.saturating_add(other.cpu_nanos),
            memory_bytes: self.memory_bytes.saturating_add(other.memory_bytes),
            ..self
        }
    }

    /// Subtracts the resources of another account, without its resource time.
    pub(super) const fn minus(self, other: &Self) -> Self {
        Self {
            replicas: self.replicas.saturating_sub(other.replicas),
            cpu_nanos: self.cpu_nanos.saturating_sub(other.cpu_nanos),
            memory_bytes: self.memory_bytes.saturating_sub(other.memory_bytes),
            ..self
        }
    }

    /// Sets the resources to zero and keeps the resource time.
    pub(super) const fn without_resources(self) -> Self {
        Self {
            replicas: 0,
            cpu_nanos: 0,
            memory_bytes: 0,
            ..self
        }
    }

    /// Applies that the capacity saved by one object has changed from `before` to `after`.
    pub(super) fn replacing(self, before: StoppedCapacity, after: StoppedCapacity) -> Self {
        let replace = |sum: u128, before: u64, after: u64| {
            sum.saturating_sub(before.into()) + u128::from(after)
        };
        Self {
            replicas: replace(self.replicas, before.replicas, after.replicas),
            cpu_nanos: replace(self.cpu_nanos, before.cpu_nanos, after.cpu_nanos),
            memory_bytes: replace(self.memory_bytes, before.memory_bytes, after.memory_bytes),
            ..self
        }
    }
}

/// Converts amount × nanoseconds to unit × seconds, where `one` is the amount of one unit.
#[expect(
    clippy::cast_precision_loss,
    reason = "the conversion is monotonic, so a counter never decreases"
)]
pub(super) fn seconds(nanos: u128, one: f64) -> f64 {
    nanos as f64 / 1e9 / one
}
