//! Whether and when something that has failed is tried again, and what is told of it.

pub(super) mod backoff;
#[cfg(test)]
mod backoff_tests;
pub(super) mod notifier;
pub(super) mod room;
pub(super) mod server_health;
