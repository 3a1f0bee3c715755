//! Reports about objects whose writes fail.

use crate::events::EventText;

use crate::controller::ids::Id;
use crate::controller::reconcile::engine::Engine;
use crate::controller::retry::backoff::Key;
use crate::controller::retry::notifier::Reason;

impl Engine {
    /// Reports in the log and, once until it is over, in an Event that writes to an object fail:
    /// this many in a row.
    pub(super) fn report(&mut self, id: Id, reason: Reason, why: &str, failures: u32) {
        let Some(entry) = self.index.get(id) else {
            return;
        };
        let object = entry.object();
        tracing::warn!(kind = %object.kind, %object, failures, "{why}");
        // A missing permission is reported on one object for all of its kind and namespace.
        let is_for_all = reason == Reason::Forbidden;
        let key = if is_for_all {
            Key::permission(object)
        } else {
            Key::Object(id)
        };
        let namespace = is_for_all.then_some(&*object.namespace);
        let event = EventText::scale_failed(object.kind, why, namespace);
        let now = self.clock.monotonic();
        if self.notifier.take_news(&key, reason, "", now) {
            self.announce(id, event);
        }
    }

    /// Boundaries of an object come faster than they can be carried out: the newest counts, and the
    /// user hears of it once.
    pub(super) fn skipped(&mut self, id: Id) {
        self.telemetry.boundaries_skipped.inc();
        let (key, now) = (Key::Object(id), self.clock.monotonic());
        let reason = Reason::BoundariesSkipped;
        if self.notifier.take_news(&key, reason, "", now)
            && let Some(entry) = self.index.get(id)
        {
            let event = EventText::boundaries_skipped();
            tracing::warn!(kind = %entry.object().kind, object = %entry.object(), "{}", event.text);
            self.announce(id, event);
        }
    }
}
