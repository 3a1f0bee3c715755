//! What one workload has cost so far, and what it would have.

use std::collections::VecDeque;

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    savings::{HeldDown, Saved},
    schedule::Action,
    workload::{Observed, Replicas},
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
    /// Whether its replicas request both CPU and memory.
    pub has_requests: bool,
    /// Up to here all is counted; from here on `count` replicas run, and `held` more would without
    /// the schedule.
    since: DateTime<Utc>,
    count: Replicas,
    held: HeldDown,
    up: TimeDelta,
    replica_seconds: f64,
    saved: Saved,
    /// What was saved up to the quarters of an hour after a change, and what was held down then.
    marks: VecDeque<(DateTime<Utc>, Saved, HeldDown)>,
}

/// A day of every zone begins at one, in milliseconds.
const QUARTER: i64 = 15 * 60 * 1000;

/// More quarters of an hour than a month has.
const MOST_MARKS: usize = 32 * 96;

impl Usage {
    /// A workload as it is first seen, and what of it is held down.
    pub(super) fn new(at: DateTime<Utc>, observed: &Observed, held: HeldDown) -> Self {
        Self {
            starts: 0,
            stops: 0,
            has_replicas: observed.object.kind.counts().is_replicas(),
            has_requests: observed.requests.are_complete(),
            since: at,
            count: observed.replicas,
            held,
            up: TimeDelta::zero(),
            replica_seconds: 0.0,
            saved: Saved::default(),
            marks: VecDeque::new(),
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
    pub(super) fn runs(&mut self, at: DateTime<Utc>, count: Replicas, held: HeldDown) {
        let time = at - self.since;
        if self.count > Replicas::ZERO {
            self.up += time;
        }
        let quarter = (self.since.timestamp_millis() + QUARTER - 1).div_euclid(QUARTER) * QUARTER;
        if let Some(quarter) = DateTime::from_timestamp_millis(quarter)
            && quarter <= at
        {
            self.marks
                .push_back((quarter, self.saved_until(quarter), self.held));
            if self.marks.len() > MOST_MARKS {
                self.marks.pop_front();
            }
        }
        self.replica_seconds += f64::from(self.count.get()) * time.as_seconds_f64();
        self.saved = self.saved_until(at);
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

    /// What was saved: the time of what the schedule held down
    /// ([`held_down`](crate::savings::held_down)).
    pub fn saved(&self) -> Saved {
        self.saved
    }

    /// What was saved up to an instant at which a day of some zone begins, or any after the last
    /// change; a month after it nothing is known of it any more.
    pub fn saved_until(&self, at: DateTime<Utc>) -> Saved {
        let now = (self.since, self.saved, self.held);
        let mut known = self.marks.iter().chain([&now]).rev();
        known
            .find(|(since, ..)| *since <= at)
            .map_or_else(Saved::default, |(since, saved, held)| {
                [*saved, Saved::of(*held, at - *since)].into_iter().sum()
            })
    }

    /// The replica-hours that would have been used without the schedule.
    pub fn without(&self) -> f64 {
        self.replica_hours() + self.saved.replica_hours
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::ResourceRequests;

    #[test]
    fn what_runs_and_what_is_held_down_is_counted_by_its_time() {
        let begin: DateTime<Utc> = "2026-11-20T10:00:00Z".parse().unwrap();
        let hour = |hours| begin + TimeDelta::minutes((hours * 60.0) as i64);
        let requests = ResourceRequests {
            cpu_nanos: 500_000_000,
            memory_bytes: 2 << 30,
        };
        let [none, one, two, three] = [0, 1, 2, 3].map(Replicas::new);
        let [no, held] = [none, two].map(|it| HeldDown::of(it, requests));
        let mut usage = Usage {
            starts: 0,
            stops: 0,
            has_replicas: true,
            has_requests: true,
            since: begin,
            count: two,
            held: no,
            up: TimeDelta::zero(),
            replica_seconds: 0.0,
            saved: Saved::default(),
            marks: VecDeque::new(),
        };
        usage.runs(hour(3.0), none, held); // 2 for three hours
        usage.runs(hour(3.2), none, held);
        usage.runs(hour(7.0), three, no); // none of 2 for four
        usage.runs(hour(8.0), one, held); // 3 for one
        usage.runs(hour(10.0), one, held); // 1 of 3 for two
        assert_eq!(usage.up(), TimeDelta::hours(6));
        assert!((usage.replica_hours() - 11.0).abs() < 1e-9);
        assert!((usage.without() - 23.0).abs() < 1e-9);
        for (hours, expected) in [
            (-1.0, 0.0),
            (0.0, 0.0),
            (3.0, 0.0),
            (3.25, 0.5),
            (5.0, 4.0),
            (7.0, 8.0),
            (7.75, 8.0),
            (8.5, 9.0),
            (10.0, 12.0),
            (11.0, 14.0),
        ] {
            let saved = usage.saved_until(hour(hours));
            let found = [
                saved.replica_hours,
                saved.cpu_core_hours * 2.0,
                saved.memory_gib_hours / 2.0,
            ];
            assert!(
                found.iter().all(|it| (it - expected).abs() < 1e-9),
                "{hours}: {found:?}"
            );
        }
    }
}
