//! Applies responses. A failure delays only its own object, unless it shows that the server is
//! unavailable or that a permission is missing.

use chrono::{DateTime, Utc};
use dayshift_cluster::{
    Workload,
    decode::Version,
    delays::Delays,
    read::record_dropped_count,
    write::{FailureKind, PatchError, ReadError, Unavailable},
};
use dayshift_schedule::Direction;
use dayshift_workload::{
    Cause, Change, ChangeKind, CountField, Replicas, SwitchValue, WorkloadRef, events::EventText,
};

use crate::{
    core::{
        Core,
        io::{Purpose, Request, Response},
    },
    followups::{readiness::ReadinessTracker, reverts::Reverts},
    gate::Gate,
    ids::Id,
    object::{Object, rare::SentPatch, reported::Reason, work::Class},
    store::history::VersionQuestion,
    telemetry::{outcome::Outcome, readiness::Condition},
    throttle::{Blame, ProbeResult},
};

/// How many times in a row an object is read and decided about immediately after a conflict.
const MAX_CONFLICTS: u32 = 5;

/// The reported reason if all patches of an object end in a conflict.
const NOT_APPLIED: &str = "the API server has applied no patch, although the object was read again \
    before each: another client changes it constantly, or it lacks a value that the patch tests";

impl Core {
    /// Applies the response to a request.
    pub(super) fn apply_response(&mut self, purpose: Purpose, response: Response) {
        match (purpose, response) {
            (Purpose::Patch(sent), Response::Patch(result)) => {
                self.apply_patch_result(*sent, *result);
            }
            (Purpose::Read { id, known }, Response::Read(result)) => {
                self.apply_read_result(id, known, *result);
            }
            (Purpose::Event(attempt), Response::Event(result)) => {
                self.events.recorder.finish(attempt, result, self.now);
            }
            (Purpose::Revert(lookup), Response::Managers(result)) => {
                let (store, kinds) = (&mut self.store, &self.settings.kinds);
                Reverts::finish(&lookup, &result, store, kinds, &mut self.events, self.now);
            }
            (Purpose::NotReady(not_ready), Response::Managers(result)) => {
                let known = self.store.get(not_ready.id);
                ReadinessTracker::finish(&not_ready, &result, known, &mut self.events, self.now);
            }
            (Purpose::Jobs, Response::Jobs(passed)) => {
                let (store, events) = (&mut self.store, &mut self.events);
                self.jobs.finish(*passed, store, events, self.now);
            }
            (Purpose::Probe, Response::Version(result)) => {
                let probe = match result {
                    Err(ReadError::Unavailable(_)) => ProbeResult::NoResponse,
                    _ => ProbeResult::Response,
                };
                self.throttle.end_probe(probe, self.now);
                let is_reachable = probe == ProbeResult::Response;
                self.telemetry.set(Condition::Reachable, is_reachable);
            }
            (Purpose::History(question), Response::Version(result)) => {
                self.apply_server_version(question, result);
            }
            (Purpose::Time, Response::Version(Err(error))) => {
                tracing::warn!(error = %error, "cannot read the time of the API server");
            }
            // A response to `Purpose::Time` needs no action, because the driver has read its `Date`.
            // Other pairs do not occur: the type of a response matches its request.
            _ => {}
        }
    }

