//! Results of requests: each failure delays its own subject, and nothing else.

use chrono::{DateTime, Utc};
use dayshift_cluster::{
    Workload,
    decode::Version,
    delays::Delays,
    read::note_lacks_count,
    write::{FailureKind, PatchError, ReadError, Unavailable},
};
use dayshift_workload::{
    Cause, Change, ChangeKind, CountField, Kind, Observed, Replicas, SwitchValue, events::EventText,
};

use crate::{
    ids::Id,
    objects::entry::Entry,
    reconcile::engine::Engine,
    report::notifier::Reason,
    retry::backoff::Key,
    send::in_flight::{Finished, Patched, Sent},
    telemetry::{outcome::Outcome, readiness::Condition},
};

/// How many times an object is read and decided anew at once after a conflict.
const MAX_CONFLICTS: u32 = 5;

/// What is told of an object whose patches all meet a conflict.
const NOT_APPLIED: &str = "the API server has applied no patch, though the object was read again \
    before each: something changes it all the time, or it lacks what the patch tests";

impl Engine {
    /// Takes in the result of a request.
    pub(crate) fn finished(&mut self, finished: Finished) {
        match finished {
            Finished::Patched(patched) => self.patched(*patched),
            Finished::Read { id, known, result } => self.read(id, known, *result),
            Finished::Announced { event, result } => {
                let now = self.clock.monotonic();
                self.reporter.events.finish(*event, result, now);
            }
            Finished::LookedUp { lookup, result } => {
                let now = self.clock.monotonic();
                self.reverts
                    .finish(&lookup, *result, &mut self.reporter, now);
            }
            Finished::LookedInto { not_ready, result } => {
                self.starts
                    .finish(&not_ready, &result, &self.index, &mut self.reporter);
            }
            Finished::LookedAtJobs(passed) => {
                let now = (self.clock.now(), self.clock.monotonic());
                self.cron_jobs.finish(*passed, &mut self.reporter, now);
            }
            Finished::Probed { has_answered } => {
                self.health.end_probe(has_answered, self.clock.monotonic());
                self.telemetry.set(Condition::Reachable, has_answered);
            }
            Finished::ToldTheVersion { question, result } => {
                self.told_the_version(*question, result);
            }
            Finished::ToldTheTime(Ok(_)) => {}
            Finished::ToldTheTime(Err(error)) => {
                tracing::warn!(error = %error, "cannot ask the API server for its time");
            }
        }
    }

    fn patched(&mut self, patched: Patched) {
        let Patched { sent, result } = patched;
        let id = sent.id;
        let object = sent.observed.object.clone();
        if let (Some(action), Err(error)) = (sent.change.kind.action(), &result) {
            self.telemetry.transition(action, Outcome::of(error));
        }
        if self.index.get(id).is_some()
            && tells_of_permission(&result)
            && let Some(waiting) = self.queue.backoff.permit(&object, id)
        {
            let key = Key::permission(&object);
            self.reporter.clear(&key, &[Reason::Forbidden]);
            self.release(waiting);
        }
        match result {
            Ok(workload) => {
                let known = sent.known;
                let (made, field) = workload.count(object.kind);
                if object.kind.is_discovered() && made_no_count(&sent, &field) {
                    self.note_no_count(id, object.kind);
                } else {
                    self.succeeded(sent, made);
                }
                let version = workload.version();
                self.index.history.note_write(version, known);
                let seen_at = self.clock.seen_at();
                self.index
                    .observe_answer(id, &workload, known.object, seen_at);
                self.idle(id);
            }
            Err(PatchError::Conflict) => self.conflicted(id),
            Err(PatchError::Gone) => self.remove(id),
            Err(PatchError::Refused(why)) => self.refused(id, &why),
            Err(PatchError::Forbidden(why)) => self.forbidden(id, &why),
            Err(PatchError::Unavailable(why)) => {
                if let Some(entry) = self.index.get_mut(id)
                    && sent.observed.labels != sent.change.state.to_labels()
                {
                    entry.work.record_unconfirmed(sent);
                }
                if why.kind.is_servers() {
                    self.unanswered(id, &why);
                    self.confirm(id);
                } else if self.confirm(id) {
                    // The watch has shown already that it took effect.
                    self.idle(id);
                } else {
                    self.unanswered(id, &why);
                }
            }
        }
    }

    /// The API server has stored a patch without its count. Observations of that kind say so from
    /// now on, and the next decision refuses them.
    fn note_no_count(&mut self, id: Id, kind: Kind) {
        self.answered();
        note_lacks_count(kind);
        self.write_succeeded(id);
    }

