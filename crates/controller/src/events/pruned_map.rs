//! A map that forgets stale entries, so that objects and namespaces that come and go do not fill it.

use std::collections::BTreeMap;

/// Entries are not pruned below this number.
const MIN_PRUNED: usize = 64;

/// A map whose stale entries are removed when the number of entries has doubled.
pub(super) struct PrunedMap<K, V> {
    pub(super) entries: BTreeMap<K, V>,
    /// The number of entries after the last pruning.
    kept: usize,
}

impl<K: Ord, V> PrunedMap<K, V> {
    /// The entry of a key, which is created if it does not exist. Before that, stale entries might be
    /// removed.
    pub(super) fn get_or_insert_with(
        &mut self,
        key: K,
        mut is_stale: impl FnMut(&mut V) -> bool,
        create: impl FnOnce() -> V,
    ) -> &mut V {
        let is_new = !self.entries.contains_key(&key);
        if is_new && self.entries.len() >= 2 * self.kept.max(MIN_PRUNED) {
            self.entries.retain(|_, entry| !is_stale(entry));
            self.kept = self.entries.len();
        }
        self.entries.entry(key).or_insert_with(create)
    }
}

impl<K, V> Default for PrunedMap<K, V> {
    fn default() -> Self {
        Self {
            entries: BTreeMap::new(),
            kept: 0,
        }
    }
}
