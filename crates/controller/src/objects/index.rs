//! Every object in scope, and what the scaler knows of it. It sends no requests.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::{Workload, decode::Version};
use dayshift_workload::{
    Change, Decision, DecisionContext, Kind, Memory, Observed, Prefix, decide,
};

use crate::{
    ids::{Id, WatchId},
    objects::{
        entries::Entries,
        entry::Entry,
        history::{History, KnownVersions},
        names::Names,
        namespaces::Namespaces,
        parse_cache::ParseCache,
        services::Services,
        shown_by::ShownBy,
        unscheduled_objects::UnscheduledObjects,
    },
    queue::work::Work,
    settings::{OwnPod, Settings},
    time::guarded_clock::SeenAt,
};

/// The effect of an event of a watch.
#[derive(Default)]
pub(crate) struct Observation {
    /// The object, if it is in scope and the event is news.
    pub(crate) id: Option<Id>,
    /// The object, if only how much of it is ready is news.
    pub(crate) readier: Option<Id>,
    /// An earlier object of that name, which is gone and to be removed.
    pub(crate) replaced: Option<Id>,
}

pub(crate) struct Index {
    pub(super) prefix: Prefix,
    own_pod: Option<OwnPod>,
    catch_up: TimeDelta,
    dry_run: bool,
    pub(super) parse_cache: ParseCache,
    pub(crate) namespaces: Namespaces,
    pub(super) unscheduled_objects: UnscheduledObjects,
    pub(crate) history: History,
    pub(super) entries: Entries,
    pub(super) names: Names,
    pub(crate) services: Services,
    last_id: Id,
}

