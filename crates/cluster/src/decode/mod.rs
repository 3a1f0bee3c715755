//! Workloads as the API server sends them, in JSON or protobuf, reduced to the fields that dayshift
//! reads.

pub(crate) mod kind_api;
pub(crate) mod metadata;
mod pod_template;
pub(crate) mod protobuf;
pub(crate) mod status;
pub(crate) mod views;
pub(crate) mod workload;

pub use metadata::Part;
pub use views::{Decode, StartFailure, WithManagers, WithPodLabels, WorkloadView};
pub use workload::{FullWorkload, Trim, Version, Workload};
