//! The known objects, and which of them may have changed since they were published.

use std::collections::HashMap;

use crate::ids::Id;
use crate::objects::entry::Entry;

/// The known objects, by id.
///
/// Publishing all of them would cost as much as there are. A caller that changes one gets it from
/// here, which marks it, and only marked ones are published again.
#[derive(Default)]
pub(crate) struct Entries {
    // Boxed: the free places of a table would cost more than a pointer each.
    by_id: HashMap<Id, Box<Entry>>,
    /// Those that may have changed, or are gone.
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

    /// An object of which nothing changes that is published.
    pub(super) fn get_unpublished(&mut self, id: Id) -> Option<&mut Entry> {
        self.by_id.get_mut(&id).map(Box::as_mut)
    }

    pub(super) fn insert(&mut self, id: Id, mut entry: Box<Entry>) {
        touch(&mut self.touched, id, &mut entry);
        self.by_id.insert(id, entry);
    }

    pub(super) fn remove(&mut self, id: Id) -> Option<Box<Entry>> {
        let mut entry = self.by_id.remove(&id)?;
        touch(&mut self.touched, id, &mut entry);
        Some(entry)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Id, &Entry)> {
        self.by_id.iter().map(|(id, entry)| (*id, &**entry))
    }

    /// All of them. A caller touches those that it changes.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (Id, &mut Entry)> {
        self.by_id.iter_mut().map(|(id, entry)| (*id, &mut **entry))
    }

    /// Marks these as possibly changed.
    pub(super) fn touch(&mut self, ids: &[Id]) {
        for id in ids {
            self.get_mut(*id);
        }
    }

    /// Marks all as possibly changed.
    pub(super) fn touch_all(&mut self) {
        for (id, entry) in &mut self.by_id {
            touch(&mut self.touched, *id, entry);
        }
    }

    /// Takes at most this many of those that may have changed, or are gone.
    pub(super) fn take_touched(&mut self, max: usize) -> Vec<Id> {
        let rest = self.touched.len().saturating_sub(max);
        let taken = self.touched.split_off(rest);
        for id in &taken {
            if let Some(entry) = self.by_id.get_mut(id) {
                entry.is_touched = false;
            }
        }
        taken
    }

    /// Whether any may have changed, or is gone.
    pub(super) const fn has_touched(&self) -> bool {
        !self.touched.is_empty()
    }
}

fn touch(touched: &mut Vec<Id>, id: Id, entry: &mut Entry) {
    if !std::mem::replace(&mut entry.is_touched, true) {
        touched.push(id);
    }
}
