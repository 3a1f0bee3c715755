//! The queues of objects that wait for a slot, and the requests in flight. Each priority class has a
//! queue and slots of its own, and namespaces take turns in each queue.

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

/// The objects that wait for a slot. An object that moves to another class remains in its old queue
/// too, so the caller of [`Self::pop`] has to check the current class.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    transitions: FairQueue<Id>,
    slow: FairQueue<Id>,
    adoptions: FairQueue<Id>,
    /// Adoptions that wait for the first list of their watch, so that they do not delay the list.
    after_list: HashMap<WatchId, Vec<(Arc<str>, Id)>>,
}

impl Outbox {
    /// Whether a request about an object can be sent without queuing: its class has a free slot and an
    /// empty queue.
    pub(crate) fn may_go(
        &self,
        class: Class,
        namespace: &str,
        slots: &Slots,
        window: usize,
    ) -> bool {
        let limits = limits(class, window, self.has_transitions());
        self.queue(class).is_empty() && slots.has_free_slot_for(class, limits, namespace)
    }

    /// Queues an object. A retry also lets newer objects of its namespace pass ([`FairQueue`]).
    pub(crate) fn push(&mut self, id: Id, object: &mut Object, class: Class) {
        object.work.mark_queued(class);
        let is_retried = object.work.failures() > 0;
        let namespace = &object.observed.object.namespace;
        self.queue_mut(class).queue(namespace, id, is_retried);
    }

    /// Queues an adoption that waits until the first list of its watch is complete or has failed.
    pub(crate) fn push_after_list(&mut self, id: Id, object: &mut Object) {
        object.work.mark_queued(Class::Adoption);
        let waiting = self.after_list.entry(object.watch).or_default();
        waiting.push((object.name().namespace.clone(), id));
    }

    /// Queues the adoptions that waited for the first list of a watch.
    pub(crate) fn release(&mut self, watch: WatchId) {
        for (namespace, id) in self.after_list.remove(&watch).unwrap_or_default() {
            self.adoptions.push(&namespace, id);
        }
    }

    /// Takes the next object of a class, if there is a free slot for it.
    pub(crate) fn pop(&mut self, class: Class, slots: &Slots, window: usize) -> Option<Id> {
        let limits = limits(class, window, self.has_transitions());
        if !slots.has_free_slot(class, limits) {
            return None;
        }
        let may = |namespace: &Arc<str>| slots.has_free_slot_for(class, limits, namespace);
        self.queue_mut(class).pop(may)
    }

    /// Whether a start or a stop waits.
    pub(crate) const fn has_transitions(&self) -> bool {
        !self.transitions.is_empty()
    }

    /// The length of each queue, and the name of its class in the metrics.
    pub(crate) fn depths(&self) -> [(&'static str, usize); 3] {
        let after_list: usize = self.after_list.values().map(Vec::len).sum();
        [
            ("transition", self.transitions.len()),
            ("slow", self.slow.len()),
            ("adoption", self.adoptions.len() + after_list),
        ]
    }

    /// The queue of a class. Only the classes of writes have a queue here; the components that send other
    /// requests have queues of their own.
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