    /// Clears the failures of an object.
    fn write_succeeded(&mut self, id: Id) {
        if let Some(entry) = self.index.get_mut(id) {
            self.queue.succeeded(id, entry);
        }
        self.reporter.clear(&Key::Object(id), &Reason::TROUBLES);
    }

    /// A change was made. The count is as asked, unless the API server's admission has changed it.
    fn succeeded(&mut self, sent: Sent, made: Replicas) {
        let Sent {
            id,
            observed,
            mut change,
            at,
            monotonic,
            ..
        } = sent;
        self.answered();
        self.count_change(&change, at);
        let now = self.clock.now();
        if let Some(entry) = self.index.get_mut(id) {
            entry.memory.wrote(&observed, &change, now);
        }
        let note = change.note.as_ref();
        let prefix = self.reporter.prefix();
        let mut event = note.map(|it| EventText::from_note(it, &observed.object, prefix));
        if made != change.replicas && change.replicas != observed.replicas {
            event = self.reporter.overruled(id, &observed.object, &change, made);
            change.replicas = made;
        }
        self.reverts
            .wrote(id, observed.replicas, &change, monotonic);
        if change.kind.is_transition() {
            self.starts.remove(id);
            if change.replicas > observed.replicas {
                self.starts.started(id, &observed.object, monotonic);
            }
        }
        self.write_succeeded(id);
        log_change(&observed, &change, at);
        if let Some(event) = event
            && self.index.get(id).is_some()
        {
            self.reporter.announce(&observed.object, event);
        }
        if change.kind.is_transition() {
            self.report_lacks(id);
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

    /// An unanswered patch has taken effect, if the object looks as after it: then it is reported,
    /// and counted. Returns whether it has.
    pub(crate) fn confirm(&mut self, id: Id) -> bool {
        let sent = self.index.get_mut(id).and_then(Entry::take_confirmed);
        let Some(sent) = sent else {
            return false;
        };
        let made = sent.change.replicas;
        self.succeeded(sent, made);
        self.reconcile(id);
        true
    }

    /// The object has changed: reads it and decides again, at once only a few times.
    fn conflicted(&mut self, id: Id) {
        self.answered();
        let Some(entry) = self.index.get_mut(id) else {
            return;
        };
        if entry.work.conflicted() > MAX_CONFLICTS {
            self.failed(id, Reason::Failed, NOT_APPLIED, &Delays::OBJECT);
        } else {
            self.send_read(id);
        }
    }

    fn read(&mut self, id: Id, known: Version, result: Result<Workload, ReadError>) {
        match result {
            Ok(workload) => {
                self.answered();
                let seen_at = self.clock.seen_at();
                if self.index.observe_answer(id, &workload, known, seen_at) {
                    self.confirm(id);
                    if let Some(entry) = self.index.get_mut(id) {
                        entry.work.discard_unconfirmed();
                    }
                    self.idle(id);
                } else {
                    self.remove(id);
                }
            }
            Err(ReadError::Gone) => self.remove(id),
            Err(ReadError::Refused(why)) => self.refused(id, &why),
            Err(ReadError::Unavailable(why)) => self.unanswered(id, &why),
        }
    }

    /// The server refuses the patch: tells the user, and tries again slowly.
    fn refused(&mut self, id: Id, why: &str) {
        self.answered();
        self.failed(id, Reason::Refused, why, &Delays::REFUSED);
    }

    /// A permission is missing, so for all objects of that kind in the namespace: they ask in turn
    /// whether it is back.
    fn forbidden(&mut self, id: Id, why: &str) {
        self.answered();
        let Some(entry) = self.index.get_mut(id) else {
            return;
        };
        let failures = self.queue.forbidden(id, entry, self.clock.monotonic());
        self.starting.give_back(id);
        let object = entry.object();
        self.reporter
            .write_failed(id, object, Reason::Forbidden, why, failures);
    }

    /// No usable answer came. If the server is at fault, all wait until it has answered; otherwise
    /// this object alone does.
    fn unanswered(&mut self, id: Id, why: &Unavailable) {
        let watch = self.index.get(id).map(|entry| entry.watch);
        if why.kind == FailureKind::NotServed && watch.is_some_and(|it| self.watches.is_absent(it))
        {
            // All of its kind are gone; a list shows them when the kind comes back.
            self.remove(id);
            return;
        }
        let now = self.clock.monotonic();
        let is_servers = match why.kind {
            FailureKind::Unreachable | FailureKind::Overloaded => true,
            FailureKind::Admission | FailureKind::KindAway | FailureKind::TooLarge => false,
            FailureKind::TimedOut => {
                self.probe_server(id);
                false
            }
            // Answers to others show whether the server is at fault.
            FailureKind::Failed | FailureKind::NotServed => self.health.record_unanswered(id, now),
        };
        if is_servers {
            self.telemetry.set(Condition::Reachable, false);
        }
        if why.kind.is_servers() {
            // Requests that were in flight together fail together: one line is enough.
            if self.queue.server_failed(why, now)
                && let Some(entry) = self.index.get(id)
            {
                tracing::warn!(kind = %entry.object().kind, object = %entry.object(), "{why}; nothing is sent for now; retrying with backoff");
            }
            self.idle(id);
            return;
        }
        let Some(entry) = self.index.get_mut(id) else {
            return;
        };
        if why.kind == FailureKind::TimedOut {
            entry.work.mark_slow();
        }
        let namespace = entry.object().namespace.clone();
        if why.kind == FailureKind::Failed && self.health.record_failure(id, &namespace) {
            self.queue.server_failed(why, now);
        }
        self.failed(id, Reason::Failed, &why.to_string(), &Delays::OBJECT);
    }

    /// A request took too long, and nothing else was answered recently: the cause may be the
    /// server, or a webhook that hangs, which a list does not pass.
    fn probe_server(&mut self, id: Id) {
        if let Some(entry) = self.index.get(id)
            && self.health.start_probe(self.clock.monotonic())
        {
            self.sender.probe(entry.object().clone());
        }
    }

    fn answered(&mut self) {
        let now = self.clock.monotonic();
        self.health.record_answer(now);
        self.queue.server_answered(now);
    }

    /// A write to an object has failed: tells the user, and tries again later.
    fn failed(&mut self, id: Id, reason: Reason, why: &str, delays: &Delays) {
        let now = self.clock.monotonic();
        self.starting.give_back(id);
        if let Some(entry) = self.index.get_mut(id) {
            let failures = self.queue.failed(id, entry, delays, now);
            self.reporter
                .write_failed(id, entry.object(), reason, why, failures);
        }
    }

    fn idle(&mut self, id: Id) {
        if let Some(entry) = self.index.get_mut(id) {
            entry.work.rest();
            self.look_for_revert(id);
            self.reconcile(id);
        }
    }

    /// Checks whether somebody has reverted our count.
    pub(super) fn look_for_revert(&mut self, id: Id) {
        let now = (self.clock.now(), self.clock.monotonic());
        self.reverts.observe(id, &self.index, now);
    }

    pub(crate) fn log_would(&self, id: Id, change: &Change) {
        if let Some(entry) = self.index.get(id) {
            let (object, from, to) = (entry.object(), entry.observed.replicas, change.replicas);
            tracing::info!(kind = %object.kind, %object, change = %change.kind, %from, %to, "would {}", change.kind);
        }
    }
}

/// Logs a change that was sent at this time.
fn log_change(observed: &Observed, change: &Change, at: DateTime<Utc>) {
    let (object, from, to) = (&observed.object, observed.replicas, change.replicas);
    let next = change.state.next_at().map(|next| next.to_rfc3339());
    match change.cause {
        Cause::Clock(due) => {
            let late_ms = (at - due).num_milliseconds();
            tracing::info!(kind = %object.kind, %object, %from, %to, late_ms, next, "{}", change.kind);
        }
        // The operator should hear of it too, not the user alone.
        _ if change.kind == ChangeKind::Refuse => {
            let why = change.error.as_deref().unwrap_or_default();
            let why = why.replace('\n', "; ");
            tracing::warn!(kind = %object.kind, %object, "the schedule is refused: {why}");
        }
        Cause::Request { .. } | Cause::Correction => {
            tracing::info!(kind = %object.kind, %object, replicas = %to, next, "{}", change.kind);
        }
    }
}

/// Whether the result of a patch shows the permission to patch in its namespace: a working server
/// checks it before everything else.
fn tells_of_permission<T>(result: &Result<T, PatchError>) -> bool {
    match result {
        Err(PatchError::Forbidden(_)) => false,
        Err(PatchError::Unavailable(why)) => !why.kind.is_servers(),
        _ => true,
    }
}

/// Whether nothing stands where the count of a patch was to be.
fn made_no_count(sent: &Sent, field: &CountField) -> bool {
    let (from, to) = (sent.observed.replicas, sent.change.replicas);
    match field {
        CountField::Absent | CountField::WithoutSpec | CountField::Missing => from != to,
        // A start may take the field away.
        CountField::Switch(it) => to < from && matches!(it.value, SwitchValue::Absent(_)),
        _ => false,
    }
}
