//! The state on an object, as the oracle sees it.

use std::collections::BTreeSet;

use dayshift::workload::Label;

use crate::phase::Phase;

/// Whose schedule the state belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The text of a schedule and a UID.
    Of(String, u32),
    /// A hash of something else.
    Other,
    /// Written by a later version.
    Later,
}

/// Instants are in seconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    pub phase: Option<Phase>,
    pub last: Option<i64>,
    pub next: Option<i64>,
    pub saved: Option<u32>,
    pub owner: Option<Owner>,
    /// There, but not to be read.
    pub garbled: BTreeSet<Label>,
}

impl Labels {
    pub fn take(&mut self, label: Label) {
        self.garbled.remove(&label);
        match label {
            Label::State => self.phase = None,
            Label::Last => self.last = None,
            Label::Next => self.next = None,
            Label::SavedReplicas => self.saved = None,
            Label::Fingerprint => self.owner = None,
        }
    }

    pub fn garble(&mut self, label: Label) {
        self.take(label);
        self.garbled.insert(label);
    }

    /// What can be read.
    pub fn read(&self) -> Self {
        Self {
            garbled: BTreeSet::new(),
            ..self.clone()
        }
    }

    /// This with what is missing taken from another.
    pub fn filled_from(self, other: Self) -> Self {
        Self {
            phase: self.phase.or(other.phase),
            last: self.last.or(other.last),
            next: self.next.or(other.next),
            saved: self.saved.or(other.saved),
            owner: self.owner.or(other.owner),
            ..Self::default()
        }
    }

    /// Whether there is nothing to be read but perhaps a saved count.
    pub fn is_only_a_count(&self) -> bool {
        let rest = Self {
            saved: None,
            ..self.read()
        };
        rest == Self::default()
    }
}
