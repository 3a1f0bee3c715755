//! What is told of objects that cannot be written to as they should.

use crate::events::EventText;

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
        let namespace = is_for_all.then(|| entry.object().namespace.clone());
        let event = EventText::scale_failed(kind, why, namespace.as_deref());
        self.announce(id, event);
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
            let event = EventText::boundaries_skipped();
            tracing::warn!(kind = %entry.object().kind, object = %entry.object(), "{}", event.text);
            self.announce(id, event);
        }
    }
}
