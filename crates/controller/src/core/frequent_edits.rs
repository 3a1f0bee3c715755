//! Limits how often the defaults of one namespace change. Each change is a decision about every workload that
//! inherits them, and a user can edit a Namespace or a ConfigMap hundreds of times a second.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use dayshift_cluster::{read::ObservedTeamDefaults, watch::ObjectSource};

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
    periods: VecDeque<(Duration, Arc<str>)>,
    /// The newest edit of each namespace with too many.
    waiting: BTreeMap<Arc<str>, Edit>,
    /// When these edits should take effect.
    due: VecDeque<(Duration, Arc<str>)>,
}

impl<Edit> FrequentEdits<Edit> {
    /// Allows `max` edits of a namespace to take effect at once in each period.
    pub(super) const fn new(max: u32, period: Duration) -> Self {
        Self {
            max,
            period,
            counts: BTreeMap::new(),
            periods: VecDeque::new(),
            waiting: BTreeMap::new(),
            due: VecDeque::new(),
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
        while let Some(name) = pop_due(&mut self.periods, now) {
            self.counts.remove(&name);
        }
        let count = self.counts.entry(Arc::clone(namespace)).or_default();
        if *count == 0 {
            let end = now + self.period;
            self.periods.push_back((end, Arc::clone(namespace)));
        }
        *count += 1;
        if *count <= self.max && !self.waiting.contains_key(namespace) {
            return Some(edit);
        }
        if self.waiting.insert(Arc::clone(namespace), edit).is_none() {
            self.due.push_back((now + WAIT, Arc::clone(namespace)));
        }
        None
    }

    /// Forgets the waiting edit of a namespace, because a list has shown a newer state, or its object is
    /// deleted.
    pub(super) fn forget(&mut self, namespace: &str) {
        self.waiting.remove(namespace);
    }

    /// When the next waiting edit should take effect.
    pub(super) fn next(&self) -> Option<Duration> {
        self.due.front().map(|(at, _)| *at)
    }

    /// Takes an edit that should take effect now, and its namespace.
    pub(super) fn take_due(&mut self, now: Duration) -> Option<(Arc<str>, Edit)> {
        while let Some(name) = pop_due(&mut self.due, now) {
            if let Some(edit) = self.waiting.remove(&name) {
                return Some((name, edit));
            }
        }
        None
    }
}

fn pop_due(queue: &mut VecDeque<(Duration, Arc<str>)>, now: Duration) -> Option<Arc<str>> {
    queue.front().filter(|(at, _)| *at <= now)?;
    let (_, name) = queue.pop_front()?;
    Some(name)
}
