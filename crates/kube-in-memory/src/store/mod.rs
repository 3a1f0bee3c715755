//! What the server keeps: objects, their recent history, and who waits for a change.

mod notifier;
mod object;
mod tables;

pub(crate) use notifier::{Listener, Notifier};
pub(crate) use object::{Change, Object, Objects};
pub(crate) use tables::Store;
