//! Several scalers on one cluster: side by side, and killed in the middle of their work.

pub(super) mod split;
pub(super) mod starting;
pub(super) mod together;
