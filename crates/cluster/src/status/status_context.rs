//! What a status is made with.

use chrono::{DateTime, Utc};
use dayshift_workload::{ParseContext, Prefix};

use super::vain_waits::SeenWorkloads;
use crate::cluster::{Autoscalers, NamespaceDefaults, Services, WaitingStarts};

/// What a status is made with, beside the workload.
#[derive(Clone, Copy, Debug)]
pub struct StatusContext<'a> {
    /// What workloads inherit.
    pub defaults: &'a NamespaceDefaults,
    /// Which autoscalers scale them.
    pub autoscalers: &'a Autoscalers,
    /// Which Services select them.
    pub services: &'a Services,
    /// Where starts wait until fewer workloads are starting.
    pub waiting_starts: &'a WaitingStarts,
    /// The workloads that are seen: starts may wait for them.
    pub workloads: &'a SeenWorkloads<'a>,
    /// What stands before the slash of annotations and labels.
    pub prefix: &'a Prefix,
    /// How annotations are read. Local times without a zone of their own are in its zone.
    pub parse_context: &'a ParseContext,
    /// When: by the clock that schedules are followed by.
    pub now: DateTime<Utc>,
}
