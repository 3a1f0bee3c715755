//! Sending what was decided, and taking in what came of it.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    cluster::{AnnounceError, Deployment, PatchError, ReadError, Unavailable},
    workload::{Cause, Change, Decision, Notice, Observed, Reason},
};

use super::{
    backoff::Backoff,
    engine::Engine,
    index::Id,
    metrics::{EventOutcome, Outcome},
    queue::{Announcement, Job},
    readiness::Condition,
    requests::{Finished, Patched},
};

/// How often an object is read and decided anew at once after a conflict.
const MOST_CONFLICTS: u32 = 5;

/// How often an Event is sent before it is dropped.
const MOST_TRIES: u32 = 5;

impl Engine {
    /// Sends what is queued, as far as there is room in flight.
    pub(super) fn dispatch(&mut self) {
        while self.has_room() {
            match self.queue.pop(self.is_listing()) {
                Some(Job::Decide(id)) => self.carry_out(id),
                Some(Job::Announce(announcement)) => self.send_event(announcement),
                None => break,
            }
        }
    }

    pub(super) fn has_room(&self) -> bool {
        self.in_flight.len() < self.pause.room()
    }

    /// Decides about an object anew, as late as can be, and sends what comes of it.
    fn carry_out(&mut self, id: Id) {
        let Some(entry) = self.index.get_mut(id) else {
            return;
        };
        entry.errand.queued = false;
        let now = self.clock.now();
        let Some(Decision::Write(change)) = self.index.decide(id, now) else {
            self.consider(id);
            return;
        };
        if self.settings.dry_run {
            if let Some(action) = change.kind.action() {
                self.telemetry.transition(action, Outcome::DryRun, None);
            }
            self.log(id, &change, "would");
            self.index.pretend(id, &change);
            self.announce_all(id, change.notice);
            self.consider(id);
            return;
        }
        let Some(entry) = self.index.get_mut(id) else {
            return;
        };
        entry.errand.in_flight = true;
        let observed = Arc::new(entry.observed.clone());
        let writer = self.writer.clone();
        self.in_flight.push(Box::pin(async move {
            let result = writer.patch(&observed, &change).await;
            Finished::Patched(Box::new(Patched {
                id,
                observed,
                change,
                sent: now,
                result,
            }))
        }));
    }

    fn send_event(&mut self, announcement: Box<Announcement>) {
        let writer = self.writer.clone();
        self.in_flight.push(Box::pin(async move {
            let Announcement {
                object, notice, at, ..
            } = &*announcement;
            let result = writer.announce(object, notice, *at).await;
            Finished::Announced {
                announcement,
                result,
            }
        }));
    }

    /// Takes in what came of a request.
    pub(super) fn finished(&mut self, finished: Finished) {
        match finished {
            Finished::Patched(patched) => self.patched(*patched),
            Finished::Read { id, result } => self.read(id, *result),
            Finished::Announced {
                announcement,
                result,
            } => self.announced(*announcement, result),
            Finished::ToldTheTime(result) => Self::told_the_time(result),
        }
    }

    fn patched(&mut self, patched: Patched) {
        let Patched {
            id,
            observed,
            change,
            sent,
            result,
        } = patched;
        let outcome = result.as_ref().map_or_else(outcome, |_| Outcome::Done);
        if let Some(action) = change.kind.action() {
            let lateness = lateness(&change, sent).filter(|_| result.is_ok());
            self.telemetry.transition(action, outcome, lateness);
        }
        let namespace = &observed.object.namespace;
        if !matches!(
            result,
            Err(PatchError::Forbidden(_) | PatchError::Unavailable(_))
        ) {
            let waiting = self.forbidden.is_over(namespace);
            self.release(waiting);
        }
        match result {
            Ok(deployment) => self.made(id, &observed, change, sent, &deployment),
            Err(PatchError::Conflict) => self.conflicted(id),
            Err(PatchError::Gone) => self.forget(id),
            Err(PatchError::Refused(why)) => self.refused(id, &why),
            Err(PatchError::Forbidden(why)) => self.forbidden(id, namespace, &why),
            Err(PatchError::Unavailable(why)) => {
                self.unanswered(id, &why);
            }
        }
    }

    fn made(
        &mut self,
        id: Id,
        observed: &Observed,
        change: Change,
        sent: DateTime<Utc>,
        deployment: &Deployment,
    ) {
        self.pause.answered();
        let lateness = lateness(&change, sent);
        self.index.wrote(id, observed, &change);
        if let Some(entry) = self.index.get_mut(id) {
            entry.errand.conflicts = 0;
            entry.errand.refusals = 0;
            entry.errand.told = None;
        }
        self.log_made(observed, &change, lateness);
        self.announce_all(id, change.notice);
        self.index.saw_own(id, deployment, self.sight());
        self.idle(id);
    }

    /// The object is no longer what it was: read it and decide again, but not for ever at once.
    fn conflicted(&mut self, id: Id) {
        self.pause.answered();
        let Some(entry) = self.index.get_mut(id) else {
            return;
        };
        entry.errand.conflicts += 1;
        let conflicts = entry.errand.conflicts;
        if conflicts > MOST_CONFLICTS {
            let delay = Backoff::CONFLICT.delay(conflicts - MOST_CONFLICTS, &mut self.random);
            self.hold(id, delay);
            return;
        }
        let (writer, object) = (self.writer.clone(), entry.object().clone());
        self.in_flight.push(Box::pin(async move {
            Finished::Read {
                id,
                result: Box::new(writer.read(&object).await),
            }
        }));
    }

