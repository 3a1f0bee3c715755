//! The clock, held against that of the API server, and what is due when.

pub(super) mod guarded_clock;
pub(super) mod scheduler;
pub(super) mod skew;
