//! What the pages are about.

use dayshift_cluster::Query;
use dayshift_schedule::Zone;
use dayshift_workload::{ParseContext, Prefix};

/// What is looked at, and how its annotations are read.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which workloads.
    pub query: Query,
    /// What stands before the slash of annotations and labels.
    pub prefix: Prefix,
    /// How annotations are read.
    pub context: ParseContext,
    /// The zone of what is shown of several objects, where somebody asked for one.
    pub zone: Option<Zone>,
    /// What the head of each page says of it, such as the server's address.
    pub title: String,
}
