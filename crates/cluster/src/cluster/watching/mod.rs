//! Watches of the API server, which go on for ever.

pub(super) mod answer;
mod built_in;
pub(super) mod error;
pub(super) mod event;
pub(super) mod live_watch;
mod open;
mod page;
mod pauses;
pub(super) mod reflector;
mod request;
pub(super) mod slices;
