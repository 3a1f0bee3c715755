//! The times of a CronJob.

use dayshift_workload::Kind;

use crate::manifest::tree::{location::Location, node::Node};

/// When a CronJob makes its Jobs.
#[derive(Clone, Debug)]
pub struct CronTimes {
    /// The text of `spec.schedule`.
    pub text: Box<str>,
    /// The zone of its clock, where the manifest names one.
    pub zone: Option<Box<str>>,
    /// Where the text stands.
    pub place: Location,
}

impl CronTimes {
    /// Reads those of an object of that kind; none where it has none.
    pub(crate) fn read(kind: Kind, node: &Node<'_>) -> Option<Self> {
        let spec = node.get("spec").filter(|_| kind == Kind::CRON_JOB)?;
        let schedule = spec.get("schedule")?;
        Some(Self {
            text: schedule.text()?.into(),
            zone: spec.get("timeZone").and_then(Node::text).map(Into::into),
            place: schedule.place.clone(),
        })
    }
}