impl Index {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            prefix: settings.prefix.clone(),
            own_pod: settings.own_pod.clone(),
            catch_up: settings.catch_up,
            dry_run: settings.dry_run,
            parse_cache: ParseCache::new(settings.parse_context()),
            namespaces: Namespaces::new(settings),
            unscheduled_objects: UnscheduledObjects::default(),
            history: History::default(),
            entries: Entries::default(),
            names: Names::default(),
            services: Services::default(),
            last_id: 0,
        }
    }

    /// Takes in an object from a watch. A change to an older version than the known one is merely
    /// late, and so is a list that was requested before an answer came.
    pub(crate) fn observe(
        &mut self,
        kind: Kind,
        workload: &Workload,
        shown: ShownBy,
        seen_at: SeenAt,
    ) -> Observation {
        let known = self.names.get(kind, workload.namespace(), workload.name());
        self.history.note_shown(kind, workload.version());
        let own_pod = self.own_pod.as_ref();
        if own_pod.is_some_and(|pod| pod.is_of(kind, workload)) {
            return Observation {
                replaced: known,
                ..Observation::default()
            };
        }
        if let Some(id) = known
            && shown.may_be_late()
            && self.take_echo(id, workload)
        {
            return Observation::default();
        }
        let defaults = self.namespaces.defaults(workload.namespace());
        let is_plain = defaults.is_none() && !workload.concerns(&self.prefix);
        if known.is_none() && is_plain {
            self.unscheduled_objects.keep(kind, workload, shown.watch);
            return Observation::default();
        }
        if known.is_none()
            && shown.may_be_late()
            && self.unscheduled_objects.is_late(kind, workload)
        {
            return Observation::default();
        }
        let observed = workload.observe(kind, &self.prefix);
        let mut observed = observed.with_defaults(defaults);
        if let Some(id) = known
            && let Some(entry) = self.entries.get_mut(id)
            && entry.observed.object == observed.object
        {
            entry.listed = true;
            let may_be_late = shown.may_be_late() || entry.is_answered;
            let is_news = !(may_be_late && workload.version().is_before(entry.version));
            if is_news
                && shown.may_be_late()
                && entry.take_readiness(&mut observed, workload.version())
            {
                return Observation {
                    readier: Some(id),
                    ..Observation::default()
                };
            }
            if is_news {
                self.update(id, observed, workload.version(), seen_at);
            }
            return Observation {
                id: is_news.then_some(id),
                ..Observation::default()
            };
        }
        Observation {
            id: self.take_in(observed, workload.version(), shown.watch, seen_at),
            replaced: known,
            readier: None,
        }
    }

    /// Takes in an object that an answer has shown already, as after a patch of ours; false if none
    /// has. A list counts in any case: it may come from another history.
    fn take_echo(&mut self, id: Id, workload: &Workload) -> bool {
        let is_same = |entry: &Entry| {
            entry.version.is_same(workload.version()) && *entry.object().uid == *workload.uid()
        };
        let Some(entry) = self.entries.get(id).filter(|entry| is_same(entry)) else {
            return false;
        };
        if !entry.listed
            && let Some(entry) = self.entries.get_mut(id)
        {
            entry.listed = true;
        }
        true
    }

    /// Takes in an object that is not known yet; `None` if nothing is asked for it.
    pub(super) fn take_in(
        &mut self,
        observed: Observed,
        version: Version,
        watch: WatchId,
        seen_at: SeenAt,
    ) -> Option<Id> {
        let object = &observed.object;
        if !observed.concerns_us() {
            self.unscheduled_objects
                .keep_observed(&observed, version, watch);
            return None;
        }
        self.unscheduled_objects
            .forget(object.kind, &object.namespace, &object.name);
        Some(self.add(observed, version, watch, seen_at))
    }

    fn update(&mut self, id: Id, observed: Observed, version: Version, seen_at: SeenAt) {
        if let Some(entry) = self.entries.get_mut(id) {
            entry.version = version;
            entry.show(observed, &mut self.parse_cache, seen_at, self.dry_run);
        }
    }

    /// Takes in the answer to a read of one object, sent when `known` was known of it; false if the
    /// name belongs to another object by now.
    ///
    /// Such an answer counts even with an older version: then the server's history went back, as
    /// after a restore of etcd. But the watch may have shown something newer since. The answer does
    /// not say whether the object is in scope.
    pub(crate) fn observe_answer(
        &mut self,
        id: Id,
        workload: &Workload,
        known: Version,
        seen_at: SeenAt,
    ) -> bool {
        let Some(entry) = self.entries.get(id) else {
            return false;
        };
        let version = workload.version();
        let is_news = entry.version == known || !version.is_before(entry.version);
        if is_news {
            // Before the names are compared: an earlier object of that name is of an older history too.
            self.history.note_answer(version, entry.version);
        }
        let object = &entry.observed.object;
        if &*object.uid != workload.uid() {
            return false;
        }
        if is_news {
            let observed = workload.observe(object.kind, &self.prefix);
            let defaults = self.namespaces.defaults(&observed.object.namespace);
            let observed = observed.with_defaults(defaults);
            self.update(id, observed, version, seen_at);
            if let Some(entry) = self.entries.get_mut(id) {
                entry.is_answered = true;
            }
        }
        true
    }

    fn add(
        &mut self,
        mut observed: Observed,
        version: Version,
        watch: WatchId,
        seen_at: SeenAt,
    ) -> Id {
        self.last_id += 1;
        self.names.insert(&observed.object, self.last_id);
        let (inputs, parsed) = self.parse_cache.of(&observed.inputs);
        observed.inputs = inputs;
        let entry = Entry {
            memory: Memory::new(&observed),
            observed,
            parsed,
            version,
            seen: seen_at.by_clock,
            seen_monotonic: seen_at.monotonic,
            labels_seen: seen_at.by_clock,
            watch,
            listed: true,
            is_answered: false,
            ready_for: None,
            expired: Vec::new(),
            work: Work::default(),
            is_touched: false,
        };
        self.entries.insert(self.last_id, Box::new(entry));
        self.last_id
    }

    /// The object of that name is gone, or out of scope. Returns it, if known, to be removed.
    pub(crate) fn find_deleted(&mut self, kind: Kind, workload: &Workload) -> Option<Id> {
        self.unscheduled_objects
            .forget(kind, workload.namespace(), workload.name());
        let id = self
            .names
            .get(kind, workload.namespace(), workload.name())?;
        let is_it = self
            .get(id)
            .is_some_and(|entry| &*entry.observed.object.uid == workload.uid());
        is_it.then_some(id)
    }

    /// Forgets an object. Another may have its name by now.
    pub(crate) fn remove(&mut self, id: Id) {
        if let Some(entry) = self.entries.remove(id) {
            let object = &entry.observed.object;
            self.names.remove(object, id);
            if !self.names.has_any_in(&object.namespace) {
                self.namespaces.forget_gone(&object.namespace);
            }
        }
    }

    /// Keeps what is needed of an object without annotations of ours: by the next schedule of its
    /// Namespace, and by starts that wait for it.
    pub(crate) fn keep_unscheduled(&mut self, id: Id) {
        if let Some(entry) = self.entries.get(id) {
            let (observed, version) = (&entry.observed, entry.version);
            self.unscheduled_objects
                .keep_observed(observed, version, entry.watch);
        }
    }

    /// A watch of a namespace, or of all, has failed: its next list is newer than any answer so far.
    /// The watch reports a list later than it asks for it.
    pub(crate) fn expect_list(&mut self, watch: WatchId, namespace: Option<&str>) {
        for id in self.ids_in(namespace) {
            let entry = self.entries.get_unpublished(id);
            if let Some(entry) = entry.filter(|it| it.watch == watch) {
                entry.is_answered = false;
            }
        }
    }

    /// All watches begin anew: their next lists come from an older history than any answer so far.
    pub(crate) fn expect_all_lists(&mut self) {
        for (_, entry) in self.entries.iter_mut() {
            entry.is_answered = false;
        }
    }

    /// Begins the list of a watch of a namespace, or of all: objects that it does not show are gone
    /// when it ends.
    pub(crate) fn begin_list(&mut self, watch: WatchId, namespace: Option<&str>) {
        self.unscheduled_objects.begin_list(watch, namespace);
        for id in self.ids_in(namespace) {
            let entry = self.entries.get_unpublished(id);
            if let Some(entry) = entry.filter(|it| it.watch == watch) {
                entry.listed = false;
            }
        }
    }

    /// Ends a list. Returns the objects that it did not show, to be removed.
    pub(crate) fn end_list(&mut self, watch: WatchId, namespace: Option<&str>) -> Vec<Id> {
        self.unscheduled_objects.end_list(watch, namespace);
        let mut ids = self.ids_in(namespace);
        let is_gone = |entry: &Entry| entry.watch == watch && !entry.listed;
        ids.retain(|id| self.entries.get(*id).is_some_and(is_gone));
        ids
    }

    /// An object about which enough is known to decide.
    pub(crate) fn get_decidable(&self, id: Id) -> Option<&Entry> {
        let entry = self.entries.get(id)?;
        self.namespaces.may_decide(&entry.observed).then_some(entry)
    }

    /// Decides about an object now.
    pub(crate) fn decide(&self, id: Id, now: DateTime<Utc>) -> Option<Decision> {
        let entry = self.get_decidable(id)?;
        let context = DecisionContext {
            parsed: &entry.parsed,
            observed: &entry.observed,
            memory: &entry.memory,
            seen: entry.seen,
            catch_up: self.catch_up,
            prefix: &self.prefix,
        };
        Some(decide(&context, now))
    }

    /// Makes the change in memory alone, for a dry run.
    pub(crate) fn apply_dry_run(&mut self, id: Id, change: &Change, now: DateTime<Utc>) {
        if let Some(entry) = self.entries.get_mut(id) {
            entry.memory.wrote(&entry.observed, change, now);
            entry.observed.replicas = change.replicas;
            entry.observed.labels = change.state.to_labels();
            entry.observed.error.clone_from(&change.error);
            entry
                .observed
                .override_began
                .clone_from(&change.override_began);
            entry.observed.inherited.clone_from(&change.inherited);
            entry.remove_expired(&change.expired, &mut self.parse_cache);
        }
    }

    pub(crate) fn get(&self, id: Id) -> Option<&Entry> {
        self.entries.get(id)
    }

    pub(crate) fn get_mut(&mut self, id: Id) -> Option<&mut Entry> {
        self.entries.get_mut(id)
    }

    /// The known versions of an object and its kind.
    pub(crate) fn known_versions(&self, id: Id) -> Option<KnownVersions> {
        let entry = self.entries.get(id)?;
        Some(self.history.known(entry.object().kind, entry.version))
    }

    /// All ids, in the order in which the objects were first seen.
    pub(crate) fn ids(&self) -> Vec<Id> {
        let mut ids: Vec<_> = self.entries.iter().map(|(id, _)| id).collect();
        ids.sort_unstable();
        ids
    }
}
