//! What texts are read with, beside themselves.

use dayshift_schedule::{Calendars, Zone};

/// What a scaler was told that texts rest on: the same text may mean something else to another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseContext {
    /// The zone of local times on an object that names none.
    pub default_zone: Zone,
    /// The calendars that `except` and `treat-as` may name.
    pub calendars: Calendars,
}

impl Default for ParseContext {
    /// UTC, and no calendars.
    fn default() -> Self {
        Zone::UTC.into()
    }
}

impl From<Zone> for ParseContext {
    /// That zone, and no calendars.
    fn from(default_zone: Zone) -> Self {
        Self {
            default_zone,
            calendars: Calendars::default(),
        }
    }
}
