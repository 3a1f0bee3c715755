//! What the watches show.

use kube::runtime::watcher;

use crate::{
    cluster::{Absence, Workload, redacted_chain},
    workload::Kind,
};

use crate::controller::ids::WatchId;
use crate::controller::objects::entry::Entry;
use crate::controller::objects::work::WorkState;
use crate::controller::reconcile::engine::Engine;
use crate::controller::telemetry::readiness::Condition;
use crate::controller::watch::states::News;
use crate::controller::watch::streams::Event;

impl Engine {
    /// Takes in what a watch shows.
    pub(in crate::controller) fn observe(&mut self, watch: WatchId, event: Event) {
        self.look_at_the_clock();
        let Some(kind) = self.watches.kind(watch) else {
            return;
        };
        match event {
            Ok(watcher::Event::Apply(workload) | watcher::Event::InitApply(workload)) => {
                self.observe_workload(kind, &workload, watch);
            }
            Ok(watcher::Event::Delete(workload)) => {
                // What was tried in vain may have been about this one, and is tried no more.
                self.telemetry.set(Condition::Reachable, true);
                let gone = self.index.gone(kind, &workload);
                self.forgot(gone);
            }
            Ok(watcher::Event::Init) => self.index.list_begins(watch),
            Ok(watcher::Event::InitDone) => {
                let vanished = self.index.list_ends(watch);
                self.forgot(vanished);
                self.watches.listed(watch);
                self.watches.publish(&self.telemetry);
                self.outbox.release(watch);
                tracing::debug!(%kind, "listed");
            }
            Err(error) => self.watch_failed(kind, watch, &error),
        }
    }

    /// A watch has failed, which the [`WatchStates`](crate::controller::watch::states::WatchStates) know.
    fn watch_failed(&mut self, kind: Kind, watch: WatchId, error: &watcher::Error) {
        self.telemetry.watch_restart();
        self.watches.publish(&self.telemetry);
        self.outbox.release(watch);
        let text = redacted_chain(error);
        if Absence::of(error).is_none() {
            self.telemetry.set(Condition::Reachable, false);
        }
        match self.watches.take_news(watch) {
            None => tracing::debug!(%kind, error = %text, "the watch failed again"),
            Some(News::Absent) => {
                tracing::warn!(%kind, error = %text, "the watch failed; retrying, at last once a minute");
            }
            Some(News::Failed) => {
                tracing::warn!(%kind, error = %text, "the watch failed; retrying with backoff");
            }
            Some(News::StillFails(so_far)) => {
                tracing::warn!(%kind, error = %text, "the watch still fails {so_far}; retrying with backoff");
            }
        }
    }

    fn observe_workload(&mut self, kind: Kind, workload: &Workload, watch: WatchId) {
        let seen_at = self.clock.seen_at();
        let observation = self.index.observe((kind, workload), watch, seen_at);
        self.forgot(observation.replaced);
        if let Some(id) = observation.id {
            // The answer to what is under way will tell; it would be counted twice.
            let is_in_flight = |entry: &Entry| entry.work.state() == WorkState::InFlight;
            if !self.index.get(id).is_some_and(is_in_flight) {
                self.confirm(id);
            }
            self.reconcile(id);
        }
    }
}
