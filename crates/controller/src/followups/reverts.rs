//! Detects that another controller has reverted a count that dayshift set, and finds its field manager
//! with one read.

use std::{collections::VecDeque, time::Duration};

use dayshift_cluster::{
    decode::WithManagers,
    write::{EventObject, ReadError},
};
use dayshift_workload::{
    Change, ChangeKind, Decision, KindTable, Observed, Replicas, WorkloadRef,
    events::{EventText, RevertEnd},
    other_controllers::{FieldManager, ManagerKind, Revert},
};

use crate::{
    clock::guard::Now,
    events::Events,
    ids::Id,
    object::{Object, rare::SetCount, reported::Reason},
    outbox::fair_queue::FairQueue,
    store::Store,
};

/// The reverts to look up, and the ends of revert windows. Each object stores the count that dayshift has
/// set, as a [`SetCount`].
///
/// A count is forgotten after a revert, so each revert is looked up once.
pub(crate) struct Reverts {
    /// How long a count is checked for reverts; zero disables that.
    window: Duration,
    /// The ends of the revert windows, in whole seconds of elapsed time, the earliest first.
    ends: VecDeque<(u32, Id)>,
    waiting: FairQueue<Lookup>,
}

/// A reverted object, which will be read to find the field manager.
pub(crate) struct Lookup {
    pub(crate) id: Id,
    pub(crate) object: WorkloadRef,
    reverted: Revert,
    end: RevertEnd,
    /// The elapsed time when the revert was observed.
    observed_at: Duration,
}

impl Reverts {
    /// Creates the component. Each count will be checked for the duration `window`.
    pub(crate) fn new(window: Duration) -> Self {
        Self {
            window,
            ends: VecDeque::new(),
            waiting: FairQueue::default(),
        }
    }

    /// Records a successful change. `sent` is the time of its request, which can be much earlier than now if
    /// the response was lost.
    pub(crate) fn record_write(
        &mut self,
        id: Id,
        object: &mut Object,
        from: Replicas,
        change: &Change,
        sent: Duration,
    ) {
        let last = change.state.last.map(|last| last.timestamp());
        if change.replicas == from {
            if change.kind.is_transition() {
                object.set_count = None;
            } else if let Some(set) = &mut object.set_count {
                set.last = last;
            }
        } else if !self.window.is_zero() {
            object.set_count = Some(Box::new(SetCount {
                by: change.kind,
                from,
                to: change.replicas,
                last,
                at: sent,
            }));
            self.ends.push_back((whole_seconds(sent + self.window), id));
        }
    }

    /// When the next revert window has ended.
    pub(crate) fn next_end(&self) -> Option<Duration> {
        // A millisecond later, because the window includes its end.
        let first = self.ends.front();
        first.map(|(end, _)| Duration::from_secs((*end).into()) + Duration::from_millis(1))
    }

    /// Forgets one count whose revert window has ended. Returns `false` if there is none.
    pub(crate) fn forget_ended(&mut self, store: &mut Store, now: Now) -> bool {
        let is_over = |end: u32| Duration::from_secs(end.into()) < now.elapsed;
        let first = self.ends.front().copied();
        let Some((_, id)) = first.filter(|(end, _)| is_over(*end)) else {
            return false;
        };
        self.ends.pop_front();
        if let Some(object) = store.get_unpublished(id) {
            let window = self.window;
            object.set_count.take_if(|set| now.since(set.at) > window);
        }
        if self.ends.is_empty() {
            self.ends = VecDeque::new();
        }
        true
    }

    /// Returns the revert that an observation shows, if any.
    fn find(&self, set: &SetCount, observed: &Observed, now: Now) -> Option<Revert> {
        let after = now.since(set.at);
        // If `last` is newer, another controller of dayshift has changed the object since.
        let is_by_another_instance = observed.state().last.map(|last| last.timestamp()) > set.last;
        let is_back = Revert::is_back(set.from, set.to, observed.replicas);
        (is_back && !is_by_another_instance && !observed.deleting && after <= self.window)
            .then_some(Revert {
                by: set.by,
                from: set.from,
                to: set.to,
                now: observed.replicas,
                after,
            })
    }

