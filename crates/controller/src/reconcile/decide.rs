//! Decisions about objects, as far as is known now.

use chrono::{DateTime, Utc};
use dayshift_workload::{Decision, EventNote, events::EventText};

use crate::{
    ids::Id,
    objects::entry::Entry,
    queue::{lanes::Lane, work::WorkState},
    reconcile::engine::Engine,
    report::notifier::Reason,
    retry::backoff::Key,
};

impl Engine {
    /// Ends the wait of these objects.
    pub(crate) fn release(&mut self, ids: impl IntoIterator<Item = Id>) {
        for id in ids {
            if let Some(entry) = self.index.get_mut(id) {
                entry.work.release();
            }
            self.reconcile(id);
        }
    }

    /// Takes in how much of an object is ready.
    pub(super) fn look_at_readiness(&mut self, id: Id) {
        let now = (self.clock.now(), self.clock.monotonic());
        self.starting.observe(id, &self.index, now.0);
        if let Some(entry) = self.index.get(id) {
            self.starts.observe(id, entry, now);
        }
    }

    /// Decides about an idle object, and queues it or notes when it is due.
    pub(crate) fn reconcile(&mut self, id: Id) {
        self.look_at_readiness(id);
        self.notices.observe(id, &self.index, self.clock.now());
        let Some(entry) = self.index.get_mut(id) else {
            return;
        };
        self.cron_jobs.observe(id, entry);
        if self.queue.take_edit(id, entry) {
            let key = Key::Object(id);
            self.reporter.clear(&key, &[Reason::BoundariesSkipped]);
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
        let object = entry.object();
        tracing::info!(kind = %object.kind, %object, %due, "enforce stops it soon");
        self.reporter.announce_note(object, note);
    }

    fn announce_correction_limit(&mut self, id: Id, note: &EventNote) {
        let Some(entry) = self.index.get_mut(id) else {
            return;
        };
        if entry.tell_correction_limit() {
            let object = entry.object();
            let event = EventText::from_note(note, object, self.reporter.prefix());
            tracing::warn!(kind = %object.kind, %object, "{}", event.text);
            self.reporter.announce(object, event);
        }
    }
}
