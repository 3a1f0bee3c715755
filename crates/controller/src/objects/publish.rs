//! Publishing the objects that have changed.

use chrono::{DateTime, Utc};
use tokio::time::Instant;

use crate::objects::index::Index;
use crate::telemetry::published::Publisher;

/// How many objects are published before the controller looks again for due work.
const MAX_PUBLISHED: usize = 64;

impl Index {
    /// Publishes some of the objects that may have changed.
    pub(crate) fn publish(
        &mut self,
        publisher: &Publisher,
        now: DateTime<Utc>,
        monotonic: Instant,
    ) {
        for id in self.entries.take_touched(MAX_PUBLISHED) {
            let entry = self.entries.get(id);
            let in_scope = entry.filter(|it| self.namespaces.is_in_scope(&it.object().namespace));
            match in_scope {
                Some(entry) => publisher.publish(id, entry.snapshot(now), (now, monotonic)),
                None => publisher.remove(id, (now, monotonic)),
            }
        }
    }

    /// Whether objects that may have changed are still unpublished.
    pub(crate) fn has_unpublished(&self) -> bool {
        self.entries.has_touched()
    }
}
