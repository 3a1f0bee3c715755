//! Responses: each failure delays its own object, and nothing else.

use chrono::{DateTime, Utc};
use dayshift_cluster::{
    Workload,
    decode::Version,
    delays::Delays,
    read::record_lacks_count,
    write::{FailureKind, PatchError, ReadError, Unavailable},
};
use dayshift_workload::{
    Cause, Change, ChangeKind, CountField, Kind, Replicas, SwitchValue, WorkloadRef,
    events::EventText,
};

use crate::{
    clock::{guard::Now, timers::Timer},
    core::{
        Core,
        io::{Effect, Purpose, Request, Response},
    },
    followups::{jobs_report::JobsReporter, readiness::Readiness, reverts::Reverts},
    gate::Gate,
    ids::Id,
    object::{
        Object,
        rare::{Reason, SentPatch},
        work::Class,
    },
    store::history::VersionQuestion,
    telemetry::{outcome::Outcome, readiness::Condition},
    throttle::Blame,
};

/// How many times an object is read and decided about again at once after a conflict.
const MAX_CONFLICTS: u32 = 5;

/// The report about an object whose patches all meet a conflict.
const NOT_APPLIED: &str = "the API server has applied no patch, though the object was read again \
    before each: something changes it all the time, or it lacks what the patch tests";

impl Core {
    /// Applies the response to a request.
    pub(super) fn responded(
        &mut self,
        purpose: Purpose,
        response: Response,
        now: Now,
        effects: &mut Vec<Effect>,
    ) {
        match (purpose, response) {
            (Purpose::Patch(sent), Response::Patch(result)) => {
                self.patched(*sent, *result, now, effects);
            }
            (Purpose::Read { id, known }, Response::Read(result)) => {
                self.was_read(id, known, *result, now, effects);
            }
            (Purpose::Event(attempt), Response::Event(result)) => {
                self.events.recorder.finish(attempt, result, now);
            }
            (Purpose::Revert(lookup), Response::Managers(result)) => {
                let known = self.store.get_unpublished(lookup.id);
                Reverts::finish(&lookup, &result, known, &mut self.events, now);
            }
            (Purpose::NotReady(not_ready), Response::Managers(result)) => {
                let known = self.store.get(not_ready.id);
                Readiness::finish(&not_ready, &result, known, &mut self.events, now);
            }
            (Purpose::Jobs, Response::Jobs(passed)) => {
                let mut report = JobsReporter {
                    store: &mut self.store,
                    events: &mut self.events,
                    timers: &mut self.timers,
                    telemetry: &self.telemetry,
                    now,
                };
                self.jobs.finish(*passed, &mut report);
            }
            (Purpose::Probe, Response::Version(result)) => {
                let has_responded = !matches!(result, Err(ReadError::Unavailable(_)));
                self.throttle.end_probe(has_responded, now);
                self.telemetry.set(Condition::Reachable, has_responded);
            }
            (Purpose::History(question), Response::Version(result)) => {
                self.version_is(question, result, now);
            }
            (Purpose::Time, Response::Version(Err(error))) => {
                tracing::warn!(error = %error, "cannot ask the API server for its time");
            }
            // The driver has read the time in the response. No other pair can come: the driver
            // responds to a request in kind.
            _ => {}
        }
    }

