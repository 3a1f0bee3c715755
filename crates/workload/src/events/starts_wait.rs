//! Starts that wait for a place, told of on their Namespace.

use chrono::TimeDelta;

use super::event_text::EventText;
use super::reason::EventReason;

/// How often people are told of the starts of a namespace that wait, as long as they do.
pub const STARTS_WAIT_INTERVAL: TimeDelta = TimeDelta::minutes(5);

impl EventText {
    /// So many starts of a namespace wait, because so many workloads are starting already.
    pub fn starts_wait(waiting: usize, max_starting: usize) -> Self {
        let starts = match waiting {
            1 => "1 start waits".to_owned(),
            _ => format!("{waiting} starts wait"),
        };
        let text =
            format!("{starts} until fewer workloads are starting (--max-starting {max_starting})");
        Self::new(EventReason::StartsWait, text)
    }
}
