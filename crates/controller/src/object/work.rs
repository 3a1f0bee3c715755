//! The work on one object, and its failures so far.

use std::time::Duration;

use chrono::{DateTime, Utc};
use dayshift_cluster::delays::Delays;

use crate::{clock::guard::Now, telemetry::snapshot::WorkStatus};

/// A class of requests, with slots of its own, so that it waits for no other class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    /// A start or a stop is due.
    Transition,
    /// A request that takes long, or whose predecessor on the same object did.
    Slow,
    /// Every other write to an object: adoptions, errors, healing.
    Adoption,
    /// An Event.
    Event,
    /// A read that shows which field manager has reverted a count.
    Managers,
    /// A read that shows why an object is not ready.
    NotReady,
    /// The Jobs of the CronJobs of a namespace.
    Jobs,
    /// A list of one object: for the server's time, its version, or a sign of life.
    Server,
}

impl Class {
    /// How many classes there are.
    pub(crate) const COUNT: usize = 8;
}

/// What the work on one object waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum WorkPhase {
    /// There is nothing to do, as far as is known.
    #[default]
    Idle,
    /// It waits for a slot of its class.
    Queued(Class),
    /// A request about it is in flight.
    InFlight,
    /// Its last write failed: nothing is tried until a retry is due, or a boundary.
    BackingOff,
    /// The permission for its kind and namespace is missing, for which one object asks at a time.
    AwaitsPermission,
}

/// A back-off: how many failures there were in a row, and until when nothing is tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Backoff {
    failures: u32,
    until: Duration,
}

/// After this time without a failure the next failure is the first again.
const CALM: Duration = Duration::from_secs(60);

impl Backoff {
    /// Holds after a failure, for at least as long as the server asked. Requests that were in flight
    /// together fail together: returns false if this is no new failure.
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

    /// The server has responded. A pause that it asked for still holds: the response may be to an
    /// earlier request.
    pub(crate) fn succeed(&mut self, now: Now) {
        if self.is_active(now) {
            self.failures = 0;
        } else {
            self.clear();
        }
    }

    /// Ends it, and forgets all failures.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether nothing may be tried now.
    pub(crate) fn is_active(&self, now: Now) -> bool {
        now.elapsed < self.until
    }

    /// Until when nothing may be tried; `None` without a failure.
    pub(crate) fn until(&self) -> Option<Duration> {
        (*self != Self::default()).then_some(self.until)
    }

    /// How many failures there were in a row.
    pub(crate) const fn failures(&self) -> u32 {
        self.failures
    }

    /// Whether it ended so long ago that it makes no difference.
    pub(crate) fn is_forgotten(&self, now: Now) -> bool {
        now.elapsed >= self.until + CALM
    }

    /// Forgets failures of long ago.
    pub(crate) fn forget_if_calm(&mut self, now: Now) {
        if self.is_forgotten(now) {
            self.clear();
        }
    }
}

/// The work on one object, and its failures so far.
#[derive(Debug, Default)]
pub(crate) struct Work {
    phase: WorkPhase,
    /// Conflicts in a row.
    conflicts: u32,
    /// Rejections and failures in a row.
    failures: u32,
    /// The back-off of the object itself.
    backoff: Backoff,
    /// Whether its start waits for a start slot.
    waits_for_slot: bool,
    /// Whether the user has edited it since the last decision.
    is_edited: bool,
    /// Whether its last request took so long that the next one is of the slow class.
    is_slow: bool,
    /// The first boundary that has become due since the last request, and when it did.
    first_due: Option<(DateTime<Utc>, Duration)>,
}

impl Work {
    /// What it waits for.
    pub(crate) const fn phase(&self) -> WorkPhase {
        self.phase
    }

    /// Whether a request about it is in flight.
    pub(crate) fn is_in_flight(&self) -> bool {
        self.phase == WorkPhase::InFlight
    }

