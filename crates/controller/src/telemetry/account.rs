//! Resources that schedules save, and their resource time until now.

use chrono::TimeDelta;
use dayshift_workload::savings::{Saved, StoppedCapacity};
use tokio::time::Instant;

/// Saved resources, and their resource time until `until`, in nanoseconds.
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
    /// The same at `now`.
    pub(super) fn at(self, now: Instant) -> Self {
        let time = self.until.map(|until| now.saturating_duration_since(until));
        let nanos = time.unwrap_or_default().as_nanos();
        let add = |sum: u128, held: u128| sum.saturating_add(held.saturating_mul(nanos));
        Self {
            replica_time: add(self.replica_time, self.replicas),
            cpu_time: add(self.cpu_time, self.cpu_nanos),
            memory_time: add(self.memory_time, self.memory_bytes),
            until: Some(self.until.map_or(now, |until| until.max(now))),
            ..self
        }
    }

    /// The same after this much time, or before it.
    pub(super) fn after(self, time: TimeDelta) -> Self {
        let until = self.until.unwrap_or_else(Instant::now);
        self.at(until + time.to_std().unwrap_or_default())
    }

    /// The savings in hours.
    pub(super) fn saved(&self) -> Saved {
        let hours = |time, one| seconds(time, one) / 3600.0;
        Saved {
            replica_hours: hours(self.replica_time, 1.0),
            cpu_core_hours: hours(self.cpu_time, 1e9),
            memory_gib_hours: hours(self.memory_time, f64::from(1 << 30)),
        }
    }

    /// The same resources, without any time.
    pub(super) const fn held(&self) -> Self {
        Self {
            replica_time: 0,
            cpu_time: 0,
            memory_time: 0,
            ..*self
        }
    }

    /// Whether it has no resources.
    pub(super) const fn holds_nothing(&self) -> bool {
        self.replicas == 0 && self.cpu_nanos == 0 && self.memory_bytes == 0
    }

    /// The same, plus the resources of another account.
    pub(super) const fn and(self, other: &Self) -> Self {
        Self {
            replicas: self.replicas.saturating_add(other.replicas),
            cpu_nanos: self.cpu_nanos.saturating_add(other.cpu_nanos),
            memory_bytes: self.memory_bytes.saturating_add(other.memory_bytes),
            ..self
        }
    }

    /// The same, minus the resources of another account.
    pub(super) const fn without(self, other: &Self) -> Self {
        Self {
            replicas: self.replicas.saturating_sub(other.replicas),
            cpu_nanos: self.cpu_nanos.saturating_sub(other.cpu_nanos),
            memory_bytes: self.memory_bytes.saturating_sub(other.memory_bytes),
            ..self
        }
    }

    /// The same resource time, with no saved resources from now on.
    pub(super) const fn ended(self) -> Self {
        Self {
            replicas: 0,
            cpu_nanos: 0,
            memory_bytes: 0,
            ..self
        }
    }

    /// The same with `held` in place of `before`.
    pub(super) fn with(self, before: StoppedCapacity, held: StoppedCapacity) -> Self {
        let replace = |sum: u128, before: u64, held: u64| {
            sum.saturating_sub(before.into()) + u128::from(held)
        };
        Self {
            replicas: replace(self.replicas, before.replicas, held.replicas),
            cpu_nanos: replace(self.cpu_nanos, before.cpu_nanos, held.cpu_nanos),
            memory_bytes: replace(self.memory_bytes, before.memory_bytes, held.memory_bytes),
            ..self
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a greater number never becomes a smaller one"
)]
pub(super) fn seconds(nanos: u128, one: f64) -> f64 {
    nanos as f64 / 1e9 / one
}
