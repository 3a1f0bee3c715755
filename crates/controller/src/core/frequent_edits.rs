//! Limits how often the defaults of one namespace change. Each change is a decision about every workload that
//! inherits them, and a user can edit a Namespace or a ConfigMap hundreds of times a second.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use dayshift_cluster::{read::ObservedTeamDefaults, watch::ObjectSource};

use crate::clock::scheduler::Scheduler;

/// The newest ConfigMap of a team; `None` if it was deleted. Whether it comes from a list or a change.
pub(super) type TeamEdit = (Option<ObservedTeamDefaults>, ObjectSource);

/// How long an edit waits if too many preceded it, together with those that follow it.
const WAIT: Duration = Duration::from_secs(1);

/// The recent edits of one object in each namespace, for example of its Namespace.
pub(super) struct FrequentEdits<Edit> {
    /// The number of edits that take effect at once in each period.
    max: u32,
    period: Duration,
    /// The number of edits of each namespace in its current period.
    counts: BTreeMap<Arc<str>, u32>,
    /// When each of these periods ends.
    periods: Scheduler<Arc<str>, Duration>,
    /// The newest edit of each namespace with too many.
    waiting: BTreeMap<Arc<str>, Edit>,
    /// When these edits should take effect.
    due: Scheduler<Arc<str>, Duration>,
}

impl<Edit> FrequentEdits<Edit> {
    /// Allows `max` edits of a namespace to take effect at once in each period.
    pub(super) fn new(max: u32, period: Duration) -> Self {
        Self {
            max,
            period,
            counts: BTreeMap::new(),
            periods: Scheduler::new(),
            waiting: BTreeMap::new(),
            due: Scheduler::new(),
        }
    }

    /// Counts an edit. Returns it if it should take effect now. Otherwise, [`Self::take_due`] returns it
    /// later, or an edit that follows it.
    pub(super) fn admit(
        &mut self,
        namespace: &Arc<str>,
        edit: Edit,
        now: Duration,
    ) -> Option<Edit> {
        while let Some((name, _)) = self.periods.take_due(now) {
            self.counts.remove(&name);
        }
        let count = self.counts.entry(Arc::clone(namespace)).or_default();
        if *count == 0 {
            let end = now + self.period;
            self.periods.set(Arc::clone(namespace), end);
        }
        *count += 1;
        if *count <= self.max && !self.waiting.contains_key(namespace) {
            return Some(edit);
        }
        if self.waiting.insert(Arc::clone(namespace), edit).is_none() {
            self.due.set(Arc::clone(namespace), now + WAIT);
        }
        None
    }

    /// Forgets the waiting edit of a namespace, because a list has shown a newer state, or its object is
    /// deleted.
    pub(super) fn forget(&mut self, namespace: &str) {
        if let Some((namespace, _)) = self.waiting.remove_entry(namespace) {
            self.due.cancel(&namespace);
        }
    }

    /// When the next waiting edit should take effect.
    pub(super) fn next(&self) -> Option<Duration> {
        self.due.next()
    }

    /// Takes an edit that should take effect now, and its namespace.
    pub(super) fn take_due(&mut self, now: Duration) -> Option<(Arc<str>, Edit)> {
        let (namespace, _) = self.due.take_due(now)?;
        self.waiting.remove_entry(&namespace)
    }
}
