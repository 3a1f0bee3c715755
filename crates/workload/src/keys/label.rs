//! Labels that hold the state of an object.

use crate::kinds::kind::Kind;

/// A label that dayshift writes on an object: its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Label {
    /// What was done last, a [`crate::Phase`].
    State,
    /// Everything up to here has been considered.
    Last,
    /// The next boundary, or the end of the active override; absent where there is neither.
    Next,
    /// The count to come back to.
    SavedReplicas,
    /// What the field of a switch held before it was turned off.
    SavedValue,
    /// Which schedule, on which object, the others belong to.
    Fingerprint,
}

impl Label {
    /// Every label, in the order of the documentation.
    pub const ALL: [Self; 6] = [
        Self::State,
        Self::Last,
        Self::Next,
        Self::SavedReplicas,
        Self::SavedValue,
        Self::Fingerprint,
    ];

    /// Those of an object of this kind: only a switch holds a value.
    pub fn of(kind: Kind) -> impl Iterator<Item = Self> {
        let has_value = kind.switch().is_some();
        let all = Self::ALL.into_iter();
        all.filter(move |label| has_value || *label != Self::SavedValue)
    }

    /// The name after the prefix, such as `saved-replicas`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Last => "last",
            Self::Next => "next",
            Self::SavedReplicas => "saved-replicas",
            Self::SavedValue => "saved-value",
            Self::Fingerprint => "fingerprint",
        }
    }
}
