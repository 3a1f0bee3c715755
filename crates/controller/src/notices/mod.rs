//! The stops that people are told of beforehand.

pub(super) mod due;
mod telling;
