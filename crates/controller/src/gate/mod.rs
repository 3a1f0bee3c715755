//! Decides whether a due start can be sent now, or waits: first for its dependencies (`after`), then
//! for a start slot (`--max-starting`). Stops and other changes are always admitted.

use std::{num::NonZeroUsize, sync::Arc};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::{log_limit::LogLimit, write::EventObject};
use dayshift_schedule::Zone;
use dayshift_workload::{
    Change, Decision, Dependency, DependencyState, DueStart, READY_WITHIN, StartWait,
    UnreadyDependency,
    events::{EventText, STARTS_WAIT_INTERVAL},
};

use crate::{
    clock::{guard::Now, scheduler::Scheduler},
    events::Events,
    gate::{dependencies::Dependencies, slots::StartSlots},
    ids::Id,
    object::{EndedWait, Object},
    store::{Store, reports_no_readiness},
};

mod dependencies;
mod slots;

/// The waiting starts, and the start slots.
pub(crate) struct Gate {
    dependencies: Dependencies,
    slots: StartSlots,
    /// When an Event about each namespace whose starts wait for slots is due.
    notices: Scheduler<Arc<str>, DateTime<Utc>>,
    /// The maximum time for which a workload that is not ready occupies a start slot.
    slot_limit: TimeDelta,
    logs: LogLimit,
}

impl Gate {
    /// Creates a gate for at most `max_starting` concurrent starts; `None` for no limit. A started workload
    /// keeps its slot until it is ready, or until its `ready-within` or that of the controller has passed.
    pub(crate) fn new(
        max_starting: Option<NonZeroUsize>,
        ready_within: TimeDelta,
        logs: LogLimit,
    ) -> Self {
        Self {
            dependencies: Dependencies::default(),
            slots: StartSlots::new(max_starting),
            notices: Scheduler::new(),
            slot_limit: if_set(ready_within).unwrap_or(READY_WITHIN),
            logs,
        }
    }

    /// The number of waiting starts.
    pub(crate) fn waiting(&self) -> usize {
        self.dependencies.waiting() + self.slots.waiting().values().sum::<usize>()
    }

    /// The starts that wait for dependencies.
    pub(crate) fn waiting_for_dependencies(&self) -> Vec<Id> {
        self.dependencies.ids().into_iter().collect()
    }

    /// Decides whether a change can be sent now, or waits until a time. Only starts wait.
    pub(crate) fn admit(
        &mut self,
        id: Id,
        change: Change,
        store: &mut Store,
        now: DateTime<Utc>,
    ) -> Decision {
        let Some(object) = store.get(id) else {
            return Decision::Write(change);
        };
        let spec = object.parsed.spec();
        let start = spec.and_then(|spec| spec.due_start(&change, &object.observed));
        let Some(start) = start else {
            self.leave_start(id, store);
            return Decision::Write(change);
        };
        // After the wait has ended, the start does not wait again if a dependency becomes unready
        // before it is sent.
        let over = object.ended_wait();
        let has_ended = over.is_some_and(|over| over.due == start.due);
        let recheck_at = if has_ended {
            None
        } else {
            self.wait_for_dependencies(id, (&change, start.due), store, now)
        };
        if recheck_at.is_none() && !self.wait_for_slot(id, start, store, now) {
            return Decision::Write(with_wait(change, store.get(id)));
        }
        if let Some(object) = store.get_mut(id) {
            // Boundaries that become due during the wait are not reported as skipped.
            object.work.clear_due();
        }
        let next = change.state.next_at().filter(|next| *next > now);
        let until = next.into_iter().chain(recheck_at).min();
        Decision::Wait { due: until }
    }

