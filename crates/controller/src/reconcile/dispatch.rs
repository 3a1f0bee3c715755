//! Sending queued work.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use dayshift_workload::{Adoption, Change, ChangeKind, Decision, events::EventText};
use tokio::time::Instant;

use crate::{
    ids::Id,
    queue::lanes::Lane,
    reconcile::engine::{BATCH, Engine},
    report::notifier::Reason,
    retry::backoff::Key,
    send::in_flight::{Finished, Sent},
    telemetry::outcome::Outcome,
};

impl Engine {
    /// Sends queued work while each lane has places.
    pub(crate) fn dispatch(&mut self) {
        let now = self.clock.monotonic();
        if self.queue.is_held(now) {
            return;
        }
        for lane in [Lane::Transition, Lane::Slow, Lane::Adoption] {
            while let Some(id) = self.queue.pop(lane, &self.sender.in_flight, now) {
                self.send_next(id, lane);
            }
        }
        self.dispatch_lookups(now);
        self.dispatch_jobs(now);
        self.dispatch_events();
    }

    /// Reads reverted objects while there are places.
    fn dispatch_lookups(&mut self, now: Instant) {
        while let Some(lookup) = self.reverts.pop(self.queue.lanes.has_transitions(), now) {
            self.sender.look_up(lookup);
        }
        self.reverts.report_due(&mut self.reporter, now);
    }

    /// Looks at Jobs while there are places, behind the starts and stops that wait.
    fn dispatch_jobs(&mut self, now: Instant) {
        while let Some(pass) = self.cron_jobs.pop(self.queue.lanes.has_transitions(), now) {
            if self.settings.dry_run {
                self.cron_jobs.log_would(pass, (self.clock.now(), now));
            } else {
                self.sender.look_at_jobs(pass);
            }
        }
    }

    /// Sends Events, while the server answers, and few beside starts and stops.
    pub(super) fn dispatch_events(&mut self) {
        let now = self.clock.monotonic();
        if !self.queue.is_held(now) {
            let is_busy = self.queue.lanes.has_transitions();
            self.reporter.events.set_busy(now, is_busy);
            self.send_events(now);
        }
    }

    /// Reads objects that should be ready by now and are not, while there are places, behind the starts
    /// and stops that wait.
    pub(super) fn dispatch_not_ready(&mut self, now: DateTime<Utc>) {
        self.starts.find_due(BATCH, &self.index, now);
        let is_busy =
            self.queue.is_held(self.clock.monotonic()) || self.queue.lanes.has_transitions();
        while let Some(not_ready) = self.starts.pop(is_busy) {
            if self.settings.dry_run {
                self.starts.ended();
            } else {
                self.sender.look_into(not_ready);
            }
        }
    }

    /// Tells people of stops to come, as far as that is due.
    pub(super) fn tell_stops(&mut self, now: DateTime<Utc>) {
        let (index, reporter) = (&self.index, &mut self.reporter);
        let counter = &self.telemetry.stop_notices;
        if self.notices.tell_due(BATCH, index, reporter, counter, now) {
            self.dispatch_events();
        }
    }

    /// Decides about an object anew, as late as possible, and sends the result.
    fn send_next(&mut self, id: Id, lane: Lane) {
        let Some(entry) = self.index.get_mut(id) else {
            return;
        };
        if !entry.work.take_from(lane) {
            return; // It has moved to another lane since.
        }
        let Some(Decision::Write(change)) = self.decide(id, self.clock.now()) else {
            self.reconcile(id);
            return;
        };
        if self.settings.dry_run {
            self.apply_dry_run(id, &change);
        } else {
            self.send_change(id, lane, change);
        }
    }

    fn apply_dry_run(&mut self, id: Id, change: &Change) {
        if let Some(action) = change.kind.action() {
            self.telemetry.transition(action, Outcome::DryRun);
        }
        // The summary of the first look counts what is taken up in it, in place of a line for each.
        let is_told = self.has_logged_ready || change.kind != ChangeKind::Adopt(Adoption::New);
        if is_told {
            self.log_would(id, change);
        }
        self.index.apply_dry_run(id, change, self.clock.now());
        let note = change.note.as_ref().filter(|_| is_told);
        if let (Some(note), Some(entry)) = (note, self.index.get(id)) {
            self.reporter.announce_note(entry.object(), note);
        }
        if change.kind.is_transition() {
            self.report_lacks(id);
        }
        self.reconcile(id);
    }

    fn send_change(&mut self, id: Id, lane: Lane, change: Change) {
        let (now, monotonic) = (self.clock.now(), self.clock.monotonic());
        let Some(known) = self.index.known_versions(id) else {
            return;
        };
        let Some(entry) = self.index.get_mut(id) else {
            return;
        };
        if !self.queue.admit(id, entry) {
            self.starting.give_back(id);
            return;
        }
        entry.work.send();
        // Boundaries that fall due while this is in flight may be skipped for later ones.
        self.queue.set_boundary(id, change.state.next_at());
        let boundary = change.boundary.map(|boundary| boundary.at);
        let skips = entry.work.take_skipped(boundary, monotonic);
        if skips {
            self.telemetry.boundaries_skipped.inc();
            let (key, object) = (Key::Object(id), entry.object());
            let (reason, event) = (Reason::BoundariesSkipped, EventText::boundaries_skipped());
            self.reporter.warn_once(&key, reason, object, event);
        }
        let sent = Sent {
            id,
            observed: Arc::new(entry.observed.clone()),
            known,
            change,
            at: now,
            monotonic,
        };
        self.sender.patch(lane, sent, monotonic);
    }

    /// Reads an object that has changed.
    pub(crate) fn send_read(&mut self, id: Id) {
        let monotonic = self.clock.monotonic();
        let Some(entry) = self.index.get_mut(id) else {
            return;
        };
        let lane = entry.work.lane(Lane::Transition);
        entry.work.send();
        let (object, known) = (entry.object().clone(), entry.version);
        self.sender.read(lane, id, object, known, monotonic);
    }

    /// Takes in the result of a request after the shutdown. Only its Events are still sent: queued
    /// work is for the next scaler.
    pub(crate) fn finish_up(&mut self, finished: Finished) {
        self.finished(finished);
        let now = self.clock.monotonic();
        self.reporter.events.set_busy(now, false);
        self.send_events(now);
    }

    fn send_events(&mut self, now: Instant) {
        while let Some(event) = self.reporter.events.pop(&self.sender.in_flight, now) {
            self.sender.event(event, now);
        }
    }
}