    /// The phase, for readers outside the controller.
    pub(crate) const fn status(&self) -> WorkStatus {
        match self.phase {
            WorkPhase::Idle if self.waits_for_slot => WorkStatus::WaitingForSlot,
            WorkPhase::Idle => WorkStatus::Idle,
            WorkPhase::Queued(_) => WorkStatus::Queued,
            WorkPhase::InFlight => WorkStatus::InFlight,
            WorkPhase::BackingOff => WorkStatus::BackingOff,
            WorkPhase::AwaitsPermission => WorkStatus::WaitingForPermission,
        }
    }

    /// How many writes in a row were rejected or failed.
    pub(crate) const fn failures(&self) -> u32 {
        self.failures
    }

    /// The class of its next request: slow if the last one took too long.
    pub(crate) const fn class(&self, usual: Class) -> Class {
        if self.is_slow { Class::Slow } else { usual }
    }

    /// Marks it as queued in a class.
    pub(crate) const fn queue(&mut self, class: Class) {
        self.phase = WorkPhase::Queued(class);
    }

    /// Takes it out of the class in which it waits; false if it waits elsewhere by now.
    pub(crate) fn take_from(&mut self, class: Class) -> bool {
        let is_there = self.phase == WorkPhase::Queued(class);
        if is_there {
            self.phase = WorkPhase::Idle;
        }
        is_there
    }

    /// Marks a request about it as sent.
    pub(crate) const fn send(&mut self) {
        self.phase = WorkPhase::InFlight;
    }

    /// Marks it as idle: no request about it is in flight.
    pub(crate) const fn rest(&mut self) {
        self.phase = WorkPhase::Idle;
    }

    /// A write has failed. Returns until when nothing is tried, unless a boundary becomes due.
    pub(crate) fn fail(
        &mut self,
        delays: &Delays,
        now: Now,
        random: &mut fastrand::Rng,
    ) -> Duration {
        self.backoff.fail(delays, None, now, random);
        self.failures = self.backoff.failures;
        self.phase = WorkPhase::BackingOff;
        self.backoff.until
    }

    /// Waits for a permission that was missing this many times in a row.
    pub(crate) const fn wait_for_permission(&mut self, failures: u32) {
        self.phase = WorkPhase::AwaitsPermission;
        self.failures = failures;
    }

    /// Ends a back-off, or the wait for a permission.
    pub(crate) const fn release(&mut self) {
        if let WorkPhase::BackingOff | WorkPhase::AwaitsPermission = self.phase {
            self.phase = WorkPhase::Idle;
        }
    }

    /// Counts a conflict; returns how many came in a row.
    pub(crate) const fn conflict(&mut self) -> u32 {
        self.conflicts = self.conflicts.saturating_add(1);
        self.conflicts
    }

    /// Nothing has to be written, so no failure counts any more.
    pub(crate) fn clear_failures(&mut self) {
        self.conflicts = 0;
        self.failures = 0;
        self.backoff.clear();
    }

    /// Gives its next request the slow class.
    pub(crate) const fn mark_slow(&mut self) {
        self.is_slow = true;
    }

    /// A boundary is due. Returns whether to queue it as a transition. Earlier failures do not
    /// matter: it is tried at once and has a back-off of its own.
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

    /// Its start waits for dependencies, or for a start slot: it is not late.
    pub(crate) const fn wait(&mut self, for_slot: bool) {
        self.first_due = None;
        self.waits_for_slot = for_slot;
    }

