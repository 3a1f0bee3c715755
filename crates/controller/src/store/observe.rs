//! Applies watch events and responses to the store. A version of an object that is older than the stored
//! one is ignored, except in a list, or in a response after the server's history went back.

use std::sync::Arc;

use dayshift_cluster::{
    Workload,
    decode::Version,
    read::{ObservedNamespace, ObservedTeamDefaults, ServiceSlice},
    watch::{ObjectName, ObjectSource},
};
use dayshift_workload::{Kind, Observed};

use crate::{
    ids::{Id, WatchId},
    store::{
        DefaultsChange, Store, namespace::NamedObject, namespaces::NamespaceChange,
        unscheduled::UnscheduledObject, watches::ObservationOrigin,
    },
};

/// The effect of a watch event on the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectChange {
    /// No effect: the event is an echo or late, or the object has no schedule.
    None,
    /// Only the readiness of the object has changed.
    Readiness(Id),
    /// The object has changed.
    Updated(Id),
    /// The object is new. `replaced` is a deleted object with the same name, which should be removed.
    Added { id: Id, replaced: Option<Id> },
    /// The object has no schedule, or is the controller itself. `known` is an object with the same name,
    /// which should be removed.
    Unmanaged { known: Option<Id> },
}

impl Store {
    /// Applies an object from a watch. It is ignored if its version is older than the stored one, and it
    /// comes from a change, or from a list that was requested before the last response.
    pub(crate) fn observe(
        &mut self,
        kind: &Kind,
        name: &ObjectName,
        workload: &Workload,
        origin: ObservationOrigin,
    ) -> ObjectChange {
        let version = workload.version();
        self.history.record_observed(origin.watch, version);
        let namespace = self.namespaces.get(&name.namespace);
        let known = namespace.and_then(|namespace| namespace.get(kind, &name.name));
        let (known, is_late) = match known {
            Some(NamedObject::Scheduled(id)) => (Some(*id), false),
            Some(NamedObject::Unscheduled(unscheduled)) => (
                None,
                !origin.is_list() && unscheduled.is_newer_than(workload),
            ),
            None => (None, false),
        };
        if let Some(pod) = &self.own_pod
            && pod.is_of(kind, workload)
        {
            return ObjectChange::Unmanaged { known };
        }
        if let Some(id) = known
            && !origin.is_list()
            && self.is_echo(id, workload)
        {
            return ObjectChange::None;
        }
        if known.is_none()
            && self.namespaces.defaults(&name.namespace).is_none()
            && !workload.concerns(&self.prefix)
        {
            let unscheduled = UnscheduledObject::from_workload(kind, workload);
            let namespace = self.namespaces.entry(&name.namespace);
            namespace.insert_unscheduled(kind, &name.name, unscheduled);
            return ObjectChange::None;
        }
        if is_late {
            return ObjectChange::None;
        }
        let mut observed = self.read(kind, &name.namespace, workload);
        observed.object.namespace = Arc::clone(&name.namespace);
        observed.object.name = Arc::clone(&name.name);
        if let Some(id) = known
            && let Some(object) = self.get(id)
            && object.observed.object == observed.object
        {
            let epoch = self.epoch(origin.watch);
            let may_be_late = !origin.is_list() || object.response_epoch == epoch;
            if may_be_late && version.is_before(object.version) {
                return ObjectChange::None;
            }
            self.limit_text(id, &mut observed);
            let Some(object) = self.get_unpublished(id) else {
                return ObjectChange::None;
            };
            if !origin.is_list() && object.observe_readiness(&mut observed, version) {
                self.get_mut(id);
                return ObjectChange::Readiness(id);
            }
            self.update(id, observed, version);
            return ObjectChange::Updated(id);
        }
        match self.add(observed, version, origin.watch) {
            Some(id) => ObjectChange::Added {
                id,
                replaced: known,
            },
            None => ObjectChange::Unmanaged { known },
        }
    }

    /// Reads an object, with the annotations that it inherits in a namespace.
    fn read(&self, kind: &Kind, namespace: &str, workload: &Workload) -> Observed {
        let observed = workload.observe(kind, &self.prefix);
        let observed = observed.with_defaults(self.namespaces.defaults(namespace));
        observed.with_schedules(self.namespaces.schedules())
    }

