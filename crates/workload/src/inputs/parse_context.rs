//! What texts are read with, beside themselves.

use chrono::TimeDelta;
use dayshift_schedule::{Calendars, Zone};

/// What a scaler was told that texts rest on: the same text may mean something else to another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseContext {
    /// The zone of local times on an object that names none.
    pub default_zone: Zone,
    /// The calendars that `except` and `treat-as` may name.
    pub calendars: Calendars,
    /// How long before a stop people are told, on an object that does not say; `None` where nobody is.
    pub notice: Option<TimeDelta>,
    /// How long a start may take, on an object that does not say, where that is not
    /// [`READY_WITHIN`](crate::READY_WITHIN).
    pub ready_within: Option<TimeDelta>,
}

impl Default for ParseContext {
    /// UTC, no calendars, and the usual lengths of time.
    fn default() -> Self {
        Zone::UTC.into()
    }
}

impl From<Zone> for ParseContext {
    /// That zone, and all else by default.
    fn from(default_zone: Zone) -> Self {
        Self {
            default_zone,
            calendars: Calendars::default(),
            notice: None,
            ready_within: None,
        }
    }
}
