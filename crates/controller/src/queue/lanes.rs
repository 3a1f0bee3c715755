//! The objects that wait to be sent, in lanes.

use std::{collections::HashMap, sync::Arc};

use crate::ids::{Id, WatchId};
use crate::queue::fair_queue::FairQueue;

/// A kind of request, with places of its own, so that it waits for no other kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Lane {
    /// A start or a stop is due.
    Transition,
    /// A request that takes long, or whose predecessor on the same object did.
    Slow,
    /// Every other write to an object: adoptions, errors, healing.
    Adoption,
    /// An Event.
    Event,
}

/// How many objects are read at once to learn who has set their counts, and in how many namespaces
/// Jobs are looked at: a page of those may take 8 MiB. While starts and stops wait, one.
pub(crate) const fn places_for_lookups(transitions_wait: bool) -> usize {
    if transitions_wait { 1 } else { 4 }
}

/// The objects that wait to be decided about once more, and sent. One that has moved to another
/// lane stays in its old place: the code that pops it checks where it waits now.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    transitions: FairQueue<Id>,
    slow: FairQueue<Id>,
    adoptions: FairQueue<Id>,
    /// Adoptions that wait for the first list of their watch, so as not to slow it down.
    held: HashMap<WatchId, Vec<(Arc<str>, Id)>>,
}

impl Lanes {
    /// Keeps an adoption back until its watch is released.
    pub(crate) fn hold(&mut self, watch: WatchId, namespace: &Arc<str>, id: Id) {
        let held = self.held.entry(watch).or_default();
        held.push((namespace.clone(), id));
    }

    /// Queues the adoptions that waited for a watch.
    pub(crate) fn release(&mut self, watch: WatchId) {
        for (namespace, id) in self.held.remove(&watch).unwrap_or_default() {
            self.adoptions.push(&namespace, id);
        }
    }

    /// Queues an object behind the others of its namespace in a lane; Events have their own queue.
    pub(crate) fn push(&mut self, lane: Lane, namespace: &Arc<str>, id: Id, is_retried: bool) {
        let queue = match lane {
            Lane::Transition => &mut self.transitions,
            Lane::Slow => &mut self.slow,
            Lane::Adoption | Lane::Event => &mut self.adoptions,
        };
        queue.queue(namespace, id, is_retried);
    }

    /// Takes the next object of a lane whose namespace may have its turn.
    pub(crate) fn pop(&mut self, lane: Lane, may: impl Fn(&Arc<str>) -> bool) -> Option<Id> {
        match lane {
            Lane::Transition => self.transitions.pop(may),
            Lane::Slow => self.slow.pop(may),
            Lane::Adoption => self.adoptions.pop(may),
            Lane::Event => None,
        }
    }

    /// Whether a start or a stop waits.
    pub(crate) const fn has_transitions(&self) -> bool {
        !self.transitions.is_empty()
    }

    /// How many wait, by the lane's name in the metrics.
    pub(crate) fn depths(&self) -> [(&'static str, usize); 3] {
        let held: usize = self.held.values().map(Vec::len).sum();
        [
            ("transition", self.transitions.len()),
            ("slow", self.slow.len()),
            ("adoption", self.adoptions.len() + held),
        ]
    }
}
