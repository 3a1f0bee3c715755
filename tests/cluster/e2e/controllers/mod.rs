//! Several controllers on one cluster: in parallel, and killed in the middle of their work.

pub(super) mod split;
pub(super) mod starting;
pub(super) mod together;
