//! Connections: taken, held, and handed on.

mod backends;
pub(super) mod connection;
#[cfg(test)]
mod connection_tests;
pub(super) mod head;
pub(super) mod listeners;
mod page;
pub(super) mod places;
pub(super) mod pods;
