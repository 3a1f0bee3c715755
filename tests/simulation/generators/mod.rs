//! From a seed to a story.

pub mod edges;
pub mod fleets;
pub mod schedules;
pub mod steps;
