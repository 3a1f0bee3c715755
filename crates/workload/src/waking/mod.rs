//! Wake on request: what `dayshift activator` goes by, and what others tell of it.

pub(super) mod service;
pub(super) mod wake_on_request;
