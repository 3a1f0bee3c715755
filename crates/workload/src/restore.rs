//! `dayshift restore`: raises an object to its saved count, without a controller.

use chrono::{DateTime, Utc};

use super::decision::change::{Change, ChangeKind};
use super::keys::Label;
use super::observed::Observed;
use super::state::{Phase, State};

/// Why an object that may be stopped is not restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotRestored {
    /// The object is being deleted.
    #[error("it is being deleted")]
    Deleting,
    /// A later version of dayshift wrote its labels, which may mean something else.
    #[error("its state was written by a later version of dayshift: restore it with that one")]
    LaterVersion,
    /// The label of the saved count cannot be read.
    #[error(
        "its saved count `{quoted}` is not a number: set {field} yourself",
        quoted = dayshift_text::quote(.text)
    )]
    Unreadable {
        /// What the label holds.
        text: String,
        /// Where the object holds its count.
        field: String,
    },
}

/// The change that raises the object to its saved count, whether it has a schedule or not; `None`
/// where nothing is saved, or as many run already.
///
/// It is a start by the saved count alone: it raises and never lowers, and the saved count goes. A
/// state of `stopped` becomes `running`, so that `enforce` does not take the raised count for a manual
/// change.
///
/// # Errors
/// The object is being deleted, a later version wrote its labels, or its saved count is unreadable.
pub fn restored(observed: &Observed, now: DateTime<Utc>) -> Result<Option<Change>, NotRestored> {
    let Some(text) = observed.labels.text(Label::SavedReplicas) else {
        return Ok(None);
    };
    let state = observed.state();
    let change = match state.saved {
        _ if observed.deleting => return Err(NotRestored::Deleting),
        _ if observed.labels.are_of_a_later_version() => return Err(NotRestored::LaterVersion),
        None => {
            return Err(NotRestored::Unreadable {
                text: text.to_owned(),
                field: observed.object.kind.path().join("."),
            });
        }
        Some(saved) if saved <= observed.replicas => return Ok(None),
        Some(saved) => {
            let state = State {
                phase: state.phase.map(|phase| match phase {
                    Phase::Stopped | Phase::Adopted => Phase::Running,
                    other => other,
                }),
                saved: None,
                ..state
            };
            Change::requested(ChangeKind::Restore, observed, saved, state, now).with_value(observed)
        }
    };
    Ok(Some(change))
}
