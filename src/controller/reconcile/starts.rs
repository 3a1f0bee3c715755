//! Whether what was started becomes ready: one read, one Event where it does not.

use chrono::{DateTime, Utc};

use crate::{
    cluster::{EventObject, ReadError, WithManagers},
    events::EventText,
    workload::READY_WITHIN,
};

use crate::controller::ids::Id;
use crate::controller::objects::entry::Entry;
use crate::controller::reconcile::engine::{BATCH, Engine};
use crate::controller::starts::started::NotReady;

impl Engine {
    /// Takes in how much of an object is ready.
    pub(super) fn look_at_readiness(&mut self, id: Id) {
        let Some(entry) = self.index.get(id) else {
            return;
        };
        if self.starting.is_bounded()
            && let Some(progress) = self.index.progress(id)
        {
            let within = entry.parsed.ready_within(self.settings.ready_within);
            let within = if within.is_zero() {
                READY_WITHIN
            } else {
                within
            };
            self.starting.look(id, progress, within, self.clock.now());
        }
        let observed = &entry.observed;
        if observed.is_ready() == Some(true) {
            if let Some(took) = self.starts.take_ready(id, self.clock.monotonic()) {
                self.telemetry.starts.ready(observed.object.kind, took);
            }
        } else {
            let due = self.ready_due(entry);
            self.starts.look(id, due, self.clock.now());
        }
    }

    /// Finds objects that should be ready by now and are not, and reads them for the reason as far as
    /// there are places.
    pub(super) fn find_not_ready(&mut self, now: DateTime<Utc>) {
        for _ in 0..BATCH {
            let Some((id, due)) = self.starts.take_due(now) else {
                break;
            };
            if let Some(entry) = self.index.get(id)
                && self.ready_due(entry) == Some(due)
            {
                let object = entry.object().clone();
                self.starts.look_up(NotReady { id, object });
            }
        }
        let is_busy = self.queue.is_held(self.clock.monotonic()) || self.queue.has_transitions();
        while let Some(not_ready) = self.starts.pop(is_busy) {
            if self.settings.dry_run {
                self.starts.ended();
            } else {
                self.sender.look_into(not_ready);
            }
        }
    }

    /// Lets starts go that have waited for a place, as far as there are places.
    pub(super) fn call_starts(&mut self, now: DateTime<Utc>) {
        if !self.starting.is_bounded() {
            return;
        }
        self.starting.open(|| self.watches.were_all_tried());
        while let Some(id) = self.starting.take_ended(now) {
            if let Some(entry) = self.index.get(id) {
                let object = entry.object();
                tracing::warn!(kind = %object.kind, %object, "not ready in time; its place is for the next start");
            }
        }
        while let Some(id) = self.starting.call() {
            self.reconcile(id);
        }
    }

    /// By when an object should be ready.
    fn ready_due(&self, entry: &Entry) -> Option<DateTime<Utc>> {
        let within = entry.parsed.ready_within(self.settings.ready_within);
        entry.observed.ready_due(within)
    }

    /// Why an object is not ready is known now, or is not.
    pub(super) fn looked_into(
        &mut self,
        not_ready: &NotReady,
        result: &Result<WithManagers, ReadError>,
    ) {
        self.starts.ended();
        let object = &not_ready.object;
        let why = match result {
            Ok(managed) if managed.workload.uid() != &*object.uid => return,
            Ok(managed) => managed.complaint(),
            Err(ReadError::Gone) => return,
            Err(error) => {
                tracing::debug!(kind = %object.kind, %object, %error, "cannot read why it is not ready");
                None
            }
        };
        let entry = self.index.get(not_ready.id);
        let Some(entry) = entry.filter(|it| self.ready_due(it).is_some()) else {
            return;
        };
        let within = entry.parsed.ready_within(self.settings.ready_within);
        let event = EventText::not_ready(&entry.observed, within, why);
        tracing::warn!(kind = %object.kind, %object, "{}", event.text);
        let about = EventObject::from(object);
        self.events.record(about, event, self.clock.now());
    }
}
