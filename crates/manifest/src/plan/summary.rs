//! The next stop of each workload, summarized by namespace together with the other controllers that
//! prevent stops from taking effect.

use std::{
    collections::{BTreeMap, BTreeSet},
    iter::Sum,
    sync::Arc,
};

use chrono::{DateTime, SecondsFormat};
use dayshift_schedule::{Action, Zone};
use dayshift_workload::{
    Kind, Observed, Replicas, VolumeRetention, count_after_start, count_after_stop,
    other_controllers::OtherController, savings::StoppedCapacity,
};
use serde::{Serialize, Serializer};

use crate::plan::workload_plan::{CountedWith, WorkloadPlan};

/// The maximum number of boundaries to check. A schedule by the second has half a million in a
/// week.
const MAX_BOUNDARIES: usize = 500;

/// The next boundary that lowers the count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextStop {
    /// The time in the object's zone.
    pub at: DateTime<Zone>,
    /// The count before it.
    pub from: Replicas,
    /// The count after it.
    pub to: Replicas,
}

/// The next stop of a workload that has a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedStop {
    /// Whether the schedule is rejected.
    pub is_rejected: bool,
    /// The next boundary that lowers the count.
    pub next: Option<NextStop>,
}

impl WorkloadPlan {
    /// The next stop of an object that has `count` replicas at the start of the period.
    pub fn planned_stop(&self, count: Replicas) -> PlannedStop {
        PlannedStop {
            is_rejected: !self.problems().is_empty(),
            next: self.next_stop(count),
        }
    }

    /// The first boundary that lowers the count. Only the first 500 boundaries are checked. A start
    /// can come first, for example if the object is stopped now.
    fn next_stop(&self, count: Replicas) -> Option<NextStop> {
        let sets = self.spec().and_then(|spec| spec.replicas);
        let mut from = count;
        let applied = self
            .boundaries()
            .take(MAX_BOUNDARIES)
            .filter(|boundary| boundary.applied);
        applied.into_iter().find_map(|boundary| {
            let to = match (boundary.action, boundary.replicas) {
                (_, None) => from,
                (Action::Start, Some(count)) => count_after_start(from, Some(count), sets),
                (Action::Stop, Some(count)) => count_after_stop(from, None, count).0,
                (Action::Scale(_), Some(count)) => count,
            };
            let is_lower = to < from && boundary.action != Action::Start;
            let stop = is_lower.then_some(NextStop {
                at: boundary.at,
                from,
                to,
            });
            from = to;
            stop
        })
    }
}

/// Live workloads by namespace.
#[derive(Debug, Default)]
pub struct StopSummary {
    namespaces: BTreeMap<Arc<str>, NamespaceSummary>,
    owned: BTreeMap<OtherController, (usize, BTreeSet<Kind>)>,
    operating: BTreeSet<Kind>,
    with_scheduled_owner: usize,
}

/// Other controllers of a workload, as far as they are known.
#[derive(Clone, Debug, Default)]
pub struct OtherManagers {
    /// The controllers that set its count.
    pub owners: BTreeSet<OtherController>,
    /// The resource whose operator sets its count.
    pub operator: Option<OperatorResource>,
}

/// A custom resource whose operator sets the counts of the workloads that it makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperatorResource {
    /// A resource of this kind, which can be scheduled instead of the workload.
    Unscheduled(Kind),
    /// The resource has a schedule itself, which its operator might have copied to the workload.
    Scheduled(CountedWith),
}

/// The totals of one namespace, or of all. In JSON `camelCase`.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NamespaceSummary {
    /// All workloads.
    pub workloads: usize,
    /// Workloads with a schedule.
    pub scheduled: usize,
    /// The earliest stop in the zone of its schedule. In JSON it is RFC 3339.
    #[serde(serialize_with = "rfc_3339")]
    pub next_stop: Option<DateTime<Zone>>,
    /// Workloads whose next stop lowers the count.
    pub stops: usize,
    /// The number of replicas that these stops remove.
    pub replicas: u64,
    /// Workloads with an HPA or a `ScaledObject`.
    pub autoscaled: usize,
    /// Workloads whose count another controller sets.
    pub set_by_others: usize,
    /// Workloads of an operator's resource.
    pub operated: usize,
    /// Workloads whose volumes a stop would delete.
    pub lose_volumes: usize,
    /// Workloads whose schedule is rejected.
    pub refused: usize,
}

impl StopSummary {
    /// Adds a workload. `plan` is `None` if it has no schedule.
    pub fn add(
        &mut self,
        observed: &Observed,
        plan: Option<&WorkloadPlan>,
        managers: OtherManagers,
    ) {
        let stop = plan.map(|plan| plan.planned_stop(observed.replicas));
        self.add_stop(observed, stop, managers);
    }

