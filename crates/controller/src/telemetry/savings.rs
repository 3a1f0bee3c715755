//! The resource time that schedules have saved, of all workloads together: until now, and since past days.

use std::collections::VecDeque;

use chrono::{DateTime, DurationRound, TimeDelta, Utc};
use dayshift_workload::savings::{Saved, SavedSoFar};
use tokio::time::Instant;

use crate::telemetry::account::{Account, Amounts, NOTHING};

/// Midnight in every time zone is at a multiple of this in UTC.
const QUARTER: TimeDelta = TimeDelta::minutes(15);

/// The maximum number of marks: one for each quarter of an hour in 32 days.
const MAX_MARKS: usize = 32 * 96;

/// The savings of all workloads. Resource time is measured by a monotonic clock, so steps of the wall
/// clock do not change it.
///
/// Each change is counted when the controller publishes the object, so the result does not depend on
/// the times of scrapes.
#[derive(Debug, Default)]
pub(super) struct Savings {
    all: Account,
    /// When the first controller started.
    since: Option<DateTime<Utc>>,
    /// When `all` was last changed, by the controller's wall clock.
    changed: Option<DateTime<Utc>>,
    /// `all` at past quarters of an hour: for each change, at the first quarter after it.
    marks: VecDeque<(DateTime<Utc>, Account)>,
}

impl Savings {
    /// Registers a controller that starts at `now`, when its clock shows `wall`, without objects.
    pub(super) fn begin(&mut self, wall: DateTime<Utc>, now: Instant) {
        self.since.get_or_insert(wall);
        self.change(self.all.now, NOTHING, (wall, now));
    }

    /// Counts that the resources saved by one object have changed.
    pub(super) fn change(
        &mut self,
        before: Amounts,
        after: Amounts,
        (wall, now): (DateTime<Utc>, Instant),
    ) {
        self.mark(wall);
        self.all.replace(before, after, now);
    }

    /// Stores a mark before `all` changes: its value at the first quarter of an hour after the last
    /// change, if that has passed. So there is at most one mark for each quarter.
    fn mark(&mut self, wall: DateTime<Utc>) {
        let Some(changed) = self.changed.replace(wall) else {
            return;
        };
        if let Ok(quarter) = changed.duration_round_up(QUARTER)
            && quarter < wall
        {
            let account = self.all.advanced_by(quarter - changed);
            self.marks.push_back((quarter, account));
            if self.marks.len() > MAX_MARKS {
                self.marks.pop_front();
            }
        }
    }

    /// The savings until `at`, the beginning of a day in some time zone. Zero before the first mark.
    fn saved_until(&self, at: DateTime<Utc>) -> Saved {
        let last = self.changed.map(|changed| (changed, self.all));
        let mut known = self.marks.iter().chain(last.as_ref()).rev();
        let before = known.find(|(known, _)| *known <= at);
        before.map_or_else(Saved::default, |(known, account)| {
            account.advanced_by(at - *known).saved()
        })
    }

    /// The savings until now, and since each of these times; `None` before the first controller has
    /// started.
    pub(super) fn so_far(&self, since_each: &[DateTime<Utc>]) -> Option<SavedSoFar> {
        let all = self.all.advanced_to(Instant::now()).saved();
        let since = |at: &DateTime<Utc>| all - self.saved_until(*at);
        Some(SavedSoFar {
            all,
            since: self.since?,
            since_each: since_each.iter().map(since).collect(),
        })
    }
}