    /// Checks whether the count of an object was reverted. If so, queues it to be read for its field
    /// managers.
    pub(crate) fn observe(&mut self, id: Id, store: &mut Store, now: Now) {
        let Some(object) = store.get(id) else {
            return;
        };
        let Some(set) = object
            .set_count
            .as_ref()
            .filter(|_| !object.work.is_in_flight())
        else {
            return; // The observation might already contain the change in flight.
        };
        let Some(reverted) = self.find(set, &object.observed, now) else {
            return;
        };
        let name = object.name().clone();
        let end = match store.decide(id, now.wall) {
            // The count will be set again. If that is reverted too, it is reported.
            Some(Decision::Write(change))
                if change.kind.is_transition() || change.kind == ChangeKind::Enforce =>
            {
                return;
            }
            Some(Decision::CorrectionLimitReached { .. }) if reverted.by == ChangeKind::Enforce => {
                RevertEnd::CorrectionLimit
            }
            _ => RevertEnd::Undecided,
        };
        if let Some(object) = store.get_unpublished(id) {
            object.set_count = None;
        }
        let namespace = name.namespace.clone();
        let lookup = Lookup {
            id,
            object: name,
            reverted,
            end,
            observed_at: now.elapsed,
        };
        self.waiting.push(&namespace, lookup);
    }

    /// Takes the next object to read. Namespaces take turns.
    pub(crate) fn pop(&mut self, now: Now) -> Option<Lookup> {
        // Drop a revert that was observed longer ago than the revert window: the field managers might no
        // longer show which of them reverted the count.
        while let Some(lookup) = self.waiting.pop(|_| true) {
            if now.since(lookup.observed_at) <= self.window {
                return Some(lookup);
            }
        }
        None
    }

    /// Reports a revert, with the field manager if the read has shown it.
    pub(crate) fn finish(
        lookup: &Lookup,
        result: &Result<WithManagers, ReadError>,
        store: &mut Store,
        kinds: &KindTable,
        events: &mut Events,
        now: Now,
    ) {
        let object = &lookup.object;
        match result {
            Ok(managed) if is_set_by_operator(managed, object, store, kinds) => {
                let what = lookup.reverted.words(&object.kind);
                tracing::debug!(kind = %object.kind, %object, "the operator of its scheduled owner {what}");
            }
            Ok(managed) if managed.workload.uid() == &*object.uid => {
                let manager = managed.last_manager(&object.kind);
                let known = store.get_unpublished(lookup.id);
                report(lookup, manager.as_ref(), known, events, now);
            }
            Ok(_) | Err(ReadError::Gone) => {}
            Err(error) => {
                let description = lookup.reverted.words(&object.kind);
                tracing::warn!(kind = %object.kind, %object, "another client {description}; managedFields, \
                    which show which one, cannot be read: {error}");
            }
        }
    }
}

/// Whether the object belongs to a custom resource that dayshift scales too: then its operator sets
/// the count of the object.
fn is_set_by_operator(
    managed: &WithManagers,
    object: &WorkloadRef,
    store: &Store,
    kinds: &KindTable,
) -> bool {
    let owner = managed.controller_owner().and_then(|owner| {
        let kind = kinds.from_owner(&owner.api_version, &owner.kind)?;
        store.get(store.find(&kind, &object.namespace, &owner.name)?)
    });
    owner.is_some_and(|owner| owner.observed.inputs.is_scheduled())
}

/// Rounds up to whole seconds. The result fits in `u32`, because a process runs for less than 136 years.
fn whole_seconds(time: Duration) -> u32 {
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    u32::try_from(seconds).unwrap_or(u32::MAX)
}

fn report(
    lookup: &Lookup,
    manager: Option<&FieldManager>,
    known: Option<&mut Object>,
    events: &mut Events,
    now: Now,
) {
    let object = &lookup.object;
    let name = manager.map_or_else(|| "another client".to_owned(), FieldManager::name);
    let kind = manager.map_or(ManagerKind::Unknown, FieldManager::kind);
    let reverted = &lookup.reverted;
    let end = lookup.end;
    let Some(event) = EventText::reverted(reverted, object, manager, end, events.prefix()) else {
        let description = reverted.words(&object.kind);
        tracing::debug!(kind = %object.kind, %object, "{name} {description}");
        return;
    };
    events.count_revert(kind, object);
    let about = EventObject::from(object);
    // The reports of a deleted object are forgotten, so its revert counts as new.
    let is_new = known.is_none_or(|known| {
        let reported = &mut known.rare().reported;
        reported.report_if_new(Reason::Reverted, &name, now)
    });
    if is_new && events.digest.admit(&about, &name, now) {
        tracing::warn!(kind = %object.kind, %object, "{}", event.text);
        events.announce(about, event, now);
    } else {
        tracing::debug!(kind = %object.kind, %object, "{}", event.text);
    }
}
