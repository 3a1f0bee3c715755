//! Who has reverted dayshift's count: one read, one Event.

use crate::{
    cluster::{EventObject, ReadError, WithManagers},
    events::EventText,
    neighbours::{FieldManager, ManagerKind},
    workload::{ChangeKind, Decision},
};

use crate::controller::ids::Id;
use crate::controller::objects::entry::Entry;
use crate::controller::queue::work::WorkState;
use crate::controller::reconcile::engine::Engine;
use crate::controller::retry::backoff::Key;
use crate::controller::retry::notifier::Reason;
use crate::controller::reverts::lookups::Lookup;

impl Engine {
    /// Checks whether somebody has reverted our count, to learn who it was.
    pub(in crate::controller) fn look_for_revert(&mut self, id: Id) {
        let is_in_flight = |entry: &Entry| entry.work.state() == WorkState::InFlight;
        let Some(entry) = self.index.get(id).filter(|entry| !is_in_flight(entry)) else {
            return; // It may already show the change in flight.
        };
        let now = self.clock.monotonic();
        let Some(reverted) = self.reverts.find(id, &entry.observed, now) else {
            return;
        };
        let object = entry.object().clone();
        let gave_up = match self.index.decide(id, self.clock.now()) {
            // It is corrected, or set to something else: a repeated revert is reported then.
            Some(Decision::Write(change))
                if change.kind.is_transition() || change.kind == ChangeKind::Enforce =>
            {
                return;
            }
            Some(Decision::CorrectionLimitReached { .. }) => reverted.by == ChangeKind::Enforce,
            _ => false,
        };
        self.reverts.look_up(id, object, reverted, gave_up, now);
    }

    /// Reads reverted objects while there are places, and sends summaries that are due.
    pub(in crate::controller) fn dispatch_lookups(&mut self) {
        let now = self.clock.monotonic();
        while let Some(lookup) = self.reverts.pop(self.queue.has_transitions(), now) {
            self.sender.look_up(lookup);
        }
        while let Some((object, event)) = self.reverts.take_note(now, &self.settings.prefix) {
            tracing::warn!(namespace = &*object.namespace, "{}", event.text);
            self.events.record(object, event, self.clock.now());
        }
    }

    /// Reports who it was, if that is known now.
    pub(in crate::controller) fn looked_up(
        &mut self,
        lookup: &Lookup,
        result: Result<WithManagers, ReadError>,
    ) {
        self.reverts.ended();
        let object = &lookup.object;
        match result {
            Ok(managed) if managed.workload.uid() == &*object.uid => {
                let manager = managed.last_manager(object.kind);
                self.reverted(lookup, manager.as_ref());
            }
            Ok(_) | Err(ReadError::Gone) => {}
            Err(error) => {
                let what = lookup.reverted.words(object.kind);
                tracing::warn!(kind = %object.kind, %object, "somebody {what}; managedFields, \
                    which say who, cannot be read: {error}");
            }
        }
    }

    fn reverted(&mut self, lookup: &Lookup, manager: Option<&FieldManager>) {
        let object = &lookup.object;
        let name = manager.map_or_else(|| "somebody".to_owned(), FieldManager::name);
        let kind = manager.map_or(ManagerKind::Unknown, FieldManager::kind);
        let prefix = &self.settings.prefix;
        let reverted = &lookup.reverted;
        let event = EventText::reverted(reverted, object, manager, lookup.gave_up, prefix);
        let Some(event) = event else {
            let what = reverted.words(object.kind);
            tracing::debug!(kind = %object.kind, %object, "{name} {what}");
            return;
        };
        self.telemetry.revert(kind);
        let now = self.clock.monotonic();
        let key = Key::Object(lookup.id);
        if !self.notifier.take_news(&key, Reason::Reverted, &name, now) {
            tracing::debug!(kind = %object.kind, %object, "{}", event.text);
            return;
        }
        let about = EventObject::from(object);
        if self.reverts.admit(&about, &name, now) {
            tracing::warn!(kind = %object.kind, %object, "{}", event.text);
            self.events.record(about, event, self.clock.now());
        } else {
            tracing::debug!(kind = %object.kind, %object, "{}", event.text);
        }
    }
}
