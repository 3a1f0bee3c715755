//! Previews schedules over a period: `dayshift plan`.
//!
//! Pure: a [`Period`] and the inputs of an object give a [`WorkloadPlan`]. Other programs depend on
//! its JSON, so the order and the types of its fields should not change.

mod calendar;
mod summary;
mod timeline;
mod workload_plan;

pub use calendar::PlanCalendar;
pub use summary::{
    NamespaceSummary, NextStop, OperatorResource, OtherManagers, PlannedStop, StopSummary,
};
pub use timeline::{
    Occurrence, Period, PeriodError, PlannedState, PlannedStep, next_applied, occurrences, timeline,
};
pub use workload_plan::{
    Beginning, CountedWith, Holiday, Plan, PlannedBoundary, PlannedProblem, Planner, StartsAfter,
    TreatedDate, WorkloadPlan, restored_count,
};
