//! What a controller has saved today, this week and this month.

use std::sync::Arc;

use chrono::{DateTime, Datelike, Days, NaiveTime, Utc};
use dayshift_controller::Telemetry;
use dayshift_schedule::Zone;
use dayshift_workload::savings::{Price, SavedSoFar};

use super::view::View;

/// Who counts what is saved, if anybody does, and what that costs.
#[derive(Default)]
pub(super) struct SavingsSource {
    pub(super) counted_by: Option<Arc<Telemetry>>,
    pub(super) price: Option<Arc<Price>>,
}

/// What a page says of it.
#[derive(Debug)]
pub(super) struct Savings {
    /// Since today, this week and this month began; `None` where nobody counts.
    pub(super) so_far: Option<SavedSoFar>,
    pub(super) price: Option<Arc<Price>>,
}

impl SavingsSource {
    /// What was saved until now, where a controller counts it: nobody else knows what has run. It
    /// counts all workloads together, so who sees a part is told nothing.
    pub(super) fn of(&self, view: &View, zone: Zone) -> Savings {
        let counted_by = self.counted_by.as_ref().filter(|_| !view.is_partial);
        Savings {
            so_far: counted_by.and_then(|it| it.saved(starts(view.now, zone))),
            price: self.price.clone(),
        }
    }
}

/// When today, this week and this month began on the clocks of a zone.
fn starts(now: DateTime<Utc>, zone: Zone) -> [DateTime<Utc>; 3] {
    let today = now.with_timezone(&zone).date_naive();
    let monday = today - Days::new(today.weekday().num_days_from_monday().into());
    let first = today.with_day(1).unwrap_or(today);
    [today, monday, first].map(|date| zone.instant(date.and_time(NaiveTime::MIN)))
}
