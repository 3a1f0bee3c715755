//! Applies the events of the watches, and changed calendars and named schedules: updates the store, and
//! puts the affected objects on the agenda.

use std::sync::Arc;

use dayshift_cluster::{
    Workload,
    connect::redacted_chain,
    read::{
        EndpointSlice, NamespaceMeta, ObservedNamespace, ObservedTeamDefaults, ServiceSlice,
        TeamConfigMap,
    },
    watch::{ObjectName, ObjectSource, WatchError},
    write::EventObject,
};
use dayshift_schedule::Calendars;
use dayshift_workload::{Dependency, Kind, NamedSchedules, TEAM_CONFIG_MAP, events::EventText};
use kube::ResourceExt as _;

use crate::{
    core::{
        Core,
        io::{Effect, ObjectEvent, WatchInput},
    },
    ids::WatchId,
    settings::Watched,
    store::{
        ObjectChange, ObservationOrigin, history::VersionQuestion, namespaces::RejectedNamespace,
    },
    telemetry::readiness::Condition,
    watches::FailureLog,
};

impl Core {
    /// Applies an event of a watch.
    pub(super) fn observe(&mut self, watch: WatchId, input: WatchInput) {
        match input {
            WatchInput::Opened { unverified_version } => {
                self.watches.opened(watch, self.now.elapsed);
                self.watches.publish(&self.telemetry);
                if let (Some(version), Some(Watched::Kind(kind))) =
                    (unverified_version, self.watches.watched(watch))
                {
                    // A watch does not show a resourceVersion rollback, so ask the server for its
                    // current version.
                    let namespace = self.watches.namespace(watch);
                    let question = VersionQuestion {
                        kind,
                        namespace,
                        version,
                    };
                    self.store.history.plan_question(question, self.now.elapsed);
                }
            }
            WatchInput::Listed { objects } => self.listed(watch, objects),
            WatchInput::Failed(error) => self.watch_failed(watch, &error),
            WatchInput::Workload(kind, event) => {
                self.observe_workload(watch, &kind, event);
            }
            WatchInput::Namespace(event) => {
                self.observe_namespace(watch, event);
            }
            WatchInput::TeamDefaults(event) => self.observe_team_defaults(event),
            WatchInput::Slice(event) => self.observe_slice(event),
        }
    }

    fn observation_origin(&self, watch: WatchId, source: ObjectSource) -> ObservationOrigin {
        ObservationOrigin {
            watch,
            epoch: self.watches.epoch(watch),
            source,
        }
    }

    fn observe_workload(&mut self, watch: WatchId, kind: &Kind, event: ObjectEvent<Workload>) {
        let name = match event {
            ObjectEvent::Applied {
                name,
                object,
                source,
            } => {
                let origin = self.observation_origin(watch, source);
                self.apply_workload(kind, &name, &object, origin);
                name
            }
            ObjectEvent::Deleted { name, uid } => {
                // The failed requests might have been about this object. It no longer exists, so they no
                // longer show that the server is unreachable.
                self.telemetry.set(Condition::Reachable, true);
                if let Some(id) = self.store.delete(kind, &name, uid.as_deref()) {
                    self.remove(id);
                }
                name
            }
        };
        if self.gate.waiting() > 0 {
            let needed = Dependency::workload(kind, &name.name);
            self.unblock(&name.namespace, &needed);
        }
    }

