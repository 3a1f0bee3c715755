//! The figures of a run: running hours, requests to the API, and lateness.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::Action;
use dayshift_workload::{
    Footprint, Observed, Replicas,
    savings::{Saved, StoppedCapacity},
};
use kube_in_memory::RequestLine;

/// What a run comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// When it began.
    pub from: DateTime<Utc>,
    /// When it ended, or was stopped.
    pub until: DateTime<Utc>,
    /// Every workload with a schedule, by namespace and name.
    pub usages: Vec<(String, Usage)>,
    /// The latest that a transition came after its boundary.
    pub lateness: TimeDelta,
    /// How often a schedule was refused.
    pub refusals: usize,
    /// What the scaler asked the API for.
    pub requests: Requests,
}

/// The transitions of one workload, and how long it has run with how many replicas.
#[derive(Clone, Debug, PartialEq)]
pub struct Usage {
    /// Starts that were carried out, whether they changed the count or not.
    pub starts: u64,
    /// Stops, likewise.
    pub stops: u64,
    /// Up to here all is counted; from here on the count is `count`, of which 1 stands for
    /// `footprint`, and `held` more would run without the schedule.
    since: DateTime<Utc>,
    count: Replicas,
    footprint: Footprint,
    held: StoppedCapacity,
    up: TimeDelta,
    replica_seconds: f64,
    saved: Saved,
}

impl Usage {
    /// A workload as it is first seen, and what of it is held down.
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

    /// A boundary was carried out.
    pub(super) fn transition(&mut self, action: Action) {
        match action {
            action if action.is_up() => self.starts += 1,
            _ => self.stops += 1,
        }
    }

    /// From `at` on the count is `count`, and the schedule holds `held` down.
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

    /// From the last [`Self::set_count`] on, 1 of its count stands for this.
    pub(super) fn set_footprint(&mut self, footprint: Footprint) {
        self.footprint = footprint;
    }

    /// Whether its count stands for replicas: a CronJob is suspended or not, and has none.
    pub fn has_replicas(&self) -> bool {
        self.footprint.replicas > 0
    }

    /// Whether its replicas request both CPU and memory.
    pub fn has_requests(&self) -> bool {
        self.footprint.requests.are_complete()
    }

    /// How long at least one replica ran.
    pub fn up(&self) -> TimeDelta {
        self.up
    }

    /// The hours that its replicas ran, all together.
    pub fn replica_hours(&self) -> f64 {
        self.replica_seconds / 3600.0
    }

    /// What was saved: the time of what the schedule held down
    /// ([`held_down`](dayshift_workload::savings::stopped_capacity)).
    pub fn saved(&self) -> Saved {
        self.saved
    }

    /// The replica-hours that would have been used without the schedule.
    pub fn without(&self) -> f64 {
        self.replica_hours() + self.saved.replica_hours
    }
}

/// The requests of the scaler, by what they are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// Pages of lists of workloads.
    pub lists: u64,
    /// Single workloads that were read.
    pub gets: u64,
    /// Patches of workloads.
    pub patches: u64,
    /// Events that were reported.
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
    fn what_runs_and_what_is_held_down_is_counted_by_its_time() {
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
