//! Makes a story from a seed.

pub mod edges;
pub mod faults;
pub mod fleets;
pub mod holidays;
pub mod schedules;
pub mod steps;