    fn apply_workload(
        &mut self,
        kind: &Kind,
        name: &ObjectName,
        workload: &Workload,
        origin: ObservationOrigin,
    ) {
        let seen_at = self.clock.seen_at(self.now);
        let id = match self.store.observe(kind, name, workload, origin, seen_at) {
            ObjectChange::None => return,
            ObjectChange::Readiness(id) => return self.observe_readiness(id),
            ObjectChange::Unmanaged { known } => {
                if let Some(id) = known {
                    self.remove(id);
                }
                return;
            }
            ObjectChange::Added { id, replaced } => {
                if let Some(replaced) = replaced {
                    self.remove(replaced);
                }
                id
            }
            ObjectChange::Updated(id) => id,
        };
        let Some(object) = self.store.get_unpublished(id) else {
            return;
        };
        // The next evaluation checks whether another controller reverted the count.
        object.checks_revert = true;
        // If a request is in flight, its response confirms the change. Confirming it here too would count
        // it twice.
        if !object.work.is_in_flight() {
            self.confirm(id);
        }
        self.add_to_agenda(id);
    }

    fn observe_namespace(&mut self, watch: WatchId, event: ObjectEvent<NamespaceMeta>) {
        match event {
            ObjectEvent::Applied { object, source, .. } => {
                self.set_exists(watch, true);
                let origin = self.observation_origin(watch, source);
                self.apply_namespace(&object, origin);
            }
            ObjectEvent::Deleted { name, .. } => {
                self.set_exists(watch, false);
                self.frequent_edits.forget(&name.name);
                self.store.delete_namespace(&name.name);
                self.set_team(&name.name, None);
            }
        }
    }

