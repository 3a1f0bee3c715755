//! The stops that people are told of beforehand.

pub(super) mod due;
pub(super) mod metrics;
mod telling;
