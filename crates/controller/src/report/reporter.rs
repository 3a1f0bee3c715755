//! Reports to users: Events, and lines of the log.

use std::sync::Arc;

use dayshift_cluster::{clock::Clock, write::EventObject};
use dayshift_workload::{
    Change, EventNote, Prefix, Replicas, WorkloadRef,
    events::EventText,
    other_controllers::{ADMISSION, ManagerKind},
};

use crate::{
    ids::Id,
    report::notifier::{Notifier, Reason},
    retry::backoff::Key,
    send::event_recorder::EventRecorder,
    settings::Settings,
    telemetry::metrics::Telemetry,
};

/// Reports to users what happens to objects, and nothing twice.
pub(crate) struct Reporter {
    /// The Events that wait to be sent.
    pub(crate) events: EventRecorder,
    notifier: Notifier,
    prefix: Prefix,
    telemetry: Arc<Telemetry>,
    clock: Clock,
}

impl Reporter {
    /// Nothing was reported yet.
    pub(crate) fn new(settings: &Settings, telemetry: Arc<Telemetry>, clock: Clock) -> Self {
        Self {
            events: EventRecorder::new(settings, Arc::clone(&telemetry)),
            notifier: Notifier::default(),
            prefix: settings.prefix.clone(),
            telemetry,
            clock,
        }
    }

    /// Queues an Event.
    pub(crate) fn announce(&mut self, object: impl Into<EventObject>, event: EventText) {
        self.events.record(object.into(), event, self.clock.now());
    }

    /// Queues an Event about a decision.
    pub(crate) fn announce_note(&mut self, object: &WorkloadRef, note: &EventNote) {
        let event = EventText::from_note(note, object, &self.prefix);
        self.announce(object, event);
    }

    /// The prefix of the keys that Events name.
    pub(crate) const fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// Logs and queues an Event, if it differs from the last report for this key and reason.
    pub(crate) fn warn_once(
        &mut self,
        key: &Key,
        reason: Reason,
        object: &WorkloadRef,
        event: EventText,
    ) {
        if self.take_news(key, reason, "") {
            tracing::warn!(kind = %object.kind, %object, "{}", event.text);
            self.announce(object, event);
        }
    }

    /// Whether to report this now, as [`Notifier::take_news`].
    pub(crate) fn take_news(&mut self, key: &Key, reason: Reason, detail: &str) -> bool {
        let now = self.clock.monotonic();
        self.notifier.take_news(key, reason, detail, now)
    }

    /// These reasons are over: when they come again, they are news.
    pub(crate) fn clear(&mut self, key: &Key, reasons: &[Reason]) {
        self.notifier.clear(key, reasons);
    }

    /// Forgets an object that is unknown by now.
    pub(crate) fn remove(&mut self, id: Id) {
        self.notifier.remove(&Key::Object(id));
    }

    /// Reports in the log and, once until it is over, in an Event that writes to an object fail:
    /// this many in a row.
    pub(crate) fn write_failed(
        &mut self,
        id: Id,
        object: &WorkloadRef,
        reason: Reason,
        why: &str,
        failures: u32,
    ) {
        tracing::warn!(kind = %object.kind, %object, failures, "{why}");
        // A missing permission is reported on one object for all of its kind and namespace.
        let is_for_all = reason == Reason::Forbidden;
        let key = if is_for_all {
            Key::permission(object)
        } else {
            Key::Object(id)
        };
        if self.take_news(&key, reason, "") {
            let namespace = is_for_all.then_some(&*object.namespace);
            let event = EventText::scale_failed(object.kind, why, namespace);
            self.announce(object, event);
        }
    }

    /// Counts a count of ours that somebody has reverted.
    pub(crate) fn count_revert(&self, by: ManagerKind, object: &WorkloadRef) {
        self.telemetry.revert(by, &object.namespace);
    }

    /// An admission webhook or policy has changed our count: reports it in the log, and returns the
    /// Event unless a correction that `enforce` repeats has had it.
    pub(crate) fn overruled(
        &mut self,
        id: Id,
        object: &WorkloadRef,
        change: &Change,
        made: Replicas,
    ) -> Option<EventText> {
        let event = EventText::overruled(change, made, object.kind);
        self.count_revert(ManagerKind::Unknown, object);
        tracing::warn!(kind = %object.kind, %object, "{}", event.text);
        let is_news = self.take_news(&Key::Object(id), Reason::Reverted, ADMISSION);
        (is_news || change.kind.is_transition()).then_some(event)
    }
}
