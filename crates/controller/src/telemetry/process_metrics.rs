//! What the program costs the machine it runs on, under the names that Prometheus' own client
//! libraries use (`process_…`). Read at each scrape; where there is no `/proc`, only the start.

use std::{fmt, fs};

use chrono::{DateTime, Utc};
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{counter::ConstCounter, gauge::ConstGauge},
    registry::Unit,
};

/// Clock ticks in a second, as Linux shows them to programs: 100 whatever the kernel's own rate.
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

/// From `/proc/self/stat` (proc_pid_stat(5)): fields 14 and 15, counted behind the name in
/// brackets, which may itself hold blanks and brackets.
fn cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let (_, behind_name) = stat.rsplit_once(')')?;
    let mut fields = behind_name.split_ascii_whitespace().skip(11);
    let user: u32 = fields.next()?.parse().ok()?;
    let system: u32 = fields.next()?.parse().ok()?;
    Some((f64::from(user) + f64::from(system)) / TICKS)
}

/// `VmRSS` of `/proc/self/status` (proc_pid_status(5)), which is in units of 1,024 bytes.
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
    fn a_running_test_costs_something_plausible() {
        let memory = resident_bytes().unwrap();
        assert!((1 << 20..1 << 32).contains(&memory), "{memory}");
        assert!((0.0..3600.0).contains(&cpu_seconds().unwrap()));
    }
}
