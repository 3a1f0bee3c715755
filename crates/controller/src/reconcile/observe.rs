//! Watch events.

use dayshift_cluster::{
    Workload,
    connect::redacted_chain,
    decode::Version,
    read::{NamespaceMeta, ObservedNamespace},
    watch::{ReflectorEvent, WatchError},
    write::{EventObject, ReadError},
};
use dayshift_schedule::Calendars;
use dayshift_workload::{Dependency, Kind, events::EventText};
use kube::ResourceExt as _;

use crate::{
    ids::WatchId,
    objects::{entry::Entry, history::VersionQuestion, shown_by::ShownBy},
    queue::work::WorkState,
    reconcile::engine::Engine,
    settings::Watched,
    telemetry::readiness::Condition,
    watch::{states::News, streams::Event},
};

impl Engine {
    /// Takes in a watch event.
    pub(crate) fn observe(&mut self, watch: WatchId, event: Event) {
        self.look_at_the_clock();
        match event {
            Event::Workload(kind, event) => self.observe_kind(kind, watch, event),
            Event::Namespace(event) => self.observe_namespaces(watch, event),
            Event::Slice(event) => self.observe_slices(watch, event),
        }
    }

    fn observe_kind(&mut self, kind: Kind, watch: WatchId, event: ReflectorEvent<Workload>) {
        match event {
            ReflectorEvent::Opened { early } => {
                self.opened(watch);
                if let Some(version) = early {
                    let namespace = self.watches.namespace(watch);
                    let question = VersionQuestion {
                        kind,
                        namespace,
                        version,
                    };
                    self.index.history.ask(question, self.clock.monotonic());
                }
            }
            ReflectorEvent::Failed(error) => {
                self.watch_failed(Watched::Kind(kind), watch, &error);
            }
            ReflectorEvent::Apply(workload) => {
                self.observe_workload(kind, &workload, ShownBy::change_of(watch));
            }
            ReflectorEvent::InitApply(workload) => {
                self.observe_workload(kind, &workload, ShownBy::list_of(watch));
            }
            ReflectorEvent::Delete(workload) => {
                // Earlier failures may have been about this object, and end.
                self.telemetry.set(Condition::Reachable, true);
                if let Some(id) = self.index.find_deleted(kind, &workload) {
                    self.remove(id);
                }
                self.look_at_waits_of(kind, &workload);
            }
            ReflectorEvent::Init => {
                let namespace = self.watches.namespace(watch);
                self.index.begin_list(watch, namespace.as_deref());
            }
            ReflectorEvent::Done => {
                let namespace = self.watches.namespace(watch);
                for id in self.index.end_list(watch, namespace.as_deref()) {
                    self.remove(id);
                }
                self.listed(watch);
                self.look_at_all_waits();
            }
        }
    }

    fn observe_namespaces(&mut self, watch: WatchId, event: ReflectorEvent<NamespaceMeta>) {
        match event {
            ReflectorEvent::Opened { .. } => self.opened(watch),
            ReflectorEvent::Failed(error) => {
                self.watch_failed(Watched::Namespaces, watch, &error);
            }
            ReflectorEvent::Apply(namespace) => {
                self.note_existence(watch, true);
                self.observe_namespace(&namespace, ShownBy::change_of(watch));
            }
            ReflectorEvent::InitApply(namespace) => {
                self.note_existence(watch, true);
                self.observe_namespace(&namespace, ShownBy::list_of(watch));
            }
            ReflectorEvent::Delete(namespace) => {
                self.note_existence(watch, false);
                let name = namespace.metadata.name.unwrap_or_default();
                self.index.namespace_gone(&name);
                self.set_team(&name, None);
            }
            ReflectorEvent::Init => {
                self.watches.clear_shown(watch);
                self.index.namespaces.begin_list(watch);
            }
            ReflectorEvent::Done => {
                self.note_existence(watch, self.watches.is_shown(watch));
                self.index.namespaces_listed(watch);
                self.listed(watch);
                let name = self.watches.namespace(watch);
                if self.index.namespaces.mark_complete(name.as_deref()) {
                    self.reconcile_in(name.as_deref());
                }
            }
        }
    }

    /// A namespace of `--namespace` exists, or not: a misspelt name looks like an empty namespace,
    /// and schedules nothing. With a selector its labels may be the reason.
    fn note_existence(&mut self, watch: WatchId, exists: bool) {
        if self.settings.scope.namespace_selector.is_some() {
            return;
        }
        let Some(namespace) = self.watches.note_shown(watch, exists) else {
            return;
        };
        if exists {
            tracing::info!(namespace, "the namespace exists now");
        } else {
            tracing::warn!(
                namespace,
                "the namespace does not exist; nothing is scheduled in it until it does"
            );
        }
        self.watches.publish(&self.telemetry);
    }

    /// The annotations of a Namespace are defaults: a change is an edit of every object that
    /// inherits them.
    fn observe_namespace(&mut self, namespace: &NamespaceMeta, shown: ShownBy) {
        if let Some(label) = &self.settings.scope.team_label {
            let team = namespace.labels().get(label).map(String::as_str);
            self.set_team(&namespace.name_any(), team);
        }
        let namespace = ObservedNamespace::of(namespace, &self.settings.prefix);
        let seen_at = self.clock.seen_at();
        let (news, ids) = self.index.observe_namespace(&namespace, shown, seen_at);
        if news.is_changed {
            tracing::debug!(
                namespace = &*namespace.name,
                objects = ids.len(),
                "a Namespace has other defaults"
            );
        }
        if let Some(error) = news.error {
            tracing::warn!(
                namespace = &*namespace.name,
                "its annotations are refused: {error}"
            );
            let event = EventText::invalid(error);
            let about = EventObject::from(&namespace);
            self.reporter.announce(about, event);
        }
        for id in ids {
            self.reconcile(id);
        }
    }

