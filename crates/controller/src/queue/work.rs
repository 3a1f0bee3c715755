//! The work on one object.

use chrono::{DateTime, Utc};
use tokio::time::Instant;

use crate::queue::lanes::Lane;
use crate::send::in_flight::Sent;
use crate::telemetry::snapshot::WorkStatus;

/// Where the work on one object stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum WorkState {
    /// There is nothing to do, as far as is known.
    #[default]
    Idle,
    /// It waits to be sent.
    Queued(Lane),
    /// A request about it is under way.
    InFlight,
    /// It waits for the end of a hold.
    HeldBack(HeldBy),
}

/// The reason why an object waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeldBy {
    /// Its own failure: nothing is tried until a retry is due, or a boundary.
    Failure,
    /// A missing permission for its kind and namespace, for which one object asks at a time.
    Permission,
}

/// The work on one object, and its failures so far.
#[derive(Default)]
pub(crate) struct Work {
    state: WorkState,
    /// Conflicts in a row.
    conflicts: u32,
    /// Refusals and failures in a row.
    failures: u32,
    /// Whether its start waits for a place among those that are starting.
    waits_for_place: bool,
    /// Whether the user has edited it since the last decision.
    is_edited: bool,
    /// Whether its last request took so long that the next one goes to the slow lane.
    is_slow: bool,
    /// An unanswered patch, which may have taken effect.
    unconfirmed: Option<Box<Sent>>,
    /// The first boundary that has fallen due since the last request, and when it did.
    first_due: Option<(DateTime<Utc>, Instant)>,
}

impl Work {
    /// Where it stands.
    pub(crate) const fn state(&self) -> WorkState {
        self.state
    }

    /// The same in short, for readers outside the controller.
    pub(crate) const fn status(&self) -> WorkStatus {
        match self.state {
            WorkState::Idle if self.waits_for_place => WorkStatus::WaitingForPlace,
            WorkState::Idle => WorkStatus::Idle,
            WorkState::Queued(_) => WorkStatus::Queued,
            WorkState::InFlight => WorkStatus::InFlight,
            WorkState::HeldBack(HeldBy::Failure) => WorkStatus::BackingOff,
            WorkState::HeldBack(HeldBy::Permission) => WorkStatus::WaitingForPermission,
        }
    }

    /// How many writes in a row were refused or failed.
    pub(crate) const fn failures(&self) -> u32 {
        self.failures
    }

    /// The lane for its next request: the slow one where the last one took too long.
    pub(crate) const fn lane(&self, usual: Lane) -> Lane {
        if self.is_slow { Lane::Slow } else { usual }
    }

    /// It waits in a lane.
    pub(crate) const fn queue(&mut self, lane: Lane) {
        self.state = WorkState::Queued(lane);
    }

    /// Takes it out of the lane in which it waits; false if it waits elsewhere by now.
    pub(crate) fn take_from(&mut self, lane: Lane) -> bool {
        let is_there = self.state == WorkState::Queued(lane);
        if is_there {
            self.state = WorkState::Idle;
        }
        is_there
    }

    /// Marks a request about it as sent.
    pub(crate) const fn send(&mut self) {
        self.state = WorkState::InFlight;
    }

    /// Marks it as idle: no request about it is under way.
    pub(crate) const fn rest(&mut self) {
        self.state = WorkState::Idle;
    }

    /// Makes it wait for the end of a hold, after this many failures in a row.
    pub(crate) const fn hold_back(&mut self, cause: HeldBy, failures: u32) {
        self.state = WorkState::HeldBack(cause);
        self.failures = failures;
    }

    /// Ends its hold.
    pub(crate) const fn release(&mut self) {
        if let WorkState::HeldBack(_) = self.state {
            self.state = WorkState::Idle;
        }
    }

    /// Counts a conflict; returns how many came in a row.
    pub(crate) const fn conflicted(&mut self) -> u32 {
        self.conflicts = self.conflicts.saturating_add(1);
        self.conflicts
    }

    /// Nothing has to be written, so no failure counts any more.
    pub(crate) const fn clear_failures(&mut self) {
        self.conflicts = 0;
        self.failures = 0;
    }

    /// Sends its next request to the slow lane.
    pub(crate) const fn mark_slow(&mut self) {
        self.is_slow = true;
    }

    /// Records a patch without an answer, which may have taken effect, as may an earlier try.
    pub(crate) fn record_unconfirmed(&mut self, mut sent: Sent) {
        if let Some(earlier) = &self.unconfirmed
            && earlier.known.object == sent.known.object
        {
            sent.monotonic = earlier.monotonic;
        }
        self.unconfirmed = Some(Box::new(sent));
    }

    /// Takes the unanswered patch if it is now known to have taken effect, as `has_taken` judges.
    pub(crate) fn take_confirmed(&mut self, has_taken: impl Fn(&Sent) -> bool) -> Option<Sent> {
        let sent = self.unconfirmed.take_if(|sent| has_taken(sent))?;
        self.release();
        Some(*sent)
    }

