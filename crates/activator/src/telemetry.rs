//! The metrics and readiness of an activator.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use dayshift_text::named_enum;
use prometheus_client::{
    encoding::text,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Metric, Registry, Unit},
};
use tokio::time::Instant;

named_enum! {
    /// How a connection ended.
    pub enum ConnectionOutcome {
        /// Forwarded, and closed regularly.
        HandedOn = "handed_on",
        /// Forwarded, and ended by an error.
        Cut = "cut",
        /// A browser got the page that reloads.
        Page = "page",
        /// A visitor of the page has kept a workload awake.
        Kept = "kept",
        /// A probe or an ignored path.
        Ignored = "ignored",
        /// A heartbeat got a response with status 200.
        Answered = "answered",
        /// The client disconnected without sending anything.
        Silent = "silent",
        /// The client disconnected before a pod was ready.
        Left = "left",
        /// The workload cannot be woken.
        Refused = "refused",
        /// No pod became ready in time.
        TimedOut = "timed_out",
        /// A connection limit was reached.
        Full = "full",
    }
}

/// A counter by outcome. None is counted by namespace, because users can create any number of those.
type ByOutcome = Family<[(&'static str, &'static str); 1], Counter>;

/// The metrics and readiness of one activator.
#[derive(Debug)]
pub struct Telemetry {
    registry: Registry,
    is_ready: AtomicBool,
    connections: ByOutcome,
    wakes: Counter,
    prolongs: Counter,
    wake_failures: Counter,
    slice_writes: ByOutcome,
    open: Gauge,
    services: Gauge,
    ports_missing: Gauge,
    hold: Histogram,
}

impl Default for Telemetry {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("dayshift_activator");
        let hold = Histogram::new([
            0.01, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0,
        ]);
        let help = "From a connection to its pod";
        registry.register_with_unit("hold", help, Unit::Seconds, hold.clone());
        Self {
            is_ready: AtomicBool::new(false),
            connections: registered(
                &mut registry,
                "connections",
                "Connections that have ended, by outcome",
            ),
            wakes: registered(&mut registry, "wakes", "Workloads that a request has woken"),
            prolongs: registered(
                &mut registry,
                "prolonged_wakes",
                "Wakes that use or a visitor of the page has prolonged",
            ),
            wake_failures: registered(
                &mut registry,
                "wake_failures",
                "Wakes that the API server did not accept",
            ),
            slice_writes: registered(
                &mut registry,
                "slice_writes",
                "EndpointSlices that were written or deleted, by outcome",
            ),
            open: registered(
                &mut registry,
                "open_connections",
                "Connections that are open",
            ),
            services: registered(
                &mut registry,
                "services",
                "Services that the activator covers",
            ),
            ports_missing: registered(
                &mut registry,
                "ports_missing",
                "Ports of Services on which the activator cannot listen, because none is free or it cannot be opened",
            ),
            hold,
            registry,
        }
    }
}

fn registered<M: Metric + Clone + Default>(registry: &mut Registry, name: &str, help: &str) -> M {
    let metric = M::default();
    registry.register(name, help, metric.clone());
    metric
}

fn count(counter: &ByOutcome, outcome: &'static str) {
    counter.get_or_create(&[("outcome", outcome)]).inc();
}

impl Telemetry {
    pub(crate) fn ended(&self, outcome: ConnectionOutcome) {
        count(&self.connections, outcome.name());
    }

    /// Records the time from accepting a connection, with this deadline, to its pod.
    pub(crate) fn handed_on(&self, deadline: Instant, hold: Duration) {
        let left = deadline.saturating_duration_since(Instant::now());
        self.hold.observe(hold.saturating_sub(left).as_secs_f64());
    }

    pub(crate) fn woken(&self) {
        self.wakes.inc();
    }

    pub(crate) fn prolonged(&self) {
        self.prolongs.inc();
    }

    pub(crate) fn not_woken(&self) {
        self.wake_failures.inc();
    }

    /// Counts a write or deletion of an EndpointSlice.
    pub(crate) fn slice_written(&self, is_done: bool) {
        let outcome = if is_done { "done" } else { "failed" };
        count(&self.slice_writes, outcome);
    }

    /// Sets the numbers of Services, of open connections, and of ports on which the activator cannot listen.
    pub(crate) fn set_counts(&self, services: usize, open: usize, ports_missing: usize) {
        for (gauge, count) in [
            (&self.services, services),
            (&self.open, open),
            (&self.ports_missing, ports_missing),
        ] {
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
    }

    pub(crate) fn set_ready(&self, is_ready: bool) {
        self.is_ready.store(is_ready, Ordering::Relaxed);
    }

    /// Whether all objects are known and connections can be accepted.
    pub fn is_ready(&self) -> bool {
        self.is_ready.load(Ordering::Relaxed)
    }

    /// The metrics as OpenMetrics 1.0.
    pub fn render(&self) -> String {
        let mut text = String::new();
        // Writing to a String never fails.
        let _ = text::encode(&mut text, &self.registry);
        text
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn documentation_lists_each_metric_with_its_type() {
        let page = include_str!("../../../docs/guides/wake-on-request.md");
        let rows = page
            .lines()
            .filter_map(|line| line.strip_prefix("| `dayshift_activator_"));
        let documented: BTreeSet<_> = rows
            .map(|row| {
                let mut cells = row.split(" | ");
                let name = cells.next().unwrap().trim_end_matches('`');
                (
                    name.trim_end_matches("_total").to_owned(),
                    cells.next().unwrap().to_owned(),
                )
            })
            .collect();
        let telemetry = Telemetry::default();
        telemetry.ended(ConnectionOutcome::Page);
        telemetry.woken();
        telemetry.prolonged();
        telemetry.slice_written(true);
        let text = telemetry.render();
        let types = text
            .lines()
            .filter_map(|line| line.strip_prefix("# TYPE dayshift_activator_"));
        let registered: BTreeSet<_> = types
            .map(|line| line.split_once(' ').unwrap())
            .map(|(name, kind)| (name.to_owned(), kind.to_owned()))
            .collect();
        assert_eq!(documented, registered);
    }
}
