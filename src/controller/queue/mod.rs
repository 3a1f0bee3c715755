//! What waits to be sent: until its boundary, until there is a place, until what it has met is over.

pub(super) mod fair_queue;
pub(super) mod lanes;
pub(super) mod work;
pub(super) mod work_queue;
