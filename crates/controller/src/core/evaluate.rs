//! The one place that decides about an object: it waits, is queued, or a request is sent.
//!
//! A patch is built in the same step as its decision, from the newest observation. If no slot is free,
//! the decision is dropped and made again when the object has a slot.

use chrono::{DateTime, Utc};
use dayshift_cluster::write::guarded_patch;
use dayshift_workload::{
    Adoption, Change, ChangeKind, Decision, EventNote, Observed, events::EventText,
};

use crate::{
    core::{
        Core, Trigger,
        io::{Purpose, Request},
    },
    gate::Gate,
    ids::Id,
    object::{
        Backlog, Object,
        rare::SentPatch,
        reported::Reason,
        work::{Class, WorkPhase},
    },
    store::watches::Knowledge,
    telemetry::outcome::Outcome,
};

impl Core {
    /// Decides about an object: waits, queues it, or sends a request. Returns whether one was sent.
    pub(super) fn evaluate(&mut self, id: Id, trigger: Trigger) -> bool {
        // A boundary can become due before the turn of the object in the backlog.
        let object = self.store.get(id);
        if object.is_some_and(|object| object.backlog != Backlog::Absent) {
            self.store.update_definitions(id);
        }
        if trigger == Trigger::Agenda && !self.follow(id) {
            return false;
        }
        if self.store.lacks_text(id) {
            return self.read_text(id, trigger);
        }
        self.report_later_version(id);
        let decision = self.decide(id);
        if let Some(Decision::Write(change)) = decision {
            return self.write(id, trigger, change);
        }
        if trigger != Trigger::Agenda {
            self.follow(id);
        }
        let Some(object) = self.store.get_mut(id) else {
            return false;
        };
        object.work.clear_failures();
        object.work.clear_due();
        self.throttle.permissions.withdraw(object.name(), id);
        match decision {
            Some(Decision::Wait { due }) => self.wait(id, due),
            Some(Decision::StopsSoon { due, note }) => {
                self.wait(id, Some(due));
                self.announce_stop(id, due, &note);
            }
            Some(Decision::CorrectionLimitReached { due, note }) => {
                self.wait(id, due);
                self.announce_correction_limit(id, &note);
            }
            Some(Decision::Write(_)) | None => {}
        }
        false
    }

    /// Updates readiness, stop notices, Jobs and reverts after a change of an object. Returns whether the
    /// object should be decided about: it is idle, and the clock is right.
    fn follow(&mut self, id: Id) -> bool {
        self.observe_readiness(id);
        self.stops.observe(id, &mut self.store, self.now.wall);
        let Some(object) = self.store.get_unpublished(id) else {
            return false;
        };
        self.jobs.observe(id, object);
        if object.work.take_edit() {
            object.clear_reports(&Reason::ENDED_BY_EDIT);
        }
        let checks_revert = std::mem::take(&mut object.checks_revert);
        if checks_revert {
            self.reverts.observe(id, &mut self.store, self.now);
        }
        let object = self.store.get(id);
        let is_idle = object.is_some_and(|object| object.work.phase() == WorkPhase::Idle);
        is_idle && !self.clock.is_wrong()
    }

    /// Applies the observed readiness of an object.
    pub(super) fn observe_readiness(&mut self, id: Id) {
        if let Some(object) = self.store.get_unpublished(id) {
            self.gate.observe(id, object, self.now.wall);
            self.readiness.observe(id, object, self.now);
        }
    }

    /// Decides about an object. If the gate does not admit a start, the decision is to wait.
    fn decide(&mut self, id: Id) -> Option<Decision> {
        let decision = self.store.decide(id, self.now.wall);
        let store = &mut self.store;
        let Some(Decision::Write(change)) = decision else {
            self.gate.leave_start(id, store);
            return decision;
        };
        Some(self.gate.admit(id, change, store, self.now.wall))
    }

    /// Sends a change if a slot is free. Otherwise, queues the object and drops the change, which is
    /// decided again when a slot is free.
    fn write(&mut self, id: Id, trigger: Trigger, change: Change) -> bool {
        // If the next boundary becomes due before the change is sent, the object becomes more urgent. Past
        // boundaries are part of this decision; a timer in the past would end a backoff at once.
        let next = change.state.next_at().filter(|next| *next > self.now.wall);
        self.set_boundary(id, next);
        let Some(object) = self.store.get(id) else {
            return false;
        };
        let is_transition = change.kind.is_transition();
        let watch = self.store.watches.get(object.watch);
        let is_listing = watch.is_some_and(|watch| watch.knowledge == Knowledge::Awaited);
        if trigger == Trigger::Agenda
            && !is_transition
            && is_listing
            && let Some(object) = self.store.get_mut(id)
        {
            self.outbox.push_after_list(id, object);
            return false;
        }
        let class = match is_transition {
            true => Class::Transition,
            false => Class::Adoption,
        };
        let Some(class) = self.class_if_free(id, trigger, class) else {
            return false;
        };
        if self.settings.dry_run {
            self.apply_dry_run(id, &change);
            return false;
        }
        self.send(id, class, change)
    }

