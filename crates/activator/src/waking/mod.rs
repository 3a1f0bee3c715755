//! Wakes: which are wanted and due, and what is woken with a workload.

pub(super) mod needs;
#[cfg(test)]
mod needs_tests;
pub(super) mod simulated;
pub(super) mod wakes;
