//! What is being done about one object.

use chrono::{DateTime, Utc};
use tokio::time::{Duration, Instant};

use super::{in_flight::Sent, queue::Lane};

/// Where the work on one object stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum WorkState {
    /// There is nothing to do, as far as is known.
    #[default]
    Idle,
    /// It waits to be sent.
    Queued(Lane),
    /// A request about it is under way.
    InFlight,
    /// Nothing is tried until its retry is due: the last try ended then.
    BackingOff(Instant),
    /// Another object asks for the permission that is missing in its namespace.
    WaitingForPermission,
}

/// What is being done about one object, and how that has gone so far.
#[derive(Default)]
pub(super) struct Work {
    pub(super) state: WorkState,
    /// Conflicts in a row.
    pub(super) conflicts: u32,
    /// Refusals and failures in a row.
    pub(super) failures: u32,
    /// What the user was told of them last.
    pub(super) reported: Option<Trouble>,
    /// Whether its last request took so long that the next one goes to the slow lane.
    pub(super) is_slow: bool,
    /// A patch that was not answered: it may have taken effect all the same.
    pub(super) unconfirmed: Option<Box<Sent>>,
    /// The first boundary that has fallen due since something was sent, and when it did.
    first_due: Option<(DateTime<Utc>, Instant)>,
    /// Whether the user was told that boundaries are skipped.
    pub(super) skips_reported: bool,
}

/// What keeps an object from being written to: the user is told once of each in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The API server refuses the patch.
    Refused,
    /// The API server fails to make it, or does not answer.
    Failed,
}

/// A new boundary of an object that backs off is not tried sooner after the last try.
const RETRY_AT_BOUNDARY: Duration = Duration::from_secs(30);

impl Work {
    /// A boundary has fallen due: whether it is to be queued as a transition for that.
    pub(super) fn falls_due(&mut self, at: DateTime<Utc>, now: Instant) -> bool {
        self.first_due.get_or_insert((at, now));
        match self.state {
            WorkState::Idle | WorkState::Queued(Lane::Adoption | Lane::Event) => true,
            WorkState::BackingOff(last) => now >= last + RETRY_AT_BOUNDARY,
            WorkState::Queued(Lane::Transition | Lane::Slow)
            | WorkState::InFlight
            | WorkState::WaitingForPermission => false,
        }
    }

    /// The boundary is carried out now: whether others before it were skipped because it takes
    /// longer to carry one out than until the next. A machine that was asleep has not waited.
    pub(super) fn skips_to(&mut self, boundary: Option<DateTime<Utc>>, now: Instant) -> bool {
        let (Some(boundary), Some((first, since))) = (boundary, self.first_due.take()) else {
            return false;
        };
        let later = (boundary - first).to_std().unwrap_or_default();
        !later.is_zero() && now.saturating_duration_since(since) >= later
    }

    /// The user has written something else on the object: what was in its way may be gone.
    pub(super) fn inputs_changed(&mut self) {
        self.first_due = None;
        self.skips_reported = false;
        if let WorkState::BackingOff(_) = self.state {
            self.state = WorkState::Idle;
        }
    }

    /// A write has succeeded.
    pub(super) fn succeeded(&mut self) {
        self.conflicts = 0;
        self.failures = 0;
        self.reported = None;
        self.is_slow = false;
        self.unconfirmed = None;
    }

    /// Notes one more failure; whether the user is to be told.
    pub(super) fn fails(&mut self, trouble: Trouble) -> bool {
        self.failures = self.failures.saturating_add(1);
        self.reported.replace(trouble) != Some(trouble)
    }
}

#[cfg(test)]
mod tests {
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
    fn a_boundary_goes_before_an_adoption_and_no_sooner_than_a_backoff_allows() {
        let now = Instant::now();
        let soon = now + Duration::from_secs(29);
        let later = now + Duration::from_secs(30);
        for (state, at, expected) in [
            (WorkState::Idle, now, true),
            (WorkState::Queued(Lane::Adoption), now, true),
            (WorkState::Queued(Lane::Transition), now, false),
            (WorkState::InFlight, later, false),
            (WorkState::BackingOff(now), soon, false),
            (WorkState::BackingOff(now), later, true),
            (WorkState::WaitingForPermission, later, false),
        ] {
            let mut work = Work {
                state,
                ..Work::default()
            };
            let queued = work.falls_due(DateTime::UNIX_EPOCH, at);
            assert_eq!(queued, expected, "{state:?}");
        }
    }
}