    /// Returns the class in which a request about an object can be sent now: `usual`, or the slow class.
    /// If no slot is free, queues the object and returns `None`.
    fn class_if_free(&mut self, id: Id, trigger: Trigger, usual: Class) -> Option<Class> {
        if let Trigger::Queue(class) = trigger {
            return Some(class);
        }
        let object = self.store.get_mut(id)?;
        let class = object.work.class(usual);
        let (slots, window) = (self.flight.slots(), self.throttle.server.window());
        let namespace = &object.name().namespace;
        let may_go = self.throttle.server.may_send(self.now)
            && self.outbox.may_go(class, namespace, slots, window);
        if !may_go {
            self.outbox.push(id, object, class);
        }
        may_go.then_some(class)
    }

    /// Reads an object whose annotations were dropped from memory, or queues it for that.
    fn read_text(&mut self, id: Id, trigger: Trigger) -> bool {
        let class = self.class_if_free(id, trigger, Class::Adoption);
        class.is_some_and(|class| self.read(id, class))
    }

    /// Reads an object, to decide about it again. Returns `false` if it was removed.
    pub(super) fn read(&mut self, id: Id, class: Class) -> bool {
        let Some(object) = self.store.get_mut(id) else {
            return false;
        };
        object.work.mark_sent();
        let (name, known) = (object.name().clone(), object.version);
        self.send_request(class, Purpose::Read { id, known }, Request::Read(name));
        true
    }

    fn send(&mut self, id: Id, class: Class, change: Change) -> bool {
        let Some(object) = self.store.get(id) else {
            return false;
        };
        let known = self.store.known_versions(object);
        let Some(object) = self.store.get_mut(id) else {
            return false;
        };
        if !self.throttle.permissions.admits(object.name(), id) {
            object.work.wait_for_permission(0);
            self.gate.release_slot(id, object);
            return false;
        }
        object.work.mark_sent();
        let boundary = change.boundary.map(|boundary| boundary.at);
        if object.work.take_skipped(boundary, self.now) {
            self.telemetry.boundaries_skipped.inc();
            let event = EventText::boundaries_skipped();
            let reason = Reason::BoundariesSkipped;
            self.events.warn_once(object, reason, event, self.now);
        }
        let observed = &object.observed;
        let name = observed.object.clone();
        let patch = guarded_patch(observed, &change, &self.settings.prefix);
        let sent = SentPatch {
            id,
            object: name.clone(),
            from: observed.replicas,
            changes_labels: changes_labels(observed, &change),
            known,
            change,
            at: self.now.wall,
            elapsed: self.now.elapsed,
        };
        let purpose = Purpose::Patch(Box::new(sent));
        self.send_request(class, purpose, Request::Patch(name, patch));
        true
    }

    fn apply_dry_run(&mut self, id: Id, change: &Change) {
        if let Some(action) = change.kind.action() {
            self.telemetry.transition(action, Outcome::DryRun);
        }
        // Adoptions of objects in the first lists are counted in one summary, instead of a line for each.
        let is_reported = self.is_ready_logged || change.kind != ChangeKind::Adopt(Adoption::New);
        if let Some(object) = self.store.get(id).filter(|_| is_reported) {
            let (from, to) = (object.observed.replicas, change.replicas);
            let object = object.name();
            tracing::info!(kind = %object.kind, %object, change = %change.kind, %from, %to, "would {}", change.kind);
        }
        self.store.apply_dry_run(id, change, self.now.wall);
        if let Some(object) = self.store.get(id) {
            if let Some(note) = change.note.as_ref().filter(|_| is_reported) {
                self.events.announce_note(object.name(), note, self.now);
            }
            if change.kind.is_transition() {
                let zone = self.settings.default_zone;
                Gate::report_unready_dependencies(object, zone, &mut self.events, self.now);
            }
        }
        self.add_to_agenda(id);
    }

    fn wait(&mut self, id: Id, due: Option<DateTime<Utc>>) {
        self.set_boundary(id, due);
        let object = self.store.get(id);
        if due.is_none() && object.is_some_and(Object::can_be_forgotten) {
            self.store.keep_unscheduled(id);
            self.remove(id);
        }
    }

    fn announce_stop(&mut self, id: Id, due: DateTime<Utc>, note: &EventNote) {
        let Some(object) = self.store.get_mut(id) else {
            return;
        };
        object.memory.record_stop_notice(self.now.wall);
        let object = object.name();
        tracing::info!(kind = %object.kind, %object, %due, "enforce will stop it soon");
        self.events.announce_note(object, note, self.now);
    }

    /// Reports an object that is left unchanged because a later version wrote its labels.
    fn report_later_version(&mut self, id: Id) {
        let Some(object) = self.store.get_unpublished(id) else {
            return;
        };
        if object.observed.labels.are_from_later_version() && object.observed.inputs.is_scheduled()
        {
            let (reason, event) = (Reason::LaterVersion, EventText::later_version());
            self.events.warn_once(object, reason, event, self.now);
        } else {
            object.clear_reports(&[Reason::LaterVersion]);
        }
    }

    fn announce_correction_limit(&mut self, id: Id, note: &EventNote) {
        let Some(object) = self.store.get_mut(id) else {
            return;
        };
        if object.memory.record_limit_event(self.now.wall) {
            let object = object.name();
            let event = EventText::from_note(note, object, self.events.prefix());
            self.events.logs.line(&object.namespace, |suppressed| {
                tracing::warn!(kind = %object.kind, %object, suppressed, "{}", event.text);
            });
            self.events.announce(object, event, self.now);
        }
    }
}

/// Whether a change writes any state label. The first comparison is the cheaper one.
fn changes_labels(observed: &Observed, change: &Change) -> bool {
    observed.state() != change.state || observed.labels != change.state.to_labels()
}