    /// Checks the dependencies of a start that became due at `due`. If it waits, returns when they should be
    /// checked again.
    fn wait_for_dependencies(
        &mut self,
        id: Id,
        (change, due): (&Change, DateTime<Utc>),
        store: &mut Store,
        now: DateTime<Utc>,
    ) -> Option<DateTime<Utc>> {
        let object = store.get(id)?;
        let spec = object.parsed.spec();
        let needs = spec.and_then(|spec| spec.needs(change, &object.observed));
        let wait = needs.map(|needs| {
            let name = object.name();
            needs.wait(now, |needed| {
                match store.dependency_state(&name.namespace, needed, now) {
                    DependencyState::NotReady if store.depends_on(needed, name) => {
                        DependencyState::Cycle
                    }
                    _ if needed.is(name) => DependencyState::Cycle,
                    state => state,
                }
            })
        });
        let object = store.get_unpublished(id)?;
        match wait {
            None => {
                self.dependencies.cancel(id, object);
                if let Some(start) = &mut object.start {
                    start.ended_wait = None;
                }
                None
            }
            Some(StartWait::Over { without }) => {
                let has_waited = self.dependencies.cancel(id, object).is_some();
                object.end_wait(EndedWait {
                    due,
                    ended: has_waited.then_some(now),
                    without,
                });
                None
            }
            Some(StartWait::Waits(waiting)) => {
                self.slots.release_slot(id, object);
                self.slots.leave_queue(object);
                if self.dependencies.begin_wait(id, object, &waiting) {
                    let (names, until) = (join(&waiting.needed), waiting.until);
                    let object = object.name();
                    self.logs.line(&object.namespace, |suppressed| {
                        tracing::info!(kind = %object.kind, %object, %until, suppressed, "the start waits for {names}");
                    });
                }
                Some(waiting.look)
            }
        }
    }

    /// Acquires a start slot for a start. Returns whether it has to wait for one.
    fn wait_for_slot(
        &mut self,
        id: Id,
        start: DueStart,
        store: &mut Store,
        now: DateTime<Utc>,
    ) -> bool {
        if self.slots.max.is_none() {
            return false;
        }
        let Some(object) = store.get_unpublished(id) else {
            return false;
        };
        let name = object.name().clone();
        if reports_no_readiness(&name.kind, &name.namespace) {
            return false;
        }
        let has_waited = object.waits_for_slot();
        if !self.slots.acquire(id, object, start) {
            if !has_waited {
                if self.notices.get(&name.namespace).is_none() {
                    let namespace = Arc::clone(&name.namespace);
                    self.notices.set(namespace, now + GATHER_TIME);
                }
                tracing::debug!(kind = %name.kind, object = %name, "the start waits for a start slot");
            }
            return true;
        }
        if !has_waited {
            return false;
        }
        let over = object.start().ended_wait.take();
        let mut without = over.map_or_else(Vec::new, |over| over.without);
        without.retain(|(needed, _): &UnreadyDependency| {
            store.dependency_state(&name.namespace, needed, now) != DependencyState::Ready
        });
        if let Some(object) = store.get_mut(id) {
            self.dependencies.cancel(id, object);
            object.end_wait(EndedWait {
                due: start.due,
                ended: Some(now),
                without,
            });
        }
        false
    }

    /// Ends all waits of an object that has no due start. If it waited for a start slot, it is published.
    pub(crate) fn leave_start(&mut self, id: Id, store: &mut Store) {
        let object = store.get_unpublished(id);
        let Some(object) = object.filter(|object| object.start.is_some()) else {
            return;
        };
        let has_waited = object.waits_for_slot();
        self.leave(id, object);
        if has_waited {
            store.get_mut(id);
        }
    }

    /// Ends all waits of an object, and frees the slot of a start that was not carried out.
    fn leave(&mut self, id: Id, object: &mut Object) {
        self.dependencies.cancel(id, object);
        if let Some(start) = &mut object.start {
            start.ended_wait = None;
        }
        self.slots.release_slot(id, object);
        self.slots.leave_queue(object);
        object.free_start();
    }

    /// Ends all waits of a removed object, and frees its slot even if its start was carried out.
    pub(crate) fn remove(&mut self, id: Id, object: &mut Object) {
        self.leave(id, object);
        self.slots.free(id, object);
    }

    /// Frees the slot of a start whose write failed. A workload that was started keeps its slot.
    pub(crate) fn release_slot(&mut self, id: Id, object: &mut Object) {
        self.slots.release_slot(id, object);
    }

    /// Applies the readiness of an object to its start slot.
    pub(crate) fn observe(&mut self, id: Id, object: &mut Object, now: DateTime<Utc>) {
        if self.slots.max.is_some() {
            let own = if_set(object.parsed.ready_within());
            let within = own.map_or(self.slot_limit, |own| own.min(self.slot_limit));
            self.slots.observe(id, object, within, now);
        }
    }

