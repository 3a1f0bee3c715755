//! What the next stops take away in each namespace, and what stands in the way.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Write},
    sync::Arc,
};

use chrono::{DateTime, Utc};

use super::{
    style::Style,
    table::{Cell, Table},
};
use crate::{
    neighbours::Owner,
    plan::{NextStop, WorkloadPlan},
    schedule::Zone,
    status::clock,
    text::counted,
    workload::{Key, Kind, Observed, Prefix, VolumeRetention},
};

/// The summary of live workloads by namespace.
#[derive(Default)]
pub(crate) struct PlanSummary {
    namespaces: BTreeMap<Arc<str>, Row>,
    /// The kinds whose counts each of these sets.
    owned: BTreeMap<Owner, (usize, BTreeSet<Kind>)>,
    /// The resources that can be scheduled in place of what they own.
    operating: BTreeSet<Kind>,
}

/// Who else has to do with a workload.
pub(crate) struct Neighbours {
    /// Who else sets its count.
    pub(crate) owners: BTreeSet<Owner>,
    /// The kind of the resource whose operator sets its count.
    pub(crate) operated_by: Option<Kind>,
}

/// One namespace, or all of them.
#[derive(Clone, Copy, Default)]
struct Row {
    found: usize,
    scheduled: usize,
    stops: usize,
    replicas: u64,
    next: Option<DateTime<Zone>>,
    autoscaled: usize,
    set_by_others: usize,
    operated: usize,
    losing_volumes: usize,
    refused: usize,
}

impl PlanSummary {
    /// Adds a workload; `plan` is `None` where it has no schedule.
    pub(crate) fn add(
        &mut self,
        observed: &Observed,
        plan: Option<&WorkloadPlan>,
        neighbours: Neighbours,
    ) {
        let object = &observed.object;
        let row = self.namespaces.entry(Arc::clone(&object.namespace));
        let row = row.or_default();
        row.found += 1;
        let Some(plan) = plan else { return };
        row.scheduled += 1;
        row.refused += usize::from(!plan.problems().is_empty());
        if let Some(NextStop { at, from, to }) = plan.next_stop(observed.replicas) {
            row.stops += 1;
            row.next = row.next.into_iter().chain([at]).min();
            if object.kind.counts().is_replicas() {
                row.replicas += u64::from(from.get().saturating_sub(to.get()));
            }
        }
        let mut owners = neighbours.owners.iter();
        row.autoscaled += usize::from(owners.clone().any(|it| it.scales_by_load()));
        row.set_by_others += usize::from(owners.any(|it| !it.scales_by_load()));
        row.operated += usize::from(neighbours.operated_by.is_some());
        let loses = observed.inputs.volumes() == VolumeRetention::Delete;
        row.losing_volumes += usize::from(loses);
        for owner in neighbours.owners {
            let (count, kinds) = self.owned.entry(owner).or_default();
            *count += 1;
            kinds.insert(object.kind);
        }
        self.operating.extend(neighbours.operated_by);
    }

    /// Writes a row for each namespace with a schedule, their sum, and what to do about what stands
    /// in the way.
    ///
    /// # Errors
    /// What the writer says.
    pub(crate) fn write(
        &self,
        out: &mut impl Write,
        style: Style,
        prefix: &Prefix,
        now: DateTime<Utc>,
    ) -> io::Result<()> {
        let mut table = Table::new([
            "NAMESPACE",
            "SCHEDULED",
            "NEXT STOP",
            "STOPS",
            "REPLICAS",
            "AUTOSCALED",
            "SET BY OTHERS",
            "OPERATED",
            "LOSE VOLUMES",
            "REFUSED",
        ]);
        let is_scheduled = |it: &Row| it.scheduled > 0;
        let shown = self.namespaces.iter().filter(|(_, it)| is_scheduled(it));
        let total: Row = shown.clone().map(|(_, row)| *row).sum();
        for (namespace, row) in shown.clone() {
            table.push(row.cells(namespace, now));
        }
        table.push(total.cells("(all)", now));
        table.write(out, style)?;
        for line in self.lines(&total, prefix) {
            writeln!(out, "\n{line}")?;
        }
        let hidden = self.namespaces.values().filter(|it| !is_scheduled(it));
        let found: usize = hidden.clone().map(|it| it.found).sum();
        if found > 0 {
            let (found, places) = (counted(found, "workload"), hidden.count());
            let places = counted(places, "other namespace");
            writeln!(out, "\nNot shown: {found} in {places}, without a schedule.")?;
        }
        Ok(())
    }

    fn lines(&self, total: &Row, prefix: &Prefix) -> Vec<String> {
        let mut lines = Vec::new();
        for (owner, (count, kinds)) in &self.owned {
            let kinds: Vec<_> = kinds.iter().copied().collect();
            let (name, cure) = (owner.name(), owner.cure(&kinds, prefix));
            let counted = counted(*count, "workload");
            lines.push(format!("{name} sets the count of {counted} too: {cure}."));
        }
        if total.operated > 0 {
            let kinds: Vec<_> = self.operating.iter().map(|it| it.name()).collect();
            lines.push(format!(
                "OPERATED: an operator sets the count again. Schedule what it makes them of: {}.",
                kinds.join(", ")
            ));
        }
        if total.losing_volumes > 0 {
            lines.push(format!(
                "LOSE VOLUMES: a stop would delete their volumes (whenScaled: Delete). dayshift refuses \
                 them, unless {} is \"true\".",
                prefix.annotation(Key::AllowVolumeDeletion)
            ));
        }
        if total.refused > 0 {
            lines.push(
                "REFUSED: nothing is done to them. `dayshift plan -n NAMESPACE` says why."
                    .to_owned(),
            );
        }
        lines
    }
}

impl Row {
    fn cells(&self, name: &str, now: DateTime<Utc>) -> [Cell; 10] {
        let next = self.next.map(|at| clock(at.to_utc(), at.timezone(), now));
        let number = |count: usize| Cell::from(count.to_string());
        [
            name.into(),
            format!("{} of {}", self.scheduled, self.found).into(),
            next.into(),
            number(self.stops),
            self.replicas.to_string().into(),
            number(self.autoscaled),
            number(self.set_by_others),
            number(self.operated),
            number(self.losing_volumes),
            number(self.refused),
        ]
    }
}

impl std::iter::Sum for Row {
    fn sum<I: Iterator<Item = Self>>(rows: I) -> Self {
        rows.fold(Self::default(), |sum, row| Self {
            found: sum.found + row.found,
            scheduled: sum.scheduled + row.scheduled,
            stops: sum.stops + row.stops,
            replicas: sum.replicas + row.replicas,
            next: sum.next.into_iter().chain(row.next).min(),
            autoscaled: sum.autoscaled + row.autoscaled,
            set_by_others: sum.set_by_others + row.set_by_others,
            operated: sum.operated + row.operated,
            losing_volumes: sum.losing_volumes + row.losing_volumes,
            refused: sum.refused + row.refused,
        })
    }
}
