//! What starts wait for in vain, among the workloads that are seen.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use dayshift_schedule::Zone;
use dayshift_workload::{
    Dependency, DependencyKind, DependencyWorkload, Key, Kind, Observed, Override, ParsedInputs,
    Prefix, Replicas, ScheduleSpec, UnsatisfiableDependency, WorkloadRef,
};

use dayshift_cluster::{
    Query,
    decode::WithManagers,
    read::{QueryPart, UnreadablePart},
};

/// Why a start does not wait for something that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredDependency {
    /// What is named.
    pub needed: Dependency,
    /// Why; `None` where no such object is there.
    pub why: Option<UnsatisfiableDependency>,
}

impl IgnoredDependency {
    /// `sts/db, which is paused without an end`
    pub(super) fn words(&self, zone: Zone) -> String {
        let why = self
            .why
            .map_or_else(|| "is not there".to_owned(), |it| it.words(zone));
        format!("{}, which {why}", self.needed)
    }

    /// What helps.
    pub(super) fn help(&self, prefix: &Prefix) -> String {
        let (needed, key) = (&self.needed, prefix.annotation(Key::After));
        match self.why {
            None => format!("correct {key}"),
            Some(why) => format!("{}, or remove it from {key}", why.help(needed)),
        }
    }
}

/// What a start names, as far as it is seen.
pub enum DependencyLookup {
    /// It is there, and asks for this.
    There(Box<(Observed, ParsedInputs)>),
    /// All of its kind are seen, and it is not among them.
    Missing,
    /// It may be there.
    Unknown,
}

/// What the next starts of an object with these inputs name in vain.
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
            DependencyLookup::There(it) => {
                let (observed, parsed) = *it;
                Some(why_in_vain(object, spec, &observed, parsed, now)?)
            }
        };
        let needed = needed.clone();
        Some(IgnoredDependency { needed, why })
    };
    let needed = after.needed_by(object).iter();
    needed.filter_map(unsatisfiable).collect()
}

fn why_in_vain(
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
    // What is paused while it runs goes on to run.
    let is_up = observed.replicas > Replicas::ZERO;
    let goes_on = is_up && matches!(why, UnsatisfiableDependency::Overridden(Override::Pause(_)));
    (!goes_on).then_some(why)
}

/// The workloads that a command sees.
#[derive(Debug)]
pub struct SeenWorkloads<'a> {
    query: &'a Query,
    refused: &'a [UnreadablePart],
    /// By namespace, kind and name.
    known: HashMap<(&'a str, Kind, &'a str), &'a WithManagers>,
}

impl<'a> SeenWorkloads<'a> {
    /// Those that this query has found, and what of it was refused.
    pub fn of(
        query: &'a Query,
        refused: &'a [UnreadablePart],
        workloads: impl Iterator<Item = (Kind, &'a WithManagers)>,
    ) -> Self {
        let place = |(kind, it): (Kind, &'a WithManagers)| {
            ((it.workload.namespace(), kind, it.workload.name()), it)
        };
        Self {
            query,
            refused,
            known: workloads.map(place).collect(),
        }
    }

    /// What somebody names in a namespace, as far as it is seen.
    pub(super) fn seen(
        &self,
        namespace: &str,
        needed: &Dependency,
        read: impl Fn(Kind, &WithManagers) -> (Observed, ParsedInputs),
    ) -> DependencyLookup {
        let DependencyKind::Workload(kind) = needed.kind else {
            return DependencyLookup::Unknown;
        };
        match self.known.get(&(namespace, kind, &*needed.name)) {
            Some(managed) => DependencyLookup::There(Box::new(read(kind, managed))),
            None if self.has_all_of(kind, namespace) => DependencyLookup::Missing,
            None => DependencyLookup::Unknown,
        }
    }

    /// Whether all objects of a kind in a namespace are among these.
    fn has_all_of(&self, kind: Kind, namespace: &str) -> bool {
        let is_of = |part: &QueryPart| {
            let is_here = part.namespace.as_deref().is_none_or(|it| it == namespace);
            part.kind == kind && part.name.is_none() && is_here
        };
        let is_refused = self.refused.iter().any(|it| is_of(&it.part));
        let parts = self.query.parts();
        let is_asked = parts.iter().any(|(part, _)| is_of(part));
        is_asked && !is_refused && self.query.selector().is_none()
    }
}
