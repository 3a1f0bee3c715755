//! Which workloads their schedules keep stopped, as a metric with a series for each.

use std::fmt;

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{MetricType, gauge::ConstGauge},
};

use crate::controller::telemetry::published::Newest;
use crate::controller::telemetry::shapes::lock;

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
