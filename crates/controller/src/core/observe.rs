//! Applies the events of the watches, and changed calendars and named schedules: updates the store, and
//! puts the affected objects on the agenda.

use std::sync::Arc;

use dayshift_cluster::{
    Workload,
    decode::Version,
    read::{EndpointSlice, NamespaceMeta, ObservedNamespace, ObservedTeamDefaults, ServiceSlice},
    watch::{ObjectName, ObjectSource, ReflectorEvent, WatchError},
};
use dayshift_schedule::Calendars;
use dayshift_workload::{Dependency, Kind, NamedSchedules, TEAM_CONFIG_MAP, events::EventText};

use crate::{
    core::{
        Core,
        frequent_edits::TeamEdit,
        io::{Effect, WatchInput},
    },
    ids::WatchId,
    object::Backlog,
    settings::Watched,
    store::{
        DefaultsChange, ObjectChange, ObservationOrigin, RejectedDefaults,
        history::VersionQuestion, watches::Knowledge,
    },
    telemetry::readiness::Condition,
};

impl Core {
    /// Applies an event of a watch.
    pub(super) fn observe(&mut self, watch: WatchId, input: WatchInput) {
        use ReflectorEvent::{Applied, Deleted};
        match input {
            WatchInput::Workload(kind, event) => match event {
                Applied {
                    name,
                    object,
                    source,
                } => {
                    let origin = ObservationOrigin { watch, source };
                    self.observe_workload(&kind, &name, &object, origin);
                    self.unblock(&name.namespace, || Dependency::workload(&kind, &name.name));
                }
                Deleted { name, uid } => {
                    self.delete_workload(&kind, &name, uid.as_deref());
                    self.unblock(&name.namespace, || Dependency::workload(&kind, &name.name));
                }
                progress => self.observe_progress(watch, progress),
            },
            WatchInput::Namespace(event) => match event {
                Applied {
                    name,
                    object,
                    source,
                } => {
                    self.set_exists(watch, true);
                    let origin = ObservationOrigin { watch, source };
                    self.observe_namespace(&name.name, &object, origin);
                }
                Deleted { name, .. } => {
                    self.set_exists(watch, false);
                    self.namespace_edits.forget(&name.name);
                    self.store.delete_namespace(&name.name);
                    self.set_team(&name.name, None);
                }
                progress => self.observe_progress(watch, progress),
            },
            WatchInput::TeamDefaults(event) => match event {
                Applied {
                    name,
                    object,
                    source,
                } => self.observe_team(&name, ObservedTeamDefaults::read(&object), source),
                Deleted { name, .. } => self.observe_team(&name, None, ObjectSource::Change),
                progress => self.observe_progress(watch, progress),
            },
            WatchInput::Slice(event) => match event {
                Applied { name, object, .. } => self.observe_slice(&name, &object),
                Deleted { name, .. } => {
                    if let Some(service) = self.store.delete_slice(&name) {
                        self.unblock(&name.namespace, || Dependency::service(&service));
                    }
                }
                progress => self.observe_progress(watch, progress),
            },
        }
    }

    /// Applies an event that is about the watch itself.
    fn observe_progress<D>(&mut self, watch: WatchId, event: ReflectorEvent<D>) {
        match event {
            ReflectorEvent::Opened { unverified_version } => self.opened(watch, unverified_version),
            ReflectorEvent::Listed { objects } => self.listed(watch, objects),
            ReflectorEvent::Failed(error) => self.watch_failed(watch, &error),
            // Events about objects depend on their type.
            ReflectorEvent::Init
            | ReflectorEvent::Applied { .. }
            | ReflectorEvent::Deleted { .. } => {}
        }
    }

