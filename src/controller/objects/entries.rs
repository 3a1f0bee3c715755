//! The objects that are known, and which of them may count for something else than before.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use crate::controller::ids::Id;
use crate::controller::objects::entry::Entry;
use crate::controller::objects::totals::{Share, Totals};

/// The objects that are known, by id, and what they come to together.
///
/// Counting them all would cost as much as there are, each second in which anything happens. So
/// whoever changes one gets it from here, where that is noted, and only those are counted again.
#[derive(Default)]
pub(in crate::controller) struct Entries {
    // Boxed: what a table keeps free would cost more than a pointer each.
    by_id: HashMap<Id, Box<Entry>>,
    totals: Totals,
    /// Those that may count for something else than in the totals, each once.
    touched: Vec<Id>,
}

impl Entries {
    pub(super) fn get(&self, id: Id) -> Option<&Entry> {
        self.by_id.get(&id).map(Box::as_ref)
    }

    pub(super) fn get_mut(&mut self, id: Id) -> Option<&mut Entry> {
        let entry = self.by_id.get_mut(&id)?;
        touch(&mut self.touched, id, entry);
        Some(entry)
    }

    pub(super) fn insert(&mut self, id: Id, mut entry: Box<Entry>) {
        touch(&mut self.touched, id, &mut entry);
        self.by_id.insert(id, entry);
    }

    pub(super) fn remove(&mut self, id: Id) -> Option<Box<Entry>> {
        let entry = self.by_id.remove(&id)?;
        let namespace = &entry.observed.object.namespace;
        self.totals
            .replace(id, namespace, entry.share, Share::default());
        Some(entry)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Id, &Entry)> {
        self.by_id.iter().map(|(id, entry)| (*id, &**entry))
    }

    /// All of them. Those for which it makes a difference are to be touched.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (Id, &mut Entry)> {
        self.by_id.iter_mut().map(|(id, entry)| (*id, &mut **entry))
    }

    /// These may count for something else from now on.
    pub(super) fn touch(&mut self, ids: &[Id]) {
        for id in ids {
            self.get_mut(*id);
        }
    }

    /// So may they all.
    pub(super) fn touch_all(&mut self) {
        for (id, entry) in &mut self.by_id {
            touch(&mut self.touched, *id, entry);
        }
    }

    /// What those come to that are in scope, as they are at `now`.
    pub(super) fn totals(
        &mut self,
        now: DateTime<Utc>,
        is_in_scope: impl Fn(&str) -> bool,
    ) -> &Totals {
        let share = |entry: &Entry| {
            let is_counted = is_in_scope(&entry.object().namespace);
            if is_counted {
                entry.share_now()
            } else {
                Share::default()
            }
        };
        self.touch(&self.totals.passed(now));
        for id in self.touched.drain(..) {
            let Some(entry) = self.by_id.get_mut(&id) else {
                continue;
            };
            let counted = Share {
                deadline: entry.deadline(now),
                ..share(entry)
            };
            let before = std::mem::replace(&mut entry.share, counted);
            entry.is_touched = false;
            let namespace = &entry.observed.object.namespace;
            self.totals.replace(id, namespace, before, counted);
        }
        debug_assert!(
            self.totals.are_of(
                self.iter()
                    .map(|(_, it)| (&it.object().namespace, share(it)))
            ),
            "somebody has changed an object and has not touched it"
        );
        &self.totals
    }

    /// Those of which it has changed whether they are kept stopped, since this was asked last.
    pub(super) fn take_others_stopped(&mut self) -> Vec<Id> {
        self.totals.take_others_stopped()
    }

    /// Whether some are to be counted again at `now`.
    pub(super) fn are_touched(&self, now: DateTime<Utc>) -> bool {
        !self.touched.is_empty() || self.totals.has_passed(now)
    }
}

fn touch(touched: &mut Vec<Id>, id: Id, entry: &mut Entry) {
    if !std::mem::replace(&mut entry.is_touched, true) {
        touched.push(id);
    }
}