    /// From now on the savings of a namespace count for this team, or for none.
    fn set_team(&self, namespace: &str, team: Option<&str>) {
        if self.settings.scope.team_label.is_some() {
            let at = (self.clock.now(), self.clock.monotonic());
            self.publisher.set_team(namespace, team, at);
        }
    }

    /// The server has said how far its history is. If a watch was further, it is another history.
    pub(super) fn told_the_version(
        &mut self,
        question: VersionQuestion,
        result: Result<Version, ReadError>,
    ) {
        match result {
            Ok(version) => self.index.history.note_answer(version, question.version),
            Err(ReadError::Unavailable(error)) => {
                tracing::debug!(%error, "the API server does not say how far its history is");
                let now = self.clock.monotonic();
                self.index.history.ask_again(question, now);
            }
            // An object may be watched, and not listed: a write reveals it.
            Err(ReadError::Gone | ReadError::Refused(_)) => {}
        }
    }

    /// Whether to list everything anew now, because the server's history went back.
    pub(crate) fn take_relist(&mut self) -> bool {
        let relists = self.index.history.take_relist(self.clock.monotonic());
        if relists {
            self.index.expect_all_lists();
            tracing::warn!(
                "the API server's history went back, as after a restore from a backup; listing \
                    everything again"
            );
        }
        relists
    }

    /// Sets other calendars: objects that name them have other boundaries from now on.
    pub(crate) fn calendars_changed(&mut self, calendars: Calendars) {
        self.look_at_the_clock();
        let seen_at = self.clock.seen_at();
        let ids = self.index.set_calendars(calendars, seen_at);
        tracing::info!(objects = ids.len(), "the calendars have changed");
        for id in ids {
            self.reconcile(id);
        }
    }

    /// Decides anew about the objects of a namespace, or all of them.
    fn reconcile_in(&mut self, namespace: Option<&str>) {
        for id in self.index.ids_in(namespace) {
            self.reconcile(id);
        }
    }

    pub(super) fn opened(&mut self, watch: WatchId) {
        self.watches.opened(watch);
        self.watches.publish(&self.telemetry);
    }

    pub(super) fn listed(&mut self, watch: WatchId) {
        self.watches.listed(watch);
        self.watches.publish(&self.telemetry);
        self.queue.lanes.release(watch);
        tracing::debug!(watch, "listed");
    }

    /// A watch has failed, which the [`WatchStates`](crate::watch::states::WatchStates) know.
    pub(super) fn watch_failed(&mut self, what: Watched, watch: WatchId, error: &WatchError) {
        self.telemetry.watch_restart();
        self.watches.failed(watch, error);
        if error.absence().is_some() {
            self.look_at_all_waits();
        }
        let name = self.watches.namespace(watch);
        self.index.expect_list(watch, name.as_deref());
        self.watches.publish(&self.telemetry);
        self.queue.lanes.release(watch);
        let (kind, text) = (what.name(), redacted_chain(error));
        if error.absence().is_none() {
            self.telemetry.set(Condition::Reachable, false);
        }
        match self.watches.take_news(watch) {
            None => tracing::debug!(kind, error = %text, "the watch failed again"),
            Some(News::Absent) => {
                tracing::warn!(kind, error = %text, "the watch failed; retrying with backoff, up \
                    to a minute");
            }
            Some(News::Failed) => {
                tracing::warn!(kind, error = %text, "the watch failed; retrying with backoff");
            }
            Some(News::StillFails(so_far)) => {
                tracing::warn!(kind, error = %text, "the watch still fails {so_far}; retrying with backoff");
            }
        }
        if what == Watched::Namespaces && self.index.namespaces.mark_unreadable(name.as_deref()) {
            let subject = name.as_ref().map_or("Namespaces", |_| "the Namespace");
            tracing::warn!(
                namespace = name,
                "{subject} cannot be read, so what inherits from there is left alone; allow list and watch of namespaces, or set --namespace-defaults=false"
            );
            self.reconcile_in(name.as_deref());
        }
    }

    fn observe_workload(&mut self, kind: Kind, workload: &Workload, shown: ShownBy) {
        let seen_at = self.clock.seen_at();
        let observation = self.index.observe(kind, workload, shown, seen_at);
        if let Some(id) = observation.replaced {
            self.remove(id);
        }
        if let Some(id) = observation.readier {
            self.look_at_readiness(id);
        }
        if let Some(id) = observation.id {
            // The answer in flight will report it; otherwise it would be counted twice.
            let is_in_flight = |entry: &Entry| entry.work.state() == WorkState::InFlight;
            if !self.index.get(id).is_some_and(is_in_flight) {
                self.confirm(id);
            }
            self.look_for_revert(id);
            self.reconcile(id);
        }
        self.look_at_waits_of(kind, workload);
    }

    /// A workload was shown, or is gone: starts may wait for it.
    fn look_at_waits_of(&mut self, kind: Kind, workload: &Workload) {
        if self.waits.count() > 0 {
            let needed = Dependency::workload(kind, workload.name());
            self.look_at_waits(workload.namespace(), &needed);
        }
    }
}
