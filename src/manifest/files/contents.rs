//! What a file holds.

use crate::manifest::error::SyntaxError;
use crate::manifest::objects::loose::LooseAnnotations;
use crate::manifest::objects::namespace::Namespace;
use crate::manifest::objects::other::Other;
use crate::manifest::objects::unrendered::Unrendered;
use crate::manifest::objects::workload::Workload;

/// What of a file schedules have to do with; each in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// Its objects of a kind that dayshift scales.
    pub workloads: Vec<Workload>,
    /// Its Namespaces.
    pub namespaces: Vec<Namespace>,
    /// Other objects with names like ours on them, and those that scale workloads too.
    pub others: Vec<Other>,
    /// Annotations of objects that come to be of what the file holds.
    pub loose: Vec<LooseAnnotations>,
    /// What makes other objects of those in the files.
    pub unrendered: Vec<Unrendered>,
    /// What could not be read.
    pub errors: Vec<SyntaxError>,
}
