//! Workloads as protobuf, in place of JSON.

pub(super) mod compact;
pub(super) mod messages;
pub(super) mod protobuf;
