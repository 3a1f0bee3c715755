//! The order in which patches are sent, and the requests in flight.
//!
//! The objects that wait to be sent.

use std::{collections::HashMap, sync::Arc};

use crate::{
    ids::{Id, WatchId},
    object::{Object, work::Class},
    outbox::{
        fair_queue::FairQueue,
        slots::{Slots, limits},
    },
};

pub(crate) mod fair_queue;
pub(crate) mod flight;
pub(crate) mod slots;

/// The objects that wait to be decided about once more, and sent. One that has moved to another class
/// stays in its old queue: the code that pops it checks where it waits now.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    transitions: FairQueue<Id>,
    slow: FairQueue<Id>,
    adoptions: FairQueue<Id>,
    /// Adoptions that wait for the first list of their watch, so as not to slow it down.
    held: HashMap<WatchId, Vec<(Arc<str>, Id)>>,
}

impl Outbox {
    /// Whether an object may be sent at once: its class has a free slot, and nothing waits for it.
    pub(crate) fn may_go(
        &self,
        class: Class,
        namespace: &str,
        slots: &Slots,
        window: usize,
    ) -> bool {
        let limits = limits(class, window, self.has_transitions());
        self.queue(class).is_empty() && slots.is_one_free_for(class, limits, namespace)
    }

    /// Queues an object behind the others of its namespace, a retry also behind four new ones.
    pub(crate) fn push(&mut self, id: Id, object: &mut Object, class: Class) {
        object.work.queue(class);
        let is_retried = object.work.failures() > 0;
        let namespace = &object.observed.object.namespace;
        self.queue_mut(class).queue(namespace, id, is_retried);
    }

    /// Queues an adoption once the first list of its watch is complete, or has failed.
    pub(crate) fn push_after_list(&mut self, id: Id, object: &mut Object) {
        object.work.queue(Class::Adoption);
        let held = self.held.entry(object.watch).or_default();
        held.push((object.name().namespace.clone(), id));
    }

    /// Queues the adoptions that waited for a watch.
    pub(crate) fn release(&mut self, watch: WatchId) {
        for (namespace, id) in self.held.remove(&watch).unwrap_or_default() {
            self.adoptions.push(&namespace, id);
        }
    }

    /// Takes the next object of a class for which there is a slot.
    pub(crate) fn pop(&mut self, class: Class, slots: &Slots, window: usize) -> Option<Id> {
        let limits = limits(class, window, self.has_transitions());
        if !slots.is_one_free(class, limits) {
            return None;
        }
        let may = |namespace: &Arc<str>| slots.is_one_free_for(class, limits, namespace);
        self.queue_mut(class).pop(may)
    }

    /// Whether a start or a stop waits.
    pub(crate) const fn has_transitions(&self) -> bool {
        !self.transitions.is_empty()
    }

    /// How many wait, by the name of the class in the metrics.
    pub(crate) fn depths(&self) -> [(&'static str, usize); 3] {
        let held: usize = self.held.values().map(Vec::len).sum();
        [
            ("transition", self.transitions.len()),
            ("slow", self.slow.len()),
            ("adoption", self.adoptions.len() + held),
        ]
    }

    /// Objects wait in three classes; every other request has a queue of its own.
    const fn queue(&self, class: Class) -> &FairQueue<Id> {
        match class {
            Class::Transition => &self.transitions,
            Class::Slow => &self.slow,
            _ => &self.adoptions,
        }
    }

    const fn queue_mut(&mut self, class: Class) -> &mut FairQueue<Id> {
        match class {
            Class::Transition => &mut self.transitions,
            Class::Slow => &mut self.slow,
            _ => &mut self.adoptions,
        }
    }
}