    /// Gives a free start slot to the next waiting start, which should then be decided about again.
    pub(crate) fn grant(&mut self, store: &mut Store) -> Option<Id> {
        self.slots.max?;
        self.slots
            .open_if(|| store.watches.have_all_first_results());
        self.slots.grant(store)
    }

    /// When the next start slot expires, or the next Event about waiting starts is due.
    pub(crate) fn next(&self) -> Option<DateTime<Utc>> {
        let both = [self.slots.ends.next(), self.notices.next()];
        both.into_iter().flatten().min()
    }

    /// Frees the start slot of one workload that is not ready in time. Returns `false` if no slot expires now.
    pub(crate) fn end_slot(&mut self, store: &mut Store, now: DateTime<Utc>) -> bool {
        let Some((id, _)) = self.slots.ends.take_due(now) else {
            return false;
        };
        if let Some(object) = store.get_unpublished(id) {
            self.slots.free(id, object);
            object.is_past_start = true;
            let object = object.name();
            tracing::warn!(kind = %object.kind, %object, "not ready in time; its start slot is free for the next start");
        }
        true
    }

    /// Processes the change or removal of a dependency. Returns the starts that waited only for it and no
    /// longer wait.
    pub(crate) fn take_unblocked(
        &mut self,
        namespace: &Arc<str>,
        needed: &Dependency,
        store: &mut Store,
        now: DateTime<Utc>,
    ) -> Vec<Id> {
        if self.dependencies.waiting_for(namespace, needed).is_empty()
            || store.dependency_state(namespace, needed, now) == DependencyState::NotReady
        {
            return Vec::new();
        }
        self.dependencies.take_unblocked(namespace, needed, store)
    }

    /// Sends Events on the Namespaces whose starts wait for start slots.
    pub(crate) fn report_waits(&mut self, store: &Store, events: &mut Events, now: Now) {
        let Some(max) = self.slots.max else {
            return;
        };
        while let Some((namespace, _)) = self.notices.take_due(now.wall) {
            let Some(count) = self.slots.waiting().get(&namespace) else {
                continue;
            };
            let next = now.wall + STARTS_WAIT_INTERVAL;
            self.notices.set(Arc::clone(&namespace), next);
            let event = EventText::starts_wait(*count, max.get());
            tracing::info!(%namespace, "{}", event.text);
            let uid: Arc<str> = store.namespaces.uid(&namespace).into();
            events.announce(EventObject::namespace(namespace, uid), event, now);
        }
    }

    /// Reports the dependencies that were not ready when a start was carried out.
    pub(crate) fn report_unready_dependencies(
        object: &Object,
        default_zone: Zone,
        events: &mut Events,
        now: Now,
    ) {
        let over = object.ended_wait();
        let Some(over) = over.filter(|over| !over.without.is_empty()) else {
            return;
        };
        let spec = object.parsed.spec();
        let zone = spec.map_or(default_zone, |spec| spec.schedule.zone());
        let event = EventText::started_without(&over.without, now.wall - over.due, zone);
        let object = object.name();
        tracing::warn!(kind = %object.kind, %object, "{}", event.text);
        events.announce(object, event, now);
    }
}

/// Converts a `ready-within` to a limit for slots. Zero sets no limit (`None`), because it only disables the
/// warning that a workload is not ready in time.
fn if_set(ready_within: TimeDelta) -> Option<TimeDelta> {
    (!ready_within.is_zero()).then_some(ready_within)
}

/// If a start has waited, replaces its due time with the end of the wait, so that the lateness metric does
/// not include the wait.
fn with_wait(change: Change, object: Option<&Object>) -> Change {
    let Some(object) = object else {
        return change;
    };
    let ended = object.ended_wait().and_then(|over| over.ended);
    match (ended, object.parsed.spec()) {
        (Some(ended), Some(spec)) => change.after_wait(ended, spec, object.name()),
        _ => change,
    }
}

/// `sts/db, deploy/cache`
fn join(needed: &[Dependency]) -> String {
    let names: Vec<_> = needed.iter().map(Dependency::to_string).collect();
    names.join(", ")
}

/// The delay of the first Event, so that it includes all starts that begin to wait at the same time.
const GATHER_TIME: TimeDelta = TimeDelta::seconds(1);
