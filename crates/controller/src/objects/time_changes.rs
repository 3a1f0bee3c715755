//! Known times are judged anew when calendars change, or the clock.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::Calendars;
use tokio::time::Instant;

use crate::{ids::Id, objects::index::Index, time::guarded_clock::SeenAt};

impl Index {
    /// Sets other calendars. Returns the objects that name any.
    pub(crate) fn set_calendars(&mut self, calendars: Calendars, seen_at: SeenAt) -> Vec<Id> {
        self.namespaces
            .set_calendars(calendars.clone(), &self.prefix);
        self.parse_cache.set_calendars(calendars);
        let mut ids = Vec::new();
        for (id, entry) in self.entries.iter_mut() {
            if entry.read_again(&mut self.parse_cache, seen_at) {
                ids.push(id);
            }
        }
        ids.sort_unstable();
        self.entries.touch(&ids);
        ids
    }

    /// The clock has jumped to `now`: another scaler may have corrected a state from the future
    /// meanwhile, and an observation may never have been from the future.
    pub(crate) fn refresh_memories(&mut self, now: DateTime<Utc>) {
        for (_, entry) in self.entries.iter_mut() {
            entry.memory.observe(&entry.observed, now);
        }
    }

    /// The clock is right again and shows `now` at `at`: dates the observations made meanwhile. The
    /// clock may have been set, or the machine may have slept, so only the elapsed time is
    /// reliable.
    pub(crate) fn redate_observations(&mut self, now: DateTime<Utc>, at: Instant) {
        let wall_time = |seen: Instant| {
            let ago = at.saturating_duration_since(seen);
            now - TimeDelta::from_std(ago).unwrap_or_default()
        };
        for (_, entry) in self.entries.iter_mut() {
            if let Some(seen) = entry.seen_monotonic.take() {
                entry.seen = wall_time(seen);
            }
        }
        self.entries.touch_all();
    }
}
