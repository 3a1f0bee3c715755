//! The last wakes of each workload, for suggestions about its schedule.
//!
//! Only the times are recorded, not the users. The log is in memory, so it begins when the controller starts.
//! A namespace can use only a part of it.

use std::collections::{HashMap, VecDeque};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_workload::WorkloadRef;

/// The maximum number of recorded wakes of a workload, of workloads in a namespace, and of all workloads:
/// at most 1 MB.
const MAX_WAKES: usize = 14;
const MAX_OF_NAMESPACE: usize = 50;
const MAX_WORKLOADS: usize = 2_000;

/// A wake that ended longer ago can make room for others.
const KEPT: TimeDelta = TimeDelta::days(21);

/// A time during which an override or a request kept a workload running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedWake {
    /// Its beginning.
    pub from: DateTime<Utc>,
    /// Its end; `None` if it has not ended.
    pub until: Option<DateTime<Utc>>,
}

/// The recorded wakes of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WakeHistory {
    /// When the controller began to record.
    pub since: DateTime<Utc>,
    /// The last wakes, the earliest first.
    pub wakes: Vec<RecordedWake>,
}

/// The last wakes of all workloads.
#[derive(Debug)]
pub(super) struct WakeLog {
    since: DateTime<Utc>,
    workloads: HashMap<WorkloadRef, VecDeque<RecordedWake>>,
}

impl WakeLog {
    pub(super) fn new(since: DateTime<Utc>) -> Self {
        Self {
            since,
            workloads: HashMap::new(),
        }
    }

    /// Records the beginning of a wake.
    pub(super) fn begin(&mut self, object: &WorkloadRef, from: DateTime<Utc>) {
        if !self.workloads.contains_key(object) && !self.has_room(object, from) {
            return;
        }
        let wakes = self.workloads.entry(object.clone()).or_default();
        wakes.push_back(RecordedWake { from, until: None });
        if wakes.len() > MAX_WAKES {
            wakes.pop_front();
        }
    }

    /// Records the end of the last wake.
    pub(super) fn end(&mut self, object: &WorkloadRef, until: DateTime<Utc>) {
        let wakes = self.workloads.get_mut(object);
        if let Some(last) = wakes.and_then(VecDeque::back_mut) {
            last.until.get_or_insert(until.max(last.from));
        }
    }

    /// Makes room for a workload if possible.
    fn has_room(&mut self, object: &WorkloadRef, now: DateTime<Utc>) -> bool {
        if self.is_full(&object.namespace) {
            let is_recent = |wake: &RecordedWake| wake.until.is_none_or(|end| now - end < KEPT);
            self.workloads
                .retain(|_, wakes| wakes.back().is_some_and(is_recent));
        }
        !self.is_full(&object.namespace)
    }

    fn is_full(&self, namespace: &str) -> bool {
        let all = self.workloads.keys();
        let of_namespace = all.filter(|object| *object.namespace == *namespace);
        self.workloads.len() >= MAX_WORKLOADS || of_namespace.count() >= MAX_OF_NAMESPACE
    }

    /// Removes a deleted workload.
    pub(super) fn remove(&mut self, object: &WorkloadRef) {
        self.workloads.remove(object);
    }

    pub(super) fn of(&self, object: &WorkloadRef) -> WakeHistory {
        let wakes = self.workloads.get(object).into_iter().flatten();
        WakeHistory {
            since: self.since,
            wakes: wakes.copied().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use dayshift_workload::Kind;

    use super::*;

    fn object(namespace: &str, name: &str) -> WorkloadRef {
        WorkloadRef {
            kind: Kind::DEPLOYMENT,
            namespace: namespace.into(),
            name: name.into(),
            uid: name.into(),
        }
    }

    fn day(day: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::days(day)
    }

    #[test]
    fn last_wakes_of_a_workload_are_kept() {
        let (mut log, web) = (WakeLog::new(day(0)), object("dev", "web"));
        log.end(&web, day(0));
        assert_eq!(log.of(&web).wakes, [], "it was never woken");
        for number in 0..20 {
            log.begin(&web, day(number));
            log.end(&web, day(number) + TimeDelta::hours(1));
            log.end(&web, day(number) + TimeDelta::hours(2));
        }
        log.begin(&web, day(20));
        let history = log.of(&web);
        let froms: Vec<_> = history.wakes.iter().map(|wake| wake.from).collect();
        assert_eq!(froms, (7..=20).map(day).collect::<Vec<_>>());
        assert_eq!(history.wakes[12].until, Some(day(19) + TimeDelta::hours(1)));
        assert_eq!(history.wakes[13].until, None);
        log.remove(&web);
        assert_eq!(log.of(&web).wakes, []);
    }

    #[test]
    fn namespace_with_many_woken_workloads_takes_no_room_of_others() {
        let mut log = WakeLog::new(day(0));
        let of_team = |number: usize| object("team", &format!("w{number}"));
        for number in 0..10_000 {
            log.begin(&of_team(number), day(0));
            log.end(&of_team(number), day(0));
        }
        assert_eq!(log.workloads.len(), MAX_OF_NAMESPACE);
        log.begin(&object("dev", "web"), day(1));
        assert_eq!(log.of(&object("dev", "web")).wakes.len(), 1);
        // Old wakes and deleted workloads make room.
        log.remove(&of_team(0));
        log.begin(&of_team(100), day(1));
        assert_eq!(log.of(&of_team(100)).wakes.len(), 1);
        log.begin(&of_team(101), day(1));
        assert_eq!(log.of(&of_team(101)).wakes, [], "the share is used up");
        log.begin(&of_team(102), day(30));
        assert_eq!(log.of(&of_team(102)).wakes.len(), 1);
        for namespace in 0..1_000 {
            for number in 0..MAX_OF_NAMESPACE {
                log.begin(
                    &object(&format!("n{namespace}"), &number.to_string()),
                    day(30),
                );
            }
        }
        assert_eq!(log.workloads.len(), MAX_WORKLOADS);
    }
}
