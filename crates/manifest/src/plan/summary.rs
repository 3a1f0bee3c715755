//! What the next stops take away in each namespace, and what stands in the way.

use std::{
    collections::{BTreeMap, BTreeSet},
    iter::Sum,
    sync::Arc,
};

use chrono::{DateTime, SecondsFormat};
use dayshift_schedule::Zone;
use dayshift_workload::{
    Kind, Observed, Replicas, VolumeRetention, other_controllers::OtherController,
    savings::StoppedCapacity,
};
use serde::{Serialize, Serializer};

use super::{next_stop::NextStop, workload_plan::WorkloadPlan};

/// Live workloads by namespace.
#[derive(Debug, Default)]
pub struct Summary {
    namespaces: BTreeMap<Arc<str>, NamespaceSummary>,
    owned: BTreeMap<OtherController, (usize, BTreeSet<Kind>)>,
    operating: BTreeSet<Kind>,
}

/// Who else has to do with a workload, as far as that is known.
#[derive(Clone, Debug, Default)]
pub struct Neighbours {
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

impl Summary {
    /// Adds a workload; `plan` is `None` where it has no schedule.
    pub fn add(
        &mut self,
        observed: &Observed,
        plan: Option<&WorkloadPlan>,
        neighbours: Neighbours,
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
        let mut owners = neighbours.owners.iter();
        row.autoscaled += usize::from(owners.clone().any(|it| it.scales_by_load()));
        row.set_by_others += usize::from(owners.any(|it| !it.scales_by_load()));
        row.operated += usize::from(neighbours.operated_by.is_some());
        let loses = observed.inputs.volumes() == VolumeRetention::Delete;
        row.lose_volumes += usize::from(loses);
        for owner in neighbours.owners {
            let (count, kinds) = self.owned.entry(owner).or_default();
            *count += 1;
            kinds.insert(object.kind);
        }
        self.operating.extend(neighbours.operated_by);
    }

    /// The namespaces with a schedule, by name.
    pub fn namespaces(&self) -> impl Iterator<Item = (&str, &NamespaceSummary)> {
        let all = self.namespaces.iter();
        all.filter(|(_, it)| it.scheduled > 0)
            .map(|(name, it)| (&**name, it))
    }

    /// The workloads of a namespace, where any has a schedule.
    pub fn namespace(&self, name: &str) -> Option<&NamespaceSummary> {
        self.namespaces.get(name).filter(|it| it.scheduled > 0)
    }

    /// The sum of these.
    pub fn all(&self) -> NamespaceSummary {
        self.namespaces().map(|(_, it)| *it).sum()
    }

    /// How many workloads are in how many namespaces without a schedule.
    pub fn without_schedule(&self) -> (usize, usize) {
        let without = self.namespaces.values().filter(|it| it.scheduled == 0);
        without.fold((0, 0), |(workloads, namespaces), it| {
            (workloads + it.workloads, namespaces + 1)
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
