//! When the objects are counted: that costs as much as there are.

use std::time::Duration;

use tokio::time::Instant;

/// How often they are counted at most.
const PAUSE: Duration = Duration::from_secs(1);

/// Whether anything may have changed since the objects were counted.
#[derive(Debug, Default)]
pub(in crate::controller) struct Census {
    changed: bool,
    counted: Option<Instant>,
}

impl Census {
    /// Something may have changed.
    pub(in crate::controller) const fn note_change(&mut self) {
        self.changed = true;
    }

    /// When they are to be counted again, if they are.
    pub(in crate::controller) fn next(&self) -> Option<Instant> {
        let counted = self.counted.filter(|_| self.changed);
        counted.map(|counted| counted + PAUSE)
    }

    /// Whether they are to be counted now; they are taken to be.
    pub(in crate::controller) fn take(&mut self, now: Instant) -> bool {
        let is_due = self.changed && self.next().is_none_or(|next| now >= next);
        if is_due {
            *self = Self {
                changed: false,
                counted: Some(now),
            };
        }
        is_due
    }
}
