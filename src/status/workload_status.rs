//! How one Deployment stands.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::owner::Owner;
use crate::{
    cluster::WithManagers,
    schedule::Zone,
    workload::{Kind, Override, ParsedInputs, Phase, Prefix, Problem, Replicas, WorkloadRef, read},
};

/// How one Deployment stands.
#[derive(Clone, Debug)]
pub struct WorkloadStatus {
    /// Which one.
    pub object: WorkloadRef,
    /// `spec.replicas`.
    pub replicas: Replicas,
    /// What is to be known of it first.
    pub condition: ScheduleStatus,
    /// What was done last; `None` before a controller has seen it.
    pub phase: Option<Phase>,
    /// Since when, in whole seconds.
    pub since: Option<DateTime<Utc>>,
    /// The count to come back to.
    pub saved: Option<Replicas>,
    /// The next boundary.
    pub next: Option<DateTime<Utc>>,
    /// The active override.
    pub laid_over: Option<Override>,
    /// Where its clocks are.
    pub zone: Zone,
    /// What is wrong with its annotations.
    pub problems: Vec<Problem>,
    /// What is wrong, in words: the problems, or what a controller said of others.
    pub error: Option<String>,
    /// Who else sets its count, in order.
    pub owners: BTreeSet<Owner>,
}

/// What is to be known of a Deployment first; the more urgent, the earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScheduleStatus {
    /// Its schedule is refused.
    Refused,
    /// Its schedule was removed, and fewer run than are saved.
    Removed,
    /// No controller has seen it yet.
    Unseen,
    /// A controller follows its schedule.
    Followed,
}

impl WorkloadStatus {
    /// How a workload stands at `now`; local times without a zone of their own are in
    /// `default_zone`. None where it has no schedule and nothing is left of one.
    pub fn of(
        kind: Kind,
        managed: &WithManagers,
        prefix: &Prefix,
        default_zone: Zone,
        now: DateTime<Utc>,
    ) -> Option<Self> {
        let observed = managed.workload.observe(kind, prefix);
        let state = observed.state();
        let (mut problems, mut error) = (Vec::new(), None);
        let mut zone = default_zone;
        let (mut next, mut laid_over) = (state.next, None);
        let condition = match read(&observed.inputs, default_zone) {
            ParsedInputs::Invalid(refusal) => {
                error = Some(refusal.text(prefix));
                problems = refusal.problems().to_vec();
                next = None;
                ScheduleStatus::Refused
            }
            ParsedInputs::Scheduled(spec) => {
                zone = spec.schedule.zone();
                let began = observed.override_began.as_deref();
                let overrides = spec.overrides.without_ended(began, &state, now);
                laid_over = overrides.at(now);
                error = observed.error.as_deref().map(str::to_owned);
                if error.is_some() {
                    ScheduleStatus::Refused
                } else if state.phase.is_some() {
                    ScheduleStatus::Followed
                } else {
                    let boundary = spec.next_after(&observed.object, now);
                    next = boundary.map(|it| it.at);
                    ScheduleStatus::Unseen
                }
            }
            ParsedInputs::Unscheduled => {
                state.saved.filter(|saved| *saved > observed.replicas)?;
                next = None;
                ScheduleStatus::Removed
            }
        };
        Some(Self {
            object: observed.object,
            replicas: observed.replicas,
            condition,
            phase: state.phase,
            since: state.last,
            saved: state.saved,
            next,
            laid_over,
            zone,
            problems,
            error,
            owners: managed
                .managers(kind)
                .iter()
                .filter_map(Owner::of)
                .collect(),
        })
    }
}

impl WorkloadStatus {
    /// Whether nobody will bring it back to the saved count: its schedule was removed.
    pub fn is_left_down(&self) -> bool {
        self.condition == ScheduleStatus::Removed
    }

    /// The command that brings it back to its saved count.
    pub fn restore(&self) -> String {
        format!("dayshift restore {}", self.object.argument())
    }
}