    fn apply_patch_result(&mut self, sent: SentPatch, result: Result<Workload, PatchError>) {
        let id = sent.id;
        if let (Some(action), Err(error)) = (sent.change.kind.action(), &result) {
            self.telemetry
                .transition(action, Outcome::from_error(error));
        }
        if let Some(object) = self.store.get(id)
            && shows_permission(&result)
        {
            // The permission can still be missing for other objects, because a Role can contain names.
            if object.work.failures() > 0 {
                self.events.clear_missing(&sent.object, Reason::Forbidden);
            }
            if let Some(waiting) = self.throttle.permissions.permit(&sent.object, id) {
                self.release(waiting);
            }
        }
        match result {
            Ok(workload) => {
                let (known, kind) = (sent.known, sent.object.kind.clone());
                let (made, field) = workload.count(&kind);
                if kind.is_discovered() && lacks_count_field(&sent, &field) {
                    self.record_no_count(id, &sent.object);
                } else {
                    self.record_success(sent, made);
                }
                self.store.history.record_write(workload.version(), known);
                self.store.observe_response(id, &workload, known.object);
                self.mark_idle(id);
            }
            Err(PatchError::Conflict) => self.handle_conflict(id),
            Err(PatchError::Gone) => self.remove(id),
            Err(PatchError::Rejected(why)) => self.handle_rejection(id, &why),
            Err(PatchError::Forbidden(why)) => self.handle_forbidden(id, &why),
            Err(PatchError::Unavailable(why)) => {
                if let Some(object) = self.store.get_mut(id)
                    && sent.changes_labels
                {
                    object.record_unconfirmed(sent);
                }
                if why.kind.is_server_failure() {
                    self.handle_unavailable(id, &why);
                    self.confirm(id);
                } else if self.confirm(id) {
                    // The watch has already shown that the patch took effect.
                    self.mark_idle(id);
                } else {
                    self.handle_unavailable(id, &why);
                }
            }
        }
    }

    /// Records that the API server has accepted a patch of an object without storing the count. From now on,
    /// observations of its kind in its namespace show this, and the next decision rejects the schedule.
    fn record_no_count(&mut self, id: Id, object: &WorkloadRef) {
        self.throttle.responded(self.now);
        record_dropped_count(&object.kind, &object.namespace);
        self.clear_write_failures(id);
    }

    /// Clears the failures of an object after a successful write.
    fn clear_write_failures(&mut self, id: Id) {
        if let Some(object) = self.store.get_mut(id) {
            object.work.record_success();
            object.discard_unconfirmed();
            object.clear_reports(&Reason::WRITE_FAILURES);
        }
    }

    /// Records a successful change: memory, metrics, the log and Events. `made` is the count in the
    /// response, which an admission webhook might have changed.
    fn record_success(&mut self, sent: SentPatch, made: Replicas) {
        let SentPatch {
            id,
            object: name,
            from,
            mut change,
            at,
            elapsed,
            ..
        } = sent;
        self.throttle.responded(self.now);
        self.count_change(&change, at);
        let mut object = self.store.get_mut(id);
        if let Some(object) = &mut object {
            object
                .memory
                .wrote(&object.observed, &change, self.now.wall);
        }
        let note = change.note.as_ref();
        let mut event = note.map(|note| EventText::from_note(note, &name, self.events.prefix()));
        if made != change.replicas && change.replicas != from {
            let known = object.as_deref_mut();
            event = self.events.overruled(known, &name, &change, made, self.now);
            change.replicas = made;
        }
        if let Some(object) = object {
            self.reverts
                .record_write(id, object, from, &change, elapsed);
            if change.kind.is_transition() {
                let direction = if change.replicas > from {
                    Direction::Up
                } else {
                    Direction::Down
                };
                self.readiness
                    .record_transition(id, object, direction, elapsed);
            }
        }
        self.clear_write_failures(id);
        self.log_change(&name, from, &change, at);
        let Some(object) = self.store.get(id) else {
            return;
        };
        if let Some(event) = event {
            self.events.announce(&name, event, self.now);
        }
        if change.kind.is_transition() {
            let zone = self.settings.default_zone;
            Gate::report_unready_dependencies(object, zone, &mut self.events, self.now);
        }
    }

    /// Counts a transition that was sent at `at` in the metrics.
    fn count_change(&self, change: &Change, at: DateTime<Utc>) {
        let Some(action) = change.kind.action() else {
            return;
        };
        self.telemetry.transition(action, Outcome::Done);
        match change.cause {
            Cause::Clock(due) => self.telemetry.transition_lateness(action, at - due),
            Cause::Request { seen } => self.telemetry.request_lateness(action, at - seen),
            Cause::Correction => {}
        }
    }

