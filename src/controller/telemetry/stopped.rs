//! Which workloads their schedules keep stopped, as a metric with a series for each.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{MetricType, gauge::ConstGauge},
};

use crate::workload::WorkloadRef;

/// Each workload with a schedule, and whether it is kept stopped; empty where nobody asked for it.
#[derive(Clone, Debug, Default)]
pub(super) struct StoppedWorkloads(Arc<Mutex<Vec<(WorkloadRef, bool)>>>);

impl StoppedWorkloads {
    pub(super) fn tell(&self, each: Vec<(WorkloadRef, bool)>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = each;
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
        for (object, is_stopped) in &*each {
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
