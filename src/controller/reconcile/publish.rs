//! Publishing the state of the controller, and the objects that have changed.

use std::sync::Arc;

use chrono::{DateTime, SecondsFormat, Utc};
use tokio::task::spawn_blocking;
use tracing::dispatcher;

use crate::controller::reconcile::engine::Engine;
use crate::controller::telemetry::published::Counts;
use crate::controller::telemetry::readiness::Condition;

/// How many namespaces one log line names.
const MAX_NAMED: usize = 20;

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
        let log = dispatcher::get_default(Clone::clone);
        spawn_blocking(move || {
            let counts = objects.count();
            dispatcher::with_default(&log, || log_ready(&counts, next, has_default));
        });
    }
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
