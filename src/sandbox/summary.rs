//! The summary of a run: running hours, requests to the API, and lateness.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::Action;
use dayshift_workload::{
    Footprint, Observed, Replicas,
    savings::{Saved, StoppedCapacity},
};
use kube_in_memory::RequestLine;

/// The results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The beginning of the run.
    pub from: DateTime<Utc>,
    /// The end of the run.
    pub until: DateTime<Utc>,
    /// The usage of every workload with a schedule, by namespace and name.
    pub usages: Vec<(String, Usage)>,
    /// The largest delay between a boundary and its transition.
    pub lateness: TimeDelta,
    /// The number of rejected schedules.
    pub rejections: usize,
    /// The API requests of the controller.
    pub requests: Requests,
}

/// The transitions and running time of one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Usage {
    /// Starts, including those that did not change the count.
    pub starts: u64,
    /// Stops, including those that did not change the count.
    pub stops: u64,
    /// Usage is counted until this time. Since then `count` replicas with this `footprint` have been running,
    /// and `held` more would run without the schedule.
    since: DateTime<Utc>,
    count: Replicas,
    footprint: Footprint,
    held: StoppedCapacity,
    up: TimeDelta,
    replica_seconds: f64,
    saved: Saved,
}

impl Usage {
    /// The usage of a workload that was first observed at `at`.
    pub(super) fn new(at: DateTime<Utc>, observed: &Observed, held: StoppedCapacity) -> Self {
        Self {
            starts: 0,
            stops: 0,
            since: at,
            count: observed.replicas,
            footprint: observed.footprint,
            held,
            up: TimeDelta::zero(),
            replica_seconds: 0.0,
            saved: Saved::default(),
        }
    }

    /// Counts a transition.
    pub(super) fn transition(&mut self, action: Action) {
        match action {
            action if action.is_up() => self.starts += 1,
            _ => self.stops += 1,
        }
    }

    /// Records that the count is `count` from `at` on, and that the schedule keeps `held` stopped.
    pub(super) fn set_count(&mut self, at: DateTime<Utc>, count: Replicas, held: StoppedCapacity) {
        let time = at - self.since;
        if self.count > Replicas::ZERO {
            self.up += time;
        }
        let runs = StoppedCapacity::new(self.count, self.footprint).replicas;
        self.replica_seconds += runs as f64 * time.as_seconds_f64();
        self.saved = [self.saved, Saved::new(self.held, time)].into_iter().sum();
        (self.since, self.count, self.held) = (at, count, held);
    }

    /// Records the resources of one replica since the last [`Self::set_count`].
    pub(super) fn set_footprint(&mut self, footprint: Footprint) {
        self.footprint = footprint;
    }

    /// Whether the count is a number of replicas. A CronJob has none.
    pub fn has_replicas(&self) -> bool {
        self.footprint.replicas > 0
    }

    /// Whether the replicas request both CPU and memory.
    pub fn has_requests(&self) -> bool {
        self.footprint.requests.are_complete()
    }

    /// The time with at least one replica.
    pub fn up(&self) -> TimeDelta {
        self.up
    }

    /// The sum of the running hours of all replicas.
    pub fn replica_hours(&self) -> f64 {
        self.replica_seconds / 3600.0
    }

    /// The savings: the time of the capacity that the schedule kept stopped
    /// ([`stopped_capacity`](dayshift_workload::savings::stopped_capacity)).
    pub fn saved(&self) -> Saved {
        self.saved
    }

    /// The replica-hours that would have been used without the schedule.
    pub fn without(&self) -> f64 {
        self.replica_hours() + self.saved.replica_hours
    }
}

/// The API requests of the controller by purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// Pages of workload lists.
    pub lists: u64,
    /// Reads of one workload.
    pub gets: u64,
    /// Workload patches.
    pub patches: u64,
    /// Created Events.
    pub events: u64,
}

impl Requests {
    pub(super) fn count(&mut self, line: &RequestLine) {
        let counter = match line.verb {
            "list" => &mut self.lists,
            "get" => &mut self.gets,
            "patch" => &mut self.patches,
            "create" => &mut self.events,
            _ => return,
        };
        *counter += 1;
    }
}

#[cfg(test)]
mod tests {
    use dayshift_workload::ResourceRequests;

    use super::*;

    #[test]
    fn running_and_stopped_replicas_are_counted_over_time() {
        let begin: DateTime<Utc> = "2026-11-20T10:00:00Z".parse().unwrap();
        let hour = |hours| begin + TimeDelta::minutes((hours * 60.0) as i64);
        let footprint = Footprint {
            replicas: 1,
            requests: ResourceRequests {
                cpu_nanos: 500_000_000,
                memory_bytes: 2 << 30,
            },
        };
        let [none, one, two, three] = [0, 1, 2, 3].map(Replicas::new);
        let [no, held] = [none, two].map(|replicas| StoppedCapacity::new(replicas, footprint));
        let mut usage = Usage {
            starts: 0,
            stops: 0,
            since: begin,
            count: two,
            footprint,
            held: no,
            up: TimeDelta::zero(),
            replica_seconds: 0.0,
            saved: Saved::default(),
        };
        usage.set_count(hour(3.0), none, held); // 2 for three hours
        usage.set_count(hour(3.2), none, held);
        usage.set_count(hour(7.0), three, no); // none of 2 for four
        usage.set_count(hour(8.0), one, held); // 3 for one
        usage.set_count(hour(10.0), one, held); // 1 of 3 for two
        assert_eq!(usage.up(), TimeDelta::hours(6));
        assert!((usage.replica_hours() - 11.0).abs() < 1e-9);
        assert!((usage.without() - 23.0).abs() < 1e-9);
        let saved = usage.saved();
        let found = [
            saved.replica_hours,
            saved.cpu_core_hours * 2.0,
            saved.memory_gib_hours / 2.0,
        ];
        assert!(
            found.iter().all(|hours| (hours - 12.0).abs() < 1e-9),
            "{found:?}"
        );
    }
}