    /// Checks whether a patch without a response took effect: the object looks as the patch makes it.
    /// Then records its success. Returns whether it took effect.
    pub(super) fn confirm(&mut self, id: Id) -> bool {
        let is_unconfirmed = self.store.get(id).and_then(|object| object.get_rare());
        if is_unconfirmed.is_none_or(|rare| rare.unconfirmed.is_none()) {
            return false;
        }
        let object = self.store.get_mut(id);
        let Some(sent) = object.and_then(Object::take_confirmed) else {
            return false;
        };
        let made = sent.change.replicas;
        self.record_success(sent, made);
        self.add_to_agenda(id);
        true
    }

    /// The object has changed since it was observed: reads it and decides again, immediately at most
    /// [`MAX_CONFLICTS`] times.
    fn handle_conflict(&mut self, id: Id) {
        self.throttle.responded(self.now);
        let Some(object) = self.store.get_mut(id) else {
            return;
        };
        if object.work.count_conflict() > MAX_CONFLICTS {
            self.record_failure(id, Reason::Failed, NOT_APPLIED, &Delays::OBJECT);
            return;
        }
        let class = object.work.class(Class::Transition);
        self.read(id, class);
    }

    fn apply_read_result(&mut self, id: Id, known: Version, result: Result<Workload, ReadError>) {
        match result {
            Ok(workload) => {
                self.throttle.responded(self.now);
                if self.store.observe_response(id, &workload, known) {
                    self.confirm(id);
                    if let Some(object) = self.store.get_unpublished(id) {
                        object.discard_unconfirmed();
                    }
                    self.mark_idle(id);
                } else {
                    self.remove(id);
                }
            }
            Err(ReadError::Gone) => self.remove(id),
            Err(ReadError::Rejected(why)) => self.handle_rejection(id, &why),
            Err(ReadError::Unavailable(why)) => self.handle_unavailable(id, &why),
        }
    }

    /// The server has rejected a request: reports that, and retries slowly.
    fn handle_rejection(&mut self, id: Id, why: &str) {
        self.throttle.responded(self.now);
        self.record_failure(id, Reason::Rejected, why, &Delays::REJECTED);
    }

    /// A permission is missing, which affects all objects of that kind in the namespace. They retry in
    /// turn, one at a time.
    fn handle_forbidden(&mut self, id: Id, why: &str) {
        self.throttle.responded(self.now);
        let Some(object) = self.store.get_mut(id) else {
            return;
        };
        let throttle = &mut self.throttle;
        let random = &mut throttle.random;
        let failures = throttle
            .permissions
            .forbid(object.name(), id, self.now, random);
        object.work.wait_for_permission(failures);
        self.gate.release_slot(id, object);
        self.events
            .write_failed(object, Reason::Forbidden, why, failures, self.now);
    }

    /// There was no usable response. If the server is at fault, all requests wait; otherwise, only this
    /// object waits.
    fn handle_unavailable(&mut self, id: Id, why: &Unavailable) {
        let watch = self.store.get(id).map(|object| object.watch);
        let watch = watch.and_then(|watch| self.store.watches.get(watch));
        let is_absent = watch.is_some_and(|watch| watch.absence.is_some());
        if why.kind == FailureKind::NotServed && is_absent {
            // The server no longer serves the kind. If it does again, a list shows the objects.
            self.remove(id);
            return;
        }
        match self.throttle.blame(id, why, self.now) {
            Blame::Server => self.telemetry.set(Condition::Reachable, false),
            Blame::Probe => self.probe(id),
            Blame::Object => {}
        }
        if why.kind.is_server_failure() {
            // Concurrent requests fail together, so one line in the log is enough.
            if self.throttle.server_failed(why, self.now)
                && let Some(object) = self.store.get(id)
            {
                let object = object.name();
                tracing::warn!(kind = %object.kind, %object, "{why}; nothing is sent for now; retrying with backoff");
            }
            self.mark_idle(id);
            return;
        }
        let Some(object) = self.store.get_mut(id) else {
            return;
        };
        if why.kind == FailureKind::TimedOut {
            object.work.mark_slow();
        }
        let namespace = &object.name().namespace;
        self.throttle.object_failed(id, namespace, why, self.now);
        let delays = &Delays::OBJECT;
        self.record_failure(id, Reason::Failed, &why.to_string(), delays);
    }