    fn patched(
        &mut self,
        sent: SentPatch,
        result: Result<Workload, PatchError>,
        now: Now,
        effects: &mut Vec<Effect>,
    ) {
        let id = sent.id;
        if let (Some(action), Err(error)) = (sent.change.kind.action(), &result) {
            self.telemetry
                .transition(action, Outcome::from_error(error));
        }
        if self.store.get(id).is_some()
            && shows_permission(&result)
            && let Some(waiting) = self.throttle.permissions.permit(&sent.object, id)
        {
            self.events.clear_missing(&sent.object, Reason::Forbidden);
            self.release(waiting);
        }
        match result {
            Ok(workload) => {
                let (known, kind) = (sent.known, sent.object.kind.clone());
                let (made, field) = workload.count(&kind);
                if kind.is_discovered() && made_no_count(&sent, &field) {
                    self.note_no_count(id, &kind, now);
                } else {
                    self.succeeded(sent, made, now);
                }
                self.store.history.note_write(workload.version(), known);
                self.observe_response(id, &workload, known.object, now);
                self.idle(id);
            }
            Err(PatchError::Conflict) => self.conflicted(id, now, effects),
            Err(PatchError::Gone) => self.remove(id, now),
            Err(PatchError::Rejected(why)) => self.rejected(id, &why, now),
            Err(PatchError::Forbidden(why)) => self.forbidden(id, &why, now),
            Err(PatchError::Unavailable(why)) => {
                if let Some(object) = self.store.get_mut(id)
                    && sent.changes_labels
                {
                    object.record_unconfirmed(sent);
                }
                if why.kind.is_server_failure() {
                    self.unavailable(id, &why, now, effects);
                    self.confirm(id, now);
                } else if self.confirm(id, now) {
                    // The watch has shown already that it took effect.
                    self.idle(id);
                } else {
                    self.unavailable(id, &why, now, effects);
                }
            }
        }
    }

    fn observe_response(&mut self, id: Id, workload: &Workload, known: Version, now: Now) -> bool {
        let watch = self.store.get(id).map_or(0, |object| object.watch);
        let epoch = self.watches.epoch(watch);
        let seen_at = self.clock.seen_at(now);
        self.store
            .observe_response(id, workload, known, epoch, seen_at)
    }

    /// The API server has stored a patch without its count. Observations of that kind show this from
    /// now on, and the next decision rejects them.
    fn note_no_count(&mut self, id: Id, kind: &Kind, now: Now) {
        self.throttle.responded(now);
        record_lacks_count(kind);
        self.write_succeeded(id);
    }

    /// Clears the failures of an object.
    fn write_succeeded(&mut self, id: Id) {
        if let Some(object) = self.store.get_mut(id) {
            object.work.succeeded();
            object.discard_unconfirmed();
            object.clear_reports(&Reason::WRITE_FAILURES);
        }
    }

    /// A change was made. The count is as requested, unless admission has changed it.
    fn succeeded(&mut self, sent: SentPatch, made: Replicas, now: Now) {
        let SentPatch {
            id,
            object: name,
            from,
            mut change,
            at,
            elapsed,
            ..
        } = sent;
        self.throttle.responded(now);
        self.count_change(&change, at);
        let mut object = self.store.get_mut(id);
        if let Some(object) = &mut object {
            object.memory.wrote(&object.observed, &change, now.wall);
        }
        let note = change.note.as_ref();
        let mut event = note.map(|note| EventText::from_note(note, &name, self.events.prefix()));
        if made != change.replicas && change.replicas != from {
            let known = object.as_deref_mut();
            event = self.events.overruled(known, &name, &change, made, now);
            change.replicas = made;
        }
        if let Some(object) = object {
            self.reverts.wrote(id, object, from, &change, elapsed);
            if change.kind.is_transition() {
                let (timers, is_start) = (&mut self.timers, change.replicas > from);
                Readiness::transitioned(id, object, timers, is_start, elapsed);
            }
        }
        self.write_succeeded(id);
        log_change(&name, from, &change, at);
        let Some(object) = self.store.get(id) else {
            return;
        };
        if let Some(event) = event {
            self.events.announce(&name, event, now);
        }
        if change.kind.is_transition() {
            let zone = self.settings.default_zone;
            Gate::report_unready_dependencies(object, zone, &mut self.events, now);
        }
    }

    /// Counts a change that was sent at this time.
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

