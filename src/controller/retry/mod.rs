//! Whether and when a failed request is tried again, and what users hear of it.

pub(super) mod backoff;
#[cfg(test)]
mod backoff_tests;
pub(super) mod notifier;
pub(super) mod room;
pub(super) mod server_health;
