//! What is told of all objects together.

use std::{collections::BTreeMap, sync::Arc};

use chrono::{DateTime, Utc};

use crate::workload::{Origin, ParsedInputs, WorkloadRef};

use crate::controller::ids::Id;
use crate::controller::objects::entry::Entry;
use crate::controller::objects::index::Index;
use crate::controller::objects::totals::Totals;
use crate::controller::telemetry::snapshot::ObjectSnapshot;

impl Index {
    /// What is known of each object in scope at `now`, in no order.
    pub(in crate::controller) fn snapshots(
        &self,
        now: DateTime<Utc>,
    ) -> impl Iterator<Item = ObjectSnapshot> {
        self.in_scope().map(move |(_, entry)| entry.snapshot(now))
    }

    /// What all objects in scope come to at `now`. It costs as much as has changed.
    pub(in crate::controller) fn totals(&mut self, now: DateTime<Utc>) -> &Totals {
        let namespaces = &self.namespaces;
        self.entries.totals(now, |it| namespaces.is_in_scope(it))
    }

    /// Whether there is anything to count again at `now`.
    pub(in crate::controller) fn must_count(&self, now: DateTime<Utc>) -> bool {
        self.entries.are_touched(now)
    }

    /// The objects of which it has changed since this was asked last whether they have a schedule that
    /// keeps them stopped: each with that, or with nothing where it has none or is gone.
    pub(in crate::controller) fn take_stopped(&mut self) -> Vec<(Id, Option<(WorkloadRef, bool)>)> {
        let others = self.entries.take_others_stopped().into_iter();
        let is_stopped = |id| {
            let entry = self.entries.get(id)?;
            Some((entry.object().clone(), entry.share.is_kept_stopped?))
        };
        others.map(|id| (id, is_stopped(id))).collect()
    }

    /// The objects that go by the default schedule of the scaler: how many in which namespace.
    pub(in crate::controller) fn by_default(&self) -> BTreeMap<Arc<str>, usize> {
        let mut found = BTreeMap::new();
        for (_, entry) in self.in_scope() {
            let is_scheduled = matches!(*entry.parsed, ParsedInputs::Scheduled(_));
            if is_scheduled && entry.observed.inputs.schedule_origin() == Some(Origin::Scaler) {
                *found.entry(entry.object().namespace.clone()).or_default() += 1;
            }
        }
        found
    }

    /// One that is overdue at `now`: the one seen first.
    pub(in crate::controller) fn first_overdue(&self, now: DateTime<Utc>) -> Option<&Entry> {
        let overdue = self.in_scope().filter(|(_, it)| it.overdue(now).is_some());
        overdue.min_by_key(|(id, _)| *id).map(|(_, it)| it)
    }

    /// The objects in the Namespaces that are looked at.
    fn in_scope(&self) -> impl Iterator<Item = (Id, &Entry)> {
        let entries = self.entries.iter();
        entries.filter(|(_, it)| self.namespaces.is_in_scope(&it.object().namespace))
    }
}