    /// Its start no longer waits for a start slot.
    pub(crate) const fn end_wait(&mut self) {
        self.waits_for_slot = false;
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

    /// The user has edited the object.
    pub(crate) const fn inputs_changed(&mut self) {
        self.first_due = None;
        self.is_edited = true;
    }

    /// Takes whether the user has edited the object since the last call. Then the cause of a
    /// failure may be gone, and it waits for no retry.
    pub(crate) fn take_edit(&mut self) -> bool {
        if self.is_edited {
            self.backoff.clear();
            if self.phase == WorkPhase::BackingOff {
                self.phase = WorkPhase::Idle;
            }
        }
        std::mem::take(&mut self.is_edited)
    }

    /// A write has succeeded.
    pub(crate) fn succeeded(&mut self) {
        self.clear_failures();
        self.is_slow = false;
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    fn now(elapsed: u64) -> Now {
        Now {
            wall: DateTime::UNIX_EPOCH,
            elapsed: Duration::from_secs(elapsed),
            ahead: None,
        }
    }

    #[test]
    fn boundaries_are_skipped_if_the_queue_takes_longer_than_from_one_to_the_next() {
        let first = DateTime::UNIX_EPOCH;
        for (later, waited, expected) in [(1, 3, true), (3, 3, true), (0, 3, false), (9, 3, false)]
        {
            let mut work = Work::default();
            assert!(work.mark_due(first, now(0)));
            work.mark_due(first + TimeDelta::seconds(1), now(1));
            let boundary = Some(first + TimeDelta::seconds(later));
            let skipped = work.take_skipped(boundary, now(waited));
            assert_eq!(skipped, expected, "{later} {waited}");
            assert!(!work.take_skipped(boundary, now(waited)), "reported once");
        }
    }

    #[test]
    fn a_boundary_goes_before_an_adoption_and_before_a_retry() {
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
            let queued = work.mark_due(DateTime::UNIX_EPOCH, now(0));
            assert_eq!(queued, expected, "{phase:?}");
        }
    }

    #[test]
    fn a_boundary_has_a_back_off_of_its_own() {
        let mut work = Work::default();
        let mut random = fastrand::Rng::with_seed(1);
        work.fail(&Delays::OBJECT, now(0), &mut random);
        assert!(work.mark_due(DateTime::UNIX_EPOCH, now(0)));
        assert_eq!((work.failures(), work.backoff), (0, Backoff::default()));
    }

    #[test]
    fn an_edit_ends_a_back_off_and_not_the_wait_for_a_permission() {
        for (phase, expected) in [
            (WorkPhase::BackingOff, WorkPhase::Idle),
            (WorkPhase::AwaitsPermission, WorkPhase::AwaitsPermission),
        ] {
            let mut work = Work {
                phase,
                ..Work::default()
            };
            assert!(!work.take_edit());
            work.inputs_changed();
            assert!(work.take_edit() && !work.take_edit());
            assert_eq!(work.phase(), expected);
        }
    }

    #[test]
    fn failures_in_a_row_hold_longer_and_those_in_flight_together_count_once() {
        let mut backoff = Backoff::default();
        let mut random = fastrand::Rng::with_seed(1);
        let mut now = now(100);
        for full in [200, 400, 800, 1600, 3200, 5000, 5000] {
            assert!(backoff.fail(&Delays::SERVER, None, now, &mut random));
            assert!(!backoff.fail(&Delays::SERVER, None, now, &mut random));
            let full = Duration::from_millis(full);
            let held = backoff.until - now.elapsed;
            assert!(held >= full / 2 && held <= full, "{held:?} of {full:?}");
            assert!(backoff.is_active(now));
            now.elapsed = backoff.until;
            assert!(!backoff.is_active(now));
        }
        assert_eq!(backoff.failures(), 7);
        now.elapsed += CALM;
        backoff.forget_if_calm(now);
        assert_eq!(backoff.failures(), 0);
    }

    #[test]
    fn a_pause_that_the_server_asks_for_holds_whatever_else_it_responds_meanwhile() {
        let mut backoff = Backoff::default();
        let mut random = fastrand::Rng::with_seed(1);
        backoff.fail(&Delays::SERVER, None, now(100), &mut random);
        // The response to a request that was in flight beside it asks for a later retry.
        let asked = Some(Duration::from_secs(7));
        backoff.fail(&Delays::SERVER, asked, now(100), &mut random);
        assert_eq!(backoff.until(), Some(Duration::from_secs(107)));
        backoff.succeed(now(100));
        assert_eq!(backoff.until(), Some(Duration::from_secs(107)));
        backoff.fail(&Delays::SERVER, None, now(107), &mut random);
        assert_eq!(backoff.failures(), 1, "it has responded since");
        backoff.succeed(now(108));
        assert_eq!(backoff.until(), None);
    }
}
