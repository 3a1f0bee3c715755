//! Decides whether a due start can be sent now, or waits: first for its dependencies (`after`), then
//! for a start slot (`--max-starting`). Stops and other changes are always admitted.

use std::{collections::BTreeMap, num::NonZeroUsize, sync::Arc};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::write::EventObject;
use dayshift_schedule::Zone;
use dayshift_workload::{
    Change, Dependency, DependencyState, DueStart, READY_WITHIN, StartWait, UnreadyDependency,
    events::{EventText, STARTS_WAIT_INTERVAL},
};

use crate::{
    clock::{guard::Now, scheduler::Scheduler, timers::Timers},
    events::Events,
    gate::{
        dependencies::Dependencies,
        slots::{SlotOutcome, StartSlots},
    },
    ids::Id,
    object::{Object, work::WaitReason},
    store::{Store, reports_no_readiness},
    watches::{ListState, Watches},
};

mod dependencies;
mod slots;

/// The waiting starts, and the start slots.
pub(crate) struct Gate {
    dependencies: Dependencies,
    slots: StartSlots,
    notices: WaitNotices,
    /// The maximum time for which a workload that is not ready occupies a start slot.
    slot_limit: TimeDelta,
}

/// Whether a change can be sent now.
#[expect(clippy::large_enum_variant, reason = "a verdict is moved only once")]
pub(crate) enum Verdict {
    /// The change can be sent.
    Go(Change),
    /// The start waits.
    Hold {
        /// When to decide again if no dependency changes before.
        until: Option<DateTime<Utc>>,
    },
}

/// The state that the gate needs to decide about a start.
pub(crate) struct GateState<'a> {
    pub(crate) store: &'a mut Store,
    pub(crate) watches: &'a Watches,
    pub(crate) timers: &'a mut Timers,
    pub(crate) now: Now,
}

impl GateState<'_> {
    /// The state of a dependency.
    fn dependency_state(&self, namespace: &str, needed: &Dependency) -> DependencyState {
        let known = self
            .store
            .dependency_state(namespace, needed, self.now.wall);
        known.unwrap_or_else(|| {
            match self
                .watches
                .list_state(&needed.kind.clone().into(), namespace)
            {
                ListState::Unwatched => DependencyState::Unwatched,
                ListState::Unlisted => DependencyState::NotReady,
                ListState::Listed => DependencyState::Missing,
            }
        })
    }
}

