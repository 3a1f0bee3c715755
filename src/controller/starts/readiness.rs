//! Whether what was started becomes ready: one read, one Event where it does not.

use chrono::{DateTime, TimeDelta, Utc};
use tokio::time::Instant;

use crate::{
    cluster::{ReadError, WithManagers},
    events::EventText,
    workload::READY_WITHIN,
};

use crate::controller::ids::Id;
use crate::controller::objects::entry::Entry;
use crate::controller::objects::index::Index;
use crate::controller::report::reporter::Reporter;
use crate::controller::starts::started::{NotReady, Starts};
use crate::controller::starts::starting::Starting;

impl Starting {
    /// Takes in how much of an object is ready. Without a `ready-within` of its own, its start may take
    /// this long.
    pub(in crate::controller) fn observe(
        &mut self,
        id: Id,
        index: &Index,
        within: TimeDelta,
        now: DateTime<Utc>,
    ) {
        if self.is_bounded()
            && let Some(entry) = index.get(id)
            && let Some(progress) = index.progress(id)
        {
            let within = entry.parsed.ready_within(within);
            let within = if within.is_zero() {
                READY_WITHIN
            } else {
                within
            };
            self.look(id, progress, within, now);
        }
    }

    /// Takes the places of workloads that are not ready in time.
    pub(in crate::controller) fn end_late(&mut self, index: &Index, now: DateTime<Utc>) {
        while let Some(id) = self.take_ended(now) {
            if let Some(entry) = index.get(id) {
                let object = entry.object();
                tracing::warn!(kind = %object.kind, %object, "not ready in time; its place is for the next start");
            }
        }
    }
}

impl Starts {
    /// Takes in how much of an object is ready.
    pub(in crate::controller) fn observe(
        &mut self,
        id: Id,
        entry: &Entry,
        now: (DateTime<Utc>, Instant),
    ) {
        let observed = &entry.observed;
        if observed.is_ready() == Some(true) {
            if let Some(took) = self.take_ready(id, now.1) {
                self.telemetry.starts.ready(observed.object.kind, took);
            }
        } else {
            let due = self.ready_due(entry);
            self.look(id, due, now.0);
        }
    }

    /// Queues objects that should be ready by now and are not, at most so many, to be read for the
    /// reason.
    pub(in crate::controller) fn find_due(
        &mut self,
        max: usize,
        index: &Index,
        now: DateTime<Utc>,
    ) {
        for _ in 0..max {
            let Some((id, due)) = self.take_due(now) else {
                break;
            };
            if let Some(entry) = index.get(id)
                && self.ready_due(entry) == Some(due)
            {
                let object = entry.object().clone();
                self.look_up(NotReady { id, object });
            }
        }
    }

    /// Takes in why an object is not ready, if that is known now, and reports it.
    pub(in crate::controller) fn finish(
        &mut self,
        not_ready: &NotReady,
        result: &Result<WithManagers, ReadError>,
        index: &Index,
        reporter: &mut Reporter,
    ) {
        self.ended();
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
        let entry = index.get(not_ready.id);
        let Some(entry) = entry.filter(|it| self.ready_due(it).is_some()) else {
            return;
        };
        let within = entry.parsed.ready_within(self.within);
        let event = EventText::not_ready(&entry.observed, within, why);
        tracing::warn!(kind = %object.kind, %object, "{}", event.text);
        reporter.announce(object, event);
    }

    /// By when an object should be ready.
    fn ready_due(&self, entry: &Entry) -> Option<DateTime<Utc>> {
        let within = entry.parsed.ready_within(self.within);
        entry.observed.ready_due(within)
    }
}
