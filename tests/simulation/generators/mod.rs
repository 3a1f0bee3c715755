//! Makes a story from a seed.

pub mod edges;
pub mod fleets;
pub mod schedules;
pub mod steps;
