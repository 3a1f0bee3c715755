//! An Event in words: its reason and its text.

use crate::Kind;

use super::reason::EventReason;

/// An Event that is to be sent: its reason and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventText {
    /// Its reason.
    pub reason: EventReason,
    /// Its text, plain, at most 1 kB.
    pub text: String,
}

impl EventText {
    pub(super) const fn new(reason: EventReason, text: String) -> Self {
        Self { reason, text }
    }

    /// What the annotations of a Namespace ask for is refused.
    pub const fn invalid(text: String) -> Self {
        Self::new(EventReason::InvalidSchedule, text)
    }

    /// An object of that kind cannot be written to. With `namespace` a permission is missing, perhaps
    /// for all of its kind there.
    pub fn scale_failed(kind: Kind, why: &str, namespace: Option<&str>) -> Self {
        let mut text = format!("cannot write to the {kind}: {why}; retrying with backoff");
        if let Some(namespace) = namespace {
            text += &format!(
                ". The permission may be missing for every {kind} in namespace {namespace}, and is told on one of them"
            );
        }
        Self::new(EventReason::ScaleFailed, text)
    }

    /// Boundaries come faster than they can be carried out.
    pub fn boundaries_skipped() -> Self {
        let text = "boundaries come faster than they can be carried out: only the newest counts, and earlier ones are skipped. Set them further apart";
        Self::new(EventReason::BoundariesSkipped, text.to_owned())
    }
}
