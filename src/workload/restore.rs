//! Bringing an object back up without a scaler, for good.

use chrono::{DateTime, Utc};

use super::decision::change::{Cause, Change, ChangeKind};
use super::keys::Label;
use super::observed::Observed;
use super::state::{Phase, State};

/// Why an object that may be down is not brought back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotRestored {
    /// It is on its way out.
    #[error("it is being deleted")]
    Deleting,
    /// A later version may mean something else by its labels.
    #[error("its state was written by a later version of dayshift: restore it with that one")]
    LaterVersion,
    /// Nobody knows what to come back to.
    #[error(
        "its saved count `{quoted}` is not a number of replicas: run kubectl scale yourself",
        quoted = crate::text::quote(.0)
    )]
    Unreadable(String),
}

/// What brings the object up to its saved count, whether it has a schedule or not; none where
/// it has no saved count, or is up to it.
///
/// It is rule 4's start by the saved count alone: it raises and never lowers, and the saved count
/// goes. What says stopped says running then, so that `enforce` does not take it for a hand's
/// deed.
///
/// # Errors
/// Where the object may be down and yet is left alone.
pub fn restored(observed: &Observed, now: DateTime<Utc>) -> Result<Option<Change>, NotRestored> {
    let Some(text) = observed.labels.text(Label::SavedReplicas) else {
        return Ok(None);
    };
    let state = observed.state();
    let change = match state.saved {
        _ if observed.deleting => return Err(NotRestored::Deleting),
        _ if state.is_of_a_later_version() => return Err(NotRestored::LaterVersion),
        None => return Err(NotRestored::Unreadable(text.to_owned())),
        Some(saved) if saved <= observed.replicas => return Ok(None),
        Some(saved) => Change {
            kind: ChangeKind::Restore,
            cause: Cause::Request { seen: now },
            boundary: None,
            replicas: saved,
            state: State {
                phase: state.phase.map(|phase| match phase {
                    Phase::Stopped | Phase::Adopted => Phase::Running,
                    other => other,
                }),
                saved: None,
                ..state
            },
            error: observed.error.clone(),
            override_began: observed.override_began.clone(),
            expired: Vec::new(),
            note: None,
        },
    };
    Ok(Some(change))
}
