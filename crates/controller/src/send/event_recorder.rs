//! Events for users, each once. Their failures affect nothing else.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use dayshift_cluster::{
    delays::Delays,
    write::{AnnounceError, EventObject, Unavailable},
};
use dayshift_workload::events::EventText;
use tokio::time::Instant;

use crate::{
    queue::{fair_queue::FairQueue, lanes::Lane},
    retry::{
        backoff::{Backoff, Key},
        room::Room,
    },
    send::{
        in_flight::{InFlight, PendingEvent},
        places::Places,
    },
    settings::Settings,
    telemetry::{metrics::Telemetry, outcome::EventOutcome},
};

/// How many Events are in flight at once.
const PLACES: usize = 8;

/// More Events than this are dropped: the labels show the same.
const MAX_WAITING: usize = 20_000;

/// How many times an Event is sent before it is dropped.
const MAX_TRIES: u32 = 5;

/// While starts and stops wait, one Event is sent in this time.
const TRICKLE_INTERVAL: Duration = Duration::from_secs(1);

/// The Events that wait to be sent, with a back-off of their own.
pub(crate) struct EventRecorder {
    waiting: FairQueue<PendingEvent>,
    backoff: Backoff,
    room: Room,
    /// Since when starts and stops wait, or when the last Event was sent meanwhile.
    busy_since: Option<Instant>,
    is_dry_run: bool,
    telemetry: Arc<Telemetry>,
}

impl EventRecorder {
    /// No Event waits.
    pub(crate) fn new(settings: &Settings, telemetry: Arc<Telemetry>) -> Self {
        Self {
            waiting: FairQueue::default(),
            backoff: Backoff::new(settings.seed),
            room: Room::new(PLACES),
            busy_since: None,
            is_dry_run: settings.dry_run,
            telemetry,
        }
    }

    /// Queues an Event, or logs it in a dry run.
    pub(crate) fn record(&mut self, object: EventObject, text: EventText, at: DateTime<Utc>) {
        if self.is_dry_run {
            tracing::info!(kind = object.kind, %object, reason = %text.reason, "would tell: {}", text.text);
            return;
        }
        self.push(PendingEvent {
            object,
            text,
            at,
            tries: 0,
        });
    }

    fn push(&mut self, event: PendingEvent) {
        let namespace = event.object.namespace.clone();
        self.waiting.push(&namespace, event);
        if self.waiting.len() > MAX_WAITING && self.waiting.shed().is_some() {
            self.telemetry.event(EventOutcome::Dropped);
        }
    }

    /// Sets whether starts or stops wait now.
    pub(crate) fn set_busy(&mut self, now: Instant, is_busy: bool) {
        self.busy_since = self.busy_since.or(Some(now)).filter(|_| is_busy);
    }

    /// Takes the next Event that may be sent now.
    pub(crate) fn pop(&mut self, in_flight: &InFlight, now: Instant) -> Option<PendingEvent> {
        let places = Places::of(in_flight, Lane::Event, self.room.size(), false);
        let is_held = |key: &Key| self.backoff.is_held(key, now);
        if !places.is_one_free() || is_held(&Key::Events) || self.next_trickle() > Some(now) {
            return None;
        }
        let may = |namespace: &Arc<str>| {
            places.is_one_free_for(namespace) && !is_held(&Key::EventNamespace(namespace.clone()))
        };
        let event = self.waiting.pop(may)?;
        self.busy_since = self.busy_since.map(|_| now);
        Some(event)
    }

    /// Takes in the result of an Event. Without an answer, it is tried again.
    pub(crate) fn finish(
        &mut self,
        mut event: PendingEvent,
        result: Result<(), AnnounceError>,
        now: Instant,
    ) {
        let namespace = Key::EventNamespace(event.object.namespace.clone());
        let outcome = match result {
            Ok(()) => EventOutcome::Sent,
            Err(AnnounceError::Refused(why)) => {
                tracing::warn!(object = %event.object, "{why}");
                EventOutcome::Failed
            }
            Err(AnnounceError::Unavailable(why)) => {
                self.fail(namespace, &why, now);
                event.tries += 1;
                if event.tries < MAX_TRIES {
                    self.push(event);
                } else {
                    self.telemetry.event(EventOutcome::Dropped);
                }
                return;
            }
        };
        self.room.answered();
        self.backoff.succeed(&Key::Events, now);
        self.backoff.clear(&namespace);
        self.telemetry.event(outcome);
    }

    fn fail(&mut self, namespace: Key, why: &Unavailable, now: Instant) {
        if !why.kind.is_servers() {
            self.backoff.fail(namespace, &Delays::OBJECT, None, now);
            return;
        }
        let delays = &Delays::SERVER;
        if self.backoff.fail(Key::Events, delays, why.retry_after, now) {
            self.room.failed(why.kind);
        }
    }

    /// Forgets keys that nothing waits for any more.
    pub(crate) fn forget_expired(&mut self, now: Instant) {
        while self.backoff.take_released(now).is_some() {}
    }

    /// When the next Event may be sent that may not be now; `None` if that does not depend on time.
    pub(crate) fn next(&self, now: Instant) -> Option<Instant> {
        let trickle = self.next_trickle().filter(|next| *next > now);
        let trickle = trickle.filter(|_| !self.waiting.is_empty());
        trickle.into_iter().chain(self.backoff.next()).min()
    }

    fn next_trickle(&self) -> Option<Instant> {
        self.busy_since.map(|since| since + TRICKLE_INTERVAL)
    }

    /// How many wait.
    pub(crate) const fn len(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_that_finds_too_many_waiting_is_counted_as_dropped() {
        let telemetry = Arc::new(Telemetry::new(DateTime::UNIX_EPOCH));
        let mut events = EventRecorder::new(&Settings::default(), Arc::clone(&telemetry));
        let dropped = |count: usize| {
            let line = format!("dayshift_events_total{{outcome=\"dropped\"}} {count}\n");
            telemetry.render().contains(&line)
        };
        for number in 0..MAX_WAITING + 3 {
            assert!(number != MAX_WAITING || dropped(0));
            let object = EventObject {
                api_version: "apps/v1",
                kind: "Deployment",
                namespace: "dev".into(),
                name: "web".into(),
                uid: "1".into(),
            };
            events.record(
                object,
                EventText::boundaries_skipped(),
                DateTime::UNIX_EPOCH,
            );
        }
        assert!(dropped(3) && events.len() == MAX_WAITING);
    }
}
