//! What is saved, as metrics: how many replicas are held down now, and their time until now.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{counter::ConstCounter, gauge::ConstGauge},
    registry::Unit,
};
use tokio::time::Instant;

/// Counts the time of replicas that are held down. No step of the wall clock touches it.
#[derive(Clone, Debug, Default)]
pub(in crate::controller) struct Savings(Arc<Mutex<Held>>);

#[derive(Debug, Default)]
struct Held {
    replicas: u64,
    /// Up to when `seconds` counts; `None` before the first word.
    since: Option<Instant>,
    seconds: f64,
}

impl Held {
    fn seconds_at(&self, now: Instant) -> f64 {
        let time = self.since.map(|since| now.duration_since(since));
        #[expect(
            clippy::cast_precision_loss,
            reason = "exact for more replicas than there are"
        )]
        let more = time.unwrap_or_default().as_secs_f64() * self.replicas as f64;
        self.seconds + more
    }
}

impl Savings {
    /// From `now` on so many replicas are held down.
    pub(in crate::controller) fn held_down(&self, replicas: u64, now: Instant) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *held = Held {
            replicas,
            since: Some(now),
            seconds: held.seconds_at(now),
        };
    }
}

impl Collector for Savings {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let (replicas, seconds) = {
            let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            (held.replicas, held.seconds_at(Instant::now()))
        };
        let now = ConstGauge::new(replicas);
        now.encode(encoder.encode_descriptor(
            "dayshift_held_down_replicas",
            "Replicas that would run now without the schedules, and do not.",
            None,
            now.metric_type(),
        )?)?;
        let total = ConstCounter::new(seconds);
        let help = "The time of replicas that would have run without the schedules, and did not.";
        total.encode(encoder.encode_descriptor(
            "dayshift_saved_replica",
            help,
            Some(&Unit::Seconds),
            total.metric_type(),
        )?)
    }
}
