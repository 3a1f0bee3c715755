//! Counts that dayshift has set recently, and those that somebody else has reverted.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use dayshift_workload::{
    Change, ChangeKind, Observed, Replicas, WorkloadRef, other_controllers::Revert,
};
use tokio::time::Instant;

use crate::{ids::Id, queue::lanes::places_for_lookups, reverts::notes::RevertNotes};

/// Counts that dayshift has set recently, and those that somebody else has reverted.
///
/// A count is forgotten when it is reverted, so each revert is looked up once.
pub(crate) struct Reverts {
    /// For how long a count is watched; zero for none.
    window: Duration,
    counts: HashMap<Id, SetCount>,
    waiting: VecDeque<Lookup>,
    in_flight: usize,
    pruned: Option<Instant>,
    pub(crate) notes: RevertNotes,
}

/// A count that dayshift has set.
struct SetCount {
    by: ChangeKind,
    from: Replicas,
    to: Replicas,
    /// The label `last` that came with it.
    last: Option<i64>,
    /// When it was sent.
    at: Instant,
}

/// A reverted object, to be read to learn who it was.
pub(crate) struct Lookup {
    pub(crate) id: Id,
    pub(crate) object: WorkloadRef,
    pub(crate) reverted: Revert,
    /// Whether `enforce` has corrected it as often as it may.
    pub(crate) gave_up: bool,
    seen: Instant,
}

impl Reverts {
    /// No counts yet; each will be watched for this long.
    pub(crate) fn new(window: Duration) -> Self {
        Self {
            window,
            counts: HashMap::new(),
            waiting: VecDeque::new(),
            in_flight: 0,
            pruned: None,
            notes: RevertNotes::default(),
        }
    }

    /// Takes in a change of ours that the server has made, and that was sent at this moment:
    /// without an answer it becomes known much later.
    pub(crate) fn wrote(&mut self, id: Id, from: Replicas, change: &Change, sent: Instant) {
        self.prune(sent);
        let last = change.state.last.map(|last| last.timestamp());
        if change.replicas == from {
            if change.kind.is_transition() {
                self.counts.remove(&id);
            } else if let Some(set) = self.counts.get_mut(&id) {
                set.last = last;
            }
        } else if !self.window.is_zero() {
            let set = SetCount {
                by: change.kind,
                from,
                to: change.replicas,
                last,
                at: sent,
            };
            self.counts.insert(id, set);
        }
    }

    /// How an object was reverted, if it was.
    pub(super) fn find(&self, id: Id, observed: &Observed, now: Instant) -> Option<Revert> {
        let set = self.counts.get(&id)?;
        let after = now.saturating_duration_since(set.at);
        // Another dayshift has done something since.
        let is_others = observed.state().last.map(|last| last.timestamp()) > set.last;
        let is_back = Revert::is_back(set.from, set.to, observed.replicas);
        (is_back && !is_others && !observed.deleting && after <= self.window).then_some(Revert {
            by: set.by,
            from: set.from,
            to: set.to,
            now: observed.replicas,
            after,
        })
    }

    /// Queues an object to be read for who it was.
    pub(super) fn look_up(
        &mut self,
        id: Id,
        object: WorkloadRef,
        reverted: Revert,
        gave_up: bool,
        now: Instant,
    ) {
        self.counts.remove(&id);
        self.waiting.push_back(Lookup {
            id,
            object,
            reverted,
            gave_up,
            seen: now,
        });
    }

    /// The next object to read, if there is a place for it.
    pub(crate) fn pop(&mut self, is_busy: bool, now: Instant) -> Option<Lookup> {
        if self.in_flight >= places_for_lookups(is_busy) {
            return None;
        }
        // A lookup that has waited this long no longer shows who it was.
        let window = self.window;
        while let Some(lookup) = self.waiting.pop_front() {
            if now.saturating_duration_since(lookup.seen) <= window {
                self.in_flight += 1;
                return Some(lookup);
            }
        }
        None
    }

