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
    /// An unreadable value replaces it.
    Garble(Label),
    Saved(u32),
    /// `last` becomes this many minutes from now.
    Last(i32),
    Next(i32),
    /// A fingerprint of a version that does not exist yet.
    LaterFingerprint,
    /// A value that is no fingerprint any more.
    OtherFingerprint,
    /// The fingerprint of another object.
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
