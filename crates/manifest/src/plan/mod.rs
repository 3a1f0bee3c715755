//! What schedules will do in a span of time, seen from outside: `dayshift plan`.
//!
//! Pure: a [`Period`] and the inputs of an object give a [`WorkloadPlan`]. Its JSON is what other
//! programs rely on, so the order and the types of its fields are kept.

mod boundaries;
mod holiday;
mod live_plan;
mod next_stop;
mod occurrence;
mod override_turns;
mod period;
mod saved;
mod starts_after;
mod summary;
mod timeline;
mod whole_plan;
mod workload_plan;

pub use boundaries::PlannedBoundary;
pub use holiday::{Holiday, TreatedDate};
pub use next_stop::NextStop;
pub use occurrence::{Occurrence, occurrences};
pub use override_turns::next_applied;
pub use period::{Beginning, Period, PeriodError};
pub use starts_after::StartsAfter;
pub use summary::{NamespaceSummary, Neighbours, Summary};
pub use timeline::{PlannedState, PlannedStep, timeline};
pub use whole_plan::Plan;
pub use workload_plan::{PlannedProblem, Planner, WorkloadPlan};
