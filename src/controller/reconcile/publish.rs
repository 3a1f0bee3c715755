//! Publishing the state of the controller, and the objects that have changed.

use std::sync::Arc;

use chrono::{DateTime, SecondsFormat, Utc};
use tokio::task::spawn_blocking;
use tracing::dispatcher;

use crate::controller::reconcile::engine::Engine;
use crate::controller::telemetry::published::Counts;
use crate::controller::telemetry::readiness::Condition;
use crate::plan::{NamespaceSummary, Period, Planner, Summary};

/// How many namespaces one log line names.
const MAX_NAMED: usize = 20;

/// How many days a dry run looks ahead for the next stops, as `dayshift plan` does.
const DAYS_AHEAD: u32 = 7;

impl Engine {
    /// Publishes the lengths of the queues, and the objects that have changed.
    pub(in crate::controller) fn publish(&mut self) {
        let (now, monotonic) = (self.clock.now(), self.clock.monotonic());
        self.telemetry.acted(monotonic);
        self.telemetry
            .set(Condition::Permitted, self.queue.has_every_permission());
        for (lane, depth) in self.queue.depths() {
            self.telemetry.queue_depth(lane, depth);
        }
        self.telemetry.queue_depth("event", self.events.len());
        self.telemetry.next_boundary(self.queue.next_boundary());
        let waiting = self.waits.count() + self.starting.waiting();
        self.telemetry.starts.waiting(waiting);
        self.telemetry
            .invalid_namespaces(self.index.invalid_namespaces());
        self.index.publish(&self.publisher, now, monotonic);
        if !self.said_ready && self.telemetry.is_ready() && !self.index.has_unpublished() {
            self.said_ready = true;
            self.say_ready();
        }
    }

    /// Logs, after the start, what it has found and when the next boundary is. Counting takes time,
    /// so it is done outside the controller's task.
    fn say_ready(&self) {
        let objects = Arc::clone(self.publisher.objects());
        let next = self.queue.next_boundary();
        let has_default = self.settings.default_schedule.is_some();
        let planner = self.settings.dry_run.then(|| self.planner()).flatten();
        let log = dispatcher::get_default(Clone::clone);
        spawn_blocking(move || {
            let counts = objects.count();
            dispatcher::with_default(&log, || {
                log_ready(&counts, next, has_default);
                if let Some(planner) = planner {
                    log_next_stops(&objects.summary(&planner));
                }
            });
        });
    }

    fn planner(&self) -> Option<Planner> {
        let (now, context) = (self.clock.now(), self.settings.parse_context());
        Some(Planner {
            period: Period::days(now, DAYS_AHEAD, context.default_zone).ok()?,
            context,
            prefix: self.settings.prefix.clone(),
        })
    }
}

/// Logs what a dry run has found, in a line for each namespace.
fn log_next_stops(summary: &Summary) {
    let log = |namespace: &str, it: &NamespaceSummary, message: &str| {
        tracing::info!(
            namespace,
            scheduled = it.scheduled,
            next_stop = it.next_stop_text(),
            stops = it.stops,
            replicas = it.replicas,
            lose_volumes = it.lose_volumes,
            refused = it.refused,
            "{message}"
        );
    };
    for (namespace, it) in summary.namespaces() {
        log(namespace, it, "the next stops of a namespace");
    }
    log(
        "(all)",
        &summary.all(),
        "the next stops of all; `dayshift plan -A -o summary` also counts autoscalers, operators \
         and other programs that set counts",
    );
}

fn log_ready(counts: &Counts, next: Option<DateTime<Utc>>, has_default: bool) {
    let next = next.map(|at| at.to_rfc3339_opts(SecondsFormat::Secs, true));
    let (scheduled, invalid) = (counts.scheduled, counts.invalid);
    tracing::info!(scheduled, invalid, next, "ready");
    if has_default {
        let by_default = &counts.by_default;
        let each = by_default.iter().take(MAX_NAMED);
        let each: Vec<_> = each
            .map(|(name, count)| format!("{name} ({count})"))
            .collect();
        tracing::info!(
            objects = by_default.values().sum::<usize>(),
            namespaces = by_default.len(),
            "by the default schedule: {}{}",
            each.join(", "),
            if by_default.len() > MAX_NAMED {
                ", …"
            } else {
                ""
            }
        );
    }
}
