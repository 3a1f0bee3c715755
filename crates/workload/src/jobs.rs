//! What the Jobs of a CronJob have to be: `stop-jobs`.
//!
//! It follows from the state of their CronJob at any time, so that a scaler which comes up in the
//! middle does what is left (`docs/decisions/state/jobs.md`).

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    inputs::{effective::truth, parse::ParsedInputs},
    keys::Key,
    observed::Observed,
    replicas::Replicas,
    state::Phase,
};

/// A Job made so long after the stop is still one that the CronJob made before: its controller sees
/// the stop late, and its clock is another.
pub const LATE_JOB_TOLERANCE: TimeDelta = TimeDelta::seconds(15);

/// What the Jobs of an object have to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DesiredJobs {
    /// Nobody asks for anything: none that dayshift has suspended may stay so.
    Unmanaged,
    /// As they are: nothing says that they should stop or run.
    Unchanged,
    /// Those made until then are suspended.
    Suspended {
        /// A while after the stop; what is made later is made by a person.
        created_until: DateTime<Utc>,
    },
    /// They run.
    Running,
}

/// What the Jobs of an object have to be, as it was seen.
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
        // Somebody had suspended the CronJob before; its Jobs were suspended by the stop.
        (Some(Phase::Running | Phase::Woken), _) => DesiredJobs::Running,
        _ => DesiredJobs::Unchanged,
    }
}

/// Whether a stop of the object may have suspended Jobs of it, by what it says now.
pub fn may_have_suspended_jobs(observed: &Observed) -> bool {
    let inputs = &observed.inputs;
    let asks = inputs.counts().has(Key::StopJobs) && inputs.own().text(Key::StopJobs).is_some();
    asks && !observed.deleting && !observed.labels.are_from_later_version()
}

/// A Job, as far as this is decided from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its name.
    pub name: Box<str>,
    /// Its UID.
    pub uid: Box<str>,
    /// The UID of the object that controls it.
    pub owner: Option<Box<str>>,
    /// When it was made.
    pub created: DateTime<Utc>,
    /// `spec.suspend`, where it is there.
    pub suspend: Option<bool>,
    /// The text of our label `suspended-by`.
    pub suspended_by: Option<Box<str>>,
    /// Whether it has any label at all.
    pub has_labels: bool,
    /// Whether it has ended, or is being deleted.
    pub is_finished: bool,
}

/// What is to be done to a Job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum JobChange {
    /// It is suspended, and gets our label.
    Suspend,
    /// It runs again, and our label goes.
    Resume,
    /// Somebody has resumed it meanwhile: our label alone goes.
    Release,
}

impl Job {
    /// Whether it is suspended.
    pub fn is_suspended(&self) -> bool {
        self.suspend == Some(true)
    }

    /// What is to be done to it where the object with this UID wants this of its Jobs.
    pub fn change(&self, owner: &str, desired: DesiredJobs) -> Option<JobChange> {
        if self.is_finished || self.owner.as_deref() != Some(owner) {
            return None;
        }
        let is_ours = self.suspended_by.as_deref() == Some(owner);
        match desired {
            // With our label somebody has resumed it, since the stop.
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
    fn the_label_tells_what_dayshift_has_suspended_from_what_somebody_has() {
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
    fn what_has_ended_is_made_at_night_or_is_anothers_stays() {
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
