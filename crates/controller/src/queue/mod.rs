//! Work that waits to be sent: for its boundary, for a place, or for the end of a hold.

pub(super) mod fair_queue;
pub(super) mod lanes;
pub(super) mod work;
pub(super) mod work_queue;
