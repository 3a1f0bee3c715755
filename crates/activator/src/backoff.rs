//! Exponential back-off by key.

use std::{collections::HashMap, hash::Hash, time::Duration};

use dayshift_cluster::delays::{CALM, Delays};
use tokio::time::Instant;

/// The failed keys with the end of their back-off.
pub(crate) struct Backoffs<K> {
    /// The number of consecutive failures, and the end of the back-off.
    known: HashMap<K, (u32, Instant)>,
    random: fastrand::Rng,
}

impl<K: Eq + Hash> Backoffs<K> {
    /// `seed` is for the jitter.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            known: HashMap::new(),
            random: fastrand::Rng::with_seed(seed),
        }
    }

    pub(crate) fn is_paused(&self, key: &K, at: Instant) -> bool {
        self.known.get(key).is_some_and(|(_, until)| *until > at)
    }

    /// Records a failure. Each consecutive one doubles the back-off.
    pub(crate) fn fail(&mut self, key: K) {
        let failures = self
            .known
            .get(&key)
            .map_or(0, |known| known.0)
            .saturating_add(1);
        let pause = Delays::OBJECT.delay(failures, &mut self.random);
        self.known.insert(key, (failures, Instant::now() + pause));
    }

    /// Delays the key without a failure.
    pub(crate) fn rest(&mut self, key: K, pause: Duration) {
        self.known.insert(key, (0, Instant::now() + pause));
    }

    /// Records a success.
    pub(crate) fn clear(&mut self, key: &K) {
        self.known.remove(key);
    }

    /// Forgets keys whose last failure is long ago.
    pub(crate) fn forget_calm(&mut self) {
        let at = Instant::now();
        self.known.retain(|_, (_, until)| *until + CALM > at);
    }
}