    /// A patch without a response has taken effect, if the object is as the patch makes it: then it is
    /// reported, and counted. Returns whether it has.
    pub(super) fn confirm(&mut self, id: Id, now: Now) -> bool {
        let is_unconfirmed = self.store.get(id).and_then(|object| object.get_rare());
        if is_unconfirmed.is_none_or(|rare| rare.unconfirmed.is_none()) {
            return false;
        }
        let object = self.store.get_mut(id);
        let Some(sent) = object.and_then(Object::take_confirmed) else {
            return false;
        };
        let made = sent.change.replicas;
        self.succeeded(sent, made, now);
        self.mark(id);
        true
    }

    /// The object has changed: reads it and decides again, at once only a few times.
    fn conflicted(&mut self, id: Id, now: Now, effects: &mut Vec<Effect>) {
        self.throttle.responded(now);
        let Some(object) = self.store.get_mut(id) else {
            return;
        };
        if object.work.conflict() > MAX_CONFLICTS {
            self.failed(id, Reason::Failed, NOT_APPLIED, &Delays::OBJECT, now);
            return;
        }
        let class = object.work.class(Class::Transition);
        self.read(id, class, now, effects);
    }

    fn was_read(
        &mut self,
        id: Id,
        known: Version,
        result: Result<Workload, ReadError>,
        now: Now,
        effects: &mut Vec<Effect>,
    ) {
        match result {
            Ok(workload) => {
                self.throttle.responded(now);
                if self.observe_response(id, &workload, known, now) {
                    self.confirm(id, now);
                    if let Some(object) = self.store.get_unpublished(id) {
                        object.discard_unconfirmed();
                    }
                    self.idle(id);
                } else {
                    self.remove(id, now);
                }
            }
            Err(ReadError::Gone) => self.remove(id, now),
            Err(ReadError::Rejected(why)) => self.rejected(id, &why, now),
            Err(ReadError::Unavailable(why)) => self.unavailable(id, &why, now, effects),
        }
    }

    /// The server rejects the patch: reports it, and retries slowly.
    fn rejected(&mut self, id: Id, why: &str, now: Now) {
        self.throttle.responded(now);
        self.failed(id, Reason::Rejected, why, &Delays::REJECTED, now);
    }

    /// A permission is missing, for all objects of that kind in the namespace: they ask in turn
    /// whether it is there again.
    fn forbidden(&mut self, id: Id, why: &str, now: Now) {
        self.throttle.responded(now);
        let Some(object) = self.store.get_mut(id) else {
            return;
        };
        let throttle = &mut self.throttle;
        let random = &mut throttle.random;
        let failures = throttle.permissions.forbid(object.name(), id, now, random);
        object.work.wait_for_permission(failures);
        self.gate.release_slot(id, object, &mut self.timers);
        self.events
            .write_failed(object, Reason::Forbidden, why, failures, now);
    }

    /// No usable response came. If the server is at fault, all requests wait until it responds;
    /// otherwise only this object does.
    fn unavailable(&mut self, id: Id, why: &Unavailable, now: Now, effects: &mut Vec<Effect>) {
        let watch = self.store.get(id).map(|object| object.watch);
        let is_absent = watch.is_some_and(|watch| self.watches.is_absent(watch));
        if why.kind == FailureKind::NotServed && is_absent {
            // All of its kind are gone; a list shows them when the kind is there again.
            self.remove(id, now);
            return;
        }
        match self.throttle.blame(id, why, now) {
            Blame::Server => self.telemetry.set(Condition::Reachable, false),
            Blame::Ask => self.probe(id, now, effects),
            Blame::Object => {}
        }
        if why.kind.is_server_failure() {
            // Requests that were in flight together fail together: one line is enough.
            if self.throttle.server_failed(why, now)
                && let Some(object) = self.store.get(id)
            {
                let object = object.name();
                tracing::warn!(kind = %object.kind, %object, "{why}; nothing is sent for now; retrying with backoff");
            }
            self.idle(id);
            return;
        }
        let Some(object) = self.store.get_mut(id) else {
            return;
        };
        if why.kind == FailureKind::TimedOut {
            object.work.mark_slow();
        }
        let namespace = &object.name().namespace;
        self.throttle.object_failed(id, namespace, why, now);
        let delays = &Delays::OBJECT;
        self.failed(id, Reason::Failed, &why.to_string(), delays, now);
    }

