//! What is told of all objects together.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use chrono::{DateTime, Utc};

use crate::workload::{
    CountKind, HeldDown, Origin, ParsedInputs, WorkloadRef, held_down, is_kept_stopped,
};

use crate::controller::objects::entry::Entry;
use crate::controller::objects::index::Index;
use crate::controller::telemetry::overdue::Deadlines;
use crate::controller::telemetry::snapshot::ObjectSnapshot;

impl Index {
    /// What is known of each object in scope at `now`, in no order.
    pub(in crate::controller) fn snapshots(
        &self,
        now: DateTime<Utc>,
    ) -> impl Iterator<Item = ObjectSnapshot> {
        let namespaces = &self.namespaces;
        let entries = self.entries.values();
        entries
            .filter(move |it| namespaces.is_in_scope(&it.object().namespace))
            .map(move |entry| entry.snapshot(now))
    }

    /// How many objects are in each state, `invalid` where the schedule is refused.
    pub(in crate::controller) fn census(&self) -> HashMap<&'static str, usize> {
        let mut census = HashMap::new();
        for entry in self.in_scope() {
            *census.entry(entry.counted_as()).or_default() += 1;
        }
        census
    }

    /// What the schedule of each object holds down, with its namespace.
    pub(in crate::controller) fn held_down(&self) -> impl Iterator<Item = (&Arc<str>, HeldDown)> {
        let each = self.in_scope();
        each.map(|it| (&it.object().namespace, held_down(&it.observed, &it.parsed)))
    }

    /// How many objects whose replicas are scheduled do not request both CPU and memory.
    pub(in crate::controller) fn without_requests(&self) -> usize {
        let is_one = |it: &&Entry| {
            matches!(&*it.parsed, ParsedInputs::Scheduled(spec) if spec.counts == CountKind::Replicas)
                && !it.observed.requests.are_complete()
        };
        self.in_scope().filter(is_one).count()
    }

    /// Each object with a schedule, and whether it is kept stopped.
    pub(in crate::controller) fn stopped(&self) -> Vec<(WorkloadRef, bool)> {
        self.in_scope()
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
        for deadline in self.in_scope().filter_map(|it| it.deadline(now)) {
            deadlines.add(deadline);
        }
        deadlines
    }

    /// One that is overdue at `now`: the one seen first.
    pub(in crate::controller) fn first_overdue(&self, now: DateTime<Utc>) -> Option<&Entry> {
        let overdue = self.entries.iter().filter(|(_, it)| {
            self.namespaces.is_in_scope(&it.object().namespace) && it.overdue(now).is_some()
        });
        overdue
            .min_by_key(|(id, _)| **id)
            .map(|(_, it)| it.as_ref())
    }

    /// The objects in the Namespaces that are looked at.
    fn in_scope(&self) -> impl Iterator<Item = &Entry> {
        let entries = self.entries.values().map(Box::as_ref);
        entries.filter(|it| self.namespaces.is_in_scope(&it.object().namespace))
    }
}
