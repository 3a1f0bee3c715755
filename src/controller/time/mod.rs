//! The clock, held against that of the API server.

pub(super) mod guarded_clock;
pub(super) mod skew;
