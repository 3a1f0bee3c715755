//! Whether the Jobs of a CronJob should run: the annotation `stop-jobs`.
//!
//! The result depends only on the current state of the CronJob, so a controller that starts in
//! between completes the rest (`docs/decisions/state/jobs.md`).

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    inputs::{effective::truth, parse::ParsedInputs},
    keys::Key,
    observed::Observed,
    replicas::Replicas,
    state::Phase,
};

/// A Job that is created this long after the stop can still belong to the time before it: the
/// CronJob controller observes the stop late, and its clock can differ.
pub const LATE_JOB_TOLERANCE: TimeDelta = TimeDelta::seconds(15);

/// The state in which a CronJob's Jobs should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DesiredJobs {
    /// `stop-jobs` is not set. If dayshift has suspended a Job, it is resumed.
    Unmanaged,
    /// The Jobs stay as they are, because nothing requires a stop or a start.
    Unchanged,
    /// Jobs should be suspended if they were created by then.
    Suspended {
        /// Shortly after the stop. If a Job is created later, a user created it.
        created_until: DateTime<Utc>,
    },
    /// All Jobs should run.
    Running,
}

/// The desired state of the Jobs of an observed object.
pub fn desired_jobs(observed: &Observed, parsed: &ParsedInputs) -> DesiredJobs {
    let inputs = &observed.inputs;
    let text = inputs.own().text(Key::StopJobs);
    let Some(text) = text.filter(|_| inputs.counts().has(Key::StopJobs)) else {
        return DesiredJobs::Unmanaged;
    };
    match (truth(text), parsed) {
        (Some(false), _) => return DesiredJobs::Unmanaged,
        (Some(true), ParsedInputs::Scheduled(_))
            if !observed.deleting && !observed.labels.are_from_later_version() => {}
        _ => return DesiredJobs::Unchanged,
    }
    let state = observed.state();
    match (state.phase, state.last) {
        _ if observed.replicas > Replicas::ZERO => DesiredJobs::Running,
        (Some(Phase::Stopped | Phase::Slept), Some(last)) => DesiredJobs::Suspended {
            created_until: last + LATE_JOB_TOLERANCE,
        },
        // The CronJob was already suspended before the stop, but its Jobs were not.
        (Some(Phase::Running | Phase::Woken), _) => DesiredJobs::Running,
        _ => DesiredJobs::Unchanged,
    }
}

/// Whether an earlier stop can have suspended Jobs of the object, according to its current
/// annotations.
pub fn may_have_suspended_jobs(observed: &Observed) -> bool {
    let inputs = &observed.inputs;
    let asks = inputs.counts().has(Key::StopJobs) && inputs.own().has(Key::StopJobs);
    asks && !observed.deleting && !observed.labels.are_from_later_version()
}

/// The fields of a Job that the decision needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its name.
    pub name: Box<str>,
    /// Its UID.
    pub uid: Box<str>,
    /// The UID of the controlling owner.
    pub owner: Option<Box<str>>,
    /// Its creation time.
    pub created: DateTime<Utc>,
    /// `spec.suspend`, if present.
    pub suspend: Option<bool>,
    /// The value of our label `suspended-by`.
    pub suspended_by: Option<Box<str>>,
    /// Whether it has any labels.
    pub has_labels: bool,
    /// Whether it has finished or is being deleted.
    pub is_finished: bool,
}

/// A change of one Job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum JobChange {
    /// Suspend it and add our label.
    Suspend,
    /// Resume it and remove our label.
    Resume,
    /// Remove only our label, because a user has resumed it.
    Release,
}

impl Job {
    /// Whether it is suspended.
    pub fn is_suspended(&self) -> bool {
        self.suspend == Some(true)
    }

    /// The change that it needs if the owner with this UID has this desired state.
    pub fn change(&self, owner: &str, desired: DesiredJobs) -> Option<JobChange> {
        if self.is_finished || self.owner.as_deref() != Some(owner) {
            return None;
        }
        let is_ours = self.suspended_by.as_deref() == Some(owner);
        match desired {
            // If a running Job has our label, a user has resumed it since the stop.
            DesiredJobs::Suspended { created_until } => {
                let is_left = self.suspended_by.is_none() && !self.is_suspended();
                (is_left && self.created <= created_until).then_some(JobChange::Suspend)
            }
            DesiredJobs::Unmanaged | DesiredJobs::Running => {
                is_ours.then_some(if self.is_suspended() {
                    JobChange::Resume
                } else {
                    JobChange::Release
                })
            }
            DesiredJobs::Unchanged => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NIGHT: DesiredJobs = DesiredJobs::Suspended {
        created_until: DateTime::UNIX_EPOCH,
    };

    fn job(suspend: Option<bool>, suspended_by: Option<&str>) -> Job {
        Job {
            name: "report-1".into(),
            uid: "2".into(),
            owner: Some("1".into()),
            created: DateTime::UNIX_EPOCH,
            suspend,
            suspended_by: suspended_by.map(Into::into),
            has_labels: true,
            is_finished: false,
        }
    }

    #[test]
    fn the_label_distinguishes_jobs_that_dayshift_suspended() {
        let (yes, no, ours) = (Some(true), Some(false), Some("1"));
        for (suspend, label, at_night, by_day) in [
            (no, None, Some(JobChange::Suspend), None),
            (None, None, Some(JobChange::Suspend), None),
            (yes, None, None, None),
            (yes, ours, None, Some(JobChange::Resume)),
            (no, ours, None, Some(JobChange::Release)),
            (yes, Some("7"), None, None),
            (no, Some("7"), None, None),
        ] {
            let job = job(suspend, label);
            assert_eq!(job.change("1", NIGHT), at_night, "{suspend:?} {label:?}");
            for desired in [DesiredJobs::Running, DesiredJobs::Unmanaged] {
                assert_eq!(job.change("1", desired), by_day, "{suspend:?} {label:?}");
            }
            assert_eq!(job.change("1", DesiredJobs::Unchanged), None);
        }
    }

    #[test]
    fn finished_later_and_foreign_jobs_are_not_changed() {
        let running = job(Some(false), None);
        let ended = Job {
            is_finished: true,
            ..running.clone()
        };
        let late = Job {
            created: DateTime::UNIX_EPOCH + TimeDelta::seconds(1),
            ..running.clone()
        };
        let orphan = Job {
            owner: None,
            ..running.clone()
        };
        for job in [ended, late, orphan] {
            assert_eq!(job.change("1", NIGHT), None, "{job:?}");
        }
        assert_eq!(running.change("3", NIGHT), None);
    }
}
