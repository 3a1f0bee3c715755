//! What was saved, or will be, over some time.

use std::{iter::Sum, ops::Sub};

use chrono::{DateTime, TimeDelta, Utc};

use super::held_down::HeldDown;
use crate::{Footprint, NANOS, Replicas};

/// What was saved, or will be, over some time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Saved {
    /// The time of replicas that would have run.
    pub replica_hours: f64,
    /// That of the CPU cores that they request.
    pub cpu_core_hours: f64,
    /// That of the GiB of memory that they request.
    pub memory_gib_hours: f64,
}

/// What a controller has counted since it began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SavedSoFar {
    /// All of it.
    pub all: Saved,
    /// When it began to count.
    pub since: DateTime<Utc>,
    /// What of it was saved since each of the instants that were asked for.
    pub since_each: [Saved; 3],
}

/// Bytes in a GiB.
const GIB: f64 = (1_u64 << 30) as f64;

impl Saved {
    /// What is held down, for so long.
    #[expect(
        clippy::cast_precision_loss,
        reason = "exact for more than any cluster has"
    )]
    pub fn of(held: HeldDown, time: TimeDelta) -> Self {
        let hours = time.as_seconds_f64() / 3600.0;
        Self {
            replica_hours: held.replicas as f64 * hours,
            cpu_core_hours: held.cpu_nanos as f64 / NANOS as f64 * hours,
            memory_gib_hours: held.memory_bytes as f64 / GIB * hours,
        }
    }

    /// The hours of a count, each of which has this footprint.
    pub fn of_count(hours: f64, footprint: Footprint) -> Self {
        let one = HeldDown::of(Replicas::ONE, footprint);
        let hour = Self::of(one, TimeDelta::hours(1));
        hour.each(Self::default(), |it, _| it * hours)
    }

    /// Whether CPU or memory is in it.
    pub fn requests_any(&self) -> bool {
        self.cpu_core_hours > 0.0 || self.memory_gib_hours > 0.0
    }

    fn each(self, other: Self, of: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            replica_hours: of(self.replica_hours, other.replica_hours),
            cpu_core_hours: of(self.cpu_core_hours, other.cpu_core_hours),
            memory_gib_hours: of(self.memory_gib_hours, other.memory_gib_hours),
        }
    }
}

impl Sum for Saved {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, it| sum.each(it, |a, b| a + b))
    }
}

impl Sub for Saved {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self.each(other, |a, b| a - b)
    }
}
