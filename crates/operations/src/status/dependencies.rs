//! Dependencies that a start ignores, because they do not exist or can never become ready.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use dayshift_cluster::{
    Query,
    decode::WithManagers,
    read::{QueryPart, UnreadablePart},
};
use dayshift_workload::{
    Dependency, DependencyKind, DependencyWorkload, IgnoredDependency, Kind, Observed, Override,
    ParsedInputs, Replicas, ScheduleSpec, UnsatisfiableDependency, WorkloadRef,
};

/// The result of looking up a dependency among the known workloads.
pub enum DependencyLookup {
    /// The object exists, with these inputs.
    Exists(Box<(Observed, ParsedInputs)>),
    /// All objects of the kind are known, and this one is not among them.
    Missing,
    /// The object might exist.
    Unknown,
}

/// The dependencies that the next starts of an object ignore.
pub fn ignored_dependencies(
    object: &WorkloadRef,
    parsed: &ParsedInputs,
    now: DateTime<Utc>,
    seen: impl Fn(&Dependency) -> DependencyLookup,
) -> Vec<IgnoredDependency> {
    let ParsedInputs::Scheduled(spec) = parsed else {
        return Vec::new();
    };
    let is_known = spec.schedule.has_all_calendars();
    let Some(after) = spec.after.as_ref().filter(|_| is_known) else {
        return Vec::new();
    };
    let unsatisfiable = |needed: &Dependency| {
        let why = match seen(needed) {
            DependencyLookup::Unknown => return None,
            DependencyLookup::Missing => None,
            DependencyLookup::Exists(workload) => {
                let (observed, parsed) = *workload;
                Some(ignored_reason(object, spec, &observed, parsed, now)?)
            }
        };
        let needed = needed.clone();
        Some(IgnoredDependency { needed, why })
    };
    let needed = after.needed_by(object).iter();
    needed.filter_map(unsatisfiable).collect()
}

fn ignored_reason(
    object: &WorkloadRef,
    spec: &ScheduleSpec,
    observed: &Observed,
    mut parsed: ParsedInputs,
    now: DateTime<Utc>,
) -> Option<UnsatisfiableDependency> {
    if let ParsedInputs::Scheduled(spec) = &mut parsed {
        if !spec.schedule.has_all_calendars() {
            return None;
        }
        spec.overrides = observed.overrides(spec, &observed.state(), now);
    }
    let needed = DependencyWorkload {
        object: &observed.object,
        parsed: &parsed,
        replicas: Some(observed.replicas),
    };
    let why = spec.unsatisfiable_dependency(object, &needed, now)?;
    // A workload that is paused while it runs keeps running, so it is ready.
    let is_up = observed.replicas > Replicas::ZERO;
    let stays_up = is_up && matches!(why, UnsatisfiableDependency::Overridden(Override::Pause(_)));
    (!stays_up).then_some(why)
}

/// The workloads that a command has read.
#[derive(Debug)]
pub struct KnownWorkloads<'a> {
    query: &'a Query,
    unreadable_parts: &'a [UnreadablePart],
    /// By namespace, kind and name.
    known: HashMap<(&'a str, Kind, &'a str), &'a WithManagers>,
}

impl<'a> KnownWorkloads<'a> {
    /// Takes the result of a query and its unreadable parts.
    pub fn new(
        query: &'a Query,
        unreadable_parts: &'a [UnreadablePart],
        workloads: impl Iterator<Item = (Kind, &'a WithManagers)>,
    ) -> Self {
        let place = |(kind, workload): (Kind, &'a WithManagers)| {
            (
                (
                    workload.workload.namespace(),
                    kind,
                    workload.workload.name(),
                ),
                workload,
            )
        };
        Self {
            query,
            unreadable_parts,
            known: workloads.map(place).collect(),
        }
    }

    /// Looks up a dependency of a workload in this namespace.
    pub(super) fn look_up(
        &self,
        namespace: &str,
        needed: &Dependency,
        read: impl Fn(&Kind, &WithManagers) -> (Observed, ParsedInputs),
    ) -> DependencyLookup {
        let DependencyKind::Workload(kind) = &needed.kind else {
            return DependencyLookup::Unknown;
        };
        match self.known.get(&(namespace, kind.clone(), &*needed.name)) {
            Some(managed) => DependencyLookup::Exists(Box::new(read(kind, managed))),
            None if self.has_all_of(kind, namespace) => DependencyLookup::Missing,
            None => DependencyLookup::Unknown,
        }
    }

    /// A workload, if it was read.
    pub(super) fn find(
        &self,
        namespace: &str,
        kind: &Kind,
        name: &str,
    ) -> Option<&'a WithManagers> {
        let known = self.known.get(&(namespace, kind.clone(), name));
        known.copied()
    }

    /// Whether the query covers all objects of a kind in a namespace.
    fn has_all_of(&self, kind: &Kind, namespace: &str) -> bool {
        let is_of = |part: &QueryPart| {
            let is_in_namespace = part.namespace.as_deref().is_none_or(|own| own == namespace);
            part.kind == *kind && part.name.is_none() && is_in_namespace
        };
        let is_unreadable = self
            .unreadable_parts
            .iter()
            .any(|unreadable| is_of(&unreadable.part));
        let parts = self.query.parts();
        let is_queried = parts.iter().any(|(part, _)| is_of(part));
        is_queried && !is_unreadable && self.query.selector().is_none()
    }
}
