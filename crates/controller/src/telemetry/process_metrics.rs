//! The `process_…` metrics of Prometheus' own client libraries: CPU time, memory and the start time.
//! They are read from `/proc` at each scrape. Without `/proc`, only the start time is published.

use std::{fmt, fs};

use chrono::{DateTime, Utc};
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{counter::ConstCounter, gauge::ConstGauge},
    registry::Unit,
};

/// The clock ticks per second in `/proc` (`USER_HZ` of Linux), which do not depend on the kernel's
/// timer frequency.
const TICKS: f64 = 100.0;

#[derive(Debug)]
pub(crate) struct ProcessMetrics {
    pub(crate) started: DateTime<Utc>,
}

impl Collector for ProcessMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let (seconds, bytes) = (Some(&Unit::Seconds), Some(&Unit::Bytes));
        if let Some(cpu) = cpu_seconds() {
            let help = "User and system CPU time spent.";
            sample(
                &mut encoder,
                "process_cpu",
                help,
                seconds,
                &ConstCounter::new(cpu),
            )?;
        }
        if let Some(memory) = resident_bytes() {
            let (name, help) = ("process_resident_memory", "Memory that is resident.");
            sample(&mut encoder, name, help, bytes, &ConstGauge::new(memory))?;
        }
        #[expect(
            clippy::cast_precision_loss,
            reason = "exact for the next 285,000 years"
        )]
        let start = ConstGauge::new(self.started.timestamp_millis() as f64 / 1e3);
        let help = "When the program started, since the Unix epoch.";
        sample(&mut encoder, "process_start_time", help, seconds, &start)
    }
}

fn sample(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    unit: Option<&Unit>,
    metric: &impl EncodeMetric,
) -> fmt::Result {
    metric.encode(encoder.encode_descriptor(name, help, unit, metric.metric_type())?)
}

/// Fields 14 and 15 of `/proc/self/stat` (proc_pid_stat(5)), user and system time. Fields are counted
/// from the last `)`, because the program name in parentheses can contain spaces and parentheses.
fn cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_ascii_whitespace().skip(11);
    let user: u32 = fields.next()?.parse().ok()?;
    let system: u32 = fields.next()?.parse().ok()?;
    Some((f64::from(user) + f64::from(system)) / TICKS)
}

/// `VmRSS` in `/proc/self/status` (proc_pid_status(5)), whose unit is 1,024 bytes.
fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_and_memory_of_the_test_are_plausible() {
        let memory = resident_bytes().unwrap();
        assert!((1 << 20..1 << 32).contains(&memory), "{memory}");
        assert!((0.0..3600.0).contains(&cpu_seconds().unwrap()));
    }
}
