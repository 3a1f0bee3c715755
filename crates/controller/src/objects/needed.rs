//! The states of the objects that starts wait for, with or without a schedule of their own.

use chrono::{DateTime, Utc};
use dayshift_schedule::{Action, Direction};
use dayshift_workload::{
    Decision, Dependency, DependencyKind, DependencyState, Kind, Phase, Readiness, ReadyForm,
    Replicas, ScheduleSpec, WorkloadRef,
};

use crate::{
    ids::Id,
    objects::{entry::Entry, index::Index},
    starts::starting::Progress,
};

impl Index {
    /// The state of an object of this namespace; `None` if none of that name is known.
    pub(crate) fn standing(
        &self,
        namespace: &str,
        needed: &Dependency,
        now: DateTime<Utc>,
    ) -> Option<DependencyState> {
        let name = &needed.name;
        let kind = match needed.kind {
            DependencyKind::Workload(kind) => kind,
            DependencyKind::Service => return self.services.standing(namespace, name),
        };
        let Some(id) = self.names.get(kind, namespace, name) else {
            let (replicas, readiness) = self.unscheduled_objects.count(kind, namespace, name)?;
            return Some(match replicas {
                Replicas::ZERO => DependencyState::Stopped { until: None },
                replicas => of_readiness(kind, readiness, replicas),
            });
        };
        let entry = self.entries.get(id).filter(|it| !it.observed.deleting)?;
        let observed = &entry.observed;
        if let Some(Decision::Write(change)) = self.decide(id, now)
            && change.kind.is_transition()
            && change.replicas > observed.replicas
        {
            return Some(DependencyState::NotReady); // Its own start is due.
        }
        Some(match observed.replicas {
            Replicas::ZERO => DependencyState::Stopped {
                until: entry
                    .parsed
                    .spec()
                    .and_then(|spec| next_start(spec, entry, now)),
            },
            replicas => of_readiness(kind, observed.readiness, replicas),
        })
    }

    /// How far an object has come; `None` for one that is not known.
    pub(crate) fn progress(&self, id: Id) -> Option<Progress> {
        let entry = self.entries.get(id)?;
        let observed = &entry.observed;
        let (kind, replicas) = (observed.object.kind, observed.replicas);
        if replicas == Replicas::ZERO || observed.deleting {
            return Some(Progress::Stopped);
        }
        if of_readiness(kind, observed.readiness, replicas) != DependencyState::NotReady {
            return Some(Progress::Ready);
        }
        let state = observed.state();
        let is_started = matches!(state.phase, Some(Phase::Running | Phase::Woken))
            && entry.ready_for != state.last;
        let since = state.last.filter(|_| is_started);
        Some(since.map_or(Progress::NotReady, Progress::Starting))
    }

    /// Whether the needed object waits for this object, directly or through others. It goes by what is
    /// written, whatever runs: the first of a circle is started before the others are looked at.
    pub(crate) fn waits_for(&self, needed: &Dependency, object: &WorkloadRef) -> bool {
        needed.leads_back_to(object, |one| {
            let DependencyKind::Workload(kind) = one.kind else {
                return Vec::new();
            };
            let id = self.names.get(kind, &object.namespace, &one.name);
            let entry = id.and_then(|id| self.entries.get(id));
            let needs = entry.and_then(|entry| {
                let after = entry.parsed.spec()?.after.as_ref()?;
                Some(after.needed_by(entry.object()).to_vec())
            });
            needs.unwrap_or_default()
        })
    }
}

/// Whether objects of a kind do not say whether they are ready.
pub(crate) fn is_silent(kind: Kind) -> bool {
    match kind.ready_form() {
        ReadyForm::Replicas | ReadyForm::Condition(_) => false,
        ReadyForm::ReplicasIfShown => !kind.shows_ready_replicas(),
        ReadyForm::Nowhere => true,
    }
}

fn of_readiness(kind: Kind, readiness: Readiness, replicas: Replicas) -> DependencyState {
    match readiness.is_ready(replicas) {
        Some(true) => DependencyState::Ready,
        None if is_silent(kind) => DependencyState::Unreported,
        // Its controller has not seen it yet.
        Some(false) | None => DependencyState::NotReady,
    }
}

/// When a stopped object of which nothing is due starts again.
fn next_start(spec: &ScheduleSpec, entry: &Entry, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let (observed, state) = (&entry.observed, entry.memory.newest(&entry.observed, now));
    let object = &observed.object;
    match observed.overrides(spec, &state, now).at(now) {
        None => spec
            .next_boundary(Direction::Up, object, now)
            .map(|it| it.at),
        Some(over) => {
            let end = over.until()?;
            let says = spec.says(object, end);
            if says.is_some_and(Action::is_up) {
                return Some(end);
            }
            spec.next_boundary(Direction::Up, object, end)
                .map(|it| it.at)
        }
    }
}
