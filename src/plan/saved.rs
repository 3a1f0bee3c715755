//! What a plan will save.

use super::{
    timeline::{PlannedState, PlannedStep, timeline},
    workload_plan::WorkloadPlan,
};
use crate::{
    schedule::Action,
    workload::{CountKind, Replicas},
};

impl WorkloadPlan {
    /// What the schedule will save in the period, in replica-hours: the time of the replicas that
    /// would run without it ([`held_down`](crate::workload::held_down) has the rule for a live
    /// object). `None` where the count is not known, or is not one of replicas.
    ///
    /// Nobody scales by hand in it, and each boundary comes at its instant.
    pub fn saved(&self) -> Option<f64> {
        let spec = self.spec()?;
        if spec.counts != CountKind::Replicas {
            return None;
        }
        let largest = spec.largest_count();
        let without = largest.or(spec.replicas).or(self.runs())?;
        let mut saved = 0.0;
        for step in timeline(spec, self.delay(), self.period(), self.since()) {
            let PlannedStep { from, until, .. } = step;
            let runs = match step.state {
                PlannedState::Slept => spec.stop_replicas,
                PlannedState::Stopped if largest.is_some() => Replicas::ZERO,
                PlannedState::Stopped => spec.stop_replicas,
                PlannedState::Running => match step.says {
                    Some(Action::Scale(count)) => Replicas::new(count),
                    _ => without,
                },
                PlannedState::AsItIs | PlannedState::Woken | PlannedState::Paused => without,
            };
            let held = without.get().saturating_sub(runs.get());
            saved += f64::from(held) * (until - from).as_seconds_f64();
        }
        Some(saved / 3600.0)
    }
}
