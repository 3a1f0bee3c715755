//! Every object that concerns the controller: what is known of it and what is being done about it.

mod entries;
pub(crate) mod entry;
pub(super) mod history;
pub(super) mod index;
#[cfg(test)]
mod index_tests;
mod names;
mod namespace_events;
pub(super) mod namespaces;
pub(super) mod needed;
pub(super) mod parse_cache;
mod publish;
mod services;
pub(super) mod shown_by;
mod time_changes;
pub(super) mod unscheduled_objects;