    /// Sends a probe after a timeout. It shows whether the server is unavailable, or only an admission
    /// webhook hangs, which cannot delay a list.
    fn probe(&mut self, id: Id) {
        let Some(object) = self.store.get(id) else {
            self.throttle.end_probe(ProbeResult::NoResponse, self.now);
            return;
        };
        let request = Request::Probe(object.name().clone());
        self.send_request(Class::Server, Purpose::Probe, request);
    }

    /// Logs a successful change that was sent at `at`.
    fn log_change(&self, object: &WorkloadRef, from: Replicas, change: &Change, at: DateTime<Utc>) {
        let to = change.replicas;
        let next = change.state.next_at().map(|next| next.to_rfc3339());
        if let Cause::Clock(due) = change.cause {
            let late_ms = (at - due).num_milliseconds();
            tracing::info!(kind = %object.kind, %object, %from, %to, late_ms, next, "{}", change.kind);
            return;
        }
        self.events.logs.line(&object.namespace, |suppressed| {
            // Operators should see rejected schedules in the log, too, not only users in Events.
            if change.kind == ChangeKind::Refuse {
                let why = change.error.as_deref().unwrap_or_default();
                let why = why.replace('\n', "; ");
                tracing::warn!(kind = %object.kind, %object, suppressed, "the schedule is rejected: {why}");
            } else {
                tracing::info!(kind = %object.kind, %object, replicas = %to, next, suppressed, "{}", change.kind);
            }
        });
    }

    /// A write to an object has failed: reports that, and retries after one of these delays.
    fn record_failure(&mut self, id: Id, reason: Reason, why: &str, delays: &Delays) {
        let Some(object) = self.store.get_mut(id) else {
            return;
        };
        self.gate.release_slot(id, object);
        let until = object
            .work
            .record_failure(delays, self.now, &mut self.throttle.random);
        self.retries.set(id, until);
        let failures = object.work.failures();
        self.events
            .write_failed(object, reason, why, failures, self.now);
    }

    /// Marks an object as having no request in flight, and puts it on the agenda.
    fn mark_idle(&mut self, id: Id) {
        if let Some(object) = self.store.get_mut(id) {
            object.work.mark_idle();
            object.checks_revert = true;
            self.add_to_agenda(id);
        }
    }

    /// Applies the current resourceVersion of the server. If it is older than that of a watch, etcd was
    /// restored from a backup.
    fn apply_server_version(
        &mut self,
        question: VersionQuestion,
        result: Result<Version, ReadError>,
    ) {
        let history = &mut self.store.history;
        match result {
            Ok(version) => history.record_response(version, question.version),
            Err(ReadError::Unavailable(error)) => {
                tracing::debug!(%error, "cannot read the current resourceVersion of the API server");
                history.plan_question_again(question, self.now.elapsed);
            }
            // RBAC might allow only to watch. Then the response to a later write shows a rollback.
            Err(ReadError::Gone | ReadError::Rejected(_)) => {}
        }
    }
}

/// Whether the result of a patch shows that the permission exists. A working server checks permissions
/// before everything else.
fn shows_permission<T>(result: &Result<T, PatchError>) -> bool {
    match result {
        Err(PatchError::Forbidden(_)) => false,
        Err(PatchError::Unavailable(why)) => !why.kind.is_server_failure(),
        _ => true,
    }
}

/// Whether the count field is missing in the response to a patch that should have set it.
fn lacks_count_field(sent: &SentPatch, field: &CountField) -> bool {
    let (from, to) = (sent.from, sent.change.replicas);
    match field {
        CountField::Absent | CountField::WithoutSpec | CountField::Missing => from != to,
        // A start can remove the field.
        CountField::Switch(switch) => to < from && matches!(switch.value, SwitchValue::Absent(_)),
        _ => false,
    }
}
