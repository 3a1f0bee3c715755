//! Back-off after failures, by key.

use std::{collections::HashMap, hash::Hash, time::Duration};

use dayshift_cluster::delays::{CALM, Delays};
use tokio::time::Instant;

/// What has failed, and until when it is left alone.
pub(crate) struct Backoffs<K> {
    /// How often in a row each has failed, and until when it is left alone.
    known: HashMap<K, (u32, Instant)>,
    random: fastrand::Rng,
}

impl<K: Eq + Hash> Backoffs<K> {
    /// Nothing is left alone. The seed is that of the jitter.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            known: HashMap::new(),
            random: fastrand::Rng::with_seed(seed),
        }
    }

    /// Whether it is left alone at that instant.
    pub(crate) fn is_paused(&self, key: &K, at: Instant) -> bool {
        self.known.get(key).is_some_and(|(_, until)| *until > at)
    }

    /// It has failed: it is left alone, each time for longer.
    pub(crate) fn fail(&mut self, key: K) {
        let failures = self
            .known
            .get(&key)
            .map_or(0, |known| known.0)
            .saturating_add(1);
        let pause = Delays::OBJECT.delay(failures, &mut self.random);
        self.known.insert(key, (failures, Instant::now() + pause));
    }

    /// It has not failed, and is left alone for this long.
    pub(crate) fn rest(&mut self, key: K, pause: Duration) {
        self.known.insert(key, (0, Instant::now() + pause));
    }

    /// It has done what it should.
    pub(crate) fn clear(&mut self, key: &K) {
        self.known.remove(key);
    }

    /// Forgets what has not failed for long.
    pub(crate) fn forget_calm(&mut self) {
        let at = Instant::now();
        self.known.retain(|_, (_, until)| *until + CALM > at);
    }
}
