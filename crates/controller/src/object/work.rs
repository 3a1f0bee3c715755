//! The phase of the work on one object, such as queued or in flight, and its recent failures.

use std::time::Duration;

use chrono::{DateTime, Utc};
use dayshift_cluster::delays::Delays;

use crate::clock::{backoff::Backoff, guard::Now};

/// A priority class of requests. Each has slots of its own, so requests wait only for those of their
/// class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    /// A start or a stop.
    Transition,
    /// A write that takes longer than a second, or that follows a write to the same object that timed
    /// out.
    Slow,
    /// Every other write to an object, for example an adoption, an error or a correction.
    Adoption,
    /// An Event.
    Event,
    /// A read of an object for the field manager that has reverted its count.
    Managers,
    /// A read of an object for the reason why it is not ready.
    NotReady,
    /// The Jobs of the CronJobs of a namespace.
    Jobs,
    /// A list of one object, for the time or the resourceVersion of the server, or as a probe.
    Server,
}

impl Class {
    /// The number of classes.
    pub(crate) const COUNT: usize = 8;
}

/// The phase of the work on one object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum WorkPhase {
    /// The last decision required no action.
    #[default]
    Idle,
    /// The object waits for a slot of this class.
    Queued(Class),
    /// A request about the object is in flight.
    InFlight,
    /// The last write failed. Nothing is sent until the backoff ends or a boundary is due.
    BackingOff,
    /// The permission for the kind and the namespace is missing. One object at a time retries.
    AwaitsPermission,
}

/// The phase of the work on one object, and its recent failures.
#[derive(Debug, Default)]
pub(crate) struct Work {
    phase: WorkPhase,
    /// The number of conflicts in a row.
    conflicts: u32,
    /// The number of rejections and failures in a row.
    failures: u32,
    backoff: Backoff,
    /// Whether the inputs have changed since the last decision.
    is_edited: bool,
    /// Whether the last write timed out, so that the next one is of the slow class.
    is_slow: bool,
    /// The first boundary that has become due since the last request, and the elapsed time when it did.
    first_due: Option<(DateTime<Utc>, Duration)>,
}

impl Work {
    pub(crate) const fn phase(&self) -> WorkPhase {
        self.phase
    }

    /// Whether a request about the object is in flight.
    pub(crate) fn is_in_flight(&self) -> bool {
        self.phase == WorkPhase::InFlight
    }

    /// The number of writes in a row that were rejected or failed.
    pub(crate) const fn failures(&self) -> u32 {
        self.failures
    }

    /// The class of the next request: `usual`, or slow if the last write timed out.
    pub(crate) const fn class(&self, usual: Class) -> Class {
        if self.is_slow { Class::Slow } else { usual }
    }

    /// Marks the object as queued in a class.
    pub(crate) const fn mark_queued(&mut self, class: Class) {
        self.phase = WorkPhase::Queued(class);
    }

    /// Marks the object as idle if it is queued in this class. Returns `false` if it is not.
    pub(crate) fn take_from(&mut self, class: Class) -> bool {
        let is_queued = self.phase == WorkPhase::Queued(class);
        if is_queued {
            self.phase = WorkPhase::Idle;
        }
        is_queued
    }

    /// Records that a request about the object was sent.
    pub(crate) const fn mark_sent(&mut self) {
        self.phase = WorkPhase::InFlight;
    }

    /// Records that no request about the object is in flight.
    pub(crate) const fn mark_idle(&mut self) {
        self.phase = WorkPhase::Idle;
    }

    /// Records a failed write. Returns the end of the backoff.
    pub(crate) fn record_failure(
        &mut self,
        delays: &Delays,
        now: Now,
        random: &mut fastrand::Rng,
    ) -> Duration {
        self.backoff.fail(delays, None, now, random);
        self.failures = self.backoff.failures();
        self.phase = WorkPhase::BackingOff;
        self.backoff.until().unwrap_or_default()
    }

    /// Records that the object waits for a permission that was missing this many times in a row.
    pub(crate) const fn wait_for_permission(&mut self, failures: u32) {
        self.phase = WorkPhase::AwaitsPermission;
        self.failures = failures;
    }

    /// Ends a backoff, or the wait for a permission.
    pub(crate) const fn release(&mut self) {
        if let WorkPhase::BackingOff | WorkPhase::AwaitsPermission = self.phase {
            self.phase = WorkPhase::Idle;
        }
    }

    /// Counts a conflict. Returns the number of conflicts in a row.
    pub(crate) const fn count_conflict(&mut self) -> u32 {
        self.conflicts = self.conflicts.saturating_add(1);
        self.conflicts
    }

    /// Clears all failures.
    pub(crate) fn clear_failures(&mut self) {
        self.conflicts = 0;
        self.failures = 0;
        self.backoff.clear();
    }

