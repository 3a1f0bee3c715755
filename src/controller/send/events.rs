//! Events that wait to be sent. Nothing that becomes of them touches anything else.

use std::{collections::HashMap, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use tokio::time::Instant;

use crate::{
    cluster::{EventObject, Unavailable},
    events::EventText,
};

use crate::controller::retry::backoff::Backoff;
use crate::controller::retry::backpressure::Backpressure;
use crate::controller::send::queue::FairQueue;

/// An Event to be sent.
pub(in crate::controller) struct PendingEvent {
    pub(in crate::controller) object: EventObject,
    pub(in crate::controller) text: EventText,
    pub(in crate::controller) at: DateTime<Utc>,
    pub(in crate::controller) tries: u32,
}

/// How long an Event may take: it keeps a place from those of other namespaces.
pub(in crate::controller) const TIMEOUT: Duration = Duration::from_secs(5);

/// How many Events are under way at once.
pub(in crate::controller) const PLACES: usize = 8;

/// Events beyond this many are dropped: they only tell what the labels show as well.
const MOST_WAITING: usize = 20_000;

/// How often an Event is sent before it is dropped.
const MOST_TRIES: u32 = 5;

/// While starts and stops wait, they alone are sent; but where they always do, one Event in so long.
const TRICKLE: Duration = Duration::from_secs(1);

/// The Events that wait, with a backoff of their own: one for all where the server is away or too
/// busy, and one for each namespace whose Events fail.
pub(in crate::controller) struct Events {
    waiting: FairQueue<PendingEvent>,
    pressure: Backpressure,
    failing: HashMap<Arc<str>, Failing>,
    /// Since when starts and stops wait, or when the last Event was sent meanwhile.
    busy_since: Option<Instant>,
}

struct Failing {
    failures: u32,
    until: Instant,
}

impl Events {
    pub(in crate::controller) fn new() -> Self {
        Self {
            waiting: FairQueue::default(),
            pressure: Backpressure::new(PLACES),
            failing: HashMap::new(),
            busy_since: None,
        }
    }

    /// Queues an Event; false where one has to be dropped for it.
    pub(in crate::controller) fn push(&mut self, event: PendingEvent) -> bool {
        let namespace = event.object.namespace.clone();
        self.waiting.push(&namespace, event);
        self.waiting.len() <= MOST_WAITING || self.waiting.shed().is_none()
    }

    /// Starts or stops wait now, or do not.
    pub(in crate::controller) fn set_busy(&mut self, now: Instant, is_busy: bool) {
        self.busy_since = self.busy_since.or(Some(now)).filter(|_| is_busy);
    }

    /// The next Event to send, of a namespace that may have its turn.
    pub(in crate::controller) fn pop(
        &mut self,
        now: Instant,
        may: impl Fn(&str) -> bool,
    ) -> Option<PendingEvent> {
        if self.held_until() > Some(now) {
            return None;
        }
        let failing = &self.failing;
        let is_held = |namespace: &str| failing.get(namespace).is_some_and(|it| it.until > now);
        let event = self
            .waiting
            .pop(|namespace| !is_held(namespace) && may(namespace))?;
        self.busy_since = self.busy_since.map(|_| now);
        Some(event)
    }

    /// How many places there are now.
    pub(in crate::controller) const fn places(&self) -> usize {
        self.pressure.room()
    }

    /// When an Event may be sent that may not be now; `None` where it does not hang on the time.
    pub(in crate::controller) fn next(&self, now: Instant) -> Option<Instant> {
        if self.waiting.is_empty() {
            return None;
        }
        let held = self.failing.values().map(|it| it.until);
        self.held_until()
            .filter(|until| *until > now)
            .or_else(|| held.filter(|until| *until > now).min())
    }

    fn held_until(&self) -> Option<Instant> {
        let trickle = self.busy_since.map(|since| since + TRICKLE);
        trickle.max(self.pressure.until())
    }

    /// The server has answered about an Event of that namespace.
    pub(in crate::controller) fn answered(&mut self, namespace: &str, now: Instant) {
        self.pressure.answered(now);
        self.failing.remove(namespace);
    }

    /// No answer came for an Event, which is tried again; false where that was the last try.
    pub(in crate::controller) fn unanswered(
        &mut self,
        mut event: PendingEvent,
        why: &Unavailable,
        now: Instant,
        random: &mut fastrand::Rng,
    ) -> bool {
        if why.kind.is_servers() {
            self.pressure.back_off(now, why, random);
        } else {
            let namespace = event.object.namespace.clone();
            let failing = self.failing.entry(namespace).or_insert(Failing {
                failures: 0,
                until: now,
            });
            // Those that were under way together fail together.
            if now >= failing.until {
                failing.failures = failing.failures.saturating_add(1);
                failing.until = now + Backoff::OBJECT.delay(failing.failures, random);
            }
        }
        event.tries += 1;
        event.tries < MOST_TRIES && self.push(event)
    }

    /// How many wait.
    pub(in crate::controller) const fn len(&self) -> usize {
        self.waiting.len()
    }
}
