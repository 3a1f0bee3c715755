//! Which workloads their schedules keep stopped, as a metric with a series for each.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{MetricType, gauge::ConstGauge},
};

use crate::controller::ids::Id;
use crate::workload::WorkloadRef;

/// Each workload with a schedule, and whether it is kept stopped; empty where nobody asked for it.
#[derive(Clone, Debug, Default)]
pub(super) struct StoppedWorkloads(Arc<Mutex<BTreeMap<Id, (WorkloadRef, bool)>>>);

impl StoppedWorkloads {
    /// These are others than before, or have no schedule any more.
    pub(super) fn tell(&self, each: Vec<(Id, Option<(WorkloadRef, bool)>)>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, is_stopped) in each {
            match is_stopped {
                Some(is_stopped) => known.insert(id, is_stopped),
                None => known.remove(&id),
            };
        }
    }
}

impl Collector for StoppedWorkloads {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let each = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if each.is_empty() {
            return Ok(());
        }
        let help = "Whether the schedule or `dayshift/sleep-until` keeps a workload stopped: 1, or 0; \
                    only with --per-workload-metrics.";
        let mut metric =
            encoder.encode_descriptor("dayshift_stopped", help, None, MetricType::Gauge)?;
        for (object, is_stopped) in each.values() {
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
