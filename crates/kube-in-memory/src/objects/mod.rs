//! The kinds that are served: what the server fills in, keeps and refuses in their objects.

mod deployment;
mod event;
pub(crate) mod metadata;
pub(crate) mod names;
mod namespace;
mod resource;
mod resources;

pub(crate) use resource::Resource;
pub(crate) use resources::{DEPLOYMENTS, NAMESPACES, RESOURCES};