    fn observe_workload(
        &mut self,
        kind: &Kind,
        name: &ObjectName,
        workload: &Workload,
        origin: ObservationOrigin,
    ) {
        let id = match self.store.observe(kind, name, workload, origin) {
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

    fn delete_workload(&mut self, kind: &Kind, name: &ObjectName, uid: Option<&str>) {
        // The failed requests might have been about this object. It no longer exists, so they no longer
        // show that the server is unreachable.
        self.telemetry.set(Condition::Reachable, true);
        if let Some(id) = self.store.delete(kind, name, uid) {
            self.remove(id);
        }
    }

    /// Logs whether a namespace of `--namespace` exists. A misspelled name would otherwise look like an
    /// empty namespace. Logs nothing with a selector, because the watch does not report Namespaces that
    /// do not match it.
    fn set_exists(&mut self, watch: WatchId, exists: bool) {
        if self.settings.scope.namespace_selector.is_some() {
            return;
        }
        let Some(namespace) = self.store.watches.set_exists(watch, exists) else {
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
        self.store.watches.publish(&self.telemetry);
    }

    /// Applies a Namespace, or keeps it until its edits are less frequent.
    fn observe_namespace(
        &mut self,
        name: &Arc<str>,
        namespace: &NamespaceMeta,
        origin: ObservationOrigin,
    ) {
        if let Some(label) = &self.settings.scope.team_label {
            let labels = namespace.metadata.labels.as_ref();
            let team = labels.and_then(|labels| labels.get(label));
            self.set_team(name, team.map(|team| team.as_str().into()));
        }
        let namespace = ObservedNamespace::new(namespace, &self.settings.prefix);
        if origin.source == ObjectSource::List || namespace.deleting {
            self.namespace_edits.forget(name);
            self.apply_namespace(&namespace, origin);
            return;
        }
        let (edits, now) = (&mut self.namespace_edits, self.now.elapsed);
        if let Some((namespace, origin)) = edits.admit(name, (namespace, origin), now) {
            self.apply_namespace(&namespace, origin);
        }
    }

    /// Applies the ConfigMap of a team; `None` if it was deleted. Keeps it until its edits are less frequent.
    /// Other ConfigMaps are ignored. In a namespace that is being deleted, the defaults stay in effect,
    /// because its objects are deleted too.
    fn observe_team(
        &mut self,
        name: &ObjectName,
        observed: Option<ObservedTeamDefaults>,
        source: ObjectSource,
    ) {
        let namespace = &name.namespace;
        let is_kept = observed.is_none() && self.store.namespaces.is_terminating(namespace);
        if &*name.name != TEAM_CONFIG_MAP || is_kept {
            return;
        }
        let (edits, now) = (&mut self.team_edits, self.now.elapsed);
        if let Some(edit) = edits.admit(namespace, (observed, source), now) {
            self.apply_team(namespace, edit);
        }
    }

    /// Applies the edits that have waited because too many preceded them.
    pub(super) fn apply_frequent_edits(&mut self) {
        while let Some((_, (namespace, origin))) = self.namespace_edits.take_due(self.now.elapsed) {
            self.apply_namespace(&namespace, origin);
        }
        while let Some((namespace, edit)) = self.team_edits.take_due(self.now.elapsed) {
            self.apply_team(&namespace, edit);
        }
    }

    fn apply_namespace(&mut self, namespace: &ObservedNamespace, origin: ObservationOrigin) {
        let change = self.store.observe_namespace(namespace, origin);
        self.apply_defaults(change);
    }

    fn apply_team(&mut self, namespace: &Arc<str>, (observed, source): TeamEdit) {
        let change = self.store.observe_team(namespace, observed, source);
        self.apply_defaults(change);
    }

    /// Processes a change of defaults, which is an edit of every object that inherits them. These objects are
    /// updated in the next steps, some at a time, because all objects of a cluster can follow the same definition.
    fn apply_defaults(&mut self, change: DefaultsChange) {
        for RejectedDefaults { about, error } in change.rejected {
            let namespace = &*about.namespace;
            self.events.logs.line(&about.namespace, |suppressed| {
                if about.kind == "ConfigMap" {
                    tracing::warn!(
                        namespace,
                        suppressed,
                        "the defaults of its team are rejected: {error}"
                    );
                } else {
                    tracing::warn!(
                        namespace,
                        suppressed,
                        "its annotations are refused: {error}"
                    );
                }
            });
            let event = EventText::invalid(error);
            self.events.announce(about, event, self.now);
        }
        for id in change.outdated {
            self.add_to_backlog(id, Backlog::Outdated);
        }
        for id in change.undecided {
            self.add_to_backlog(id, Backlog::Undecided);
        }
    }

    fn set_team(&mut self, namespace: &str, team: Option<Box<str>>) {
        if self.settings.scope.team_label.is_some() {
            let namespace = namespace.into();
            self.effects.push(Effect::Team { namespace, team });
        }
    }

    fn observe_slice(&mut self, name: &ObjectName, slice: &EndpointSlice) {
        if let Some(slice) = ServiceSlice::from_slice(slice) {
            self.store.observe_slice(&name.namespace, &slice);
            self.unblock(&name.namespace, || Dependency::service(&slice.service));
        }
    }

    /// Processes that the server has accepted a watch, which continues from a version that might not be
    /// verified. A watch does not show a resourceVersion rollback, so the server is asked for its current
    /// version.
    fn opened(&mut self, watch: WatchId, unverified: Option<Version>) {
        self.store.watches.opened(watch, self.now.elapsed);
        self.store.watches.publish(&self.telemetry);
        if let (Some(version), Some(watch)) = (unverified, self.store.watches.get(watch))
            && let Watched::Kind(kind) = &watch.watched
        {
            let question = VersionQuestion {
                kind: kind.clone(),
                namespace: watch.namespace.clone(),
                version,
            };
            self.store.history.plan_question(question, self.now.elapsed);
        }
    }

    /// Processes the end of a list. The watch has already reported the deletion of objects that are
    /// missing from it.
    fn listed(&mut self, watch: WatchId, objects: usize) {
        let Some(known) = self.store.watches.get(watch) else {
            return;
        };
        let (watched, name) = (known.watched.clone(), known.namespace.clone());
        let is_first = known.knowledge != Knowledge::Complete;
        if watched == Watched::Namespaces {
            self.set_exists(watch, objects > 0);
            self.store.namespaces.listed(watch);
        }
        self.store.watches.listed(watch);
        self.store.watches.publish(&self.telemetry);
        self.outbox.release(watch);
        tracing::debug!(watch, "listed");
        match watched {
            Watched::Kind(_) | Watched::Services => self.add_waiting_starts_to_agenda(),
            Watched::Namespaces | Watched::TeamDefaults if is_first => {
                self.add_namespace_to_backlog(name.as_deref());
            }
            Watched::Namespaces | Watched::TeamDefaults => {}
        }
    }

    fn watch_failed(&mut self, watch: WatchId, error: &WatchError) {
        let Some(known) = self.store.watches.get(watch) else {
            return;
        };
        let (watched, name) = (known.watched.clone(), known.namespace.clone());
        let is_first = known.knowledge == Knowledge::Awaited;
        self.telemetry.watch_restarts.inc();
        self.store.watches.failed(watch, error, self.now.elapsed);
        match error.absence() {
            Some(_) => self.add_waiting_starts_to_agenda(),
            None => self.telemetry.set(Condition::Reachable, false),
        }
        self.store.watches.publish(&self.telemetry);
        self.outbox.release(watch);
        match watched {
            Watched::TeamDefaults if is_first => tracing::warn!(
                namespace = name,
                "the defaults of teams cannot be read, so workloads that might inherit from them are left unchanged; allow list and watch of configmaps with the name {TEAM_CONFIG_MAP}, or do not set --team-defaults"
            ),
            Watched::Namespaces if is_first => {
                let subject = name.as_ref().map_or("Namespaces", |_| "the Namespace");
                tracing::warn!(
                    namespace = name,
                    "{subject} cannot be read, so workloads that inherit from it are left unchanged; allow list and watch of namespaces, or set --namespace-defaults=false"
                );
            }
            _ => return,
        }
        self.add_namespace_to_backlog(name.as_deref());
    }

    /// Puts the objects of a namespace into the backlog, or all objects if it is `None`.
    fn add_namespace_to_backlog(&mut self, namespace: Option<&str>) {
        for id in self.store.ids_in(namespace) {
            self.add_to_backlog(id, Backlog::Undecided);
        }
    }

    /// Replaces the calendars.
    pub(super) fn calendars_changed(&mut self, calendars: Calendars) {
        let change = self.store.set_calendars(calendars);
        let objects = change.outdated.len();
        tracing::info!(objects, "the calendars have changed");
        self.apply_defaults(change);
    }

    /// Replaces the named schedules. For an object that uses one, a change is like an edit of its
    /// annotations.
    pub(super) fn schedules_changed(&mut self, schedules: NamedSchedules) {
        let change = self.store.set_schedules(schedules);
        let objects = change.outdated.len();
        tracing::info!(objects, "the named schedules have changed");
        self.apply_defaults(change);
    }
}
