//! Requests: what is under way, and in which place.

pub(super) mod event_recorder;
pub(super) mod in_flight;
pub(super) mod places;
pub(super) mod sender;
