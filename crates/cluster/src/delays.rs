//! Backoff: the delays between retries of a failed request.

use std::time::Duration;

/// If no failure occurs for this long, the next one counts as the first again.
pub const CALM: Duration = Duration::from_secs(60);

/// The longest pause that dayshift accepts from a server. A maintenance page might ask for an hour, and
/// a broken server for centuries.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// Delays that double up to a limit, with jitter: each is between half of the full delay and the full
/// delay.
#[derive(Debug)]
pub struct Delays {
    first: Duration,
    longest: Duration,
}

impl Delays {
    /// A server that is unreachable or overloaded.
    pub const SERVER: Self = Self {
        first: Duration::from_millis(200),
        longest: Duration::from_secs(5),
    };
    /// A kind that the server does not have or that the controller may not watch.
    pub const ABSENT: Self = Self {
        first: Duration::from_millis(200),
        longest: Duration::from_secs(60),
    };
    /// A namespace with a missing permission. One object retries for all.
    pub const FORBIDDEN: Self = Self {
        first: Duration::from_secs(1),
        longest: Duration::from_secs(30),
    };
    /// One object whose patch the server rejects.
    pub const REJECTED: Self = Self {
        first: Duration::from_secs(30),
        longest: Duration::from_secs(600),
    };
    /// One object whose requests fail or time out or that changes before every patch, and the Events of
    /// one namespace.
    pub const OBJECT: Self = Self {
        first: Duration::from_secs(1),
        longest: Duration::from_secs(30),
    };

    /// The delay after this many consecutive failures, at least one.
    pub fn delay(&self, failures: u32, random: &mut fastrand::Rng) -> Duration {
        let doubled = 2u32.saturating_pow(failures.saturating_sub(1).min(20));
        let delay = self.first.saturating_mul(doubled).min(self.longest);
        delay.mul_f64(0.5 + random.f64() / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_limit_with_jitter() {
        let mut random = fastrand::Rng::with_seed(1);
        for (failures, full) in [(1, 200), (2, 400), (5, 3200), (6, 5000), (u32::MAX, 5000)] {
            let full = Duration::from_millis(full);
            for _ in 0..100 {
                let delay = Delays::SERVER.delay(failures, &mut random);
                assert!(delay >= full / 2 && delay <= full, "{failures}: {delay:?}");
            }
        }
    }
}
