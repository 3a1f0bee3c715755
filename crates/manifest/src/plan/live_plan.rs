//! The plan of a live object.

use dayshift_workload::{Observed, ParsedInputs, ScheduleSpec, count_after_stop};

use super::{
    period::Beginning,
    workload_plan::{Planner, WorkloadPlan},
};

impl Planner {
    /// The plan of a live object, of which it is known what a start brings back.
    pub fn plan_live(&self, observed: &Observed) -> Option<WorkloadPlan> {
        self.plan_read(observed, observed.read(&self.context))
    }

    /// The same of one whose annotations have been read.
    pub fn plan_read(&self, observed: &Observed, parsed: ParsedInputs) -> Option<WorkloadPlan> {
        let mut plan = self.plan_parsed(&observed.object, &observed.inputs, parsed, &[])?;
        let state = observed.state();
        if let Some(spec) = &mut plan.boundaries.spec {
            spec.overrides = observed.overrides(spec, &state, self.period.from());
        }
        plan.boundaries.brings_back = plan.spec().map(|spec| {
            let seen = observed.replicas;
            let remembered = spec.known_count(seen, state.remembered());
            let (count, saved) = count_after_stop(seen, remembered, spec.stop_replicas);
            let inexact = ScheduleSpec {
                replicas: None,
                ..spec.clone()
            };
            inexact.started(count, saved)
        });
        plan.runs = plan.boundaries.brings_back;
        plan.beginning = match state.phase {
            // What somebody has raised since the stop is held down no more.
            Some(phase)
                if phase.follows_a_stop() && plan.runs.is_none_or(|it| observed.replicas < it) =>
            {
                Beginning::HeldDown
            }
            _ => Beginning::AsItIs,
        };
        Some(plan.with_footprint(observed.footprint))
    }
}
