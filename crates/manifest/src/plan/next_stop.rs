//! What an object's next stop takes away.

use chrono::DateTime;
use dayshift_schedule::{Action, Zone};
use dayshift_workload::{Replicas, count_after_start, count_after_stop};

use super::workload_plan::WorkloadPlan;

/// How many boundaries are looked at: a schedule by the second has half a million in a week.
const MAX_LOOKED_AT: usize = 500;

/// The next boundary that leaves fewer than run before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextStop {
    /// When, on the clocks of the object's zone.
    pub at: DateTime<Zone>,
    /// How many run before it.
    pub from: Replicas,
    /// How many run after it.
    pub to: Replicas,
}

impl WorkloadPlan {
    /// The first boundary in the period that lowers the count of an object that runs with `count`
    /// when the period begins, if it is among the first 500. A start may come before it, as for
    /// one that is stopped now.
    pub fn next_stop(&self, count: Replicas) -> Option<NextStop> {
        let sets = self.spec().and_then(|spec| spec.replicas);
        let mut from = count;
        let applied = self
            .boundaries()
            .take(MAX_LOOKED_AT)
            .filter(|it| it.applied);
        applied.into_iter().find_map(|boundary| {
            let to = match (boundary.action, boundary.replicas) {
                (_, None) => from,
                (Action::Start, Some(count)) => count_after_start(from, Some(count), sets),
                (Action::Stop, Some(count)) => count_after_stop(from, None, count).0,
                (Action::Scale(_), Some(count)) => count,
            };
            let is_lower = to < from && boundary.action != Action::Start;
            let stop = is_lower.then_some(NextStop {
                at: boundary.at,
                from,
                to,
            });
            from = to;
            stop
        })
    }
}
