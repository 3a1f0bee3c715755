//! What a file holds.

use std::collections::HashSet;

use dayshift_workload::WorkloadRef;

use crate::manifest::{
    error::SyntaxError,
    objects::{
        loose::LooseAnnotations, namespace::Namespace, other::Other, service::Service,
        unrendered::Unrendered, workload::Workload,
    },
};

/// What of a file schedules have to do with; each in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// Its objects of a kind that dayshift scales.
    pub workloads: Vec<Workload>,
    /// Its Namespaces.
    pub namespaces: Vec<Namespace>,
    /// Its Services.
    pub services: Vec<Service>,
    /// Other objects with names like ours on them, and those that scale workloads too.
    pub others: Vec<Other>,
    /// Annotations of objects that come to be of what the file holds.
    pub loose: Vec<LooseAnnotations>,
    /// What makes other objects of those in the files.
    pub unrendered: Vec<Unrendered>,
    /// What could not be read.
    pub errors: Vec<SyntaxError>,
}

/// Of each object the last, as `kubectl apply` of all of them leaves it, and apart those that are given
/// again later; each in their order.
pub fn last_of_each<T>(given: Vec<T>, object: impl Fn(&T) -> &WorkloadRef) -> (Vec<T>, Vec<T>) {
    let mut later = HashSet::new();
    let (mut last, mut before): (Vec<_>, Vec<_>) = given.into_iter().rev().partition(|it| {
        let WorkloadRef {
            kind,
            namespace,
            name,
            ..
        } = object(it).clone();
        later.insert((kind, namespace, name))
    });
    last.reverse();
    before.reverse();
    (last, before)
}
