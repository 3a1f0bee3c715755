//! What one Deployment has cost so far, and what it would have.

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    schedule::Action,
    workload::{CountKind, Replicas},
};

/// The transitions of one Deployment, and how long it has run with how many replicas.
#[derive(Clone, Debug, PartialEq)]
pub struct Usage {
    /// Starts that were carried out, whether they changed the count or not.
    pub starts: u64,
    /// Stops, likewise.
    pub stops: u64,
    /// Whether its count is one of replicas: a CronJob is suspended or not, and has none.
    pub has_replicas: bool,
    begun: DateTime<Utc>,
    /// Up to here all is counted; from here on `count` replicas run.
    since: DateTime<Utc>,
    count: Replicas,
    most: Replicas,
    up: TimeDelta,
    replica_seconds: f64,
}

impl Usage {
    /// A workload that begins with this count.
    pub(super) fn new(at: DateTime<Utc>, count: Replicas, means: CountKind) -> Self {
        Self {
            starts: 0,
            stops: 0,
            has_replicas: means == CountKind::Replicas,
            begun: at,
            since: at,
            count,
            most: count,
            up: TimeDelta::zero(),
            replica_seconds: 0.0,
        }
    }

    /// A boundary was carried out.
    pub(super) fn transition(&mut self, action: Action) {
        match action {
            action if action.brings_up() => self.starts += 1,
            _ => self.stops += 1,
        }
    }

    /// From `at` on `count` replicas run.
    pub(super) fn runs(&mut self, at: DateTime<Utc>, count: Replicas) {
        let time = at - self.since;
        if self.count > Replicas::ZERO {
            self.up += time;
        }
        self.replica_seconds += f64::from(self.count.get()) * time.as_seconds_f64();
        self.since = at;
        self.count = count;
        self.most = self.most.max(count);
    }

    /// How long at least one replica ran.
    pub fn up(&self) -> TimeDelta {
        self.up
    }

    /// The hours that its replicas ran, all together.
    pub fn replica_hours(&self) -> f64 {
        self.replica_seconds / 3600.0
    }

    /// What was saved: the replica-hours that would have been used with the highest count all the
    /// time, and were not.
    pub fn saved(&self) -> f64 {
        self.always_on() - self.replica_hours()
    }

    /// The same, had the most replicas that it ever had run all the time.
    pub fn always_on(&self) -> f64 {
        f64::from(self.most.get()) * (self.since - self.begun).as_seconds_f64() / 3600.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ran_is_counted_against_the_most_that_ever_ran() {
        let begin: DateTime<Utc> = "2026-11-20T10:00:00Z".parse().unwrap();
        let hour = |hours| begin + TimeDelta::hours(hours);
        let mut usage = Usage::new(begin, Replicas::new(2), CountKind::Replicas);
        usage.runs(hour(3), Replicas::ZERO); // 2 for three hours
        usage.runs(hour(7), Replicas::new(3)); // none for four
        usage.runs(hour(8), Replicas::ONE); // 3 for one
        usage.runs(hour(10), Replicas::ONE); // 1 for two
        assert_eq!(usage.up(), TimeDelta::hours(6));
        assert!((usage.replica_hours() - 11.0).abs() < 1e-9);
        assert!((usage.always_on() - 30.0).abs() < 1e-9);
        assert!((usage.saved() - 19.0).abs() < 1e-9);
    }
}
