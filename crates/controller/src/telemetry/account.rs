//! Saved resources and their resource time, in whole numbers.

use std::{array, time::Duration};

use chrono::TimeDelta;
use dayshift_workload::savings::{Saved, StoppedCapacity};
use tokio::time::Instant;

/// A number of replicas, their CPU requests in billionths of a core, and their memory requests in bytes.
/// As resource time, each of them times nanoseconds.
pub(super) type Amounts = [u128; 3];

pub(super) const NOTHING: Amounts = [0; 3];

/// The amounts of one replica, one core and one byte.
const UNITS: Amounts = [1, 1_000_000_000, 1];

pub(super) fn amounts(stopped: StoppedCapacity) -> Amounts {
    let StoppedCapacity {
        replicas,
        cpu_nanos,
        memory_bytes,
    } = stopped;
    [replicas, cpu_nanos, memory_bytes].map(u128::from)
}

fn add(one: Amounts, other: Amounts) -> Amounts {
    array::from_fn(|at| one[at].saturating_add(other[at]))
}

/// Replaces the part `before` of the amounts with `after`.
pub(super) fn replace(all: Amounts, before: Amounts, after: Amounts) -> Amounts {
    array::from_fn(|at| all[at].saturating_sub(before[at]).saturating_add(after[at]))
}

/// Resources that are saved now, and their resource time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Account {
    pub(super) now: Amounts,
    /// The resource time up to `until`.
    time: Amounts,
    until: Option<Instant>,
}

impl Account {
    /// Begins an account at `until` with these resources.
    pub(super) const fn begun(now: Amounts, until: Instant) -> Self {
        Self {
            now,
            time: NOTHING,
            until: Some(until),
        }
    }

    /// Adds the resource time from `until` to `now`.
    pub(super) fn advanced_to(self, now: Instant) -> Self {
        let passed = self.until.map(|until| now.saturating_duration_since(until));
        let nanos = passed.unwrap_or_default().as_nanos();
        Self {
            time: add(
                self.time,
                self.now.map(|amount| amount.saturating_mul(nanos)),
            ),
            until: Some(self.until.map_or(now, |until| until.max(now))),
            ..self
        }
    }

    /// Adds the resource time of a duration after `until`; a negative duration adds none.
    pub(super) fn advanced_by(self, time: TimeDelta) -> Self {
        let until = self.until.unwrap_or_else(Instant::now);
        self.advanced_to(until + time.to_std().unwrap_or(Duration::ZERO))
    }

    /// Replaces the part `before` of the resources with `after`, from `now` on.
    pub(super) fn replace(&mut self, before: Amounts, after: Amounts, now: Instant) {
        *self = self.advanced_to(now);
        self.now = replace(self.now, before, after);
    }

    /// The resource time in replica-seconds, core-seconds and byte-seconds.
    #[expect(
        clippy::cast_precision_loss,
        reason = "the conversion is monotonic, so a counter never decreases"
    )]
    pub(super) fn seconds(&self) -> [f64; 3] {
        array::from_fn(|at| self.time[at] as f64 / 1e9 / UNITS[at] as f64)
    }

    /// The resource time in hours.
    pub(super) fn saved(&self) -> Saved {
        let [replica_hours, cpu_core_hours, byte_hours] = self.seconds().map(|time| time / 3600.0);
        Saved {
            replica_hours,
            cpu_core_hours,
            memory_gib_hours: byte_hours / f64::from(1 << 30),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_resource_time_saturate() {
        let most = [u128::MAX; 3];
        assert_eq!(replace(most, NOTHING, [1; 3]), most);
        assert_eq!(replace(NOTHING, [1; 3], NOTHING), NOTHING);
        let begin = Instant::now();
        let account = Account::begun(most, begin).advanced_to(begin + Duration::from_secs(2));
        assert_eq!(account.time, most);
        let later = account.advanced_to(begin + Duration::from_secs(3));
        assert_eq!(later.time, most);
    }
}
