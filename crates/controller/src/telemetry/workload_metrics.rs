//! How many workloads are in which state, and how often something happened to some, all together or by namespace
//! or team; and which of them their schedules keep stopped, with a series for each.

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
    published::Newest,
    savings::{Savings, samples},
    shapes::{lock, whole},
    snapshot::States,
};

/// The states as they were counted last, which have a series for each namespace or team where savings
/// have.
#[derive(Clone, Debug)]
pub(super) struct StatesByNamespace {
    counted: Arc<Mutex<BTreeMap<Arc<str>, States>>>,
    savings: Savings,
}

/// What one gauge counts.
type Count = fn(&States) -> usize;

/// The namespace or team of a series, if it has one, and the states that it shows.
type Series = (Option<Arc<str>>, States);

impl StatesByNamespace {
    /// Nothing is counted yet.
    pub(super) fn new(savings: Savings) -> Self {
        Self {
            counted: Arc::default(),
            savings,
        }
    }

    /// Adds the counts by namespace.
    pub(super) fn set(&self, by_namespace: &BTreeMap<Arc<str>, States>) {
        lock(&self.counted).clone_from(by_namespace);
    }

    /// The series: of the namespaces or teams with most workloads each its own, and one of the rest.
    fn series(&self, are_each: bool) -> Vec<Series> {
        let counted = lock(&self.counted).clone();
        if !are_each {
            let all = counted.into_values();
            return vec![(None, all.fold(States::default(), |sum, it| sum.and(&it)))];
        }
        let mut each: BTreeMap<Arc<str>, States> = BTreeMap::new();
        for (namespace, states) in &counted {
            let it = each.entry(self.savings.series_of(namespace)).or_default();
            *it = mem::take(it).and(states);
        }
        let largest = largest(each).into_iter();
        largest.map(|(name, it)| (Some(name), it)).collect()
    }
}

/// Those with most workloads, and one of the rest. A user or namespace with the name of the rest is part of it.
fn largest(mut each: BTreeMap<Arc<str>, States>) -> Vec<(Arc<str>, States)> {
    let namesake = each.remove(OTHER);
    let mut each: Vec<_> = each.into_iter().collect();
    each.sort_by_key(|(_, it)| std::cmp::Reverse(it.all()));
    let rest = each.split_off(each.len().min(MAX_SERIES)).into_iter();
    let rest = rest.map(|(_, it)| it).chain(namesake);
    let rest = rest.reduce(|sum, it| sum.and(&it));
    each.extend(rest.map(|it| (OTHER.into(), it)));
    each
}

impl Collector for StatesByNamespace {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let label = self.savings.label();
        let series = self.series(label.is_some());
        let label = label.unwrap_or_default();
        let each: Vec<_> = series
            .iter()
            .map(|(name, it)| (name.as_deref(), it))
            .collect();
        let (name, help) = ("dayshift_workloads", "Workloads with a schedule, by state.");
        let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (name, states) in &each {
            for phase in Phase::ALL {
                let own = name.map(|name| (label, name)).into_iter();
                let labels: Vec<_> = own.chain([("state", phase.name())]).collect();
                let gauge = ConstGauge::new(whole(states.of(phase)));
                gauge.encode(metric.encode_family(&labels)?)?;
            }
        }
        let gauges: [(&str, &str, Count); 4] = [
            (
                "dayshift_invalid_schedules",
                "Workloads whose schedule is rejected.",
                |it| it.invalid,
            ),
            (
                "dayshift_excluded_workloads",
                "Workloads that dayshift/exclude keeps from the schedule that they have or inherit.",
                |it| it.excluded,
            ),
            (
                "dayshift_workloads_stopped_against_schedule",
                "Workloads that dayshift keeps stopped although their schedule requires them to run.",
                |it| it.against_schedule,
            ),
            (
                "dayshift_running_replicas",
                "Replicas of workloads with a schedule that run now.",
                |it| it.running_replicas,
            ),
        ];
        for (name, help, of) in gauges {
            let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            samples(metric, label, &each, |it| ConstGauge::new(whole(of(it))))?;
        }
        Ok(())
    }
}

/// Counts by namespace or by series.
type Counted = BTreeMap<Arc<str>, u64>;

/// Counts what happens to workloads, all together, or by namespace or team where savings are.
///
/// A series ends with the last scheduled workload of its namespace or team, and begins at zero if one returns,
/// which Prometheus treats as a restart. The series of all others never ends and never falls.
#[derive(Clone, Debug)]
pub(crate) struct NamespaceCounter {
    name: &'static str,
    help: &'static str,
    /// Since the last scrape, by namespace: the controller never waits for a scrape.
    waiting: Arc<Mutex<Counted>>,
    /// Until the last scrape, by series: of the team that a namespace had when it was scraped.
    series: Arc<Mutex<Counted>>,
    savings: Savings,
}

