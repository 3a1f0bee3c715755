//! Finding and listing workloads.

pub(super) mod access;
pub(super) mod autoscalers;
pub(super) mod defaults;
pub(super) mod discovery;
pub(super) mod events;
pub(super) mod find;
pub(super) mod jobs;
pub(super) mod managers;
pub(super) mod namespace;
mod open_api;
pub(super) mod pod_labels;
pub(super) mod query;
pub(super) mod raw;
pub(super) mod services;
pub(super) mod view;
