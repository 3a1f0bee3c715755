//! Dependencies that a start ignores, because they do not exist or can never become ready.

use chrono::{DateTime, Utc};
use dayshift_workload::{
    Dependency, DependencyKind, DependencyWorkload, IgnoredDependency, Observed, Override,
    ParseContext, ParsedInputs, Replicas, ScheduleSpec, UnsatisfiableDependency, WorkloadRef,
};

use crate::live_view::LiveView;

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
    let spec = parsed.spec();
    let Some(spec) = spec.filter(|spec| spec.schedule.has_all_calendars()) else {
        return Vec::new();
    };
    let needed = spec.after.as_ref().map(|after| after.needed_by(object));
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
    let needed = needed.unwrap_or_default().iter();
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

impl DependencyLookup {
    /// Looks up a dependency of a workload in this namespace.
    pub(super) fn find(
        live: &LiveView,
        namespace: &str,
        needed: &Dependency,
        context: &ParseContext,
    ) -> Self {
        let DependencyKind::Workload(kind) = &needed.kind else {
            return Self::Unknown;
        };
        match live.find(namespace, kind, &needed.name) {
            Some(managed) => {
                let observed = live.observe_workload(kind, managed);
                let parsed = observed.read(context);
                Self::Exists(Box::new((observed, parsed)))
            }
            None if live.has_all_of(kind, namespace) => Self::Missing,
            None => Self::Unknown,
        }
    }
}
