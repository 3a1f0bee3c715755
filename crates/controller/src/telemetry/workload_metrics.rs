//! The metrics of workloads: gauges of their states, counters of notices and reverts, and the optional
//! series for each workload and each user. Gauges and counters are published as one sum, by namespace
//! or by team, as savings are ([`Savings::label`]).

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, mem,
    sync::{Arc, Mutex},
};

use dayshift_workload::Phase;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{MetricType, counter::ConstCounter, gauge::ConstGauge},
};

use super::by_namespace::{MAX_KNOWN, MAX_SERIES, OTHER};
use crate::telemetry::{
    published::LatestObjects,
    savings::{Savings, samples},
    shapes::{gauge_value, lock},
    snapshot::States,
};

/// The number of workloads in each state at the last scrape. Has a series for each namespace or team
/// if savings have.
#[derive(Clone, Debug)]
pub(super) struct StatesByNamespace {
    counted: Arc<Mutex<BTreeMap<Arc<str>, States>>>,
    savings: Savings,
}

/// Returns the value of one gauge.
type GaugeValue = fn(&States) -> usize;

/// The namespace or team in the label of a series, if it has a label, and the values of the series.
type StateSeries = (Option<Arc<str>>, States);

impl StatesByNamespace {
    /// Creates the collector without counts.
    pub(super) fn new(savings: Savings) -> Self {
        Self {
            counted: Arc::default(),
            savings,
        }
    }

    /// Replaces the counts, which are by namespace.
    pub(super) fn set(&self, by_namespace: &BTreeMap<Arc<str>, States>) {
        lock(&self.counted).clone_from(by_namespace);
    }

    /// Returns the sum of all namespaces.
    fn sum(&self) -> StateSeries {
        let all = lock(&self.counted).clone().into_values();
        let sum = all.fold(States::default(), |sum, states| sum.plus(&states));
        (None, sum)
    }

    /// Returns a series for each of the namespaces or teams with the most workloads, and one for the
    /// rest.
    fn each_series(&self) -> Vec<StateSeries> {
        let counted = lock(&self.counted).clone();
        let mut each: BTreeMap<Arc<str>, States> = BTreeMap::new();
        for (namespace, states) in &counted {
            let sum = each.entry(self.savings.series_of(namespace)).or_default();
            *sum = mem::take(sum).plus(states);
        }
        let largest = largest(each).into_iter();
        largest.map(|(name, states)| (Some(name), states)).collect()
    }
}

/// Returns the [`MAX_SERIES`] entries with the most workloads, and one entry named [`OTHER`] for the
/// rest. A user or namespace that is itself named [`OTHER`] is counted in the rest.
fn largest(mut each: BTreeMap<Arc<str>, States>) -> Vec<(Arc<str>, States)> {
    let named_other = each.remove(OTHER);
    let mut each: Vec<_> = each.into_iter().collect();
    each.sort_by_key(|(_, states)| std::cmp::Reverse(states.total()));
    let rest = each.split_off(each.len().min(MAX_SERIES)).into_iter();
    let rest = rest.map(|(_, states)| states).chain(named_other);
    let rest = rest.reduce(|sum, states| sum.plus(&states));
    each.extend(rest.map(|sum| (OTHER.into(), sum)));
    each
}

impl Collector for StatesByNamespace {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let label = self.savings.label();
        let series = match label {
            Some(_) => self.each_series(),
            None => vec![self.sum()],
        };
        let label = label.unwrap_or_default();
        let each: Vec<_> = series
            .iter()
            .map(|(name, states)| (name.as_deref(), states))
            .collect();
        let (name, help) = ("dayshift_workloads", "Workloads with a schedule, by state.");
        let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (name, states) in &each {
            for phase in Phase::ALL {
                let own = name.map(|name| (label, name)).into_iter();
                let labels: Vec<_> = own.chain([("state", phase.name())]).collect();
                let gauge = ConstGauge::new(gauge_value(states.in_phase(phase)));
                gauge.encode(metric.encode_family(&labels)?)?;
            }
        }
        let gauges: [(&str, &str, GaugeValue); 4] = [
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
        for (name, help, count) in gauges {
            let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            samples(metric, label, &each, |states| {
                ConstGauge::new(gauge_value(count(states)))
            })?;
        }
        Ok(())
    }
}

/// Counts by namespace or by series.
type CountsByName = BTreeMap<Arc<str>, u64>;

/// A counter of events of workloads, such as stop notices. Has a series for each namespace or team if
/// savings have.
///
/// A series ends with the last scheduled workload of its namespace or team. If a workload returns, the
/// series begins at zero again, which Prometheus treats as a restart. The series [`OTHER`] never ends
/// and never decreases.
#[derive(Clone, Debug)]
pub(crate) struct NamespaceCounter {
    name: &'static str,
    help: &'static str,
    /// The counts since the last scrape, by namespace. They are kept apart from `series` so that the
    /// controller never waits for a scrape.
    pending: Arc<Mutex<CountsByName>>,
    /// The counts until the last scrape, by series. A count belongs to the team that its namespace had
    /// at the time of the scrape.
    series: Arc<Mutex<CountsByName>>,
    savings: Savings,
}

