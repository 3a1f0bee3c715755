//! Zones, local times, and what a clock change does to them.

pub(super) mod clock_change;
pub(super) mod local;
pub(super) mod names;
pub(super) mod rules;
pub(super) mod time_zone;
pub(super) mod tzdata;
pub(super) mod windows;
