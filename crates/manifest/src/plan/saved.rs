//! What a plan will save.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::Action;
use dayshift_workload::{
    Footprint, Replicas, ScheduleSpec,
    savings::{Price, Saved},
};

use super::{
    period::{Beginning, Period},
    timeline::{PlannedState, PlannedStep, timeline},
    workload_plan::WorkloadPlan,
};

impl WorkloadPlan {
    /// What 1 of its count stands for.
    pub fn footprint(&self) -> Footprint {
        self.footprint
    }

    /// What CPU and memory cost, where that is known.
    pub fn price(&self) -> Option<&Price> {
        self.price.as_deref()
    }

    /// What the schedule will save in the period: the time of the replicas that would run without it
    /// ([`held_down`](dayshift_workload::savings::stopped_capacity) has the rule for a live object), and of what they
    /// request. `None` where the count is not known, or stands for no replicas.
    ///
    /// Nobody scales by hand in it, and each boundary comes at its instant. A schedule never acts
    /// backwards: what is not held down when the period begins runs on until its first boundary.
    pub fn saved(&self) -> Option<Saved> {
        self.saved_in(self.period(), self.since())
    }

    /// The same in another period, in which overrides hold from `since` on.
    pub fn saved_in(&self, period: Period, since: DateTime<Utc>) -> Option<Saved> {
        let spec = self.spec()?;
        if self.footprint.replicas == 0 {
            return None;
        }
        let without = spec.largest_count().or(spec.replicas).or(self.runs())?;
        let steps = saved_steps(spec, self.delay(), period, since, without, self.beginning());
        let seconds = steps
            .map(|(from, until, held)| f64::from(held.get()) * (until - from).as_seconds_f64());
        let hours = seconds.sum::<f64>() / 3600.0;
        Some(Saved::from_hours(hours, self.footprint))
    }
}

/// How many replicas a schedule holds down from when to when, of an object that runs with `without`
/// where no schedule says otherwise. Its overrides hold from `since` on.
fn saved_steps(
    spec: &ScheduleSpec,
    delay: TimeDelta,
    period: Period,
    since: DateTime<Utc>,
    without: Replicas,
    beginning: Beginning,
) -> impl Iterator<Item = (DateTime<Utc>, DateTime<Utc>, Replicas)> + '_ {
    let is_exact = spec.largest_count().is_some();
    let mut is_followed = beginning == Beginning::HeldDown;
    let needs_start = beginning == Beginning::Off && !is_exact && spec.replicas.is_none();
    let mut was_paused = false;
    timeline(spec, delay, period, since).map(move |step| {
        let PlannedStep { from, until, .. } = step;
        let is_acted_on = match step.state {
            PlannedState::Woken => true,
            PlannedState::Slept | PlannedState::Paused => !needs_start,
            PlannedState::Running | PlannedState::Stopped | PlannedState::AsItIs => {
                let first = step.boundary.filter(|_| from > period.from());
                first.is_some_and(|(action, applied)| {
                    // The end of a pause starts only what is held down.
                    applied && (!needs_start || action.is_up() && !was_paused)
                })
            }
        };
        is_followed |= is_acted_on;
        was_paused = step.state == PlannedState::Paused;
        if !is_followed {
            return (from, until, Replicas::ZERO);
        }
        let runs = match step.state {
            PlannedState::Slept => spec.stop_replicas,
            PlannedState::Stopped if is_exact => Replicas::ZERO,
            PlannedState::Stopped => spec.stop_replicas,
            PlannedState::Running => match step.says {
                Some(Action::Scale(count)) => Replicas::new(count),
                _ => without,
            },
            PlannedState::AsItIs | PlannedState::Woken | PlannedState::Paused => without,
        };
        let held = without.get().saturating_sub(runs.get());
        (from, until, Replicas::new(held))
    })
}
