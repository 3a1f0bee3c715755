//! The queue of Events. Events have slots and backoffs of their own, so their failures do not affect
//! other requests.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use dayshift_cluster::{
    delays::Delays,
    log_limit::LogLimit,
    write::{AnnounceError, EventObject, Unavailable},
};
use dayshift_workload::events::EventText;

use crate::{
    clock::{backoff::Backoff, guard::Now},
    events::pruned_map::PrunedMap,
    object::work::Class,
    outbox::{Slots, WaitingTransitions, fair_queue::FairQueue, limits},
    settings::Settings,
    telemetry::{metrics::Telemetry, outcome::EventOutcome},
    throttle::Breaker,
};

/// The maximum number of Events in flight.
const SLOTS: usize = 8;

/// The maximum length of the queue. If it is exceeded, the oldest Events of the namespaces with the most
/// Events are dropped, so that there is room for some hundred more. The labels contain the same
/// information.
const MAX_WAITING: usize = 20_000;

/// The length to which a full queue is shortened.
const KEPT_WAITING: usize = MAX_WAITING - MAX_WAITING / 32;

/// The maximum number of attempts to send an Event.
const MAX_TRIES: u32 = 5;

/// The interval between two Events while starts and stops wait.
const TRICKLE_INTERVAL: Duration = Duration::from_secs(1);

/// How long starts and stops that wait delay Events. Those of one namespace might never end.
const MAX_BUSY: Duration = Duration::from_secs(120);

/// An Event to be sent.
pub(crate) struct PendingEvent {
    pub(crate) object: EventObject,
    pub(crate) text: EventText,
    pub(crate) at: DateTime<Utc>,
}

/// An Event, and the number of failed attempts to send it.
#[derive(Clone)]
pub(crate) struct EventAttempt {
    pub(crate) event: Arc<PendingEvent>,
    tries: u32,
}

/// The queue of Events.
pub(crate) struct Recorder {
    waiting: FairQueue<EventAttempt>,
    /// Delays all Events after a failure of the server.
    server: Breaker,
    /// The backoff of the Events in each namespace.
    namespaces: PrunedMap<Arc<str>, Backoff>,
    /// When starts and stops began to wait; `None` if none waits.
    busy_since: Option<Duration>,
    /// That time, or when the last Event was sent since then.
    last_trickle: Duration,
    is_dry_run: bool,
    random: fastrand::Rng,
    telemetry: Arc<Telemetry>,
    logs: LogLimit,
}

impl Recorder {
    /// Creates an empty queue.
    pub(crate) fn new(settings: &Settings, telemetry: Arc<Telemetry>, logs: LogLimit) -> Self {
        Self {
            waiting: FairQueue::default(),
            server: Breaker::new(SLOTS),
            namespaces: PrunedMap::default(),
            busy_since: None,
            last_trickle: Duration::ZERO,
            is_dry_run: settings.dry_run,
            random: fastrand::Rng::with_seed(settings.seed),
            telemetry,
            logs,
        }
    }

    /// Queues an Event, or logs it in a dry run.
    pub(crate) fn record(&mut self, object: EventObject, text: EventText, at: DateTime<Utc>) {
        if self.is_dry_run {
            tracing::info!(kind = %object.kind, %object, reason = %text.reason, "would report: {}", text.text);
            return;
        }
        let event = Arc::new(PendingEvent { object, text, at });
        self.push(EventAttempt { event, tries: 0 });
    }

    fn push(&mut self, attempt: EventAttempt) {
        let namespace = attempt.event.object.namespace.clone();
        self.waiting.push(&namespace, attempt);
        if self.waiting.len() > MAX_WAITING {
            let dropped = self.waiting.shrink_to(KEPT_WAITING);
            self.telemetry.events(EventOutcome::Dropped, dropped as u64);
        }
    }

    /// Sets whether starts or stops wait now.
    pub(crate) fn set_busy(&mut self, is_busy: bool, now: Now) {
        if self.busy_since.is_none() {
            self.last_trickle = now.elapsed;
        }
        self.busy_since = self.busy_since.or(Some(now.elapsed)).filter(|_| is_busy);
    }

    /// Takes the next Event that can be sent now.
    pub(crate) fn pop(&mut self, slots: &Slots, now: Now) -> Option<EventAttempt> {
        let window = self.server.window();
        let limits = limits(Class::Event, window, WaitingTransitions::None);
        let waits_for_others = self.next_trickle(now) > Some(now.elapsed);
        if !slots.has_free_slot(Class::Event, limits)
            || !self.server.may_send(now)
            || waits_for_others
        {
            return None;
        }
        let namespaces = &self.namespaces.entries;
        let attempt = self.waiting.pop(|namespace| {
            slots.has_free_slot_for(Class::Event, limits, namespace)
                && !namespaces
                    .get(namespace)
                    .is_some_and(|backoff| backoff.is_active(now))
        })?;
        self.last_trickle = now.elapsed;
        Some(attempt)
    }

