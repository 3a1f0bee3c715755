//! Counts that somebody else has reverted: who it was, and what users hear of it.

pub(super) mod lookups;
mod notes;
mod results;
