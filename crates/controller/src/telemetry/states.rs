//! The number of workloads in each state, and the gauges that show it.

use std::{cmp::Reverse, collections::BTreeMap, fmt, ops::AddAssign, sync::Arc};

use dayshift_workload::{ParsedInputs, Phase, savings::StoppedCapacity};
use prometheus_client::{
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{MetricType, gauge::ConstGauge},
};

use crate::telemetry::{series::Description, shapes::gauge_value, snapshot::ObjectSnapshot};

/// The name, the help and the value of a gauge.
pub(super) type StateGauge = (&'static str, &'static str, fn(&States) -> usize);

/// The number of workloads in each state.
#[derive(Debug, Default)]
pub(crate) struct States {
    by_phase: BTreeMap<Phase, usize>,
    /// Workloads with an invalid schedule.
    pub(crate) invalid: usize,
    /// Workloads with `dayshift/exclude` and a schedule of their own or an inherited one.
    excluded: usize,
    /// Workloads that are kept stopped although their schedule requires them to run.
    against_schedule: usize,
    /// Running replicas of workloads with a valid schedule.
    running_replicas: usize,
}

impl States {
    /// Counts a workload.
    pub(super) fn add(&mut self, object: &ObjectSnapshot) {
        match &*object.parsed {
            ParsedInputs::Unscheduled => {
                self.excluded += usize::from(object.inputs.has_schedule());
            }
            ParsedInputs::Invalid(_) => self.invalid += 1,
            ParsedInputs::Scheduled(_) => {
                if let Some(phase) = object.state.phase {
                    self.add_phase(phase);
                }
                let running = StoppedCapacity::new(object.replicas, object.footprint).replicas;
                let running = usize::try_from(running).unwrap_or(usize::MAX);
                self.running_replicas = self.running_replicas.saturating_add(running);
            }
        }
        self.against_schedule += usize::from(object.is_against_schedule());
    }

    /// Counts a workload in a phase only.
    pub(super) fn add_phase(&mut self, phase: Phase) {
        *self.by_phase.entry(phase).or_default() += 1;
    }

    /// The number of workloads with a schedule, valid or not.
    fn total(&self) -> usize {
        self.by_phase.values().sum::<usize>() + self.invalid
    }
}

impl AddAssign<&Self> for States {
    fn add_assign(&mut self, more: &Self) {
        for (phase, count) in &more.by_phase {
            *self.by_phase.entry(*phase).or_default() += count;
        }
        self.invalid += more.invalid;
        self.excluded += more.excluded;
        self.against_schedule += more.against_schedule;
        self.running_replicas = self.running_replicas.saturating_add(more.running_replicas);
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
        |states| states.invalid,
    ),
    (
        "dayshift_excluded_workloads",
        "Workloads that dayshift/exclude keeps from the schedule that they have or inherit.",
        |states| states.excluded,
    ),
    (
        "dayshift_workloads_stopped_against_schedule",
        "Workloads that dayshift keeps stopped although their schedule requires them to run.",
        |states| states.against_schedule,
    ),
    (
        "dayshift_running_replicas",
        "Replicas of workloads with a schedule that run now.",
        |states| states.running_replicas,
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
            let count = states.by_phase.get(phase).copied().unwrap_or_default();
            let gauge = ConstGauge::new(gauge_value(count));
            gauge.encode(metric.encode_family(&labels)?)?;
        }
    }
    Ok(())
}