    /// The current epoch of a watch. Its lists are newer than responses of earlier epochs.
    fn epoch(&self, watch: WatchId) -> Option<u32> {
        Some(self.watches.get(watch)?.epoch)
    }

    /// Whether this version is already stored, for example from the response to a patch. This is not
    /// checked for lists, which might have the same version with other content after a rollback.
    fn is_echo(&self, id: Id, workload: &Workload) -> bool {
        self.get(id).is_some_and(|object| {
            object.version.is_same(workload.version()) && *object.name().uid == *workload.uid()
        })
    }

    /// Applies the response to a patch or a read of an object. `known` is the version that was stored
    /// when the request was sent. Returns `false` if the name belongs to another object by now.
    ///
    /// A response with an older version than `known` is applied too: then the server's history went back,
    /// for example because etcd was restored. A response is ignored if a watch has shown a newer version
    /// since. It does not show whether the object is in scope.
    pub(crate) fn observe_response(&mut self, id: Id, workload: &Workload, known: Version) -> bool {
        let Some(object) = self.get(id) else {
            return false;
        };
        let version = workload.version();
        let (name, watch) = (object.name().clone(), object.watch);
        let is_current = object.version == known || !version.is_before(object.version);
        let known = object.version;
        if is_current {
            // This comes before the comparison of UIDs, because an earlier object with that name also
            // shows a rollback.
            self.history.record_response(version, known);
        }
        if &*name.uid != workload.uid() {
            return false;
        }
        if is_current {
            let mut observed = self.read(&name.kind, &name.namespace, workload);
            observed.object = name;
            self.limit_text(id, &mut observed);
            let epoch = self.epoch(watch);
            self.update(id, observed, version);
            if let Some(object) = self.get_mut(id) {
                object.response_epoch = epoch;
            }
        }
        true
    }

    /// Applies that an object was deleted or left the scope: the one with this UID, or with any UID if
    /// it is `None`. Returns the object, to be removed, if it is scheduled.
    pub(crate) fn delete(
        &mut self,
        kind: &Kind,
        name: &ObjectName,
        uid: Option<&str>,
    ) -> Option<Id> {
        let namespace = self.namespaces.get_mut(&name.namespace)?;
        let Some(id) = namespace.id(kind, &name.name) else {
            namespace.remove(kind, &name.name, |_| true);
            self.namespaces.prune(&name.namespace);
            return None;
        };
        let known = &self.get(id)?.name().uid;
        uid.is_none_or(|uid| **known == *uid).then_some(id)
    }

    /// Applies a Namespace from a watch.
    pub(crate) fn observe_namespace(
        &mut self,
        observed: &ObservedNamespace,
        origin: ObservationOrigin,
    ) -> DefaultsChange {
        let change = self.namespaces.observe(observed, origin);
        let name = self.namespaces.name(&observed.name);
        self.apply_change(&name, change)
    }

    /// Applies the ConfigMap of a team; `None` if it was deleted.
    pub(crate) fn observe_team(
        &mut self,
        namespace: &Arc<str>,
        observed: Option<ObservedTeamDefaults>,
        source: ObjectSource,
    ) -> DefaultsChange {
        let change = self.namespaces.observe_team(namespace, observed, source);
        self.apply_change(namespace, change)
    }

    /// Returns the objects of a namespace that might inherit other defaults than before.
    fn apply_change(&mut self, namespace: &Arc<str>, change: NamespaceChange) -> DefaultsChange {
        let mut applied = DefaultsChange {
            rejected: change.rejected.into_iter().collect(),
            ..DefaultsChange::default()
        };
        if change.is_changed {
            self.count_namespace_text(namespace);
            applied.outdated = self.ids_in(Some(namespace));
            applied.undecided = self.add_unscheduled(namespace);
            tracing::debug!(
                namespace = &**namespace,
                objects = applied.outdated.len() + applied.undecided.len(),
                "the defaults have changed"
            );
        }
        if change.has_entered {
            applied.undecided = self.ids_in(Some(namespace));
        }
        applied
    }

    /// Gives the objects of a namespace without a schedule its defaults. Returns those that have a
    /// schedule now.
    pub(super) fn add_unscheduled(&mut self, name: &Arc<str>) -> Vec<Id> {
        let defaults = self.namespaces.defaults(name);
        let namespace = self.namespaces.get_mut(name);
        let unscheduled =
            namespace.map_or_else(Vec::new, |namespace| namespace.take_unscheduled(name));
        let mut added = Vec::new();
        for (observed, version) in unscheduled {
            let watch = self.watches.watch_of(&observed.object.kind, name);
            let observed = observed.with_defaults(defaults.clone());
            added.extend(self.add(observed, version, watch));
        }
        added
    }

