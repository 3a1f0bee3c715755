//! What waits to be sent, in lanes, and what is under way.

pub(super) mod events;
pub(super) mod fair_queue;
pub(super) mod in_flight;
mod places;
pub(super) mod queues;
pub(super) mod revert_notes;
pub(super) mod sender;
