//! What is told of all objects together.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use chrono::{DateTime, Utc};

use crate::workload::{Origin, ParsedInputs, WorkloadRef, held_down, is_kept_stopped};

use crate::controller::objects::entry::Entry;
use crate::controller::objects::index::Index;
use crate::controller::telemetry::overdue::Deadlines;
use crate::controller::telemetry::snapshot::ObjectSnapshot;

impl Index {
    /// What is known of each object at `now`, in no order.
    pub(in crate::controller) fn snapshots(
        &self,
        now: DateTime<Utc>,
    ) -> impl Iterator<Item = ObjectSnapshot> {
        self.entries.values().map(move |entry| entry.snapshot(now))
    }

    /// How many objects are in each state, `invalid` where the schedule is refused.
    pub(in crate::controller) fn census(&self) -> HashMap<&'static str, usize> {
        let mut census = HashMap::new();
        let in_scope = |it: &&Entry| self.namespaces.is_in_scope(&it.object().namespace);
        for entry in self.entries.values().filter(in_scope) {
            *census.entry(entry.counted_as()).or_default() += 1;
        }
        census
    }

    /// How many replicas the schedules hold down.
    pub(in crate::controller) fn held_down(&self) -> u64 {
        let in_scope = |it: &&Entry| self.namespaces.is_in_scope(&it.object().namespace);
        let entries = self.entries.values().filter(in_scope);
        entries
            .map(|it| u64::from(held_down(&it.observed, &it.parsed).get()))
            .sum()
    }

    /// Each object with a schedule, and whether it is kept stopped.
    pub(in crate::controller) fn stopped(&self) -> Vec<(WorkloadRef, bool)> {
        let in_scope = |it: &&Entry| self.namespaces.is_in_scope(&it.object().namespace);
        let entries = self.entries.values().filter(in_scope);
        entries
            .filter_map(|it| {
                let is_stopped = is_kept_stopped(&it.observed, &it.parsed)?;
                Some((it.object().clone(), is_stopped))
            })
            .collect()
    }

    /// The objects that go by the default schedule of the scaler: how many in which namespace.
    pub(in crate::controller) fn by_default(&self) -> BTreeMap<Arc<str>, usize> {
        let mut found = BTreeMap::new();
        for entry in self.entries.values() {
            let (inputs, namespace) = (&entry.observed.inputs, &entry.object().namespace);
            let is_scheduled = matches!(*entry.parsed, ParsedInputs::Scheduled(_));
            if is_scheduled
                && inputs.schedule_origin() == Some(Origin::Scaler)
                && self.namespaces.is_in_scope(namespace)
            {
                *found.entry(namespace.clone()).or_default() += 1;
            }
        }
        found
    }

    /// When how many objects become overdue.
    pub(in crate::controller) fn deadlines(&self, now: DateTime<Utc>) -> Deadlines {
        let mut deadlines = Deadlines::default();
        for deadline in self.entries.values().filter_map(|it| it.deadline(now)) {
            deadlines.add(deadline);
        }
        deadlines
    }

    /// One that is overdue at `now`: the one seen first.
    pub(in crate::controller) fn first_overdue(&self, now: DateTime<Utc>) -> Option<&Entry> {
        let overdue = self
            .entries
            .iter()
            .filter(|(_, it)| it.overdue(now).is_some());
        overdue.min_by_key(|(id, _)| **id).map(|(_, it)| it)
    }
}
