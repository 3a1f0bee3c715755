//! Whether and when a failed request is tried again.

pub(super) mod backoff;
#[cfg(test)]
mod backoff_tests;
pub(super) mod room;
pub(super) mod server_health;