    fn read(&mut self, id: Id, result: Result<Deployment, ReadError>) {
        match result {
            Ok(deployment) => {
                self.pause.answered();
                if self.index.saw_own(id, &deployment, self.sight()) {
                    self.idle(id);
                } else {
                    self.forget(id);
                }
            }
            Err(ReadError::Gone) => self.forget(id),
            Err(ReadError::Refused(why)) => self.refused(id, &why),
            Err(ReadError::Unavailable(why)) => self.unanswered(id, &why),
        }
    }

    /// The server does not want the patch: the user is told, and it is tried again slowly.
    fn refused(&mut self, id: Id, why: &str) {
        if let Some(refusals) = self.tell_refusal(id, why) {
            let delay = Backoff::REFUSED.delay(refusals, &mut self.random);
            self.hold(id, delay);
        }
    }

    /// A permission is missing, for all in the namespace: one of them asks whether it is back.
    fn forbidden(&mut self, id: Id, namespace: &str, why: &str) {
        if self.tell_refusal(id, why).is_none() {
            return;
        }
        match self.forbidden.refused(namespace, id) {
            Some(refusals) => {
                let delay = Backoff::FORBIDDEN.delay(refusals, &mut self.random);
                self.hold(id, delay);
            }
            None => {
                if let Some(entry) = self.index.get_mut(id) {
                    entry.errand.in_flight = false;
                    entry.errand.held = true;
                }
            }
        }
    }

    /// Says in the log and, once for each reason, in an Event that a write was refused. Returns
    /// how often in a row; none where the object is gone.
    fn tell_refusal(&mut self, id: Id, why: &str) -> Option<u32> {
        self.pause.answered();
        let entry = self.index.get_mut(id)?;
        entry.errand.refusals += 1;
        let refusals = entry.errand.refusals;
        tracing::warn!(object = %entry.object(), refusals, "{why}");
        if entry.errand.told.as_deref() != Some(why) {
            entry.errand.told = Some(why.to_owned());
            let text = format!("cannot write to the Deployment: {why}; it is tried again, slowly");
            self.announce(
                id,
                Notice {
                    reason: Reason::ScaleFailed,
                    text,
                },
            );
        }
        Some(refusals)
    }

    /// The server is not there, or too busy: this is tried again until it has answered.
    fn unanswered(&mut self, id: Id, why: &Unavailable) {
        self.telemetry.set(Condition::Reachable, false);
        // What was under way together fails together: one line tells it.
        if self.pause.is_over(self.clock.monotonic())
            && let Some(entry) = self.index.get(id)
        {
            tracing::warn!(object = %entry.object(), "{why}; it is tried again, as all that is due");
        }
        self.stand_back(why);
        self.idle(id);
    }

    fn stand_back(&mut self, why: &Unavailable) {
        let now = self.clock.monotonic();
        self.pause.stand_back(now, why, &mut self.random);
    }

    fn hold(&mut self, id: Id, delay: Duration) {
        let at = self.clock.monotonic() + delay;
        if let Some(entry) = self.index.get_mut(id) {
            entry.errand.in_flight = false;
            entry.errand.held = true;
            self.retries.set(id, at);
        }
    }

    fn idle(&mut self, id: Id) {
        if let Some(entry) = self.index.get_mut(id) {
            entry.errand.in_flight = false;
            self.consider(id);
        }
    }

    fn announced(&mut self, mut announcement: Announcement, result: Result<(), AnnounceError>) {
        let outcome = match result {
            Ok(()) => {
                self.pause.answered();
                EventOutcome::Sent
            }
            Err(AnnounceError::Refused(why)) => {
                tracing::warn!(object = %announcement.object, "{why}");
                EventOutcome::Failed
            }
            Err(AnnounceError::Unavailable(why)) => {
                self.stand_back(&why);
                announcement.tries += 1;
                if announcement.tries < MOST_TRIES && self.queue.announce(announcement) {
                    return;
                }
                EventOutcome::Dropped
            }
        };
        self.telemetry.event(outcome);
    }

    fn announce_all(&mut self, id: Id, notice: Option<Notice>) {
        if let Some(notice) = notice {
            self.announce(id, notice);
        }
    }

    fn log(&self, id: Id, change: &Change, what: &str) {
        if let Some(entry) = self.index.get(id) {
            let (object, from, to) = (entry.object(), entry.observed.replicas, change.replicas);
            tracing::info!(%object, change = %change.kind, %from, %to, "{what} {}", change.kind);
        }
    }

    fn log_made(&self, observed: &Observed, change: &Change, lateness: Option<TimeDelta>) {
        let (object, from, to) = (&observed.object, observed.replicas, change.replicas);
        let next = change.state.next.map(|next| next.to_rfc3339());
        match lateness {
            Some(late) => tracing::info!(
                %object, %from, %to, late_ms = late.num_milliseconds(), next, "{}", change.kind
            ),
            None => tracing::info!(%object, replicas = %to, next, "{}", change.kind),
        }
    }
}

/// How long after the instant that it is for a change of the clock was sent.
fn lateness(change: &Change, sent: DateTime<Utc>) -> Option<TimeDelta> {
    match change.cause {
        Cause::Clock(at) => Some(sent - at),
        Cause::Request { .. } | Cause::Correction => None,
    }
}

const fn outcome(error: &PatchError) -> Outcome {
    match error {
        PatchError::Conflict => Outcome::Conflict,
        PatchError::Refused(_) | PatchError::Forbidden(_) | PatchError::Gone => Outcome::Refused,
        PatchError::Unavailable(_) => Outcome::Failed,
    }
}
