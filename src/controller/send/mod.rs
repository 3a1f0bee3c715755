//! What waits to be sent, in lanes, and what is under way.

pub(super) mod events;
pub(super) mod in_flight;
pub(super) mod outbox;
pub(super) mod queue;
pub(super) mod revert_notes;
pub(super) mod sender;