impl NamespaceCounter {
    /// No counts yet. `name` is without `_total`.
    pub(super) fn new(name: &'static str, help: &'static str, savings: Savings) -> Self {
        Self {
            name,
            help,
            waiting: Arc::default(),
            series: Arc::new(Mutex::new([(OTHER.into(), 0)].into())),
            savings,
        }
    }

    /// It happened to so many workloads of a namespace.
    pub(crate) fn count(&self, namespace: &Arc<str>, workloads: u64) {
        let mut waiting = lock(&self.waiting);
        let has_room = waiting.len() < MAX_KNOWN || waiting.contains_key(namespace);
        let key = has_room.then(|| Arc::clone(namespace));
        *waiting
            .entry(key.unwrap_or_else(|| OTHER.into()))
            .or_default() += workloads;
    }

    /// How many namespaces wait for a scrape.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        lock(&self.waiting).len()
    }

    /// Adds the counts since the last scrape, and the namespaces with a schedule, of which the
    /// first come have a series each.
    ///
    /// Each series begins at zero, so that Prometheus' `increase()` sees its first count too: counts
    /// from before the series wait for the next scrape.
    pub(super) fn take_in<'a>(&self, scheduled: impl Iterator<Item = &'a Arc<str>>) {
        let waiting = mem::take(&mut *lock(&self.waiting));
        let mut named: BTreeSet<_> = scheduled.map(|it| self.savings.series_of(it)).collect();
        named.insert(OTHER.into());
        let mut series = lock(&self.series);
        let mut unseen = Vec::new();
        for (namespace, count) in waiting {
            let name = self.savings.series_of(&namespace);
            match series.get_mut(&name) {
                Some(shown) => *shown += count,
                None => unseen.push((namespace, Arc::clone(&name), count)),
            }
            named.insert(name);
        }
        series.retain(|name, _| named.contains(name));
        for name in named {
            if series.len() <= MAX_SERIES {
                series.entry(name).or_default();
            }
        }
        for (namespace, name, count) in unseen {
            if series.contains_key(&name) {
                self.count(&namespace, count);
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
                .map(|(it, count)| (Some(&**it), *count))
                .collect(),
        };
        samples(metric, label.unwrap_or_default(), &each, |count: &u64| {
            ConstCounter::new(*count)
        })
    }
}

/// Each published workload with a schedule, and whether it is kept stopped; nothing unless these
/// series are enabled.
#[derive(Debug)]
pub(super) struct StoppedWorkloads(pub(super) Newest);

impl Collector for StoppedWorkloads {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let newest = lock(&self.0).clone();
        let Some(objects) = newest.filter(|it| it.per_workload_metrics) else {
            return Ok(());
        };
        let each = objects.each();
        let stopped = each.filter_map(|(id, it)| Some((id, it.is_kept_stopped()?, it)));
        let mut stopped: Vec<_> = stopped.collect();
        if stopped.is_empty() {
            return Ok(());
        }
        stopped.sort_unstable_by_key(|(id, ..)| *id);
        let help = "Whether the schedule or `dayshift/sleep-until` keeps a workload stopped: 1, or 0; \
                    only with --per-workload-metrics.";
        let mut metric =
            encoder.encode_descriptor("dayshift_stopped", help, None, MetricType::Gauge)?;
        for (_, is_stopped, it) in &stopped {
            let kind = it.object.kind.to_string();
            let labels = [
                ("kind", kind.as_str()),
                ("namespace", &it.object.namespace),
                ("name", &it.object.name),
            ];
            ConstGauge::new(i64::from(*is_stopped)).encode(metric.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

/// The published workloads that an override holds, by the user who is written on it; nothing unless
/// these series are enabled.
#[derive(Debug)]
pub(super) struct OverriddenWorkloads(pub(super) Newest);

impl Collector for OverriddenWorkloads {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let newest = lock(&self.0).clone();
        let Some(objects) = newest.filter(|it| it.per_user_metrics) else {
            return Ok(());
        };
        let now = objects.now();
        let mut by_user: BTreeMap<Arc<str>, States> = BTreeMap::new();
        for (_, object) in objects.each() {
            if let Some((user, phase)) = object.overridden_by(now) {
                by_user.entry(user).or_default().add_in(phase);
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
                let gauge = ConstGauge::new(whole(states.of(phase)));
                gauge.encode(metric.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}
