//! How long something that has failed waits before it is tried again.

use std::time::Duration;

/// After so long without a failure the next one is the first again.
pub const CALM: Duration = Duration::from_secs(60);

/// The longest pause that a server can ask for: a maintenance page may ask for an hour, and a
/// broken server for centuries.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// Doubling delays with jitter: each is between half and all of what it would be without.
#[derive(Debug)]
pub struct Delays {
    first: Duration,
    longest: Duration,
}

impl Delays {
    /// For a server that is away or overloaded.
    pub const SERVER: Self = Self {
        first: Duration::from_millis(200),
        longest: Duration::from_secs(5),
    };
    /// For a kind that the server does not have or forbids to watch.
    pub const ABSENT: Self = Self {
        first: Duration::from_millis(200),
        longest: Duration::from_secs(60),
    };
    /// For a namespace in which a permission is missing: one object asks for all.
    pub const FORBIDDEN: Self = Self {
        first: Duration::from_secs(1),
        longest: Duration::from_secs(30),
    };
    /// For one object whose patch the server refuses.
    pub const REFUSED: Self = Self {
        first: Duration::from_secs(30),
        longest: Duration::from_secs(600),
    };
    /// For one object whose requests fail, are not answered, or meet one change after the other, and
    /// for the Events of one namespace.
    pub const OBJECT: Self = Self {
        first: Duration::from_secs(1),
        longest: Duration::from_secs(30),
    };

    /// The delay after this many failures in a row, at least one.
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
    fn doubles_up_to_a_limit_and_spreads() {
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
