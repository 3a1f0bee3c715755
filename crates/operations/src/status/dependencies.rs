//! Dependencies that a start ignores, because they do not exist or can never become ready.

use std::{cell::RefCell, collections::HashMap, sync::Arc};

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

/// The maximum number of dependencies of a namespace that are checked for one page or output. Each check compares two
/// schedules, and a user can give thousands of workloads 16 dependencies with long schedules.
const MAX_CHECKS: usize = 500;

/// The number of checked dependencies of each namespace. Further ones are not reported.
#[derive(Debug, Default)]
pub struct DependencyChecks(RefCell<HashMap<Arc<str>, usize>>);

impl DependencyChecks {
    /// Whether another dependency in a namespace can be checked. If so, counts it.
    fn take(&self, namespace: &Arc<str>) -> bool {
        let mut checked = self.0.borrow_mut();
        let checked = checked.entry(Arc::clone(namespace)).or_default();
        *checked += 1;
        *checked <= MAX_CHECKS
    }
}

/// The dependencies that the next starts of an object ignore.
pub fn ignored_dependencies(
    object: &WorkloadRef,
    parsed: &ParsedInputs,
    now: DateTime<Utc>,
    checks: &DependencyChecks,
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
    let needed = needed.take_while(|_| checks.take(&object.namespace));
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use dayshift_workload::{Inputs, Key, Kind, read};

    use super::*;

    #[test]
    fn dependencies_of_thousands_of_workloads_are_not_all_checked() {
        let needed = (0..16).map(|number| format!("deploy/need-{number}"));
        let inputs = Inputs::default()
            .with(Key::Hours, "09:00-19:00")
            .with(Key::After, &needed.collect::<Vec<_>>().join("; "));
        let parsed = read(&inputs, &ParseContext::default());
        let (checks, looked_up) = (DependencyChecks::default(), Cell::new(0));
        let ignored = |namespace: &Arc<str>| {
            let object = WorkloadRef {
                kind: Kind::DEPLOYMENT,
                namespace: Arc::clone(namespace),
                name: "web".into(),
                uid: "web".into(),
            };
            let look_up = |_: &Dependency| {
                looked_up.set(looked_up.get() + 1);
                DependencyLookup::Missing
            };
            ignored_dependencies(&object, &parsed, DateTime::UNIX_EPOCH, &checks, look_up).len()
        };
        let (evil, dev) = ("evil".into(), "dev".into());
        for _ in 0..2_000 {
            ignored(&evil);
        }
        assert_eq!(looked_up.get(), MAX_CHECKS);
        assert_eq!(ignored(&dev), 16);
    }
}
