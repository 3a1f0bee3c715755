//! Who has set back what dayshift did last, as the object itself tells.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::{
    cluster::WithManagers,
    workload::{FieldManager, ManagerKind, Observed},
};

/// Another program that has set the count since dayshift did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevertedBy {
    /// Which one.
    pub manager: FieldManager,
    /// When it wrote last, in whole seconds; the API server does not keep that of the subresource
    /// `scale`.
    pub at: Option<DateTime<Utc>>,
    /// How long that was after what dayshift did.
    pub after: Option<Duration>,
}

impl RevertedBy {
    /// Who has set the count of this object since `last`; none where that was a person or dayshift,
    /// and where the object does not tell.
    pub(super) fn of(
        managed: &WithManagers,
        observed: &Observed,
        last: DateTime<Utc>,
    ) -> Option<Self> {
        let manager = managed.last_manager(observed.object.kind)?;
        let at = manager.at;
        // Who has it, though dayshift has set it, has set it since.
        if at.is_some_and(|at| at < last) {
            return None;
        }
        match manager.kind() {
            ManagerKind::Dayshift | ManagerKind::Person => None,
            ManagerKind::Owner(_) | ManagerKind::Unknown => Some(Self {
                after: at.map(|at| (at - last).to_std().unwrap_or_default()),
                manager,
                at,
            }),
        }
    }
}
