//! The kinds that are served: what the server fills in, keeps and refuses in their objects.

mod autoscaler;
mod cron_job;
mod cron_schedule;
mod custom;
mod deployment;
mod event;
mod fields;
mod job;
pub(crate) mod metadata;
pub(crate) mod names;
mod namespace;
mod pod_template;
mod resource;
mod resources;
mod stateful_set;

pub(crate) use custom::{Schema, custom};
pub(crate) use namespace::IMMORTAL;
pub(crate) use resource::Resource;
pub(crate) use resources::{DEPLOYMENTS, NAMESPACES, RESOURCES};