    /// Applies the response to an Event. Without a usable response, the Event is queued again.
    pub(crate) fn finish(
        &mut self,
        attempt: EventAttempt,
        result: Result<(), AnnounceError>,
        now: Now,
    ) {
        let EventAttempt { event, tries } = attempt;
        let outcome = match result {
            Ok(()) => EventOutcome::Sent,
            Err(AnnounceError::Rejected(why)) => {
                self.logs.line(&event.object.namespace, |suppressed| {
                    tracing::warn!(object = %event.object, suppressed, "{why}");
                });
                EventOutcome::Failed
            }
            Err(AnnounceError::Unavailable(why)) => {
                self.fail(&event.object.namespace, &why, now);
                let tries = tries + 1;
                if tries < MAX_TRIES {
                    self.push(EventAttempt { event, tries });
                } else {
                    self.telemetry.event(EventOutcome::Dropped);
                }
                return;
            }
        };
        self.server.responded(now);
        self.namespaces.entries.remove(&event.object.namespace);
        self.telemetry.event(outcome);
    }

    fn fail(&mut self, namespace: &Arc<str>, why: &Unavailable, now: Now) {
        let random = &mut self.random;
        if why.kind.is_server_failure() {
            self.server.fail(why, now, random);
            return;
        }
        let is_stale = |backoff: &mut Backoff| backoff.is_expired(now);
        let namespaces = &mut self.namespaces;
        let backoff = namespaces.get_or_insert_with(namespace.clone(), is_stale, Backoff::default);
        backoff.clear_if_expired(now);
        backoff.fail(&Delays::OBJECT, None, now, random);
    }

    /// The next time at which a delayed Event can be sent; `None` if no Event waits for a time.
    pub(crate) fn next(&self, now: Now) -> Option<Duration> {
        if self.waiting.is_empty() {
            return None;
        }
        let namespaces = self.namespaces.entries.values().filter_map(Backoff::until);
        let all = [self.next_trickle(now), self.server.until()].into_iter();
        let all = all.flatten().chain(namespaces);
        all.filter(|at| *at > now.elapsed).min()
    }

    /// When the next Event can be sent; `None` if neither starts nor stops delay it.
    fn next_trickle(&self, now: Now) -> Option<Duration> {
        let since = self.busy_since.filter(|since| now.since(*since) < MAX_BUSY);
        since.map(|_| self.last_trickle + TRICKLE_INTERVAL)
    }

    /// The number of queued Events.
    pub(crate) const fn len(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorder() -> (Recorder, Arc<Telemetry>) {
        let telemetry = Arc::new(Telemetry::new(DateTime::UNIX_EPOCH));
        let recorder = Recorder::new(
            &Settings::default(),
            Arc::clone(&telemetry),
            LogLimit::new(1),
        );
        (recorder, telemetry)
    }

    fn record(recorder: &mut Recorder, namespace: &str) {
        let object = EventObject {
            api_version: "apps/v1".into(),
            kind: "Deployment".into(),
            namespace: namespace.into(),
            name: "web".into(),
            uid: "1".into(),
        };
        let text = EventText::boundaries_skipped();
        recorder.record(object, text, DateTime::UNIX_EPOCH);
    }

    #[test]
    fn events_are_counted_as_dropped_if_the_queue_is_full() {
        let (mut recorder, telemetry) = recorder();
        let dropped = |count: usize| {
            let line = format!("dayshift_events_total{{outcome=\"dropped\"}} {count}\n");
            telemetry.render().contains(&line)
        };
        for number in 0..=MAX_WAITING {
            assert!(number != MAX_WAITING || dropped(0));
            record(&mut recorder, "dev");
        }
        assert!(dropped(MAX_WAITING + 1 - KEPT_WAITING) && recorder.len() == KEPT_WAITING);
    }

    #[test]
    fn one_event_a_second_is_sent_while_starts_and_stops_wait() {
        let (mut recorder, _) = recorder();
        let slots = Slots::default();
        for _ in 0..3 {
            record(&mut recorder, "dev");
        }
        recorder.set_busy(true, Now::at_second(10));
        assert!(recorder.pop(&slots, Now::at_second(10)).is_none());
        assert_eq!(
            recorder.next(Now::at_second(10)),
            Some(Duration::from_secs(11))
        );
        assert!(recorder.pop(&slots, Now::at_second(11)).is_some());
        assert!(recorder.pop(&slots, Now::at_second(11)).is_none());
        recorder.set_busy(false, Now::at_second(11));
        assert!(recorder.pop(&slots, Now::at_second(11)).is_some());
    }

    /// A user can set boundaries faster than dayshift can apply them.
    #[test]
    fn starts_and_stops_that_never_end_delay_events_for_two_minutes() {
        let (mut recorder, _) = recorder();
        let slots = Slots::default();
        for _ in 0..300 {
            record(&mut recorder, "dev");
        }
        let mut sent_at = |second: u64| {
            let now = Now::at_second(second);
            recorder.set_busy(true, now);
            (0..100).map_while(|_| recorder.pop(&slots, now)).count()
        };
        assert_eq!((10..130).map(&mut sent_at).sum::<usize>(), 119);
        assert_eq!(sent_at(130), 100);
    }

    #[test]
    fn the_number_of_backoffs_is_bounded() {
        let (mut recorder, _) = recorder();
        for number in 0..10_000_u64 {
            let namespace = format!("team-{number}");
            let why = Unavailable::timed_out(Duration::from_secs(5));
            recorder.fail(&namespace.into(), &why, Now::at_second(100 + number));
        }
        assert!(recorder.namespaces.entries.len() < 4 * 64);
    }
}
