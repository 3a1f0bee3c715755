//! Events that wait to be sent. Nothing that becomes of them touches anything else.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use tokio::time::Instant;

use crate::{cluster::EventObject, events::EventText};

use crate::controller::send::fair_queue::FairQueue;

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
const MAX_WAITING: usize = 20_000;

/// How often an Event is sent before it is dropped.
const MAX_TRIES: u32 = 5;

/// While starts and stops wait, they alone are sent, except for one Event in this time.
const TRICKLE_INTERVAL: Duration = Duration::from_secs(1);

/// The Events that wait.
#[derive(Default)]
pub(in crate::controller) struct Events {
    waiting: FairQueue<PendingEvent>,
    /// Since when starts and stops wait, or when the last Event was sent meanwhile.
    busy_since: Option<Instant>,
}

impl Events {
    /// Queues an Event; false where one has to be dropped for it.
    pub(in crate::controller) fn push(&mut self, event: PendingEvent) -> bool {
        let namespace = event.object.namespace.clone();
        self.waiting.push(&namespace, event);
        self.waiting.len() <= MAX_WAITING || self.waiting.shed().is_none()
    }

    /// Queues an Event that has failed once more; false where that was the last try, or one has to be
    /// dropped for it.
    pub(in crate::controller) fn push_again(&mut self, mut event: PendingEvent) -> bool {
        event.tries += 1;
        event.tries < MAX_TRIES && self.push(event)
    }

    /// Starts or stops wait now, or do not.
    pub(in crate::controller) fn set_busy(&mut self, now: Instant, is_busy: bool) {
        self.busy_since = self.busy_since.or(Some(now)).filter(|_| is_busy);
    }

    /// The next Event to send, of a namespace that may have its turn.
    pub(in crate::controller) fn pop(
        &mut self,
        now: Instant,
        may: impl Fn(&Arc<str>) -> bool,
    ) -> Option<PendingEvent> {
        if self.next_trickle() > Some(now) {
            return None;
        }
        let event = self.waiting.pop(may)?;
        self.busy_since = self.busy_since.map(|_| now);
        Some(event)
    }

    /// When an Event may be sent that may not be now because starts and stops wait.
    pub(in crate::controller) fn next(&self, now: Instant) -> Option<Instant> {
        let next = self.next_trickle().filter(|next| *next > now);
        next.filter(|_| self.waiting.len() > 0)
    }

    fn next_trickle(&self) -> Option<Instant> {
        self.busy_since.map(|since| since + TRICKLE_INTERVAL)
    }

    /// How many wait.
    pub(in crate::controller) const fn len(&self) -> usize {
        self.waiting.len()
    }
}
