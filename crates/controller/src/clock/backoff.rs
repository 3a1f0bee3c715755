//! The delays after failures: of an object, of a namespace, of a permission or of the server.

use std::time::Duration;

use dayshift_cluster::delays::Delays;

use crate::clock::guard::Now;

/// A backoff: the number of failures in a row, and the time until which nothing is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Backoff {
    failures: u32,
    until: Duration,
}

/// After this time without a failure, the number of failures is reset.
const CALM: Duration = Duration::from_secs(60);

impl Backoff {
    /// Starts a delay after a failure, at least as long as `retry_after`. Returns whether the failure was
    /// counted: a failure during the delay is not, because concurrent requests fail together.
    pub(crate) fn fail(
        &mut self,
        delays: &Delays,
        retry_after: Option<Duration>,
        now: Now,
        random: &mut fastrand::Rng,
    ) -> bool {
        let is_counted = now.elapsed >= self.until;
        if is_counted {
            self.failures = self.failures.saturating_add(1);
        }
        let delay = delays.delay(self.failures, random);
        let delay = delay.max(retry_after.unwrap_or_default());
        self.until = self.until.max(now.elapsed + delay);
        is_counted
    }

    /// Resets the number of failures after a success. A delay that has not ended remains, because the
    /// response might belong to an earlier request.
    pub(crate) fn succeed(&mut self, now: Now) {
        if self.is_active(now) {
            self.failures = 0;
        } else {
            self.clear();
        }
    }

    /// Ends the delay, and resets the number of failures.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether the delay has not ended yet.
    pub(crate) fn is_active(&self, now: Now) -> bool {
        now.elapsed < self.until
    }

    /// The end of the delay; `None` without a failure.
    pub(crate) fn until(&self) -> Option<Duration> {
        (*self != Self::default()).then_some(self.until)
    }

    /// The number of failures in a row.
    pub(crate) const fn failures(&self) -> u32 {
        self.failures
    }

    /// Whether the delay ended at least [`CALM`] ago.
    pub(crate) fn is_expired(&self, now: Now) -> bool {
        now.elapsed >= self.until + CALM
    }

    /// Resets the backoff if the delay ended at least [`CALM`] ago.
    pub(crate) fn clear_if_expired(&mut self, now: Now) {
        if self.is_expired(now) {
            self.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_grows_with_each_failure_and_concurrent_failures_count_once() {
        let mut backoff = Backoff::default();
        let mut random = fastrand::Rng::with_seed(1);
        let mut now = Now::at_second(100);
        for full in [200, 400, 800, 1600, 3200, 5000, 5000] {
            assert!(backoff.fail(&Delays::SERVER, None, now, &mut random));
            assert!(!backoff.fail(&Delays::SERVER, None, now, &mut random));
            let full = Duration::from_millis(full);
            let delay = backoff.until - now.elapsed;
            assert!(delay >= full / 2 && delay <= full, "{delay:?} of {full:?}");
            assert!(backoff.is_active(now));
            now.elapsed = backoff.until;
            assert!(!backoff.is_active(now));
        }
        assert_eq!(backoff.failures(), 7);
        now.elapsed += CALM;
        backoff.clear_if_expired(now);
        assert_eq!(backoff.failures(), 0);
    }

    #[test]
    fn a_success_during_the_delay_does_not_shorten_retry_after() {
        let mut backoff = Backoff::default();
        let mut random = fastrand::Rng::with_seed(1);
        backoff.fail(&Delays::SERVER, None, Now::at_second(100), &mut random);
        // The response to a concurrent request.
        let retry_after = Some(Duration::from_secs(7));
        backoff.fail(
            &Delays::SERVER,
            retry_after,
            Now::at_second(100),
            &mut random,
        );
        assert_eq!(backoff.until(), Some(Duration::from_secs(107)));
        backoff.succeed(Now::at_second(100));
        assert_eq!(backoff.until(), Some(Duration::from_secs(107)));
        backoff.fail(&Delays::SERVER, None, Now::at_second(107), &mut random);
        assert_eq!(backoff.failures(), 1, "the server has responded since");
        backoff.succeed(Now::at_second(108));
        assert_eq!(backoff.until(), None);
    }
}
