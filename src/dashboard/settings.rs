//! What the pages are about.

use crate::{
    cluster::Query,
    workload::{Inheritance, ParseContext, Prefix},
};

/// What is looked at, and how its annotations are read.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which workloads.
    pub query: Query,
    /// What stands before the slash of annotations and labels.
    pub prefix: Prefix,
    /// How annotations are read. Its zone is the one of the timeline.
    pub context: ParseContext,
    /// From what workloads inherit.
    pub inheritance: Inheritance,
    /// What the head of each page says of it, such as the server's address.
    pub title: String,
}
