//! Tampering: changes of the labels and annotations that dayshift writes.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Label {
    State,
    Last,
    Next,
    SavedReplicas,
    Fingerprint,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tampering {
    Drop(Label),
    /// Replaces the label with an unreadable value.
    Garble(Label),
    Saved(u32),
    /// Sets `last` to this many minutes from now.
    Last(i32),
    Next(i32),
    /// Writes a fingerprint with the form of a later version.
    LaterFingerprint,
    /// Writes a value that is no fingerprint.
    OtherFingerprint,
    /// Writes the fingerprint of another object.
    ForeignFingerprint,
    DropError,
}

impl Label {
    pub const ALL: [Self; 5] = [
        Self::State,
        Self::Last,
        Self::Next,
        Self::SavedReplicas,
        Self::Fingerprint,
    ];

    /// The name of the label, without the prefix.
    pub const fn name(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Last => "last",
            Self::Next => "next",
            Self::SavedReplicas => "saved-replicas",
            Self::Fingerprint => "fingerprint",
        }
    }
}
