//! What one workload has cost so far, and what it would have.

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    schedule::Action,
    workload::{CountKind, Replicas},
};

/// The transitions of one workload, and how long it has run with how many replicas.
#[derive(Clone, Debug, PartialEq)]
pub struct Usage {
    /// Starts that were carried out, whether they changed the count or not.
    pub starts: u64,
    /// Stops, likewise.
    pub stops: u64,
    /// Whether its count is one of replicas: a CronJob is suspended or not, and has none.
    pub has_replicas: bool,
    /// Up to here all is counted; from here on `count` replicas run, and `held` more would without
    /// the schedule.
    since: DateTime<Utc>,
    count: Replicas,
    held: Replicas,
    up: TimeDelta,
    replica_seconds: f64,
    saved_seconds: f64,
}

impl Usage {
    /// A workload that begins with this count, and with so many that are held down.
    pub(super) fn new(
        at: DateTime<Utc>,
        count: Replicas,
        held: Replicas,
        means: CountKind,
    ) -> Self {
        Self {
            starts: 0,
            stops: 0,
            has_replicas: means == CountKind::Replicas,
            since: at,
            count,
            held,
            up: TimeDelta::zero(),
            replica_seconds: 0.0,
            saved_seconds: 0.0,
        }
    }

    /// A boundary was carried out.
    pub(super) fn transition(&mut self, action: Action) {
        match action {
            action if action.brings_up() => self.starts += 1,
            _ => self.stops += 1,
        }
    }

    /// From `at` on `count` replicas run, and the schedule holds `held` down.
    pub(super) fn runs(&mut self, at: DateTime<Utc>, count: Replicas, held: Replicas) {
        let time = at - self.since;
        if self.count > Replicas::ZERO {
            self.up += time;
        }
        let seconds = |count: Replicas| f64::from(count.get()) * time.as_seconds_f64();
        self.replica_seconds += seconds(self.count);
        self.saved_seconds += seconds(self.held);
        (self.since, self.count, self.held) = (at, count, held);
    }

    /// How long at least one replica ran.
    pub fn up(&self) -> TimeDelta {
        self.up
    }

    /// The hours that its replicas ran, all together.
    pub fn replica_hours(&self) -> f64 {
        self.replica_seconds / 3600.0
    }

    /// What was saved, in replica-hours: the time of those that the schedule held down
    /// ([`held_down`](crate::workload::held_down)).
    pub fn saved(&self) -> f64 {
        self.saved_seconds / 3600.0
    }

    /// The replica-hours that would have been used without the schedule.
    pub fn without(&self) -> f64 {
        self.replica_hours() + self.saved()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_and_what_is_held_down_is_counted_by_its_time() {
        let begin: DateTime<Utc> = "2026-11-20T10:00:00Z".parse().unwrap();
        let hour = |hours| begin + TimeDelta::hours(hours);
        let [none, one, two, three] = [0, 1, 2, 3].map(Replicas::new);
        let mut usage = Usage::new(begin, two, none, CountKind::Replicas);
        usage.runs(hour(3), none, two); // 2 for three hours
        usage.runs(hour(7), three, none); // none of 2 for four
        usage.runs(hour(8), one, two); // 3 for one
        usage.runs(hour(10), one, two); // 1 of 3 for two
        assert_eq!(usage.up(), TimeDelta::hours(6));
        assert!((usage.replica_hours() - 11.0).abs() < 1e-9);
        assert!((usage.saved() - 12.0).abs() < 1e-9);
        assert!((usage.without() - 23.0).abs() < 1e-9);
    }
}
