//! Whether what was started becomes ready: one read, one Event where it does not.

use chrono::{DateTime, Utc};

use crate::{
    cluster::{EventObject, ReadError, WithManagers},
    events::EventText,
};

use crate::controller::ids::Id;
use crate::controller::reconcile::engine::{BATCH, Engine};
use crate::controller::starts::started::NotReady;

impl Engine {
    /// Takes in how much of an object is ready.
    pub(super) fn look_at_readiness(&mut self, id: Id) {
        let Some(entry) = self.index.get(id) else {
            return;
        };
        let observed = &entry.observed;
        if observed.is_ready() == Some(true) {
            if let Some(took) = self.starts.take_ready(id, self.clock.monotonic()) {
                self.telemetry.starts.ready(observed.object.kind, took);
            }
        } else {
            self.starts.look(id, observed, self.clock.now());
        }
    }

    /// Finds objects that should be ready by now and are not, and reads them for the reason as far as
    /// there are places.
    pub(super) fn find_not_ready(&mut self, now: DateTime<Utc>) {
        for _ in 0..BATCH {
            let Some((id, due)) = self.starts.take_due(now) else {
                break;
            };
            let within = self.starts.within();
            if let Some(entry) = self.index.get(id)
                && entry.observed.ready_due(within) == Some(due)
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
        let within = self.starts.within();
        let observed = self.index.get(not_ready.id).map(|it| &it.observed);
        let Some(observed) = observed.filter(|it| it.ready_due(within).is_some()) else {
            return;
        };
        let event = EventText::not_ready(observed, within, why);
        tracing::warn!(kind = %object.kind, %object, "{}", event.text);
        let about = EventObject::from(object);
        self.events.record(about, event, self.clock.now());
    }
}