    /// Sends the next request in the slow class.
    pub(crate) const fn mark_slow(&mut self) {
        self.is_slow = true;
    }

    /// Records that a boundary is due. Returns whether the object should be queued as a transition.
    /// Failures of earlier writes are cleared, so the transition is sent at once and has a backoff of
    /// its own.
    pub(crate) fn mark_due(&mut self, at: DateTime<Utc>, now: Now) -> bool {
        self.first_due.get_or_insert((at, now.elapsed));
        match self.phase {
            WorkPhase::Idle | WorkPhase::Queued(Class::Adoption) | WorkPhase::BackingOff => {
                self.failures = 0;
                self.backoff.clear();
                true
            }
            WorkPhase::Queued(_) | WorkPhase::InFlight | WorkPhase::AwaitsPermission => false,
        }
    }

    /// Nothing is due now: a timer might also fire for a report, and the boundary of a start that waits is
    /// not late.
    pub(crate) const fn clear_due(&mut self) {
        self.first_due = None;
    }

    /// Takes whether boundaries before this one were skipped because carrying one out takes longer
    /// than the time between two. A machine that was asleep has not waited.
    pub(crate) fn take_skipped(&mut self, boundary: Option<DateTime<Utc>>, now: Now) -> bool {
        let (Some(boundary), Some((first, since))) = (boundary, self.first_due.take()) else {
            return false;
        };
        let later = (boundary - first).to_std().unwrap_or_default();
        !later.is_zero() && now.since(since) >= later
    }

    /// Records that the inputs have changed.
    pub(crate) const fn record_edit(&mut self) {
        self.first_due = None;
        self.is_edited = true;
    }

    /// Returns whether the inputs have changed since the last call. If they have, ends the backoff,
    /// because the edit might have removed the cause of the failure.
    pub(crate) fn take_edit(&mut self) -> bool {
        if self.is_edited {
            self.backoff.clear();
            if self.phase == WorkPhase::BackingOff {
                self.phase = WorkPhase::Idle;
            }
        }
        std::mem::take(&mut self.is_edited)
    }

    /// Records a successful write.
    pub(crate) fn record_success(&mut self) {
        self.clear_failures();
        self.is_slow = false;
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn boundaries_are_skipped_if_the_queue_takes_longer_than_the_time_between_them() {
        let first = DateTime::UNIX_EPOCH;
        for (later, waited, expected) in [(1, 3, true), (3, 3, true), (0, 3, false), (9, 3, false)]
        {
            let mut work = Work::default();
            assert!(work.mark_due(first, Now::at_second(0)));
            work.mark_due(first + TimeDelta::seconds(1), Now::at_second(1));
            let boundary = Some(first + TimeDelta::seconds(later));
            let skipped = work.take_skipped(boundary, Now::at_second(waited));
            assert_eq!(skipped, expected, "{later} {waited}");
            assert!(
                !work.take_skipped(boundary, Now::at_second(waited)),
                "reported once"
            );
        }
    }

    #[test]
    fn a_due_boundary_replaces_an_adoption_and_a_backoff() {
        for (phase, expected) in [
            (WorkPhase::Idle, true),
            (WorkPhase::Queued(Class::Adoption), true),
            (WorkPhase::Queued(Class::Transition), false),
            (WorkPhase::Queued(Class::Slow), false),
            (WorkPhase::InFlight, false),
            (WorkPhase::BackingOff, true),
            (WorkPhase::AwaitsPermission, false),
        ] {
            let mut work = Work {
                phase,
                ..Work::default()
            };
            let queued = work.mark_due(DateTime::UNIX_EPOCH, Now::at_second(0));
            assert_eq!(queued, expected, "{phase:?}");
        }
    }

    #[test]
    fn a_due_boundary_clears_earlier_failures() {
        let mut work = Work::default();
        let mut random = fastrand::Rng::with_seed(1);
        work.record_failure(&Delays::OBJECT, Now::at_second(0), &mut random);
        assert!(work.mark_due(DateTime::UNIX_EPOCH, Now::at_second(0)));
        assert_eq!((work.failures(), work.backoff), (0, Backoff::default()));
    }

    #[test]
    fn an_edit_ends_a_backoff_but_not_the_wait_for_a_permission() {
        for (phase, expected) in [
            (WorkPhase::BackingOff, WorkPhase::Idle),
            (WorkPhase::AwaitsPermission, WorkPhase::AwaitsPermission),
        ] {
            let mut work = Work {
                phase,
                ..Work::default()
            };
            assert!(!work.take_edit());
            work.record_edit();
            assert!(work.take_edit() && !work.take_edit());
            assert_eq!(work.phase(), expected);
        }
    }
}