    /// Logs whether a namespace of `--namespace` exists. A misspelled name would otherwise look like an
    /// empty namespace. Logs nothing with a selector, because the watch does not report Namespaces that
    /// do not match it.
    fn set_exists(&mut self, watch: WatchId, exists: bool) {
        if self.settings.scope.namespace_selector.is_some() {
            return;
        }
        let Some(namespace) = self.watches.set_exists(watch, exists) else {
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

    /// Applies a Namespace, or keeps it until its changes are less frequent.
    fn apply_namespace(&mut self, namespace: &NamespaceMeta, origin: ObservationOrigin) {
        if let Some(label) = &self.settings.scope.team_label {
            let team = namespace
                .labels()
                .get(label)
                .map(|team| team.as_str().into());
            self.set_team(&namespace.name_any(), team);
        }
        let namespace = ObservedNamespace::new(namespace, &self.settings.prefix);
        if origin.source == ObjectSource::List || namespace.deleting {
            self.frequent_edits.forget(&namespace.name);
            self.apply_namespace_defaults(&namespace, origin);
        } else if let Some((namespace, origin)) = self
            .frequent_edits
            .admit((namespace, origin), self.now.elapsed)
        {
            self.apply_namespace_defaults(&namespace, origin);
        }
    }

    /// Applies the changes of Namespaces that have waited because too many preceded them.
    pub(super) fn apply_settled_namespaces(&mut self) {
        while let Some((namespace, origin)) = self.frequent_edits.take_due(self.now.elapsed) {
            self.apply_namespace_defaults(&namespace, origin);
        }
    }

    /// Applies the annotations of a Namespace. They are defaults, so a change of them is an edit of every
    /// object that inherits them.
    fn apply_namespace_defaults(
        &mut self,
        namespace: &ObservedNamespace,
        origin: ObservationOrigin,
    ) {
        let seen_at = self.clock.seen_at(self.now);
        let watches = &self.watches;
        let watch_of = |kind: &Kind, namespace: &str| watches.watch_of(kind, namespace);
        let (change, ids) = self
            .store
            .observe_namespace(namespace, origin, seen_at, watch_of);
        if change.is_changed {
            tracing::debug!(
                namespace = &*namespace.name,
                objects = ids.len(),
                "the defaults of a Namespace have changed"
            );
        }
        if let Some(error) = change.error {
            self.reject_namespace(EventObject::from(namespace), &namespace.name, error);
        }
        for id in ids {
            self.add_to_agenda(id);
        }
    }

    /// Reports that the annotations of a Namespace are rejected.
    fn reject_namespace(&mut self, about: EventObject, name: &str, error: String) {
        tracing::warn!(namespace = name, "its annotations are refused: {error}");
        let event = EventText::invalid(error);
        self.events.announce(about, event, self.now);
    }

    /// Applies the ConfigMap of a team, or that it was deleted. Other ConfigMaps are ignored.
    fn observe_team_defaults(&mut self, event: ObjectEvent<TeamConfigMap>) {
        let (name, observed, source) = match event {
            ObjectEvent::Applied {
                name,
                object,
                source,
            } => (name, ObservedTeamDefaults::read(&object), source),
            ObjectEvent::Deleted { name, .. } => (name, None, ObjectSource::Change),
        };
        let namespace = &name.namespace;
        let is_read = &*name.name == TEAM_CONFIG_MAP;
        if is_read
            && self
                .store
                .namespaces
                .observe_team(namespace, observed, source)
        {
            self.apply_team_defaults(namespace);
        }
    }

    /// Applies the changes of teams' defaults that have waited because each followed another one.
    pub(super) fn apply_settled_teams(&mut self) {
        while let Some(namespace) = self.store.namespaces.take_settled_team(self.now.elapsed) {
            self.apply_team_defaults(&namespace);
        }
    }

    /// Applies a team's defaults. A change of them is an edit of every object that inherits them.
    fn apply_team_defaults(&mut self, namespace: &Arc<str>) {
        let seen_at = self.clock.seen_at(self.now);
        let watches = &self.watches;
        let watch_of = |kind: &Kind, namespace: &str| watches.watch_of(kind, namespace);
        let (rejected, ids) = self
            .store
            .apply_team(namespace, self.now.elapsed, seen_at, watch_of);
        tracing::debug!(
            namespace = &**namespace,
            objects = ids.len(),
            "the defaults of a team have changed"
        );
        if let Some(RejectedNamespace { about, error, .. }) = rejected {
            self.reject_team_defaults(about, namespace, error);
        }
        for id in ids {
            self.add_to_agenda(id);
        }
    }

    /// Reports that the defaults of a team are rejected.
    fn reject_team_defaults(&mut self, about: EventObject, name: &str, error: String) {
        tracing::warn!(
            namespace = name,
            "the defaults of its team are rejected: {error}"
        );
        self.events
            .announce(about, EventText::invalid(error), self.now);
    }

    fn set_team(&mut self, namespace: &str, team: Option<Box<str>>) {
        if self.settings.scope.team_label.is_some() {
            let namespace = namespace.into();
            self.effects.push(Effect::Team { namespace, team });
        }
    }

    fn observe_slice(&mut self, event: ObjectEvent<EndpointSlice>) {
        let (namespace, service) = match event {
            ObjectEvent::Applied { name, object, .. } => {
                let Some(slice) = ServiceSlice::from_slice(&object) else {
                    return;
                };
                self.store.observe_slice(&name.namespace, &slice);
                (name.namespace, slice.service)
            }
            ObjectEvent::Deleted { name, .. } => {
                let Some(service) = self.store.delete_slice(&name) else {
                    return;
                };
                (name.namespace, service)
            }
        };
        if self.gate.waiting() > 0 {
            self.unblock(&namespace, &Dependency::service(&service));
        }
    }

    /// Processes the end of a list. The watch has already reported the deletion of objects that are
    /// missing from it.
    fn listed(&mut self, watch: WatchId, objects: usize) {
        let watched = self.watches.watched(watch);
        if watched == Some(Watched::Namespaces) {
            self.set_exists(watch, objects > 0);
            self.store.namespaces.listed(watch);
        }
        self.watches.listed(watch);
        self.watches.publish(&self.telemetry);
        self.outbox.release(watch);
        tracing::debug!(watch, "listed");
        let Some(watched @ (Watched::Namespaces | Watched::TeamDefaults)) = watched else {
            self.add_waiting_starts_to_agenda();
            return;
        };
        let name = self.watches.namespace(watch);
        let namespaces = &mut self.store.namespaces;
        if namespaces.mark_complete(&watched, name.as_deref()) {
            self.add_namespace_to_agenda(name.as_deref());
        }
    }

    fn watch_failed(&mut self, watch: WatchId, error: &WatchError) {
        let Some(watched) = self.watches.watched(watch) else {
            return;
        };
        self.telemetry.watch_restart();
        self.watches.failed(watch, error, self.now.elapsed);
        if error.absence().is_some() {
            self.add_waiting_starts_to_agenda();
        }
        self.watches.publish(&self.telemetry);
        self.outbox.release(watch);
        let (kind, text) = (watched.name(), redacted_chain(error));
        if error.absence().is_none() {
            self.telemetry.set(Condition::Reachable, false);
        }
        match self.watches.take_log_entry(watch, self.now.elapsed) {
            None => tracing::debug!(kind, error = %text, "the watch failed again"),
            Some(FailureLog::Absent) => {
                tracing::warn!(kind, error = %text, "the watch failed; retrying with backoff, up \
                    to a minute");
            }
            Some(FailureLog::Failed) => {
                tracing::warn!(kind, error = %text, "the watch failed; retrying with backoff");
            }
            Some(FailureLog::StillFails(duration)) => {
                // For example: "the watch still fails after 14 failed attempts in 62 s".
                tracing::warn!(kind, error = %text, "the watch still fails {duration}; retrying with backoff");
            }
        }
        let name = self.watches.namespace(watch);
        let namespaces = &mut self.store.namespaces;
        if !namespaces.mark_unreadable(&watched, name.as_deref()) {
            return;
        }
        if watched == Watched::TeamDefaults {
            tracing::warn!(
                namespace = name,
                "the defaults of teams cannot be read, so workloads that might inherit from them are left unchanged; allow list and watch of configmaps with the name {TEAM_CONFIG_MAP}, or do not set --team-defaults"
            );
        } else {
            let subject = name.as_ref().map_or("Namespaces", |_| "the Namespace");
            tracing::warn!(
                namespace = name,
                "{subject} cannot be read, so workloads that inherit from it are left unchanged; allow list and watch of namespaces, or set --namespace-defaults=false"
            );
        }
        self.add_namespace_to_agenda(name.as_deref());
    }

    /// Puts the objects of a namespace on the agenda, or all objects if it is `None`.
    fn add_namespace_to_agenda(&mut self, namespace: Option<&str>) {
        for id in self.store.ids_in(namespace) {
            self.add_to_agenda(id);
        }
    }

    /// Applies changed calendars, and puts the objects on the agenda that refer to calendars.
    pub(super) fn calendars_changed(&mut self, calendars: Calendars) {
        let seen_at = self.clock.seen_at(self.now);
        let ids = self.store.set_calendars(calendars, seen_at);
        tracing::info!(objects = ids.len(), "the calendars have changed");
        for id in ids {
            self.add_to_agenda(id);
        }
    }

    /// Replaces the named schedules. For an object that uses one, a change is like an edit of its
    /// annotations.
    ///
    /// The objects are updated in the next steps, some at a time, because every object of a cluster
    /// can use the same schedule.
    pub(super) fn schedules_changed(&mut self, schedules: NamedSchedules) {
        let seen_at = self.clock.seen_at(self.now);
        let watches = &self.watches;
        let watch_of = |kind: &Kind, namespace: &str| watches.watch_of(kind, namespace);
        let changed = self.store.set_schedules(schedules, seen_at, watch_of);
        tracing::info!(
            objects = changed.outdated.len(),
            "the named schedules have changed"
        );
        for rejected in changed.rejected {
            let (about, name) = (rejected.about, rejected.name);
            match &*about.kind {
                "ConfigMap" => self.reject_team_defaults(about, &name, rejected.error),
                _ => self.reject_namespace(about, &name, rejected.error),
            }
        }
        self.outdated = changed.outdated.into();
        for id in changed.added {
            self.add_to_agenda(id);
        }
    }
}
