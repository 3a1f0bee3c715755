//! The served kinds: defaults, decoding and validation of their objects.

mod autoscaler;
mod cron_job;
mod deployment;
mod event;
mod fields;
mod job;
mod kinds;
pub(crate) mod metadata;
pub(crate) mod names;
mod pod_template;
mod resource;
mod stateful_set;

pub(crate) use kinds::{DEPLOYMENTS, NAMESPACES, RESOURCES, Schema, custom};
pub(crate) use metadata::IMMORTAL;
pub(crate) use resource::Resource;
