//! Plans the Events on Namespaces whose starts wait for a start slot: one shortly after the first start
//! begins to wait, and then at intervals.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_workload::events::STARTS_WAIT_INTERVAL;

/// The delay of the first Event, so that it includes all starts that begin to wait at the same time.
const GATHER_TIME: TimeDelta = TimeDelta::seconds(1);

/// The time of the last Event for each namespace whose starts wait.
#[derive(Default)]
pub(super) struct WaitNotices {
    reported: HashMap<Arc<str>, DateTime<Utc>>,
    next: Option<DateTime<Utc>>,
}

impl WaitNotices {
    /// Records that a start in the namespace begins to wait.
    pub(super) fn begin(&mut self, namespace: &str, now: DateTime<Utc>) {
        if !self.reported.contains_key(namespace) {
            let soon = now + GATHER_TIME;
            self.next = Some(self.next.map_or(soon, |next| next.min(soon)));
        }
    }

    /// When the next Event is due.
    pub(super) const fn next(&self) -> Option<DateTime<Utc>> {
        self.next
    }

    /// Takes the namespaces that should be reported now, and the number of waiting starts in each.
    /// `waiting` is the number of waiting starts in every namespace.
    pub(super) fn take_due(
        &mut self,
        waiting: &BTreeMap<Arc<str>, usize>,
        now: DateTime<Utc>,
    ) -> Vec<(Arc<str>, usize)> {
        self.reported
            .retain(|namespace, _| waiting.contains_key(namespace));
        let mut due = Vec::new();
        for (namespace, count) in waiting {
            let reported = self.reported.get(namespace);
            if reported.is_none_or(|at| *at + STARTS_WAIT_INTERVAL <= now) {
                self.reported.insert(Arc::clone(namespace), now);
                due.push((Arc::clone(namespace), *count));
            }
        }
        let oldest = self.reported.values().min();
        self.next = oldest.map(|at| *at + STARTS_WAIT_INTERVAL);
        due
    }
}
