//! What is told of all objects together: metrics, and a line of the log once it is ready.

use chrono::SecondsFormat;

use crate::workload::Phase;

use crate::controller::objects::totals::Standing;
use crate::controller::reconcile::engine::Engine;
use crate::controller::telemetry::readiness::Condition;

/// How many namespaces one line of the log names.
const MOST_NAMED: usize = 20;

impl Engine {
    /// Publishes how much is queued and, at most once a second, how many objects are in which
    /// state: counting them costs as much as there are.
    pub(in crate::controller) fn publish(&mut self) {
        self.telemetry
            .set(Condition::Permitted, self.backoff.has_every_permission());
        for (lane, depth) in self.queues.depths() {
            self.telemetry.queue_depth(lane, depth);
        }
        self.telemetry.queue_depth("event", self.events.len());
        let now = self.clock.now();
        if self.overdue.is_due(now) || self.index.must_count(now) {
            self.census.note_change();
        }
        if self.census.take(self.clock.monotonic()) {
            self.count_workloads();
            self.telemetry.next_boundary(self.boundaries.next());
        }
        if !self.said_ready && self.telemetry.is_ready() {
            self.said_ready = true;
            self.say_ready();
        }
    }

    /// One line for who has just started it: what it has found, and when something happens.
    fn say_ready(&mut self) {
        let totals = self.index.totals(self.clock.now());
        let (scheduled, invalid) = (totals.scheduled(), totals.standing(Standing::Invalid));
        let next = self.boundaries.next();
        let next = next.map(|at| at.to_rfc3339_opts(SecondsFormat::Secs, true));
        tracing::info!(scheduled, invalid, next, "ready");
        if self.settings.default_schedule.is_some() {
            let by_default = self.index.by_default();
            let objects = by_default.values().sum::<usize>();
            let each = by_default.iter().take(MOST_NAMED);
            let each: Vec<_> = each
                .map(|(name, count)| format!("{name} ({count})"))
                .collect();
            tracing::info!(
                objects,
                namespaces = by_default.len(),
                "by the default schedule: {}{}",
                each.join(", "),
                if by_default.len() > MOST_NAMED {
                    ", …"
                } else {
                    ""
                }
            );
        }
    }

    fn count_workloads(&mut self) {
        let now = self.clock.now();
        let invalid_namespaces = self.index.invalid_namespaces();
        let totals = self.index.totals(now);
        for phase in Phase::ALL {
            let count = totals.standing(Standing::In(phase));
            self.telemetry.workloads(phase.name(), count);
        }
        self.telemetry.problems(
            totals.standing(Standing::Invalid),
            invalid_namespaces,
            totals.against_schedule(),
        );
        self.telemetry.held_down(
            totals.held_down(),
            totals.without_requests(),
            self.settings.per_namespace_metrics,
            self.clock.monotonic(),
        );
        let deadlines = totals.deadlines().clone();
        let stopped = self.index.take_stopped();
        if self.settings.per_workload_metrics {
            self.telemetry.stopped(stopped);
        }
        let first = || self.index.first_overdue(now);
        self.overdue.note(&deadlines, now, first);
        self.telemetry.deadlines(deadlines, self.clock.clock());
    }
}
