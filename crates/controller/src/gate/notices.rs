//! When to send Events on a Namespace whose starts wait for a start slot.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_workload::events::STARTS_WAIT_INTERVAL;

/// How long after a first start of a namespace begins to wait: others begin with it.
const SETTLING: TimeDelta = TimeDelta::seconds(1);

/// The time of the last Event for each namespace whose starts wait.
#[derive(Default)]
pub(super) struct WaitNotices {
    reported: HashMap<Arc<str>, DateTime<Utc>>,
    next: Option<DateTime<Utc>>,
}

impl WaitNotices {
    /// A start of the namespace begins to wait.
    pub(super) fn begin(&mut self, namespace: &str, now: DateTime<Utc>) {
        if !self.reported.contains_key(namespace) {
            let soon = now + SETTLING;
            self.next = Some(self.next.map_or(soon, |next| next.min(soon)));
        }
    }

    /// When the next Event is due.
    pub(super) const fn next(&self) -> Option<DateTime<Utc>> {
        self.next
    }

    /// Takes the namespaces to report now, with how many starts wait there. `waiting` contains all
    /// that do.
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
