//! The watches, and how far each has come.

pub(super) mod states;
pub(super) mod streams;
