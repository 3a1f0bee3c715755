//! Workloads as protobuf, in place of JSON.

pub(super) mod compact;
pub(super) mod messages;
mod pod_template;
pub(super) mod protobuf;
