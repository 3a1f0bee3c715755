//! Pauses of a watch before the next request, and the life to request.

use std::time::Duration;

use tokio::time::Instant;

use crate::delays::{CALM, Delays, MAX_RETRY_AFTER};

/// The requested life of a watch is between these, in seconds, so that watches which began together
/// do not begin anew together.
const MIN_LIFE: u64 = 260;
const MAX_LIFE: u64 = 290;

/// The pauses of one watch.
pub(super) struct Pauses {
    failures: u32,
    /// When the last one ended.
    last_ended: Option<Instant>,
    random: fastrand::Rng,
}

impl Pauses {
    pub(super) fn new(random: fastrand::Rng) -> Self {
        Self {
            failures: 0,
            last_ended: None,
            random,
        }
    }

    /// When the server may be asked again that has just failed.
    pub(super) fn next(&mut self, delays: &Delays, retry_after: Option<Duration>) -> Instant {
        let now = Instant::now();
        if self.last_ended.is_some_and(|ended| now > ended + CALM) {
            self.failures = 0;
        }
        self.failures = self.failures.saturating_add(1);
        let delay = delays.delay(self.failures, &mut self.random);
        let asked = retry_after.unwrap_or_default().min(MAX_RETRY_AFTER);
        let until = now + delay.max(asked);
        self.last_ended = Some(until);
        until
    }

    /// How long the next watch is to last.
    pub(super) fn life(&mut self) -> Duration {
        Duration::from_secs(self.random.u64(MIN_LIFE..=MAX_LIFE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_while_tries_fail_and_are_short_again_after_a_calm() {
        let mut pauses = Pauses::new(fastrand::Rng::with_seed(1));
        let mut next = || pauses.next(&Delays::SERVER, None);
        let first = Duration::from_millis(200);
        assert!(next() <= Instant::now() + first);
        for _ in 0..10 {
            tokio::time::sleep_until(next()).await;
        }
        assert!(next() > Instant::now() + first);
        tokio::time::sleep(2 * CALM).await;
        assert!(next() <= Instant::now() + first);
    }
}
