//! Generates a scenario from a seed.

pub mod edges;
pub mod faults;
pub mod fleets;
pub mod holidays;
mod odd_days;
mod scenes;
pub mod schedules;
pub mod steps;
