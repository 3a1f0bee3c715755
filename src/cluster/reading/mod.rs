//! Finding, listing and watching workloads.

pub(super) mod absence;
pub(super) mod autoscalers;
pub(super) mod defaults;
pub(super) mod discovery;
pub(super) mod events;
pub(super) mod find;
pub(super) mod list_watch;
pub(super) mod live_watch;
pub(super) mod managers;
pub(super) mod namespace;
mod open_api;
pub(super) mod query;
pub(super) mod raw;
pub(super) mod view;