    /// Marks a read as ended.
    pub(super) const fn ended(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// Forgets an object. A read under way continues.
    pub(crate) fn remove(&mut self, id: Id) {
        self.counts.remove(&id);
    }

    /// Forgets counts that are no longer watched, at most once in the time for which a count is
    /// watched.
    fn prune(&mut self, now: Instant) {
        let window = self.window;
        let is_due = |pruned: Instant| now.saturating_duration_since(pruned) > window;
        if self.pruned.is_none_or(is_due) {
            self.pruned = Some(now);
            let within = |at: Instant| now.saturating_duration_since(at) <= window;
            self.counts.retain(|_, set| within(set.at));
            self.counts.shrink_to_fit();
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta, Utc};
    use serde_json::json;

    use super::*;
    use dayshift_cluster::Workload;
    use dayshift_workload::{Cause, Kind, Prefix, State};

    const MINUTE: Duration = Duration::from_secs(60);

    /// A Deployment with three replicas, of which this moment is the last that was considered.
    fn shown(last: DateTime<Utc>) -> Observed {
        let label = last.format("%Y-%m-%dT%H.%M.%SZ").to_string();
        let object: Workload = serde_json::from_value(json!({
            "metadata": {
                "namespace": "dev", "name": "web", "uid": "1",
                "labels": {"dayshift/last": label},
            },
            "spec": {"replicas": 3},
        }))
        .unwrap();
        object.observe(Kind::DEPLOYMENT, &Prefix::default())
    }

    /// A stop at this moment.
    fn stop(last: DateTime<Utc>) -> Change {
        Change {
            kind: ChangeKind::Stop,
            cause: Cause::Clock(last),
            boundary: None,
            replicas: Replicas::ZERO,
            state: State {
                last: Some(last),
                ..State::default()
            },
            value: None,
            error: None,
            override_began: None,
            inherited: None,
            calendars: 0,
            expired: Vec::new(),
            note: None,
        }
    }

    /// Two scalers in one cluster: what the other one has done since is no setting back.
    #[test]
    fn what_another_dayshift_has_done_since_is_not_looked_up() {
        let (now, last) = (Instant::now(), DateTime::UNIX_EPOCH);
        let mut reverts = Reverts::new(MINUTE);
        reverts.wrote(1, shown(last).replicas, &stop(last), now);
        let later = last + TimeDelta::seconds(1);
        assert_eq!(reverts.find(1, &shown(later), now), None);
        assert!(reverts.find(1, &shown(last), now).is_some());
        assert!(reverts.find(1, &shown(last), now + MINUTE).is_some());
        let too_late = now + MINUTE + Duration::from_millis(1);
        assert_eq!(reverts.find(1, &shown(last), too_late), None);
    }

    #[test]
    fn four_are_read_at_once_and_one_beside_starts_and_stops() {
        let (now, last) = (Instant::now(), DateTime::UNIX_EPOCH);
        let mut reverts = Reverts::new(MINUTE);
        for id in 0..10 {
            reverts.wrote(id, shown(last).replicas, &stop(last), now);
            let observed = shown(last);
            let reverted = reverts.find(id, &observed, now).unwrap();
            reverts.look_up(id, observed.object, reverted, false, now);
        }
        assert!(reverts.pop(true, now).is_some() && reverts.pop(true, now).is_none());
        let more = std::iter::from_fn(|| reverts.pop(false, now)).count();
        assert_eq!(more, 3);
        reverts.ended();
        assert!(reverts.pop(true, now).is_none() && reverts.pop(false, now).is_some());
    }

    #[test]
    fn what_is_too_old_is_forgotten_once_in_a_window() {
        let (now, last) = (Instant::now(), DateTime::UNIX_EPOCH);
        let mut reverts = Reverts::new(MINUTE);
        let mut known_after = |seconds| {
            let sent = now + Duration::from_secs(seconds);
            reverts.wrote(seconds, shown(last).replicas, &stop(last), sent);
            reverts.counts.len()
        };
        let known = [0, 50, 60, 61, 120, 122, 43_200].map(&mut known_after);
        assert_eq!(known, [1, 2, 3, 3, 4, 2, 1]);
    }
}
