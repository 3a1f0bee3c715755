//! Nothing is sent for a while after the server was away or asked to be left alone.

use std::time::Duration;

use tokio::time::Instant;

use super::backoff::Backoff;

/// A pause of all sending, longer each time the server fails again.
#[derive(Debug, Default)]
pub(super) struct Pause {
    until: Option<Instant>,
    failures: u32,
}

impl Pause {
    /// The server did not answer, or asked to be left alone for so long.
    pub(super) fn stand_back(
        &mut self,
        now: Instant,
        asked: Option<Duration>,
        random: &mut fastrand::Rng,
    ) {
        // Requests that were under way together fail together: that is one failure.
        if self.is_over(now) {
            self.failures = self.failures.saturating_add(1);
        }
        let delay = Backoff::SERVER.delay(self.failures, random);
        let until = now + delay.max(asked.unwrap_or_default());
        self.until = Some(self.until.map_or(until, |known| known.max(until)));
    }

    /// The server has answered.
    pub(super) fn answered(&mut self) {
        self.failures = 0;
    }

    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.until.is_none_or(|until| now >= until)
    }

    /// When it is over, or was; none where there was none.
    pub(super) const fn until(&self) -> Option<Instant> {
        self.until
    }
}
