//! The number of workloads in each state, and the gauges that show it.

use std::{cmp::Reverse, collections::BTreeMap, fmt, ops::AddAssign, sync::Arc};

use dayshift_workload::{Origin, ParsedInputs, Phase, savings::StoppedCapacity};
use prometheus_client::{
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{MetricType, gauge::ConstGauge},
};

use crate::telemetry::{
    account::{Amounts, amounts, replace},
    series::Description,
    shapes::gauge_value,
    snapshot::ObjectSnapshot,
};

/// The name and the help of a gauge, and what it shows.
pub(super) type StateGauge = (&'static str, &'static str, Count);

/// What is counted besides the phases.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Count {
    /// Workloads in scope, with or without a schedule.
    All,
    /// Workloads with a valid schedule.
    Scheduled,
    /// Workloads under the default schedule of the controller.
    ByDefault,
    /// Workloads with an invalid schedule.
    Invalid,
    /// Workloads with `dayshift/exclude` and a schedule of their own or an inherited one.
    Excluded,
    /// Workloads that are kept stopped although their schedule requires them to run.
    AgainstSchedule,
    /// Scheduled workloads whose pods do not request both CPU and memory.
    WithoutRequests,
    /// Running replicas of workloads with a valid schedule.
    RunningReplicas,
}

const PHASES: usize = Phase::ALL.len();
const COUNTS: usize = Count::RunningReplicas as usize + 1;

/// The numbers of workloads by state, and the resources that they save.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct States {
    /// By [`Phase`], and then by [`Count`]. A sum of replicas can exceed 64 bits, and must be exact: each
    /// part is subtracted again.
    counts: [u128; PHASES + COUNTS],
    pub(super) saved: Amounts,
}

impl States {
    /// Counts one workload.
    pub(super) fn from_object(object: &ObjectSnapshot) -> Self {
        let mut states = Self {
            saved: amounts(object.stopped_capacity()),
            ..Self::default()
        };
        let is_scheduled = object.parsed.spec().is_some();
        let is_by_default = object.inputs.schedule_origin() == Some(Origin::Controller);
        let is_invalid = matches!(*object.parsed, ParsedInputs::Invalid(_));
        let is_excluded = !is_scheduled && !is_invalid && object.inputs.has_schedule();
        for (count, is_counted) in [
            (Count::All, true),
            (Count::Scheduled, is_scheduled),
            (Count::ByDefault, is_scheduled && is_by_default),
            (Count::Invalid, is_invalid),
            (Count::Excluded, is_excluded),
            (Count::AgainstSchedule, object.is_against_schedule),
            (Count::WithoutRequests, object.lacks_requests()),
        ] {
            *states.count(count) = u128::from(is_counted);
        }
        if is_scheduled {
            if let Some(phase) = object.state.phase {
                states.add_phase(phase);
            }
            let running = StoppedCapacity::new(object.replicas, object.footprint).replicas;
            *states.count(Count::RunningReplicas) = running.into();
        }
        states
    }

    /// Counts one workload without a schedule.
    #[cfg(test)]
    pub(super) fn of_one() -> Self {
        let mut states = Self::default();
        *states.count(Count::All) = 1;
        states
    }

    /// Counts what workloads save only.
    #[cfg(test)]
    pub(super) fn saving(stopped: StoppedCapacity) -> Self {
        let saved = amounts(stopped);
        Self {
            saved,
            ..Self::default()
        }
    }

    /// Counts a workload in a phase only.
    pub(super) const fn add_phase(&mut self, phase: Phase) {
        self.counts[phase as usize] += 1;
    }

    pub(crate) fn get(&self, count: Count) -> usize {
        let count = self.counts[PHASES + count as usize];
        usize::try_from(count).unwrap_or(usize::MAX)
    }

    const fn count(&mut self, count: Count) -> &mut u128 {
        &mut self.counts[PHASES + count as usize]
    }

    /// Replaces the part `before` with `after`.
    pub(super) fn replace(&mut self, before: &Self, after: &Self) {
        let changes = before.counts.into_iter().zip(after.counts);
        for (all, (before, after)) in self.counts.iter_mut().zip(changes) {
            *all = all.saturating_sub(before).saturating_add(after);
        }
        self.saved = replace(self.saved, before.saved, after.saved);
    }

    /// The number of workloads with a schedule, valid or not.
    fn total(&self) -> u128 {
        let by_phase: u128 = self.counts[..PHASES].iter().sum();
        by_phase + self.counts[PHASES + Count::Invalid as usize]
    }
}

impl AddAssign<&Self> for States {
    fn add_assign(&mut self, more: &Self) {
        self.replace(&Self::default(), more);
    }
}

/// Sorts names by the number of their workloads, those with the most first: they get a series of their own.
pub(super) fn largest_first(states: BTreeMap<Arc<str>, States>) -> Vec<(Arc<str>, States)> {
    let mut states: Vec<_> = states.into_iter().collect();
    states.sort_by_key(|(_, states)| Reverse(states.total()));
    states
}

/// The gauges of the states that are no phases.
pub(super) const GAUGES: [StateGauge; 4] = [
    (
        "dayshift_invalid_schedules",
        "Workloads whose schedule is rejected.",
        Count::Invalid,
    ),
    (
        "dayshift_excluded_workloads",
        "Workloads that dayshift/exclude keeps from the schedule that they have or inherit.",
        Count::Excluded,
    ),
    (
        "dayshift_workloads_stopped_against_schedule",
        "Workloads that dayshift keeps stopped although their schedule requires them to run.",
        Count::AgainstSchedule,
    ),
    (
        "dayshift_running_replicas",
        "Replicas of workloads with a schedule that run now.",
        Count::RunningReplicas,
    ),
];

/// Encodes a gauge of the number of workloads in each of these phases, for each label value.
pub(super) fn encode_phases<'s>(
    encoder: &mut DescriptorEncoder<'_>,
    label: Option<&str>,
    (name, help, unit): Description<'_>,
    phases: &[Phase],
    series: impl Iterator<Item = (&'s str, &'s States)>,
) -> fmt::Result {
    let mut metric = encoder.encode_descriptor(name, help, unit, MetricType::Gauge)?;
    for (name, states) in series {
        for phase in phases {
            let own = label.map(|label| (label, name)).into_iter();
            let labels: Vec<_> = own.chain([("state", phase.name())]).collect();
            let count = usize::try_from(states.counts[*phase as usize]).unwrap_or(usize::MAX);
            let gauge = ConstGauge::new(gauge_value(count));
            gauge.encode(metric.encode_family(&labels)?)?;
        }
    }
    Ok(())
}