    /// A request took too long, and there was no other response recently: the cause may be the server,
    /// or a webhook that hangs, which a list does not pass.
    fn probe(&mut self, id: Id, now: Now, effects: &mut Vec<Effect>) {
        let Some(object) = self.store.get(id) else {
            self.throttle.end_probe(false, now);
            return;
        };
        let name = object.name().clone();
        let namespace = name.namespace.clone();
        let request = Request::Probe(name);
        self.begin(
            Class::Server,
            &namespace,
            Purpose::Probe,
            request,
            now,
            effects,
        );
    }

    /// A write to an object has failed: reports it, and retries later.
    fn failed(&mut self, id: Id, reason: Reason, why: &str, delays: &Delays, now: Now) {
        let Some(object) = self.store.get_mut(id) else {
            return;
        };
        self.gate.release_slot(id, object, &mut self.timers);
        let until = object.work.fail(delays, now, &mut self.throttle.random);
        self.timers.set(Timer::Retry(id), until);
        let failures = object.work.failures();
        self.events.write_failed(object, reason, why, failures, now);
    }

    /// No request about an object is in flight any more.
    fn idle(&mut self, id: Id) {
        if let Some(object) = self.store.get_mut(id) {
            object.work.rest();
            object.checks_revert = true;
            self.mark(id);
        }
    }

    /// The server has responded how far its history is. If a watch was further, it is another history.
    fn version_is(
        &mut self,
        question: VersionQuestion,
        result: Result<Version, ReadError>,
        now: Now,
    ) {
        let history = &mut self.store.history;
        match result {
            Ok(version) => history.note_response(version, question.version),
            Err(ReadError::Unavailable(error)) => {
                tracing::debug!(%error, "the API server does not say how far its history is");
                history.ask_again(question, now.elapsed);
            }
            // An object may be watched, and not listed: a write reveals it.
            Err(ReadError::Gone | ReadError::Rejected(_)) => {}
        }
    }
}

/// Logs a change that was sent at this time.
fn log_change(object: &WorkloadRef, from: Replicas, change: &Change, at: DateTime<Utc>) {
    let to = change.replicas;
    let next = change.state.next_at().map(|next| next.to_rfc3339());
    match change.cause {
        Cause::Clock(due) => {
            let late_ms = (at - due).num_milliseconds();
            tracing::info!(kind = %object.kind, %object, %from, %to, late_ms, next, "{}", change.kind);
        }
        // The operator should hear of it, too, not only the user.
        _ if change.kind == ChangeKind::Refuse => {
            let why = change.error.as_deref().unwrap_or_default();
            let why = why.replace('\n', "; ");
            tracing::warn!(kind = %object.kind, %object, "the schedule is rejected: {why}");
        }
        Cause::Request { .. } | Cause::Correction => {
            tracing::info!(kind = %object.kind, %object, replicas = %to, next, "{}", change.kind);
        }
    }
}

/// Whether the result of a patch shows the permission to patch in its namespace: a working server
/// checks it before everything else.
fn shows_permission<T>(result: &Result<T, PatchError>) -> bool {
    match result {
        Err(PatchError::Forbidden(_)) => false,
        Err(PatchError::Unavailable(why)) => !why.kind.is_server_failure(),
        _ => true,
    }
}

/// Whether the field of the count is missing after a patch that should have set it.
fn made_no_count(sent: &SentPatch, field: &CountField) -> bool {
    let (from, to) = (sent.from, sent.change.replicas);
    match field {
        CountField::Absent | CountField::WithoutSpec | CountField::Missing => from != to,
        // A start may take the field away.
        CountField::Switch(switch) => to < from && matches!(switch.value, SwitchValue::Absent(_)),
        _ => false,
    }
}
