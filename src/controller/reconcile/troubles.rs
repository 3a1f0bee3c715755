//! What is told of objects that cannot be written to as they should.

use crate::workload::{EventNote, EventReason};

use crate::controller::ids::Id;
use crate::controller::objects::work::Trouble;
use crate::controller::reconcile::engine::Engine;

impl Engine {
    /// Says in the log and, once in a row, in an Event that an object cannot be written to; a missing
    /// permission on one object for all of its kind and namespace. Returns how often in a row.
    pub(super) fn report(&mut self, id: Id, trouble: Trouble, why: &str) -> u32 {
        let now = self.clock.monotonic();
        let Some(entry) = self.index.get_mut(id) else {
            return 1;
        };
        let (failures, kind) = (entry.work.fails(), entry.object().kind);
        tracing::warn!(%kind, object = %entry.object(), failures, "{why}");
        let is_for_all = trouble == Trouble::Forbidden;
        if entry.work.has_reported(trouble)
            || is_for_all && !self.retry.may_tell_forbidden(entry.object(), now)
        {
            return failures;
        }
        entry.work.report(trouble);
        let mut text = format!("cannot write to the {kind}: {why}; retrying with backoff");
        if is_for_all {
            let namespace = &entry.object().namespace;
            text += &format!(
                ". The permission may be missing for every {kind} in namespace {namespace}, and is told on one of them"
            );
        }
        self.announce(
            id,
            EventNote {
                reason: EventReason::ScaleFailed,
                text,
            },
        );
        failures
    }

    /// Boundaries of an object come faster than they can be carried out: the newest counts, and
    /// the user is told once.
    pub(super) fn skipped(&mut self, id: Id) {
        self.telemetry.boundaries_skipped();
        let Some(entry) = self.index.get_mut(id) else {
            return;
        };
        if entry.work.report_skips() {
            let text = "boundaries come faster than they can be carried out: only the newest counts, and earlier ones are skipped. Set them further apart".to_owned();
            tracing::warn!(kind = %entry.object().kind, object = %entry.object(), "{text}");
            self.announce(
                id,
                EventNote {
                    reason: EventReason::BoundariesSkipped,
                    text,
                },
            );
        }
    }
}
