//! Requests in flight, and their places.

pub(super) mod event_recorder;
pub(super) mod in_flight;
pub(super) mod places;
pub(super) mod sender;
