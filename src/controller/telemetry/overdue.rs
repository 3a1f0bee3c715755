//! What is overdue, counted when it is asked for.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, Utc};

use crate::controller::objects::entry::Entry;
use crate::controller::objects::work::WorkState;
use crate::workload::{OVERDUE_GRACE, Overdue, ParsedInputs};

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

impl Entry {
    /// What should have been done about it by `now`.
    pub(in crate::controller) fn overdue(&self, now: DateTime<Utc>) -> Option<Overdue> {
        self.parsed.overdue(&self.observed, Some(self.seen), now)
    }

    /// When it becomes overdue or did, if nothing is done about it; `None` where that cannot be
    /// before something else becomes of it.
    pub(in crate::controller) fn deadline(&self, now: DateTime<Utc>) -> Option<Deadline> {
        let ParsedInputs::Scheduled(_) = &*self.parsed else {
            return None;
        };
        let next = self.observed.next();
        let due = match self.work.state() {
            WorkState::Idle => next?,
            _ => next.filter(|next| *next <= now).unwrap_or(self.seen),
        };
        // In whole seconds, and not before the grace is over.
        let deadline = due + OVERDUE_GRACE;
        let is_so = deadline > now || self.overdue(now).is_some();
        let look = if deadline > now {
            deadline
        } else {
            now + OVERDUE_GRACE
        };
        Some(Deadline {
            from: is_so.then(|| deadline.timestamp()),
            look: look.timestamp() + i64::from(look.timestamp_subsec_nanos() > 0),
        })
    }
}

/// What was said of overdue objects, and when there may be more to say.
#[derive(Debug, Default)]
pub(in crate::controller) struct OverdueLog {
    told: bool,
    next: Option<DateTime<Utc>>,
}

impl OverdueLog {
    /// Whether more may be overdue at `now` than when they were counted.
    pub(in crate::controller) fn is_due(&self, now: DateTime<Utc>) -> bool {
        self.next.is_some_and(|next| next <= now)
    }

    /// Notes how many are overdue at `now`; says so once, with one of them, and once when none is
    /// any more.
    pub(in crate::controller) fn note<'a>(
        &mut self,
        deadlines: &Deadlines,
        now: DateTime<Utc>,
        first: impl FnOnce() -> Option<&'a Entry>,
    ) {
        self.next = deadlines.next(now);
        let count = deadlines.passed(now);
        if count > 0
            && !self.told
            && let Some(entry) = first()
        {
            self.told = true;
            let object = entry.object();
            tracing::warn!(
                overdue = count, kind = %object.kind, %object,
                "not done within {} s of its time; this is said once until nothing is overdue",
                OVERDUE_GRACE.num_seconds()
            );
        } else if count == 0 && std::mem::take(&mut self.told) {
            tracing::info!("nothing is overdue any more");
        }
    }
}
