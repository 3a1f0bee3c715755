//! What an object's next stop takes away.
//!
//! What the next stops take away in each namespace, and what stands in the way.

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

use crate::plan::workload_plan::WorkloadPlan;

/// How many boundaries are looked at: a schedule by the second has half a million in a week.
const MAX_LOOKED_AT: usize = 500;

/// The next boundary that leaves fewer than run before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextStop {
    /// When, on the clocks of the object's zone.
    pub at: DateTime<Zone>,
    /// How many run before it.
    pub from: Replicas,
    /// How many run after it.
    pub to: Replicas,
}

impl WorkloadPlan {
    /// The first boundary in the period that lowers the count of an object that runs with `count`
    /// when the period begins, if it is among the first 500. A start may come before it, as for
    /// one that is stopped now.
    pub fn next_stop(&self, count: Replicas) -> Option<NextStop> {
        let sets = self.spec().and_then(|spec| spec.replicas);
        let mut from = count;
        let applied = self
            .boundaries()
            .take(MAX_LOOKED_AT)
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
}

/// Who else has to do with a workload, as far as that is known.
#[derive(Clone, Debug, Default)]
pub struct OtherManagers {
    /// Who else sets its count.
    pub owners: BTreeSet<OtherController>,
    /// The kind of the resource whose operator sets its count.
    pub operated_by: Option<Kind>,
}

/// The workloads of one namespace, or of all. In JSON `camelCase`.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NamespaceSummary {
    /// All of them.
    pub workloads: usize,
    /// Those with a schedule.
    pub scheduled: usize,
    /// The earliest stop, in the zone of the schedule; in JSON as RFC 3339.
    #[serde(serialize_with = "rfc_3339")]
    pub next_stop: Option<DateTime<Zone>>,
    /// Those that their next stop lowers.
    pub stops: usize,
    /// How many replicas these stops take away.
    pub replicas: u64,
    /// Those with an HPA or a `ScaledObject`.
    pub autoscaled: usize,
    /// Those whose count another program sets.
    pub set_by_others: usize,
    /// Those that belong to an operator's resource.
    pub operated: usize,
    /// Those whose volumes a stop would delete.
    pub lose_volumes: usize,
    /// Those whose schedule is refused.
    pub refused: usize,
}

impl StopSummary {
    /// Adds a workload; `plan` is `None` where it has no schedule.
    pub fn add(
        &mut self,
        observed: &Observed,
        plan: Option<&WorkloadPlan>,
        managers: OtherManagers,
    ) {
        let object = &observed.object;
        let row = self.namespaces.entry(Arc::clone(&object.namespace));
        let row = row.or_default();
        row.workloads += 1;
        let Some(plan) = plan else { return };
        row.scheduled += 1;
        row.refused += usize::from(!plan.problems().is_empty());
        if let Some(NextStop { at, from, to }) = plan.next_stop(observed.replicas) {
            row.stops += 1;
            row.next_stop = row.next_stop.into_iter().chain([at]).min();
            let down = Replicas::new(from.get().saturating_sub(to.get()));
            row.replicas += StoppedCapacity::new(down, observed.footprint).replicas;
        }
        let mut owners = managers.owners.iter();
        row.autoscaled += usize::from(owners.clone().any(|owner| owner.scales_by_load()));
        row.set_by_others += usize::from(owners.any(|owner| !owner.scales_by_load()));
        row.operated += usize::from(managers.operated_by.is_some());
        let loses = observed.inputs.volumes() == VolumeRetention::Delete;
        row.lose_volumes += usize::from(loses);
        for owner in managers.owners {
            let (count, kinds) = self.owned.entry(owner).or_default();
            *count += 1;
            kinds.insert(object.kind);
        }
        self.operating.extend(managers.operated_by);
    }

    /// The namespaces with a schedule, by name.
    pub fn namespaces(&self) -> impl Iterator<Item = (&str, &NamespaceSummary)> {
        let all = self.namespaces.iter();
        all.filter(|(_, row)| row.scheduled > 0)
            .map(|(name, row)| (&**name, row))
    }

    /// The workloads of a namespace, where any has a schedule.
    pub fn namespace(&self, name: &str) -> Option<&NamespaceSummary> {
        self.namespaces.get(name).filter(|row| row.scheduled > 0)
    }

    /// The sum of these.
    pub fn all(&self) -> NamespaceSummary {
        self.namespaces().map(|(_, row)| *row).sum()
    }

    /// How many workloads are in how many namespaces without a schedule.
    pub fn without_schedule(&self) -> (usize, usize) {
        let without = self.namespaces.values().filter(|row| row.scheduled == 0);
        without.fold((0, 0), |(workloads, namespaces), row| {
            (workloads + row.workloads, namespaces + 1)
        })
    }

    /// Who else sets counts: of how many workloads, and of which kinds.
    pub fn owned(&self) -> impl Iterator<Item = (OtherController, usize, Vec<Kind>)> {
        let owned = self.owned.iter();
        owned.map(|(owner, (count, kinds))| (*owner, *count, kinds.iter().copied().collect()))
    }

    /// The kinds of resources that can be scheduled in place of what they own.
    pub fn operating(&self) -> impl Iterator<Item = Kind> {
        self.operating.iter().copied()
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
