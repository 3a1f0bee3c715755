//! Other calendars, while the controller runs.

use crate::controller::ids::Id;
use crate::controller::objects::index::Index;
use crate::controller::time::guarded_clock::SeenAt;
use crate::schedule::Calendars;

impl Index {
    /// Other calendars from now on. Returns the objects that name any.
    pub(in crate::controller) fn set_calendars(
        &mut self,
        calendars: Calendars,
        seen_at: SeenAt,
    ) -> Vec<Id> {
        self.namespaces.set_calendars(calendars.clone());
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
}
