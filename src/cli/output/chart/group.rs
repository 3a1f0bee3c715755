//! Objects that are asked to do the same thing.

use std::collections::HashMap;

use chrono::TimeDelta;
use dayshift_manifest::plan::{Plan, WorkloadPlan};
use dayshift_workload::{Origin, Replicas, ScheduleSpec};

/// Objects with equal timetables, in the order of the plan.
pub(super) struct Group<'p> {
    pub(super) spec: &'p ScheduleSpec,
    pub(super) members: Vec<&'p WorkloadPlan>,
}

impl<'p> Group<'p> {
    /// The groups of all objects that nothing is wrong with.
    pub(super) fn all(plan: &'p Plan) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        let mut known = HashMap::new();
        for member in &plan.workloads {
            let Some(spec) = member.spec() else {
                continue;
            };
            let overrides = &spec.overrides;
            let key = (
                &spec.schedule,
                spec.replicas,
                (spec.stop_replicas, spec.counts),
                spec.jitter,
                member.origin(),
                (overrides.own, overrides.inherited),
            );
            let at = *known.entry(key).or_insert(groups.len());
            match groups.get_mut(at) {
                Some(group) => group.members.push(member),
                None => groups.push(Self {
                    spec,
                    members: vec![member],
                }),
            }
        }
        groups
    }

    /// Where the schedule of its members is written.
    pub(super) fn origin(&self) -> Origin {
        let first = self.members.first();
        first.map_or(Origin::Own, |it| it.origin())
    }

    /// How much later than written the starts come, at least and at most.
    pub(super) fn delays(&self) -> (TimeDelta, TimeDelta) {
        let delays = || self.members.iter().map(|member| member.delay());
        (
            delays().min().unwrap_or_default(),
            delays().max().unwrap_or_default(),
        )
    }

    /// The count that a start brings back, where it is known and the same for all.
    pub(super) fn brings_back(&self) -> Option<Replicas> {
        let mut counts = self.members.iter().map(|member| member.brings_back());
        let first = counts.next()??;
        counts.all(|count| count == Some(first)).then_some(first)
    }
}