impl NamespaceCounter {
    /// Creates a counter at zero. `name` is without `_total`.
    pub(super) fn new(name: &'static str, help: &'static str, savings: Savings) -> Self {
        Self {
            name,
            help,
            pending: Arc::default(),
            series: Arc::new(Mutex::new([(OTHER.into(), 0)].into())),
            savings,
        }
    }

    /// Counts one event for each of `workloads` workloads of a namespace.
    pub(crate) fn add(&self, namespace: &Arc<str>, workloads: u64) {
        let mut pending = lock(&self.pending);
        let has_room = pending.len() < MAX_KNOWN || pending.contains_key(namespace);
        let key = has_room.then(|| Arc::clone(namespace));
        *pending
            .entry(key.unwrap_or_else(|| OTHER.into()))
            .or_default() += workloads;
    }

    /// The number of namespaces with counts since the last scrape.
    #[cfg(test)]
    pub(super) fn pending(&self) -> usize {
        lock(&self.pending).len()
    }

    /// Moves the counts since the last scrape to the series. `scheduled` are the namespaces with
    /// schedules: the first [`MAX_SERIES`] of them have a series of their own.
    ///
    /// Each series begins at zero, so that Prometheus' `increase()` includes its first count. Therefore
    /// counts of a new series are kept for the next scrape.
    pub(super) fn collect<'a>(&self, scheduled: impl Iterator<Item = &'a Arc<str>>) {
        let pending = mem::take(&mut *lock(&self.pending));
        let scheduled = scheduled.map(|namespace| self.savings.series_of(namespace));
        let mut named: BTreeSet<_> = scheduled.collect();
        named.insert(OTHER.into());
        let mut series = lock(&self.series);
        let mut new = Vec::new();
        for (namespace, count) in pending {
            let name = self.savings.series_of(&namespace);
            match series.get_mut(&name) {
                Some(total) => *total += count,
                None => new.push((namespace, Arc::clone(&name), count)),
            }
            named.insert(name);
        }
        series.retain(|name, _| named.contains(name));
        for name in named {
            if series.len() <= MAX_SERIES {
                series.entry(name).or_default();
            }
        }
        for (namespace, name, count) in new {
            if series.contains_key(&name) {
                self.add(&namespace, count);
            } else {
                *series.entry(OTHER.into()).or_default() += count;
            }
        }
    }
}

impl Collector for NamespaceCounter {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let metric = encoder.encode_descriptor(self.name, self.help, None, MetricType::Counter)?;
        let label = self.savings.label();
        let series = lock(&self.series);
        let each: Vec<_> = match label {
            None => vec![(None, series.values().sum())],
            Some(_) => series
                .iter()
                .map(|(name, count)| (Some(&**name), *count))
                .collect(),
        };
        samples(metric, label.unwrap_or_default(), &each, |count: &u64| {
            ConstCounter::new(*count)
        })
    }
}

/// Collects a series for each published workload with a schedule, if `--per-workload-metrics` is set:
/// whether it is kept stopped.
#[derive(Debug)]
pub(super) struct StoppedWorkloads(pub(super) LatestObjects);

impl Collector for StoppedWorkloads {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let latest = lock(&self.0).clone();
        let Some(objects) = latest.filter(|objects| objects.per_workload_metrics) else {
            return Ok(());
        };
        let each = objects.each();
        let stopped = each.filter_map(|(id, object)| Some((id, object.is_kept_stopped()?, object)));
        let mut stopped: Vec<_> = stopped.collect();
        if stopped.is_empty() {
            return Ok(());
        }
        stopped.sort_unstable_by_key(|(id, ..)| *id);
        let help = "Whether the schedule or `dayshift/sleep-until` keeps a workload stopped: 1, or 0; \
                    only with --per-workload-metrics.";
        let mut metric =
            encoder.encode_descriptor("dayshift_stopped", help, None, MetricType::Gauge)?;
        for (_, is_stopped, snapshot) in &stopped {
            let object = &snapshot.object;
            let kind = object.kind.to_string();
            let labels = [
                ("kind", kind.as_str()),
                ("namespace", &object.namespace),
                ("name", &object.name),
            ];
            ConstGauge::new(i64::from(*is_stopped)).encode(metric.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

/// Collects the number of published workloads with an active override for each user in
/// `dayshift/override-by`, if `--per-user-metrics` is set.
#[derive(Debug)]
pub(super) struct OverriddenWorkloads(pub(super) LatestObjects);

impl Collector for OverriddenWorkloads {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let latest = lock(&self.0).clone();
        let Some(objects) = latest.filter(|objects| objects.per_user_metrics) else {
            return Ok(());
        };
        let now = objects.now();
        let mut by_user: BTreeMap<Arc<str>, States> = BTreeMap::new();
        for (_, object) in objects.each() {
            if let Some((user, phase)) = object.overridden_by(now) {
                by_user.entry(user).or_default().add_phase(phase);
            }
        }
        let (name, help) = (
            "dayshift_overridden_workloads",
            "Workloads with an override, by the user in dayshift/override-by; only with --per-user-metrics.",
        );
        let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (user, states) in largest(by_user) {
            for phase in [Phase::Woken, Phase::Slept, Phase::Paused] {
                let labels = [("user", &*user), ("state", phase.name())];
                let gauge = ConstGauge::new(gauge_value(states.in_phase(phase)));
                gauge.encode(metric.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}
