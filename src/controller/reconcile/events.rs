//! Events: what is told is queued and sent. What becomes of them touches nothing else.

use tokio::time::Instant;

use crate::{
    cluster::{AnnounceError, EventObject, ObservedNamespace, Unavailable},
    events::EventText,
    workload::EventNote,
};

use crate::controller::ids::Id;
use crate::controller::reconcile::engine::Engine;
use crate::controller::retry::backoff::Key;
use crate::controller::retry::delays::Delays;
use crate::controller::send::events::PendingEvent;
use crate::controller::send::queues::Lane;
use crate::controller::telemetry::outcome::EventOutcome;

impl Engine {
    /// Queues an Event of what a decision tells.
    pub(in crate::controller) fn tell(&mut self, id: Id, note: &EventNote) {
        if let Some(entry) = self.index.get(id) {
            let event = EventText::of(note, entry.object(), &self.settings.prefix);
            self.announce(id, event);
        }
    }

    /// Queues an Event of an object.
    pub(in crate::controller) fn announce(&mut self, id: Id, event: EventText) {
        if let Some(entry) = self.index.get(id) {
            let object = EventObject::from(entry.object());
            self.queue_event(object, event);
        }
    }

    /// Queues an Event of a Namespace.
    pub(in crate::controller) fn announce_namespace(
        &mut self,
        namespace: &ObservedNamespace,
        event: EventText,
    ) {
        self.queue_event(EventObject::from(namespace), event);
    }

    pub(super) fn queue_event(&mut self, object: EventObject, text: EventText) {
        if self.settings.dry_run {
            tracing::info!(kind = object.kind, %object, reason = %text.reason, "would tell: {}", text.text);
            return;
        }
        let event = PendingEvent {
            object,
            text,
            at: self.clock.now(),
            tries: 0,
        };
        if !self.events.push(event) {
            self.telemetry.event(EventOutcome::Dropped);
        }
    }

    /// Sends Events, before which starts and stops go.
    pub(super) fn dispatch_events(&mut self) {
        let now = self.clock.monotonic();
        self.events.set_busy(now, self.queues.has_transitions());
        self.send_events();
    }

    /// Sends Events, as far as there are places for them.
    pub(super) fn send_events(&mut self) {
        let now = self.clock.monotonic();
        while let Some(event) = self.next_event(now) {
            self.sender.event(event, now);
        }
    }

    fn next_event(&mut self, now: Instant) -> Option<PendingEvent> {
        let places = self.sender.places(Lane::Event, false);
        if !places.is_one_free() || self.backoff.is_held(&Key::Events, now) {
            return None;
        }
        self.events.pop(now, |namespace| {
            let key = Key::EventNamespace(namespace.clone());
            places.is_one_free_for(namespace) && !self.backoff.is_held(&key, now)
        })
    }

    /// What becomes of an Event holds back other Events, and nothing else.
    pub(super) fn announced(&mut self, event: PendingEvent, result: Result<(), AnnounceError>) {
        let outcome = match result {
            Ok(()) => EventOutcome::Sent,
            Err(AnnounceError::Refused(why)) => {
                tracing::warn!(object = %event.object, "{why}");
                EventOutcome::Failed
            }
            Err(AnnounceError::Unavailable(why)) => {
                self.event_failed(&event, &why);
                if self.events.push_again(event) {
                    return;
                }
                self.telemetry.event(EventOutcome::Dropped);
                return;
            }
        };
        self.sender.event_room.answered();
        let namespace = Key::EventNamespace(event.object.namespace);
        self.backoff.succeed(&Key::Events, self.clock.monotonic());
        self.backoff.clear(&namespace);
        self.telemetry.event(outcome);
    }

    fn event_failed(&mut self, event: &PendingEvent, why: &Unavailable) {
        let now = self.clock.monotonic();
        if !why.kind.is_servers() {
            let key = Key::EventNamespace(event.object.namespace.clone());
            self.backoff.fail(key, &Delays::OBJECT, None, now);
        } else if self
            .backoff
            .fail(Key::Events, &Delays::SERVER, why.retry_after, now)
        {
            self.sender.event_room.failed(why.kind);
        }
    }
}