    /// As [`Self::add`], with the next stop of its plan.
    pub fn add_stop(
        &mut self,
        observed: &Observed,
        stop: Option<PlannedStop>,
        managers: OtherManagers,
    ) {
        let object = &observed.object;
        let row = self.namespaces.entry(Arc::clone(&object.namespace));
        let row = row.or_default();
        row.workloads += 1;
        let Some(stop) = stop else { return };
        row.scheduled += 1;
        row.refused += usize::from(stop.is_rejected);
        if let Some(NextStop { at, from, to }) = stop.next {
            row.stops += 1;
            row.next_stop = row.next_stop.into_iter().chain([at]).min();
            let down = Replicas::new(from.get().saturating_sub(to.get()));
            if managers.operator != Some(OperatorResource::Scheduled(CountedWith::Owner)) {
                row.replicas += StoppedCapacity::new(down, observed.footprint).replicas;
            }
        }
        let mut owners = managers.owners.iter();
        row.autoscaled += usize::from(owners.clone().any(|owner| owner.scales_by_load()));
        row.set_by_others += usize::from(owners.any(|owner| !owner.scales_by_load()));
        row.operated += usize::from(managers.operator.is_some());
        let loses = observed.inputs.volumes() == VolumeRetention::Delete;
        row.lose_volumes += usize::from(loses);
        for owner in managers.owners {
            let (count, kinds) = self.owned.entry(owner).or_default();
            *count += 1;
            kinds.insert(object.kind.clone());
        }
        match managers.operator {
            Some(OperatorResource::Unscheduled(kind)) => {
                self.operating.insert(kind);
            }
            Some(OperatorResource::Scheduled(_)) => self.with_scheduled_owner += 1,
            None => {}
        }
    }

    /// The namespaces with a schedule, by name.
    pub fn namespaces(&self) -> impl Iterator<Item = (&str, &NamespaceSummary)> {
        let all = self.namespaces.iter();
        all.filter(|(_, row)| row.scheduled > 0)
            .map(|(name, row)| (&**name, row))
    }

    /// The totals of a namespace, if it has a schedule.
    pub fn namespace(&self, name: &str) -> Option<&NamespaceSummary> {
        self.namespaces.get(name).filter(|row| row.scheduled > 0)
    }

    /// The totals of all namespaces with a schedule.
    pub fn all(&self) -> NamespaceSummary {
        self.namespaces().map(|(_, row)| *row).sum()
    }

    /// The number of workloads in namespaces without a schedule, and of these namespaces.
    pub fn without_schedule(&self) -> (usize, usize) {
        let without = self.namespaces.values().filter(|row| row.scheduled == 0);
        without.fold((0, 0), |(workloads, namespaces), row| {
            (workloads + row.workloads, namespaces + 1)
        })
    }

    /// Other controllers that set counts, with the number and the kinds of their workloads.
    pub fn owned(&self) -> impl Iterator<Item = (OtherController, usize, Vec<Kind>)> {
        let owned = self.owned.iter();
        owned.map(|(owner, (count, kinds))| (*owner, *count, kinds.iter().cloned().collect()))
    }

    /// The kinds of resources that can be scheduled instead of the workloads that their operators
    /// make.
    pub fn operating(&self) -> impl Iterator<Item = Kind> {
        self.operating.iter().cloned()
    }

    /// The number of workloads that belong to a resource with a schedule of its own.
    pub const fn with_scheduled_owner(&self) -> usize {
        self.with_scheduled_owner
    }
}

impl Sum for NamespaceSummary {
    fn sum<I: Iterator<Item = Self>>(rows: I) -> Self {
        rows.fold(Self::default(), |sum, row| Self {
            workloads: sum.workloads + row.workloads,
            scheduled: sum.scheduled + row.scheduled,
            next_stop: sum.next_stop.into_iter().chain(row.next_stop).min(),
            stops: sum.stops + row.stops,
            replicas: sum.replicas + row.replicas,
            autoscaled: sum.autoscaled + row.autoscaled,
            set_by_others: sum.set_by_others + row.set_by_others,
            operated: sum.operated + row.operated,
            lose_volumes: sum.lose_volumes + row.lose_volumes,
            refused: sum.refused + row.refused,
        })
    }
}

impl NamespaceSummary {
    /// [`Self::next_stop`] as RFC 3339.
    pub fn next_stop_text(&self) -> Option<String> {
        self.next_stop.map(text)
    }
}

fn rfc_3339<S: Serializer>(at: &Option<DateTime<Zone>>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(text).serialize(serializer)
}

fn text(at: DateTime<Zone>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}
