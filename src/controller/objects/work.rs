//! What is being done about one object.

use chrono::{DateTime, Utc};
use tokio::time::Instant;

use crate::controller::send::in_flight::Sent;
use crate::controller::send::queue::Lane;
use crate::controller::telemetry::snapshot::WorkStatus;

/// Where the work on one object stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::controller) enum WorkState {
    /// There is nothing to do, as far as is known.
    #[default]
    Idle,
    /// It waits to be sent.
    Queued(Lane),
    /// A request about it is under way.
    InFlight,
    /// Nothing is tried until its retry is due, or a boundary.
    BackingOff,
    /// Another object asks for the permission that is missing in its namespace.
    WaitingForPermission,
}

/// What is being done about one object, and how that has gone so far.
#[derive(Default)]
pub(in crate::controller) struct Work {
    state: WorkState,
    /// Conflicts in a row.
    conflicts: u32,
    /// Refusals and failures in a row.
    failures: u32,
    /// What the user was told of them last.
    reported: Option<Trouble>,
    /// Whether its last request took so long that the next one goes to the slow lane.
    is_slow: bool,
    /// A patch that was not answered: it may have taken effect all the same.
    unconfirmed: Option<Box<Sent>>,
    /// The first boundary that has fallen due since something was sent, and when it did.
    first_due: Option<(DateTime<Utc>, Instant)>,
    /// Whether the user was told that boundaries are skipped.
    skips_reported: bool,
}

/// What keeps an object from being written to: the user is told once of each in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::controller) enum Trouble {
    /// The API server refuses the patch.
    Refused,
    /// The permission to patch is missing, for others of its namespace too.
    Forbidden,
    /// The API server fails to make it, or does not answer.
    Failed,
}

impl Work {
    /// Where it stands.
    pub(in crate::controller) const fn state(&self) -> WorkState {
        self.state
    }

    /// The same in short, for whoever looks from outside.
    pub(in crate::controller) const fn status(&self) -> WorkStatus {
        match self.state {
            WorkState::Idle => WorkStatus::Idle,
            WorkState::Queued(_) => WorkStatus::Queued,
            WorkState::InFlight => WorkStatus::InFlight,
            WorkState::BackingOff => WorkStatus::BackingOff,
            WorkState::WaitingForPermission => WorkStatus::WaitingForPermission,
        }
    }

    /// How often in a row a write was refused or failed.
    pub(in crate::controller) const fn failures(&self) -> u32 {
        self.failures
    }

    /// The lane for its next request: the slow one where the last one took too long.
    pub(in crate::controller) const fn lane(&self, usual: Lane) -> Lane {
        if self.is_slow { Lane::Slow } else { usual }
    }

    /// It waits in a lane.
    pub(in crate::controller) const fn queue(&mut self, lane: Lane) {
        self.state = WorkState::Queued(lane);
    }

    /// Takes it out of the lane in which it waits; false where it waits elsewhere by now.
    pub(in crate::controller) fn take_from(&mut self, lane: Lane) -> bool {
        let is_there = self.state == WorkState::Queued(lane);
        if is_there {
            self.state = WorkState::Idle;
        }
        is_there
    }

    /// A request about it is sent.
    pub(in crate::controller) const fn send(&mut self) {
        self.state = WorkState::InFlight;
    }

    /// There is nothing to do, as far as is known.
    pub(in crate::controller) const fn rest(&mut self) {
        self.state = WorkState::Idle;
    }

    /// Its last try has failed, and another comes later.
    pub(in crate::controller) const fn back_off(&mut self) {
        self.state = WorkState::BackingOff;
    }

    /// Another object asks for the permission that it lacks.
    pub(in crate::controller) const fn wait_for_permission(&mut self) {
        self.state = WorkState::WaitingForPermission;
    }

    /// It need not wait any longer for a retry or a permission.
    pub(in crate::controller) const fn release(&mut self) {
        if let WorkState::BackingOff | WorkState::WaitingForPermission = self.state {
            self.state = WorkState::Idle;
        }
    }

    /// It need not wait any longer for a retry.
    const fn end_backoff(&mut self) {
        if let WorkState::BackingOff = self.state {
            self.state = WorkState::Idle;
        }
    }

    /// Somebody else has changed the object; returns how often in a row.
    pub(in crate::controller) const fn conflicted(&mut self) -> u32 {
        self.conflicts = self.conflicts.saturating_add(1);
        self.conflicts
    }

    /// There is nothing to write, so no conflict either.
    pub(in crate::controller) const fn has_nothing_to_write(&mut self) {
        self.conflicts = 0;
    }

    /// Its request took too long.
    pub(in crate::controller) const fn timed_out(&mut self) {
        self.is_slow = true;
    }

