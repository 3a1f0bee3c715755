//! The state of workloads and Services that starts depend on (`after`), with or without a schedule. Also the
//! [`Progress`] of a start, by which the gate assigns start slots.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use dayshift_schedule::{Action, Direction};
use dayshift_workload::{
    Decision, Dependency, DependencyKind, DependencyState, Kind, Phase, Readiness, ReadyForm,
    Replicas, ScheduleSpec, WorkloadRef,
};

use crate::{
    object::Object,
    settings::Watched,
    store::{Store, namespace::NamedObject, watches::Knowledge},
};

/// The progress of a workload's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The count is 0, or the object is being deleted.
    Stopped,
    /// According to its labels, it was started at this time, and it has not been ready since.
    Starting(DateTime<Utc>),
    /// It is not ready, and its labels do not show when it was started, for example because the
    /// schedule was edited since.
    NotReady,
    /// It is ready, or its kind does not report readiness.
    Ready,
}

impl Store {
    /// The state of a dependency in this namespace.
    pub(crate) fn dependency_state(
        &self,
        namespace: &str,
        needed: &Dependency,
        now: DateTime<Utc>,
    ) -> DependencyState {
        let known = self.known_dependency_state(namespace, needed, now);
        known.unwrap_or_else(|| {
            let watched = Watched::from(needed.kind.clone());
            match self.watches.find(&watched, namespace) {
                Some(watch) if watch.knowledge == Knowledge::Complete => DependencyState::Missing,
                Some(watch) if watch.absence.is_none() => DependencyState::NotReady,
                Some(_) | None => DependencyState::Unwatched,
            }
        })
    }

    fn known_dependency_state(
        &self,
        namespace: &str,
        needed: &Dependency,
        now: DateTime<Utc>,
    ) -> Option<DependencyState> {
        let known = self.namespaces.get(namespace)?;
        let kind = match &needed.kind {
            DependencyKind::Workload(kind) => kind,
            DependencyKind::Service => return known.slices.state(&needed.name),
        };
        let id = match known.get(kind, &needed.name)? {
            NamedObject::Scheduled(id) => *id,
            NamedObject::Unscheduled(unscheduled) => {
                let (replicas, readiness) = unscheduled.count()?;
                return Some(match replicas {
                    Replicas::ZERO => DependencyState::Stopped { until: None },
                    replicas => from_readiness((kind, namespace), readiness, replicas),
                });
            }
        };
        let object = self.get(id).filter(|object| !object.observed.deleting)?;
        let observed = &object.observed;
        let decided = self.dependency_decisions.get();
        self.dependency_decisions.set(decided.wrapping_add(1));
        if let Some(Decision::Write(change)) = self.decide(id, now)
            && change.kind.is_transition()
            && change.replicas > observed.replicas
        {
            return Some(DependencyState::NotReady); // Its start is due.
        }
        let spec = object.parsed.spec();
        Some(match observed.replicas {
            Replicas::ZERO => DependencyState::Stopped {
                until: spec.and_then(|spec| next_start(spec, object, now)),
            },
            replicas => from_readiness((kind, namespace), observed.readiness, replicas),
        })
    }

    /// Whether a dependency itself depends on `object`, directly or indirectly. Only the annotations are
    /// checked, not the states, so the result for a cycle does not depend on the order of decisions.
    pub(crate) fn depends_on(&self, needed: &Dependency, object: &WorkloadRef) -> bool {
        needed.leads_back_to(object, |one| {
            let DependencyKind::Workload(ref kind) = one.kind else {
                return Cow::default();
            };
            let id = self.find(kind, &object.namespace, &one.name);
            let known = id.and_then(|id| self.get(id));
            let needs = known.and_then(|known| {
                let after = known.parsed.spec()?.after.as_ref()?;
                Some(after.needed_by(known.name()))
            });
            Cow::from(needs.unwrap_or_default())
        })
    }
}

impl Progress {
    /// Determines the progress of an object.
    pub(crate) fn new(object: &Object) -> Self {
        let observed = &object.observed;
        let (name, replicas) = (&observed.object, observed.replicas);
        if replicas == Replicas::ZERO || observed.deleting {
            return Self::Stopped;
        }
        let kind = (&name.kind, &*name.namespace);
        if from_readiness(kind, observed.readiness, replicas) != DependencyState::NotReady {
            return Self::Ready;
        }
        let state = observed.state();
        let is_started = matches!(state.phase, Some(Phase::Running | Phase::Woken))
            && object.ready_for != state.last;
        let since = state.last.filter(|_| is_started);
        since.map_or(Self::NotReady, Self::Starting)
    }
}

/// Whether the objects of a kind in a namespace have no field that reports readiness. They take no start
/// slot.
pub(crate) fn reports_no_readiness(kind: &Kind, namespace: &str) -> bool {
    match kind.ready_form() {
        ReadyForm::Replicas | ReadyForm::Condition(_) => false,
        ReadyForm::ReplicasIfShown => !kind.shows_ready_replicas(namespace),
        ReadyForm::Nowhere => true,
    }
}

fn from_readiness(
    (kind, namespace): (&Kind, &str),
    readiness: Readiness,
    replicas: Replicas,
) -> DependencyState {
    match readiness.is_ready(replicas) {
        Some(true) => DependencyState::Ready,
        None if reports_no_readiness(kind, namespace) => DependencyState::Unreported,
        // If there is no status yet, its controller has not processed the object.
        Some(false) | None => DependencyState::NotReady,
    }
}

/// The next start of a stopped object for which no boundary is due.
fn next_start(spec: &ScheduleSpec, object: &Object, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let observed = &object.observed;
    let state = object.memory.newest(observed, now);
    let name = &observed.object;
    let next_from = |from| {
        spec.next_boundary(Direction::Up, name, None, from)
            .map(|boundary| boundary.at)
    };
    let Some(active) = observed.overrides(spec, &state, now).at(now) else {
        return next_from(now);
    };
    let end = active.until()?;
    let required = spec.required_action(name, state.started, end);
    if required.is_some_and(Action::is_up) {
        return Some(end);
    }
    next_from(end)
}
