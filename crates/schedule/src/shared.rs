//! Equal values that are stored once.

use std::{collections::HashSet, hash::Hash, sync::Arc};

/// Values that are in use, of which equal ones are stored once.
#[derive(Debug)]
pub struct Shared<T: ?Sized>(HashSet<Arc<T>>);

impl<T: ?Sized> Default for Shared<T> {
    fn default() -> Self {
        Self(HashSet::new())
    }
}

impl<T: Eq + Hash + ?Sized> Shared<T> {
    /// Replaces a value with the equal one that is stored, or stores it.
    pub fn share(&mut self, value: &mut Arc<T>) {
        match self.0.get(&*value) {
            Some(known) => *value = Arc::clone(known),
            None => drop(self.0.insert(Arc::clone(value))),
        }
    }

    /// Forgets the values that are not used elsewhere.
    pub fn remove_unused(&mut self) {
        self.0.retain(|value| Arc::strong_count(value) > 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_stored_once_until_none_is_used() {
        let mut shared = Shared::default();
        let [mut one, mut other] = [(); 2].map(|()| Arc::new(vec![1, 2]));
        shared.share(&mut one);
        shared.share(&mut other);
        assert!(Arc::ptr_eq(&one, &other));
        shared.remove_unused();
        assert_eq!(Arc::strong_count(&one), 3);
        let weak = Arc::downgrade(&one);
        drop((one, other));
        shared.remove_unused();
        assert_eq!(weak.strong_count(), 0);
    }
}
