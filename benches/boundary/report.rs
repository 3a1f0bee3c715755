//! The measurements of a run, as a table and as JSON.

use std::{fmt, time::Duration};

use serde::Serialize;

use super::{
    burst::{Burst, count},
    concurrency::Concurrency,
    listing::Listing,
    load::Fleet,
    namespaces::Namespaces,
    steady::Steady,
    waits::Waits,
};

/// All measurements.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    pub(crate) boundaries: Vec<Figures>,
    pub(crate) steady: Vec<Steady>,
    pub(crate) namespaces: Vec<Namespaces>,
    pub(crate) waits: Vec<Waits>,
    pub(crate) flights: Vec<Concurrency>,
}

/// One fleet. Times are in milliseconds, memory in bytes, rates in patches a second.
#[derive(Debug, Serialize)]
pub(crate) struct Figures {
    pub(crate) fleet: Fleet,
    /// The size of the first Deployment in JSON, in bytes.
    pub(crate) bytes: usize,
    pub(crate) in_flight: usize,
    /// Methods to list them, together with as many Deployments without annotations.
    pub(crate) listings: Vec<Listing>,
    /// From the start of the program until it was ready: in the first run, and in a second run, when
    /// all workloads had been adopted.
    pub(crate) ready: [f64; 2],
    /// The writes until all were adopted.
    pub(crate) adoption_writes: usize,
    pub(crate) idle: Idle,
    pub(crate) memory: Memory,
    pub(crate) rounds: Vec<Round>,
}

/// An idle period.
#[derive(Debug, Serialize)]
pub(crate) struct Idle {
    pub(crate) seconds: u64,
    /// Requests other than watches.
    pub(crate) requests: usize,
    /// Watches opened.
    pub(crate) watches: usize,
    pub(crate) cpu: f64,
}

/// Resident memory of dayshift.
#[derive(Debug, Serialize)]
pub(crate) struct Memory {
    /// The peak until it was ready.
    pub(crate) ready: u64,
    /// After the idle minute.
    pub(crate) steady: u64,
    /// The peak of the whole run.
    pub(crate) peak: u64,
    /// At the end.
    pub(crate) end: u64,
}

/// One boundary, between two passes of the baseline client.
#[derive(Debug, Serialize)]
pub(crate) struct Round {
    pub(crate) dayshift: Burst,
    /// The baseline client's rates, before and after.
    pub(crate) baseline_rates: [f64; 2],
    pub(crate) baseline_first: f64,
    pub(crate) baseline_served_p50: f64,
    /// dayshift's rate divided by the baseline client's mean rate.
    pub(crate) ratio: f64,
    /// CPU time of dayshift per transition, including its Event, in microseconds.
    pub(crate) cpu_each: f64,
}

impl Round {
    pub(crate) fn new(dayshift: Burst, baseline: [&Burst; 2], cpu: Duration) -> Self {
        let baseline_rates = baseline.map(|burst| burst.rate);
        let ratio = dayshift.rate / (f64::midpoint(baseline_rates[0], baseline_rates[1]));
        let cpu_each = cpu.as_secs_f64() * 1e6 / count(dayshift.transitions);
        Self {
            ratio,
            baseline_rates,
            baseline_first: f64::midpoint(baseline[0].first, baseline[1].first),
            baseline_served_p50: f64::midpoint(baseline[0].served_p50, baseline[1].served_p50),
            cpu_each,
            dayshift,
        }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { idle, memory, .. } = self;
        writeln!(
            f,
            "{} of {} bytes with one boundary, as many without; {} in flight",
            self.fleet, self.bytes, self.in_flight
        )?;
        for listing in &self.listings {
            writeln!(f, "{listing}")?;
        }
        writeln!(
            f,
            "ready after            {:8.0} ms; {:.0} ms if all were adopted before",
            self.ready[0], self.ready[1]
        )?;
        writeln!(f, "writes to adopt        {:8}", self.adoption_writes)?;
        writeln!(
            f,
            "idle for {:3} s         {:8} requests, {} watches, {:.0} ms of CPU",
            idle.seconds, idle.requests, idle.watches, idle.cpu
        )?;
        writeln!(
            f,
            "memory                 {:8.1} MB peak ({:.1} until ready), {:.1} steady, {:.1} at the end",
            megabytes(memory.peak),
            megabytes(memory.ready),
            megabytes(memory.steady),
            megabytes(memory.end)
        )?;
        for (number, round) in self.rounds.iter().enumerate() {
            writeln!(f, "boundary {}", number + 1)?;
            round.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let burst = &self.dayshift;
        writeln!(
            f,
            "  lateness             first {:.1} ms, p50 {:.0} ms, p99 {:.0} ms, last {:.0} ms",
            burst.first, burst.p50, burst.p99, burst.last
        )?;
        writeln!(
            f,
            "  last response        {:8.0} ms, {:.0}/s; served in {:.1} ms (p50)",
            burst.answered, burst.rate, burst.served_p50
        )?;
        writeln!(
            f,
            "  baseline client      {:8.0}/s before, {:.0}/s after; first {:.1} ms; served in {:.1} ms",
            self.baseline_rates[0],
            self.baseline_rates[1],
            self.baseline_first,
            self.baseline_served_p50
        )?;
        writeln!(f, "  dayshift / baseline  {:8.0} %", self.ratio * 100.0)?;
        let transitions = count(burst.transitions);
        writeln!(
            f,
            "  per transition       {:8.2} writes, {:.2} reads, {:.2} Events, {:.0} µs of CPU",
            count(burst.patches) / transitions,
            count(burst.reads) / transitions,
            count(burst.events) / transitions,
            self.cpu_each
        )?;
        writeln!(
            f,
            "  responses            {:8} successful, {} conflicts, {} with 429, {} other errors",
            burst.transitions, burst.conflicts, burst.too_many, burst.failures
        )?;
        writeln!(f, "  last Event response  {:8.0} ms", burst.events_answered)
    }
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "list {:17} {:8.0} ms, {:.0} ms of CPU, {:.1} MB peak ({:.1} before)",
            format!("{:?}", self.way),
            self.took,
            self.cpu,
            megabytes(self.peak),
            megabytes(self.before)
        )
    }
}

/// In units of 1,000,000 bytes.
fn megabytes(bytes: u64) -> f64 {
    f64::from(u32::try_from(bytes / 1000).unwrap()) / 1e3
}
