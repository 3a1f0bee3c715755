//! The optional metrics with a series for each workload and each user.

use std::{collections::BTreeMap, fmt, sync::Arc};

use dayshift_workload::Phase;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{MetricType, gauge::ConstGauge},
};

use crate::telemetry::{
    published::LatestObjects,
    series::Series,
    shapes::lock,
    states::{States, encode_phases, largest_first},
};

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
        let mut series = Series::<States>::default();
        for (user, states) in largest_first(by_user) {
            *series.series_of(&user) += &states;
        }
        let overridden = (
            "dayshift_overridden_workloads",
            "Workloads with an override, by the user in dayshift/override-by; only with --per-user-metrics.",
            None,
        );
        let phases = [Phase::Woken, Phase::Slept, Phase::Paused];
        encode_phases(
            &mut encoder,
            Some("user"),
            overridden,
            &phases,
            series.iter(),
        )
    }
}