    /// Its patch was not answered, and may have taken effect all the same; so may an earlier try.
    pub(in crate::controller) fn may_have_been_patched(&mut self, mut sent: Sent) {
        if let Some(earlier) = &self.unconfirmed
            && earlier.known.object == sent.known.object
        {
            sent.monotonic = earlier.monotonic;
        }
        self.unconfirmed = Some(Box::new(sent));
    }

    /// The patch that was not answered, if it is now known to have taken effect, as `has_taken`
    /// sees from it.
    pub(in crate::controller) fn take_confirmed(
        &mut self,
        has_taken: impl Fn(&Sent) -> bool,
    ) -> Option<Sent> {
        let sent = self.unconfirmed.take_if(|sent| has_taken(sent))?;
        self.end_backoff();
        Some(*sent)
    }

    /// The object was read: a patch that was not answered has not taken effect.
    pub(in crate::controller) fn was_read(&mut self) {
        self.unconfirmed = None;
    }

    /// Notes that the user is told that boundaries are skipped; false where that was done already.
    pub(in crate::controller) const fn report_skips(&mut self) -> bool {
        !std::mem::replace(&mut self.skips_reported, true)
    }

    /// A boundary has fallen due: whether it is to be queued as a transition for that. What was
    /// refused before says nothing of it, so that it is tried at once and backs off by itself.
    pub(in crate::controller) fn falls_due(&mut self, at: DateTime<Utc>, now: Instant) -> bool {
        self.first_due.get_or_insert((at, now));
        match self.state {
            WorkState::Idle | WorkState::Queued(Lane::Adoption | Lane::Event) => true,
            WorkState::BackingOff => {
                self.failures = 0;
                true
            }
            WorkState::Queued(Lane::Transition | Lane::Slow)
            | WorkState::InFlight
            | WorkState::WaitingForPermission => false,
        }
    }

    /// The boundary is carried out now: whether others before it were skipped because it takes
    /// longer to carry one out than until the next. A machine that was asleep has not waited.
    pub(in crate::controller) fn skips_to(
        &mut self,
        boundary: Option<DateTime<Utc>>,
        now: Instant,
    ) -> bool {
        let (Some(boundary), Some((first, since))) = (boundary, self.first_due.take()) else {
            return false;
        };
        let later = (boundary - first).to_std().unwrap_or_default();
        !later.is_zero() && now.saturating_duration_since(since) >= later
    }

    /// The user has written something else on the object: what was in its way may be gone.
    pub(in crate::controller) fn inputs_changed(&mut self) {
        self.first_due = None;
        self.skips_reported = false;
        self.end_backoff();
    }

    /// A write has succeeded.
    pub(in crate::controller) fn succeeded(&mut self) {
        self.conflicts = 0;
        self.failures = 0;
        self.reported = None;
        self.is_slow = false;
        self.unconfirmed = None;
    }

    /// Notes one more failure. Returns how many there were in a row.
    pub(in crate::controller) const fn fails(&mut self) -> u32 {
        self.failures = self.failures.saturating_add(1);
        self.failures
    }

    /// Whether the user was told of this last.
    pub(in crate::controller) fn has_reported(&self, trouble: Trouble) -> bool {
        self.reported == Some(trouble)
    }

    /// The user is told of this.
    pub(in crate::controller) const fn report(&mut self, trouble: Trouble) {
        self.reported = Some(trouble);
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
            assert!(work.falls_due(first, begun));
            work.falls_due(
                first + TimeDelta::seconds(1),
                begun + Duration::from_secs(1),
            );
            let boundary = first + TimeDelta::seconds(later);
            let now = begun + Duration::from_secs(waited);
            assert_eq!(
                work.skips_to(Some(boundary), now),
                expected,
                "{later} {waited}"
            );
            assert!(!work.skips_to(Some(boundary), now), "it is told of once");
        }
    }

    #[test]
    fn a_boundary_goes_before_an_adoption_and_before_a_retry() {
        for (state, expected) in [
            (WorkState::Idle, true),
            (WorkState::Queued(Lane::Adoption), true),
            (WorkState::Queued(Lane::Transition), false),
            (WorkState::InFlight, false),
            (WorkState::BackingOff, true),
            (WorkState::WaitingForPermission, false),
        ] {
            let mut work = Work {
                state,
                ..Work::default()
            };
            let queued = work.falls_due(DateTime::UNIX_EPOCH, Instant::now());
            assert_eq!(queued, expected, "{state:?}");
        }
    }

    #[test]
    fn a_boundary_backs_off_by_itself() {
        let mut work = Work::default();
        for failures in 1..=4 {
            assert_eq!(work.fails(), failures);
        }
        work.back_off();
        assert!(work.falls_due(DateTime::UNIX_EPOCH, Instant::now()));
        assert_eq!(work.fails(), 1);
    }
}
