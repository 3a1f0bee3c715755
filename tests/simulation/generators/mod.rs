//! Generates a scenario from a seed.

pub mod edges;
pub mod faults;
mod fixtures;
pub mod fleets;
pub mod holidays;
mod odd_days;
pub mod schedules;
pub mod steps;