    /// The object was read: an unanswered patch has not taken effect.
    pub(crate) fn discard_unconfirmed(&mut self) {
        self.unconfirmed = None;
    }

    /// A boundary has fallen due. Returns whether to queue it as a transition. Earlier refusals do
    /// not matter: it is tried at once and backs off by itself.
    pub(crate) fn mark_due(&mut self, at: DateTime<Utc>, now: Instant) -> bool {
        self.first_due.get_or_insert((at, now));
        match self.state {
            WorkState::Idle
            | WorkState::Queued(Lane::Adoption | Lane::Event)
            | WorkState::HeldBack(HeldBy::Failure) => {
                self.failures = 0;
                true
            }
            WorkState::Queued(Lane::Transition | Lane::Slow)
            | WorkState::InFlight
            | WorkState::HeldBack(HeldBy::Permission) => false,
        }
    }

    /// Its start waits for other objects, or for a place: it is not late.
    pub(crate) const fn wait(&mut self, for_place: bool) {
        self.first_due = None;
        self.waits_for_place = for_place;
    }

    /// Its start waits no longer.
    pub(crate) const fn end_wait(&mut self) {
        self.waits_for_place = false;
    }

    /// Takes whether boundaries before this one were skipped because carrying one out takes longer
    /// than the time between two. A machine that was asleep has not waited.
    pub(crate) fn take_skipped(&mut self, boundary: Option<DateTime<Utc>>, now: Instant) -> bool {
        let (Some(boundary), Some((first, since))) = (boundary, self.first_due.take()) else {
            return false;
        };
        let later = (boundary - first).to_std().unwrap_or_default();
        !later.is_zero() && now.saturating_duration_since(since) >= later
    }

    /// The user has edited the object.
    pub(crate) const fn inputs_changed(&mut self) {
        self.first_due = None;
        self.is_edited = true;
    }

    /// Takes whether the user has edited the object since the last call. Then the cause of a
    /// failure may be gone, and it waits for no retry.
    pub(crate) fn take_edit(&mut self) -> bool {
        if self.is_edited && self.state == WorkState::HeldBack(HeldBy::Failure) {
            self.state = WorkState::Idle;
        }
        std::mem::take(&mut self.is_edited)
    }

    /// A write has succeeded.
    pub(crate) fn succeeded(&mut self) {
        self.conflicts = 0;
        self.failures = 0;
        self.is_slow = false;
        self.unconfirmed = None;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn boundaries_are_skipped_where_the_queue_takes_longer_than_from_one_to_the_next() {
        let first = DateTime::UNIX_EPOCH;
        let begun = Instant::now();
        for (later, waited, expected) in [(1, 3, true), (3, 3, true), (0, 3, false), (9, 3, false)]
        {
            let mut work = Work::default();
            assert!(work.mark_due(first, begun));
            work.mark_due(
                first + TimeDelta::seconds(1),
                begun + Duration::from_secs(1),
            );
            let boundary = first + TimeDelta::seconds(later);
            let now = begun + Duration::from_secs(waited);
            assert_eq!(
                work.take_skipped(Some(boundary), now),
                expected,
                "{later} {waited}"
            );
            assert!(
                !work.take_skipped(Some(boundary), now),
                "it is told of once"
            );
        }
    }

    #[test]
    fn a_boundary_goes_before_an_adoption_and_before_a_retry() {
        for (state, expected) in [
            (WorkState::Idle, true),
            (WorkState::Queued(Lane::Adoption), true),
            (WorkState::Queued(Lane::Transition), false),
            (WorkState::InFlight, false),
            (WorkState::HeldBack(HeldBy::Failure), true),
            (WorkState::HeldBack(HeldBy::Permission), false),
        ] {
            let mut work = Work {
                state,
                ..Work::default()
            };
            let queued = work.mark_due(DateTime::UNIX_EPOCH, Instant::now());
            assert_eq!(queued, expected, "{state:?}");
        }
    }

    #[test]
    fn a_boundary_backs_off_by_itself() {
        let mut work = Work::default();
        work.hold_back(HeldBy::Failure, 4);
        assert!(work.mark_due(DateTime::UNIX_EPOCH, Instant::now()));
        assert_eq!(work.failures(), 0);
    }

    #[test]
    fn an_edit_ends_the_wait_for_a_retry_and_not_that_for_a_permission() {
        for (cause, expected) in [
            (HeldBy::Failure, WorkState::Idle),
            (HeldBy::Permission, WorkState::HeldBack(HeldBy::Permission)),
        ] {
            let mut work = Work::default();
            work.hold_back(cause, 1);
            assert!(!work.take_edit());
            work.inputs_changed();
            assert!(work.take_edit() && !work.take_edit());
            assert_eq!(work.state(), expected);
        }
    }
}
