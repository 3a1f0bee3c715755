//! Reverted counts: which are looked up, and what is told of who it was.

use chrono::{DateTime, Utc};
use dayshift_cluster::{
    decode::WithManagers,
    write::{EventObject, ReadError},
};
use dayshift_workload::{
    ChangeKind, Decision,
    events::EventText,
    other_controllers::{FieldManager, ManagerKind},
};
use tokio::time::Instant;

use crate::{
    ids::Id,
    objects::{entry::Entry, index::Index},
    queue::work::WorkState,
    report::{notifier::Reason, reporter::Reporter},
    retry::backoff::Key,
    reverts::lookups::{Lookup, Reverts},
};

impl Reverts {
    /// Checks whether somebody has reverted our count; then it is queued to be read for who it was.
    pub(crate) fn observe(&mut self, id: Id, index: &Index, now: (DateTime<Utc>, Instant)) {
        let is_in_flight = |entry: &Entry| entry.work.state() == WorkState::InFlight;
        let Some(entry) = index.get(id).filter(|entry| !is_in_flight(entry)) else {
            return; // It may already show the change in flight.
        };
        let Some(reverted) = self.find(id, &entry.observed, now.1) else {
            return;
        };
        let gave_up = match index.decide(id, now.0) {
            // It is corrected, or set to something else: a repeated revert is reported then.
            Some(Decision::Write(change))
                if change.kind.is_transition() || change.kind == ChangeKind::Enforce =>
            {
                return;
            }
            Some(Decision::CorrectionLimitReached { .. }) => reverted.by == ChangeKind::Enforce,
            _ => false,
        };
        self.look_up(id, entry.object().clone(), reverted, gave_up, now.1);
    }

    /// Reports the summaries that are due.
    pub(crate) fn report_due(&mut self, reporter: &mut Reporter, now: Instant) {
        while let Some((object, event)) = self.notes.take_due(now, reporter.prefix()) {
            tracing::warn!(namespace = &*object.namespace, "{}", event.text);
            reporter.announce(object, event);
        }
    }

    /// Takes in the answer to a lookup: reports who it was, if that is known now.
    pub(crate) fn finish(
        &mut self,
        lookup: &Lookup,
        result: Result<WithManagers, ReadError>,
        reporter: &mut Reporter,
        now: Instant,
    ) {
        self.ended();
        let object = &lookup.object;
        match result {
            Ok(managed) if managed.workload.uid() == &*object.uid => {
                let manager = managed.last_manager(object.kind);
                self.report(lookup, manager.as_ref(), reporter, now);
            }
            Ok(_) | Err(ReadError::Gone) => {}
            Err(error) => {
                let what = lookup.reverted.words(object.kind);
                tracing::warn!(kind = %object.kind, %object, "somebody {what}; managedFields, \
                    which say who, cannot be read: {error}");
            }
        }
    }

    fn report(
        &mut self,
        lookup: &Lookup,
        manager: Option<&FieldManager>,
        reporter: &mut Reporter,
        now: Instant,
    ) {
        let object = &lookup.object;
        let name = manager.map_or_else(|| "somebody".to_owned(), FieldManager::name);
        let kind = manager.map_or(ManagerKind::Unknown, FieldManager::kind);
        let reverted = &lookup.reverted;
        let gave_up = lookup.gave_up;
        let Some(event) =
            EventText::reverted(reverted, object, manager, gave_up, reporter.prefix())
        else {
            let what = reverted.words(object.kind);
            tracing::debug!(kind = %object.kind, %object, "{name} {what}");
            return;
        };
        reporter.count_revert(kind, object);
        let about = EventObject::from(object);
        let is_news = reporter.take_news(&Key::Object(lookup.id), Reason::Reverted, &name);
        if is_news && self.notes.admit(&about, &name, now) {
            tracing::warn!(kind = %object.kind, %object, "{}", event.text);
            reporter.announce(about, event);
        } else {
            tracing::debug!(kind = %object.kind, %object, "{}", event.text);
        }
    }
}
