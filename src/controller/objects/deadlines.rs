//! When which objects become overdue.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, Utc};

/// How many objects become overdue at which instant, unless something is done about them before.
///
/// The controller keeps it up as it counts its objects, and it holds good until it counts them
/// again: also where the controller itself hangs. A clone is the same one.
#[derive(Clone, Debug, Default)]
pub struct Deadlines(Arc<Mutex<BTreeMap<i64, usize>>>);

/// When one object becomes overdue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::controller) struct Deadline {
    /// It is overdue from this second on; `None` where it asks for nothing although its time has
    /// passed.
    pub(in crate::controller) from: Option<i64>,
    /// The second in which to look whether that is still so: time alone may change it.
    pub(in crate::controller) look: i64,
}

impl Deadlines {
    pub(in crate::controller) fn add(&self, second: i64) {
        *self.by_second().entry(second).or_default() += 1;
    }

    pub(in crate::controller) fn take_away(&self, second: i64) {
        let mut by_second = self.by_second();
        if let Some(count) = by_second.get_mut(&second) {
            *count -= 1;
            if *count == 0 {
                by_second.remove(&second);
            }
        }
    }

    /// How many objects are overdue at `now`.
    pub fn passed(&self, now: DateTime<Utc>) -> usize {
        let by_second = self.by_second();
        let passed = by_second.range(..=now.timestamp());
        passed.map(|(_, count)| count).sum()
    }

    /// The first instant after `now` at which one more is overdue.
    pub(in crate::controller) fn next(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let by_second = self.by_second();
        let (second, _) = by_second.range(now.timestamp() + 1..).next()?;
        DateTime::from_timestamp(*second, 0)
    }

    fn by_second(&self) -> MutexGuard<'_, BTreeMap<i64, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
