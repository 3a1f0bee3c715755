//! Connections: taken, held, and handed on.

mod backends;
pub(super) mod connection;
#[cfg(test)]
mod connection_tests;
pub(super) mod head;
#[cfg(test)]
mod leaving_tests;
pub(super) mod listeners;
mod page;
pub(super) mod places;
pub(super) mod pods;
#[cfg(test)]
mod test_scene;
