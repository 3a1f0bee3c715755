//! Who has set back what dayshift did last, as the object itself tells.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_workload::{
    Observed,
    other_controllers::{FieldManager, ManagerKind},
};

use crate::cluster::WithManagers;

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
            // It counts as dayshift's, which has not set it: it was changed on the way.
            ManagerKind::Dayshift if is_untouched(managed, at, last) => Some(Self {
                manager: FieldManager::admission(at),
                at,
                after: at.map(|at| (at - last).to_std().unwrap_or_default()),
            }),
            ManagerKind::Dayshift | ManagerKind::Person => None,
            ManagerKind::OtherController(_) | ManagerKind::Unknown => Some(Self {
                after: at.map(|at| (at - last).to_std().unwrap_or_default()),
                manager,
                at,
            }),
        }
    }
}

/// How long after `last`, which is in whole seconds, dayshift has written what it says.
const WRITTEN_WITHIN: TimeDelta = TimeDelta::seconds(2);

/// Whether nobody has changed the object since dayshift wrote at `last`, not even dayshift itself, as
/// `dayshift restore` does: the annotations are those by which it has set the count.
fn is_untouched(managed: &WithManagers, at: Option<DateTime<Utc>>, last: DateTime<Utc>) -> bool {
    at.is_some_and(|at| {
        at - last <= WRITTEN_WITHIN && managed.changed().is_none_or(|changed| changed <= at)
    })
}
