//! The boundaries of one schedule for one object, for the days of a scenario.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use chrono::{Days, NaiveDate};
use chrono_tz::Tz;

use crate::checker::objects::object::NEVER;
use crate::scenario::{
    calendar::{BoundaryAction, Plan},
    holidays::{Dates, Holidays},
};

/// The time before a scenario in which every day within the month has occurred, unless all are excluded.
const MONTHS: Days = Days::new(70);

pub struct Timeline {
    boundaries: Vec<(i64, BoundaryAction)>,
    /// The largest exact count of the schedule, if it has any.
    pub largest: Option<u32>,
    /// The state before the first boundary.
    pub before: Option<BoundaryAction>,
    /// The end of the computed days; later boundaries are unknown.
    horizon: i64,
}

impl Timeline {
    /// The timeline without a schedule.
    pub fn empty() -> Self {
        Self {
            boundaries: Vec::new(),
            largest: None,
            before: None,
            horizon: i64::MAX,
        }
    }

    /// The first boundary after a time; [`NEVER`] if there is none.
    pub fn after(&self, at: i64) -> i64 {
        let first = self
            .boundaries
            .partition_point(|(boundary, _)| *boundary <= at);
        self.boundaries.get(first).map_or(NEVER, |(at, _)| *at)
    }

    /// The newest boundary at or before a time.
    pub fn newest(&self, at: i64) -> Option<(i64, BoundaryAction)> {
        let first = self
            .boundaries
            .partition_point(|(boundary, _)| *boundary <= at);
        first.checked_sub(1).map(|newest| self.boundaries[newest])
    }

    /// The action at a time; `None` before the first boundary.
    pub fn action_at(&self, at: i64) -> Option<BoundaryAction> {
        self.newest(at).map(|(_, action)| action).or(self.before)
    }

    /// Whether two times are equal, or both unknown.
    pub fn same(&self, one: Option<i64>, other: Option<i64>) -> bool {
        let told = |at: Option<i64>| at.map(|at| if at < self.horizon { at } else { NEVER });
        told(one) == told(other)
    }
}

/// The timelines of a scenario. Each is computed only once, because that is slow.
pub struct Timelines {
    dates: (NaiveDate, NaiveDate),
    known: Mutex<HashMap<Key, Arc<Timeline>>>,
}

/// A plan, its default zone, the delay of starts, and the dates of its calendars.
type Key = (usize, Tz, i64, Dates);

impl Timelines {
    pub fn new(dates: (NaiveDate, NaiveDate)) -> Self {
        Self {
            dates,
            known: Mutex::default(),
        }
    }

    /// The timeline of a plan with these dates of its calendars.
    pub fn of(
        &self,
        plans: &[Plan],
        plan: usize,
        (zone, delay): (Tz, i64),
        holidays: &Holidays,
    ) -> Arc<Timeline> {
        let dates = holidays.dates(&plans[plan].calendars);
        let paint = || {
            let plan_now = plans[plan].with_dates(&dates);
            let mut shown = self.dates;
            if plan_now.is_monthly() {
                shown.0 = shown.0 - MONTHS;
            }
            let painted = plan_now.boundaries(zone, shown, delay);
            let midnight = self.dates.1.and_hms_opt(0, 0, 0).unwrap().and_utc();
            Arc::new(Timeline {
                largest: plans[plan].largest(),
                before: plan_now.before(zone, shown),
                boundaries: painted,
                horizon: midnight.timestamp() - 2 * 86400,
            })
        };
        let mut known = self.known.lock().unwrap();
        known
            .entry((plan, zone, delay, dates.clone()))
            .or_insert_with(paint)
            .clone()
    }
}
