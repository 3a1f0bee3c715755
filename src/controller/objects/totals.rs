//! What all objects come to together.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use chrono::{DateTime, Utc};

use crate::controller::ids::Id;
use crate::controller::objects::deadlines::{Deadline, Deadlines};
use crate::savings::HeldDown;
use crate::workload::Phase;

/// How an object is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::controller) enum Standing {
    /// It has no schedule.
    Unscheduled,
    /// Its schedule is refused.
    Invalid,
    /// It has a schedule, and its state was not written yet, or cannot be read.
    Unknown,
    /// It has a schedule and is in this state.
    In(Phase),
}

/// What one object counts for; nothing while it is out of scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::controller) struct Share {
    pub(super) standing: Option<Standing>,
    pub(super) held: HeldDown,
    /// Whether its replicas are scheduled, and do not request both CPU and memory.
    pub(super) lacks_requests: bool,
    /// Whether it is held down though its schedule says running.
    pub(super) is_against_schedule: bool,
    /// Whether it is kept stopped, if it has a schedule.
    pub(super) is_kept_stopped: Option<bool>,
    pub(super) deadline: Option<Deadline>,
}

/// How many whose deadlines have passed are looked at again in one count: deciding whether one is
/// overdue takes some 10 µs.
const LOOKS: usize = 256;

/// What all objects come to together.
#[derive(Debug, Default)]
pub(in crate::controller) struct Totals {
    standings: BTreeMap<Standing, usize>,
    by_namespace: BTreeMap<Arc<str>, OfNamespace>,
    without_requests: usize,
    against_schedule: usize,
    deadlines: Deadlines,
    /// When to look again at which object.
    looks: BTreeSet<(i64, Id)>,
    /// Those that are kept stopped and were not, or the other way round, since somebody asked.
    others_stopped: Vec<Id>,
}

/// What is held down in one namespace. Sums that nothing makes too large: what was added can be
/// taken away again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OfNamespace {
    objects: usize,
    replicas: u128,
    cpu_nanos: u128,
    memory_bytes: u128,
}

impl Totals {
    /// How many objects stand so.
    pub(in crate::controller) fn standing(&self, standing: Standing) -> usize {
        self.standings.get(&standing).copied().unwrap_or_default()
    }

    /// How many objects have a schedule that is not refused.
    pub(in crate::controller) fn scheduled(&self) -> usize {
        let each = self.standings.iter();
        each.filter(|(it, _)| matches!(it, Standing::Unknown | Standing::In(_)))
            .map(|(_, count)| count)
            .sum()
    }

    /// What the schedules hold down in each namespace that has an object.
    pub(in crate::controller) fn held_down(&self) -> impl Iterator<Item = (&Arc<str>, HeldDown)> {
        let each = self.by_namespace.iter();
        each.map(|(namespace, sums)| (namespace, sums.held_down()))
    }

    /// How many objects whose replicas are scheduled do not request both CPU and memory.
    pub(in crate::controller) const fn without_requests(&self) -> usize {
        self.without_requests
    }

    /// How many objects are held down though their schedule says running.
    pub(in crate::controller) const fn against_schedule(&self) -> usize {
        self.against_schedule
    }

    /// When how many objects become overdue.
    pub(in crate::controller) const fn deadlines(&self) -> &Deadlines {
        &self.deadlines
    }

    /// The objects that are kept stopped and were not when this was asked last, or the other way
    /// round, and those that may be gone.
    pub(super) fn take_others_stopped(&mut self) -> Vec<Id> {
        std::mem::take(&mut self.others_stopped)
    }

    /// Whether one is to be looked at again at `now` because its deadline has passed.
    pub(super) fn has_passed(&self, now: DateTime<Utc>) -> bool {
        let first = self.looks.first();
        first.is_some_and(|(second, _)| *second <= now.timestamp())
    }

    /// Some that are to be looked at again at `now` because their deadlines have passed.
    pub(super) fn passed(&self, now: DateTime<Utc>) -> Vec<Id> {
        let second = now.timestamp();
        let passed = self.looks.range(..=(second, Id::MAX)).take(LOOKS);
        passed.map(|(_, id)| *id).collect()
    }

    /// Whether these objects come to the same, counted one by one: all but the deadlines, which
    /// also time changes.
    pub(super) fn are_of<'e>(&self, objects: impl Iterator<Item = (&'e Arc<str>, Share)>) -> bool {
        let mut counted = Self::default();
        for (namespace, share) in objects {
            counted.add(
                0,
                namespace,
                Share {
                    deadline: None,
                    ..share
                },
            );
        }
        counted.standings == self.standings
            && counted.by_namespace == self.by_namespace
            && counted.without_requests == self.without_requests
            && counted.against_schedule == self.against_schedule
    }

    /// One object of that namespace counts for something else.
    pub(super) fn replace(&mut self, id: Id, namespace: &Arc<str>, before: Share, now: Share) {
        if before == now {
            return;
        }
        self.take_away(id, namespace, before);
        self.add(id, namespace, now);
        if before.is_kept_stopped != now.is_kept_stopped {
            self.others_stopped.push(id);
        }
    }

    fn add(&mut self, id: Id, namespace: &Arc<str>, share: Share) {
        let Some(standing) = share.standing else {
            return;
        };
        *self.standings.entry(standing).or_default() += 1;
        let sums = self.by_namespace.entry(namespace.clone()).or_default();
        sums.add(share.held);
        self.without_requests += usize::from(share.lacks_requests);
        self.against_schedule += usize::from(share.is_against_schedule);
        if let Some(deadline) = share.deadline {
            if let Some(second) = deadline.from {
                self.deadlines.add(second);
            }
            self.looks.insert((deadline.look, id));
        }
    }

    fn take_away(&mut self, id: Id, namespace: &Arc<str>, share: Share) {
        let Some(standing) = share.standing else {
            return;
        };
        if let Some(count) = self.standings.get_mut(&standing) {
            *count -= 1;
            if *count == 0 {
                self.standings.remove(&standing);
            }
        }
        if let Some(sums) = self.by_namespace.get_mut(namespace) {
            sums.take_away(share.held);
            if sums.objects == 0 {
                self.by_namespace.remove(namespace);
            }
        }
        self.without_requests -= usize::from(share.lacks_requests);
        self.against_schedule -= usize::from(share.is_against_schedule);
        if let Some(deadline) = share.deadline {
            if let Some(second) = deadline.from {
                self.deadlines.take_away(second);
            }
            self.looks.remove(&(deadline.look, id));
        }
    }
}

impl OfNamespace {
    fn add(&mut self, held: HeldDown) {
        self.objects += 1;
        self.replicas += u128::from(held.replicas);
        self.cpu_nanos += u128::from(held.cpu_nanos);
        self.memory_bytes += u128::from(held.memory_bytes);
    }

    fn take_away(&mut self, held: HeldDown) {
        self.objects -= 1;
        self.replicas -= u128::from(held.replicas);
        self.cpu_nanos -= u128::from(held.cpu_nanos);
        self.memory_bytes -= u128::from(held.memory_bytes);
    }

    fn held_down(self) -> HeldDown {
        let most = |sum: u128| u64::try_from(sum).unwrap_or(u64::MAX);
        HeldDown {
            replicas: most(self.replicas),
            cpu_nanos: most(self.cpu_nanos),
            memory_bytes: most(self.memory_bytes),
        }
    }
}
