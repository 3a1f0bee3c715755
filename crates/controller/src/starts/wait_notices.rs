//! When people are told, on its Namespace, that starts of a namespace wait for a place.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_workload::events::STARTS_WAIT_INTERVAL;

/// How long after a first start of a namespace begins to wait: others begin with it.
const SETTLING: TimeDelta = TimeDelta::seconds(1);

/// The namespaces whose starts wait, and when people were told of each last.
#[derive(Default)]
pub(crate) struct WaitNotices {
    told: HashMap<Arc<str>, DateTime<Utc>>,
    next: Option<DateTime<Utc>>,
}

impl WaitNotices {
    /// A start of the namespace begins to wait.
    pub(crate) fn begin(&mut self, namespace: &str, now: DateTime<Utc>) {
        if !self.told.contains_key(namespace) {
            let soon = now + SETTLING;
            self.next = Some(self.next.map_or(soon, |next| next.min(soon)));
        }
    }

    /// When people are to be told next.
    pub(crate) const fn next(&self) -> Option<DateTime<Utc>> {
        self.next
    }

    /// The namespaces of which people are to be told now, with how many starts wait there. `waiting` has
    /// all that do.
    pub(crate) fn take_due(
        &mut self,
        waiting: BTreeMap<Arc<str>, usize>,
        now: DateTime<Utc>,
    ) -> Vec<(Arc<str>, usize)> {
        self.told
            .retain(|namespace, _| waiting.contains_key(namespace));
        let mut due = Vec::new();
        for (namespace, count) in waiting {
            let told = self.told.get(&namespace);
            if told.is_none_or(|told| *told + STARTS_WAIT_INTERVAL <= now) {
                self.told.insert(Arc::clone(&namespace), now);
                due.push((namespace, count));
            }
        }
        let oldest = self.told.values().min();
        self.next = oldest.map(|told| *told + STARTS_WAIT_INTERVAL);
        due
    }
}
