//! Counts that somebody else has set back: who it was, and what is told of it.

pub(super) mod lookups;
mod notes;
