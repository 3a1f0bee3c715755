//! Decisions about objects, as far as is known now.

use chrono::{DateTime, Utc};

use crate::{
    cluster::EventObject,
    events::EventText,
    workload::{Decision, EventNote},
};

use crate::controller::ids::Id;
use crate::controller::objects::entry::Entry;
use crate::controller::queue::lanes::Lane;
use crate::controller::queue::work::WorkState;
use crate::controller::reconcile::engine::Engine;
use crate::controller::retry::backoff::Key;
use crate::controller::retry::notifier::Reason;

impl Engine {
    /// Ends the wait of these objects.
    pub(in crate::controller) fn release(&mut self, ids: impl IntoIterator<Item = Id>) {
        for id in ids {
            if let Some(entry) = self.index.get_mut(id) {
                entry.work.release();
            }
            self.reconcile(id);
        }
    }

    /// Decides about an idle object, and queues it or notes when it is due.
    pub(in crate::controller) fn reconcile(&mut self, id: Id) {
        self.look_at_readiness(id);
        self.look_at_next_stop(id);
        self.look_at_jobs(id);
        let Some(entry) = self.index.get_mut(id) else {
            return;
        };
        if self.queue.take_edit(id, entry) {
            let key = Key::Object(id);
            self.notifier.clear(&key, &[Reason::BoundariesSkipped]);
        }
        if self.clock.is_wrong() || entry.work.state() != WorkState::Idle {
            return;
        }
        let now = self.clock.now();
        let decision = self.decide(id, now);
        let Some(entry) = self.index.get_mut(id) else {
            return;
        };
        if let Some(Decision::Write(change)) = decision {
            // A boundary that falls due meanwhile goes before less urgent work.
            self.queue.set_boundary(id, change.state.next_at());
            if change.kind.is_transition() {
                self.queue.push(id, entry, Lane::Transition);
            } else if self.watches.was_tried(entry.watch) {
                self.queue.push(id, entry, Lane::Adoption);
            } else {
                self.queue.push_after_list(id, entry);
            }
            return;
        }
        self.queue.rest(id, entry);
        match decision {
            Some(Decision::Wait { due }) => self.wait(id, due),
            Some(Decision::StopsSoon { due, note }) => {
                self.wait(id, Some(due));
                self.announce_stop(id, now, due, &note);
            }
            Some(Decision::CorrectionLimitReached { due, note }) => {
                self.wait(id, due);
                self.announce_correction_limit(id, &note);
            }
            Some(Decision::Write(_)) | None => {}
        }
    }

    fn wait(&mut self, id: Id, due: Option<DateTime<Utc>>) {
        self.queue.set_boundary(id, due);
        if due.is_none() && self.index.get(id).is_some_and(Entry::is_over) {
            self.index.keep_unscheduled(id);
            self.remove(id);
        }
    }

    fn announce_stop(&mut self, id: Id, now: DateTime<Utc>, due: DateTime<Utc>, note: &EventNote) {
        let Some(entry) = self.index.get_mut(id) else {
            return;
        };
        entry.memory.tell_stops_soon(now);
        tracing::info!(kind = %entry.object().kind, object = %entry.object(), %due, "enforce stops it soon");
        self.tell(id, note);
    }

    fn announce_correction_limit(&mut self, id: Id, note: &EventNote) {
        let Some(entry) = self.index.get_mut(id) else {
            return;
        };
        if entry.tell_correction_limit() {
            let object = entry.object();
            let event = EventText::of(note, object, &self.settings.prefix);
            tracing::warn!(kind = %object.kind, %object, "{}", event.text);
            self.announce(id, event);
        }
    }

    /// Queues an Event about a decision.
    pub(super) fn tell(&mut self, id: Id, note: &EventNote) {
        if let Some(entry) = self.index.get(id) {
            let event = EventText::of(note, entry.object(), &self.settings.prefix);
            self.announce(id, event);
        }
    }

    /// Queues an Event of an object.
    pub(super) fn announce(&mut self, id: Id, event: EventText) {
        if let Some(entry) = self.index.get(id) {
            let object = EventObject::from(entry.object());
            self.events.record(object, event, self.clock.now());
        }
    }
}
