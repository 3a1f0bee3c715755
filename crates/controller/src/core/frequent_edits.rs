//! Limits how often the annotations of one Namespace take effect. Each change is a decision about every
//! workload that inherits them, and a user can change them hundreds of times a second.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use dayshift_cluster::read::ObservedNamespace;

use crate::store::ObservationOrigin;

/// The number of changes of a Namespace that take effect at once in each [`PERIOD`].
const MAX_CHANGES: u32 = 10;

const PERIOD: Duration = Duration::from_secs(10);

/// How long any further change waits, together with those that follow it.
const WAIT: Duration = Duration::from_secs(1);

/// A change of a Namespace, and the watch from which it comes.
type Change = (ObservedNamespace, ObservationOrigin);

/// The recent changes of Namespaces.
#[derive(Default)]
pub(super) struct FrequentEdits {
    /// The number of changes of each Namespace in its current period.
    counts: BTreeMap<Box<str>, u32>,
    /// When each of these periods ends.
    periods: VecDeque<(Duration, Box<str>)>,
    /// The newest change of each Namespace with too many.
    waiting: BTreeMap<Box<str>, Change>,
    /// When these changes should take effect.
    due: VecDeque<(Duration, Box<str>)>,
}

impl FrequentEdits {
    /// Counts a change. Returns it if it should take effect now. Otherwise, [`Self::take_due`] returns it
    /// later, or a change that follows it.
    pub(super) fn admit(&mut self, change: Change, now: Duration) -> Option<Change> {
        while let Some(name) = pop_due(&mut self.periods, now) {
            self.counts.remove(&name);
        }
        let name = &change.0.name;
        let count = self.counts.entry(name.clone()).or_default();
        if *count == 0 {
            self.periods.push_back((now + PERIOD, name.clone()));
        }
        *count += 1;
        if *count <= MAX_CHANGES && !self.waiting.contains_key(name) {
            return Some(change);
        }
        let name = name.clone();
        if self.waiting.insert(name.clone(), change).is_none() {
            self.due.push_back((now + WAIT, name));
        }
        None
    }

    /// Forgets the waiting change of a Namespace, because a list has shown a newer state, or it is deleted.
    pub(super) fn forget(&mut self, namespace: &str) {
        self.waiting.remove(namespace);
    }

    /// When the next waiting change should take effect.
    pub(super) fn next(&self) -> Option<Duration> {
        self.due.front().map(|(at, _)| *at)
    }

    /// Takes a change that should take effect now.
    pub(super) fn take_due(&mut self, now: Duration) -> Option<Change> {
        while let Some(name) = pop_due(&mut self.due, now) {
            if let Some(change) = self.waiting.remove(&name) {
                return Some(change);
            }
        }
        None
    }
}

fn pop_due(queue: &mut VecDeque<(Duration, Box<str>)>, now: Duration) -> Option<Box<str>> {
    let (at, _) = queue.front()?;
    let is_due = *at <= now;
    is_due
        .then(|| queue.pop_front())
        .flatten()
        .map(|(_, name)| name)
}