    /// Applies that a Namespace was deleted, or no longer matches the selector. Without a selector, its
    /// annotations remain in effect until its last object is deleted.
    pub(crate) fn delete_namespace(&mut self, namespace: &str) {
        self.namespaces.mark_gone(namespace);
        let name = self.namespaces.name(namespace);
        self.count_namespace_text(&name);
        if self.namespaces.are_selected() {
            // The objects have left the scope, so they are published again.
            for id in self.ids_in(Some(namespace)) {
                self.get_mut(id);
            }
        }
    }

    /// Applies an EndpointSlice from a watch.
    pub(crate) fn observe_slice(&mut self, namespace: &Arc<str>, slice: &ServiceSlice) {
        self.namespaces.entry(namespace).slices.observe(slice);
    }

    /// Applies that an EndpointSlice was deleted. Returns its Service.
    pub(crate) fn delete_slice(&mut self, name: &ObjectName) -> Option<Box<str>> {
        let namespace = self.namespaces.get_mut(&name.namespace)?;
        let service = namespace.slices.remove(&name.name);
        self.namespaces.prune(&name.namespace);
        service
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use chrono::DateTime;
    use dayshift_workload::{Annotations, Key, Replicas};
    use serde_json::json;

    use super::*;
    use crate::settings::Settings;

    const CHANGE: ObservationOrigin = ObservationOrigin {
        watch: 0,
        source: ObjectSource::Change,
    };
    const LIST: ObservationOrigin = ObservationOrigin {
        source: ObjectSource::List,
        ..CHANGE
    };

    fn web(version: u32, replicas: u32) -> Workload {
        placed("dev", "web", version, replicas)
    }

    fn placed(namespace: &str, name: &str, version: u32, replicas: u32) -> Workload {
        object(namespace, name, &version.to_string(), replicas)
    }

    fn object(namespace: &str, name: &str, version: &str, replicas: u32) -> Workload {
        serde_json::from_value(json!({
            "metadata": {
                "namespace": namespace, "name": name, "uid": name, "resourceVersion": version,
                "annotations": {"dayshift/stop": "19:00"},
            },
            "spec": {"replicas": replicas},
        }))
        .unwrap()
    }

    fn version(number: u32) -> Version {
        web(number, 0).version()
    }

    fn store() -> Store {
        Store::new(&Settings::default())
    }

    fn observe(store: &mut Store, workload: &Workload, origin: ObservationOrigin) -> ObjectChange {
        let name = ObjectName::from_object(workload);
        store.observe(&Kind::DEPLOYMENT, &name, workload, origin)
    }

    /// Observes an object, and returns its id if it is new or has changed.
    fn changed_id(store: &mut Store, workload: &Workload, origin: ObservationOrigin) -> Option<Id> {
        match observe(store, workload, origin) {
            ObjectChange::Updated(id) | ObjectChange::Added { id, .. } => Some(id),
            ObjectChange::None | ObjectChange::Readiness(_) | ObjectChange::Unmanaged { .. } => {
                None
            }
        }
    }

    fn replicas(store: &Store, id: Id) -> u32 {
        store.get(id).unwrap().observed.replicas.get()
    }

    /// Older versions occur after etcd was restored from a backup. If they were ignored, each patch would
    /// end in a conflict until the server reaches the known version.
    #[test]
    fn a_response_with_an_older_version_is_applied_unless_a_watch_has_shown_a_newer_one() {
        for (known, expected) in [(100, 5), (90, 3)] {
            let mut store = store();
            let id = changed_id(&mut store, &web(100, 3), CHANGE).unwrap();
            assert_eq!(
                changed_id(&mut store, &web(50, 5), CHANGE),
                None,
                "it is late"
            );
            assert!(store.observe_response(id, &web(50, 5), version(known)));
            assert_eq!(replicas(&store, id), expected, "{known}");
        }
    }

    /// A patch can change nothing, after a change by a user that the watch of the namespace has not shown yet.
    #[test]
    fn a_write_is_not_compared_with_the_watch_of_another_namespace() {
        let mut store = store();
        let id = changed_id(&mut store, &web(50, 3), CHANGE).unwrap();
        let ahead = ObservationOrigin { watch: 1, ..CHANGE };
        observe(&mut store, &placed("ops", "web", 100, 3), ahead);
        let known = store.known_versions(store.get(id).unwrap());
        store.history.record_write(version(60), known);
        assert!(!store.history.take_relist(Duration::from_secs(100)));
    }

    /// A change can arrive after a newer response; a list contains the current state.
    #[test]
    fn an_older_version_is_ignored_in_a_change_and_applied_in_a_list() {
        for (origin, expected) in [(CHANGE, 3), (LIST, 5)] {
            let mut store = store();
            let id = changed_id(&mut store, &web(100, 3), CHANGE).unwrap();
            observe(&mut store, &web(90, 5), origin);
            assert_eq!(replicas(&store, id), expected, "{origin:?}");
        }
    }

    #[test]
    fn a_list_that_was_requested_before_a_response_is_ignored_for_that_object() {
        for (has_relisted, expected) in [(false, 4), (true, 5)] {
            let mut store = store();
            let id = changed_id(&mut store, &web(90, 3), LIST).unwrap();
            assert!(store.observe_response(id, &web(100, 4), version(90)));
            if has_relisted {
                store.watches.relist();
            }
            observe(&mut store, &web(95, 5), LIST);
            assert_eq!(replicas(&store, id), expected, "{has_relisted}");
        }
    }

    #[test]
    fn a_watch_event_with_the_version_of_a_response_has_no_effect() {
        let mut store = store();
        let id = changed_id(&mut store, &web(100, 100), CHANGE);
        assert!(store.observe_response(id.unwrap(), &web(101, 0), version(100)));
        assert_eq!(
            changed_id(&mut store, &web(101, 0), CHANGE),
            None,
            "its echo"
        );
        assert_eq!(
            changed_id(&mut store, &web(102, 3), CHANGE),
            id,
            "a manual change has a newer version"
        );
        assert_eq!(changed_id(&mut store, &web(102, 3), CHANGE), None);
        assert_eq!(
            changed_id(&mut store, &web(102, 5), LIST),
            id,
            "a list is always applied"
        );
        let unknown = |replicas| object("dev", "web", "x", replicas);
        assert_eq!(changed_id(&mut store, &unknown(1), CHANGE), id);
        assert_eq!(
            changed_id(&mut store, &unknown(2), CHANGE),
            id,
            "an unreadable version"
        );
    }

    #[test]
    fn an_object_is_deleted_by_its_uid_or_by_its_name_without_a_uid() {
        let mut store = store();
        let id = changed_id(&mut store, &web(100, 3), LIST);
        let name = ObjectName::from_object(&web(100, 3));
        assert_eq!(store.delete(&Kind::DEPLOYMENT, &name, Some("other")), None);
        assert_eq!(store.delete(&Kind::STATEFUL_SET, &name, None), None);
        assert_eq!(store.delete(&Kind::DEPLOYMENT, &name, Some("web")), id);
        assert_eq!(store.delete(&Kind::DEPLOYMENT, &name, None), id);
    }

    fn team(version: u32, stop: &str) -> ObservedNamespace {
        let texts = (!stop.is_empty()).then_some((Key::Stop, stop.to_owned()));
        ObservedNamespace {
            name: "team".into(),
            uid: "team".into(),
            version: self::version(version),
            annotations: Annotations::from_texts(texts),
            deleting: false,
        }
    }

    fn show_team(store: &mut Store, namespace: &ObservedNamespace, origin: ObservationOrigin) {
        let origin = ObservationOrigin { watch: 1, ..origin };
        store.observe_namespace(namespace, origin);
    }

    /// Both if this process has observed the annotations and if it has not.
    #[test]
    fn a_late_change_does_not_restore_removed_annotations_of_a_namespace() {
        for first in [&[(90, "19:00"), (100, "")][..], &[(100, "")]] {
            let mut store = store();
            for (version, stop) in first {
                show_team(&mut store, &team(*version, stop), LIST);
            }
            show_team(&mut store, &team(90, "19:00"), CHANGE);
            assert!(store.namespaces.defaults("team").is_none(), "{first:?}");
            show_team(&mut store, &team(110, "19:00"), CHANGE);
            assert!(store.namespaces.defaults("team").is_some());
        }
    }

    #[test]
    fn a_late_change_does_not_restore_a_deleted_namespace() {
        let mut store = store();
        show_team(&mut store, &team(100, "whenever"), LIST);
        assert_eq!(store.namespaces.invalid(), 1);
        store.delete_namespace("team");
        for (version, invalid) in [(90, 0), (110, 1)] {
            show_team(&mut store, &team(version, "whenever"), CHANGE);
            assert_eq!(store.namespaces.invalid(), invalid);
        }
    }

    #[test]
    fn deleted_namespaces_leave_no_state() {
        for (stop, object_goes_first) in [("19:00", true), ("19:00", false), ("", false)] {
            let mut store = store();
            for number in 1..=10_000 {
                let namespace = ObservedNamespace {
                    name: format!("preview-{number}").into(),
                    ..team(number, stop)
                };
                show_team(&mut store, &namespace, CHANGE);
                let object = placed(&namespace.name, "web", number, 3);
                let id = changed_id(&mut store, &object, CHANGE).unwrap();
                if object_goes_first {
                    store.remove(id);
                }
                store.delete_namespace(&namespace.name);
                assert!(object_goes_first || store.get(id).is_some());
                store.remove(id);
            }
            let left = (store.namespaces.len(), store.len());
            assert_eq!(left, (0, 0), "{stop} {object_goes_first}");
        }
    }

    #[test]
    fn an_unscheduled_object_becomes_scheduled_when_its_namespace_gets_a_schedule() {
        let mut store = store();
        let id = changed_id(&mut store, &placed("team", "web", 90, 3), LIST).unwrap();
        store.keep_unscheduled(id);
        store.remove(id);
        assert_eq!(store.find(&Kind::DEPLOYMENT, "team", "web"), None);
        let origin = ObservationOrigin { watch: 1, ..LIST };
        let ids = store
            .observe_namespace(&team(95, "19:00"), origin)
            .undecided;
        let id = store.find(&Kind::DEPLOYMENT, "team", "web");
        assert_eq!(Some(&ids[..]), id.as_ref().map(std::slice::from_ref));
        assert_eq!(replicas(&store, id.unwrap()), 3);
    }

    #[test]
    fn constant_changes_of_one_object_do_not_delay_the_publication_of_another() {
        let mut store = store();
        let names = ["other", "a", "b", "c"];
        let mut published = Vec::new();
        for change in 1..=4 {
            for name in &names[usize::from(change > 1)..] {
                changed_id(&mut store, &placed("dev", name, change, 3), CHANGE);
            }
            store.publish(2, DateTime::UNIX_EPOCH, |_, snapshot| {
                published.push(snapshot.unwrap().object.name.to_string());
            });
        }
        assert_eq!(published[..4], ["other", "a", "b", "c"]);
    }

    #[test]
    fn a_change_of_readiness_requires_no_decision() {
        let mut store = store();
        let workload = |version: u32, ready: u32, replicas: u32| -> Workload {
            serde_json::from_value(json!({
                "metadata": {
                    "namespace": "dev", "name": "web", "uid": "web", "generation": 2,
                    "resourceVersion": version.to_string(),
                    "annotations": {"dayshift/stop": "19:00"},
                },
                "spec": {"replicas": replicas},
                "status": {"observedGeneration": 2, "readyReplicas": ready},
            }))
            .unwrap()
        };
        let id = changed_id(&mut store, &workload(100, 0, 3), CHANGE).unwrap();
        let ready = |store: &Store| store.get(id).unwrap().observed.readiness.replicas();
        for change in 1..=1_000 {
            let object = workload(100 + change, change % 4, 3);
            let seen = observe(&mut store, &object, CHANGE);
            assert_eq!(seen, ObjectChange::Readiness(id), "{change}");
            assert_eq!(ready(&store), Some(Replicas::new(change % 4)));
        }
        assert_eq!(
            observe(&mut store, &workload(500, 3, 3), CHANGE),
            ObjectChange::None
        );
        assert_eq!(ready(&store), Some(Replicas::ZERO), "a late change");
        assert_eq!(
            changed_id(&mut store, &workload(1_101, 1, 5), CHANGE),
            Some(id)
        );
        let object = store.get(id).unwrap();
        assert!(object.version.is_same(version(1_101)) && store.has_unpublished());
    }
}
