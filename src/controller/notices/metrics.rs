//! How many stops people were told of, as a metric: all together, or by namespace or team where savings are.

use std::{
    collections::BTreeMap,
    fmt, mem,
    sync::{Arc, Mutex},
};

use prometheus_client::{
    collector::Collector,
    encoding::DescriptorEncoder,
    metrics::{MetricType, counter::ConstCounter},
};

use crate::controller::telemetry::by_namespace::{MAX_SERIES, OTHER};
use crate::controller::telemetry::savings::{Savings, samples};
use crate::controller::telemetry::shapes::lock;

/// Workloads that were told of, by namespace or by series.
type Told = BTreeMap<Arc<str>, u64>;

/// Counts the workloads whose stop was told beforehand.
///
/// A series never ends and never falls: it belongs to the team that a namespace had when it was scraped.
#[derive(Clone, Debug)]
pub(in crate::controller) struct StopNotices {
    /// Since the last scrape, by namespace: the controller never waits for a scrape.
    waiting: Arc<Mutex<Told>>,
    /// Until the last scrape, by series.
    series: Arc<Mutex<Told>>,
    savings: Savings,
}

impl StopNotices {
    /// Nobody was told of anything yet.
    pub(in crate::controller) fn new(savings: Savings) -> Self {
        Self {
            waiting: Arc::default(),
            series: Arc::default(),
            savings,
        }
    }

    /// So many workloads of a namespace were told of.
    pub(super) fn count(&self, namespace: &Arc<str>, workloads: u64) {
        let mut waiting = lock(&self.waiting);
        *waiting.entry(Arc::clone(namespace)).or_default() += workloads;
    }

    /// Takes in what was counted since the last scrape. Namespaces with a schedule begin at zero, so that
    /// Prometheus' `increase()` sees their first stop too; the first come have a series each.
    pub(in crate::controller) fn take_in<'a>(&self, scheduled: impl Iterator<Item = &'a Arc<str>>) {
        let mut waiting = mem::take(&mut *lock(&self.waiting));
        for namespace in scheduled {
            waiting.entry(Arc::clone(namespace)).or_default();
        }
        let mut series = lock(&self.series);
        for (namespace, told) in waiting {
            let mut name = self.savings.series_of(&namespace);
            if series.len() >= MAX_SERIES && !series.contains_key(&name) {
                name = OTHER.into();
            }
            *series.entry(name).or_default() += told;
        }
    }
}

impl Collector for StopNotices {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Stops told beforehand, by workload.";
        let name = "dayshift_stop_notices";
        let metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        let label = self.savings.label();
        let series = lock(&self.series);
        let each: Vec<_> = match label {
            None => vec![(None, series.values().sum())],
            Some(_) => series
                .iter()
                .map(|(it, told)| (Some(&**it), *told))
                .collect(),
        };
        samples(metric, label.unwrap_or_default(), &each, |told: &u64| {
            ConstCounter::new(*told)
        })
    }
}