impl Gate {
    /// Creates a gate for at most `max_starting` concurrent starts; `None` for no limit. A started workload
    /// keeps its slot until it is ready, or until its `ready-within` or that of the controller has passed.
    pub(crate) fn new(max_starting: Option<NonZeroUsize>, ready_within: TimeDelta) -> Self {
        Self {
            dependencies: Dependencies::default(),
            slots: StartSlots::new(max_starting),
            notices: WaitNotices::default(),
            slot_limit: if_set(ready_within).unwrap_or(READY_WITHIN),
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

    /// Decides whether a change can be sent now. Only starts wait.
    pub(crate) fn admit(&mut self, id: Id, change: Change, state: &mut GateState<'_>) -> Verdict {
        let Some(object) = state.store.get(id) else {
            return Verdict::Go(change);
        };
        let spec = object.parsed.spec();
        let start = spec.and_then(|spec| spec.due_start(&change, &object.observed));
        let Some(start) = start else {
            self.leave_start(id, state);
            return Verdict::Go(change);
        };
        // After the wait has ended, the start does not wait again if a dependency becomes unready
        // before it is sent.
        let over = object
            .start
            .as_ref()
            .and_then(|start| start.ended_wait.as_ref());
        let has_ended = over.is_some_and(|over| over.due == start.due);
        let recheck_at = if has_ended {
            None
        } else {
            self.wait_for_dependencies(id, &change, start.due, state)
        };
        let reason = match recheck_at {
            Some(_) => WaitReason::Dependencies,
            None => WaitReason::Slot,
        };
        if reason == WaitReason::Slot && !self.wait_for_slot(id, start, state) {
            return Verdict::Go(with_wait(change, state.store.get(id)));
        }
        if let Some(object) = state.store.get_mut(id) {
            // Boundaries that become due during the wait are not reported as skipped.
            object.work.begin_wait(reason);
        }
        let next = change.state.next_at();
        let next = next.filter(|next| *next > state.now.wall);
        let until = next.into_iter().chain(recheck_at).min();
        Verdict::Hold { until }
    }

    /// Checks the dependencies of a start. If it waits, returns when they should be checked again.
    fn wait_for_dependencies(
        &mut self,
        id: Id,
        change: &Change,
        due: DateTime<Utc>,
        state: &mut GateState<'_>,
    ) -> Option<DateTime<Utc>> {
        let now = state.now.wall;
        let object = state.store.get(id)?;
        let spec = object.parsed.spec();
        let needs = spec.and_then(|spec| spec.needs(change, &object.observed));
        let wait = needs.map(|needs| {
            let name = object.name();
            needs.wait(now, |needed| {
                match state.dependency_state(&name.namespace, needed) {
                    DependencyState::NotReady if state.store.depends_on(needed, name) => {
                        DependencyState::Cycle
                    }
                    _ if needed.is(name) => DependencyState::Cycle,
                    state => state,
                }
            })
        });
        let object = state.store.get_unpublished(id)?;
        match wait {
            None => {
                self.dependencies.cancel(id, object);
                if let Some(start) = &mut object.start {
                    start.ended_wait = None;
                }
                None
            }
            Some(StartWait::Over { without }) => {
                let (times, reason) = ((due, now), WaitReason::Dependencies);
                self.dependencies
                    .end_wait(id, object, times, reason, without);
                None
            }
            Some(StartWait::Waits(waiting)) => {
                self.slots.release_slot(id, object, state.timers);
                self.slots.leave_queue(object);
                if self.dependencies.begin_wait(id, object, &waiting) {
                    let (names, until) = (join(&waiting.needed), waiting.until);
                    let object = object.name();
                    tracing::info!(kind = %object.kind, %object, %until, "the start waits for {names}");
                }
                Some(waiting.look)
            }
        }
    }

    /// Acquires a start slot for a start. Returns whether it has to wait for one.
    fn wait_for_slot(&mut self, id: Id, start: DueStart, state: &mut GateState<'_>) -> bool {
        if self.slots.max().is_none() {
            return false;
        }
        let now = state.now.wall;
        let Some(object) = state.store.get_unpublished(id) else {
            return false;
        };
        let name = object.name().clone();
        if reports_no_readiness(&name.kind, &name.namespace) {
            return false;
        }
        match self.slots.acquire(id, object, state.timers, start) {
            SlotOutcome::Taken => return false,
            SlotOutcome::TakenAfterWait => {}
            SlotOutcome::Queued { is_new } => {
                if is_new {
                    self.notices.begin(&name.namespace, now);
                    tracing::debug!(kind = %name.kind, object = %name, "the start waits for a start slot");
                }
                return true;
            }
        }
        let over = object.start().ended_wait.take();
        let mut without = over.map_or_else(Vec::new, |over| over.without);
        without.retain(|(needed, _): &UnreadyDependency| {
            state.dependency_state(&name.namespace, needed) != DependencyState::Ready
        });
        if let Some(object) = state.store.get_mut(id) {
            let (times, reason) = ((start.due, now), WaitReason::Slot);
            self.dependencies
                .end_wait(id, object, times, reason, without);
            object.work.end_wait();
        }
        false
    }

    /// Ends all waits of an object that has no due start, and records that in its work.
    pub(crate) fn leave_start(&mut self, id: Id, state: &mut GateState<'_>) {
        let object = state.store.get_unpublished(id);
        let Some(object) = object.filter(|object| object.start.is_some()) else {
            return;
        };
        if self.leave(id, object, state.timers)
            && let Some(object) = state.store.get_mut(id)
        {
            object.work.end_wait();
        }
    }

    /// Ends all waits of an object, and frees the slot of a start that was not carried out. Returns whether
    /// the object was queued for a start slot.
    fn leave(&mut self, id: Id, object: &mut Object, timers: &mut Timers) -> bool {
        self.dependencies.cancel(id, object);
        if let Some(start) = &mut object.start {
            start.ended_wait = None;
        }
        self.slots.release_slot(id, object, timers);
        let waited = self.slots.leave_queue(object);
        object.free_start();
        waited
    }

    /// Ends all waits of a removed object, and frees its slot even if its start was carried out.
    pub(crate) fn remove(&mut self, id: Id, object: &mut Object, timers: &mut Timers) {
        self.leave(id, object, timers);
        self.slots.free(id, object, timers);
    }

    /// Frees the slot of a start whose write failed. A workload that was started keeps its slot.
    pub(crate) fn release_slot(&mut self, id: Id, object: &mut Object, timers: &mut Timers) {
        self.slots.release_slot(id, object, timers);
    }

    /// Applies the readiness of an object to its start slot.
    pub(crate) fn observe(
        &mut self,
        id: Id,
        object: &mut Object,
        timers: &mut Timers,
        now: DateTime<Utc>,
    ) {
        if self.slots.max().is_some() {
            let own = if_set(object.parsed.ready_within());
            let within = own.map_or(self.slot_limit, |own| own.min(self.slot_limit));
            self.slots.observe(id, object, timers, within, now);
        }
    }

    /// Gives a free start slot to the next waiting start, which should then be decided about again.
    pub(crate) fn grant(&mut self, store: &mut Store, watches: &Watches) -> Option<Id> {
        self.slots.max()?;
        self.slots.open_if(|| watches.have_all_first_results());
        self.slots.grant(store)
    }

    /// Frees the start slot of a workload that is not ready in time.
    pub(crate) fn end_slot(&mut self, id: Id, object: &mut Object, timers: &mut Timers) {
        self.slots.free(id, object, timers);
        object.is_past_start = true;
        let object = object.name();
        tracing::warn!(kind = %object.kind, %object, "not ready in time; its start slot is free for the next start");
    }

    /// Processes the change or removal of a dependency. Returns the starts that waited only for it and no
    /// longer wait.
    pub(crate) fn take_unblocked(
        &mut self,
        namespace: &str,
        needed: &Dependency,
        state: &mut GateState<'_>,
    ) -> Vec<Id> {
        if !self.dependencies.has_waiting_start(namespace, needed)
            || state.dependency_state(namespace, needed) == DependencyState::NotReady
        {
            return Vec::new();
        }
        self.dependencies
            .take_unblocked(namespace, needed, state.store)
    }

    /// When the next Event about waiting starts is due.
    pub(crate) fn next_notice(&self) -> Option<DateTime<Utc>> {
        self.notices.0.next()
    }

    /// Sends Events on the Namespaces whose starts wait for start slots.
    pub(crate) fn report_waits(&mut self, store: &Store, events: &mut Events, now: Now) {
        let Some(max) = self.slots.max() else {
            return;
        };
        for (namespace, count) in self.notices.take_due(self.slots.waiting(), now.wall) {
            let event = EventText::starts_wait(count, max.get());
            tracing::info!(%namespace, "{}", event.text);
            let uid: Arc<str> = store.namespace_uid(&namespace);
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
        let over = object
            .start
            .as_ref()
            .and_then(|start| start.ended_wait.as_ref());
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
    let start = object.and_then(|object| object.start.as_ref());
    let over = start.and_then(|start| start.ended_wait.as_ref());
    let ended = over.and_then(|over| over.ended);
    match (
        ended,
        object,
        object.and_then(|object| object.parsed.spec()),
    ) {
        (Some(ended), Some(object), Some(spec)) => change.after_wait(ended, spec, object.name()),
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

/// When an Event about each namespace whose starts wait is due.
#[derive(Default)]
struct WaitNotices(Scheduler<Arc<str>, DateTime<Utc>>);

impl WaitNotices {
    /// Records that a start in the namespace begins to wait.
    fn begin(&mut self, namespace: &Arc<str>, now: DateTime<Utc>) {
        if self.0.get(namespace).is_none() {
            self.0.set(Arc::clone(namespace), now + GATHER_TIME);
        }
    }

    /// Takes the namespaces that should be reported now, and the number of waiting starts in each.
    /// `waiting` is the number of waiting starts in every namespace.
    fn take_due(
        &mut self,
        waiting: &BTreeMap<Arc<str>, usize>,
        now: DateTime<Utc>,
    ) -> Vec<(Arc<str>, usize)> {
        let mut due = Vec::new();
        while let Some((namespace, _)) = self.0.take_due(now) {
            if let Some(count) = waiting.get(&namespace) {
                self.0
                    .set(Arc::clone(&namespace), now + STARTS_WAIT_INTERVAL);
                due.push((namespace, *count));
            }
        }
        due
    }
}
