//! The newest version of every object and Namespace, and the effect of an observation.
//!
//! Every object in scope, and the Namespaces. The store sends no requests and plans nothing.

use std::{collections::BTreeMap, sync::Arc};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::decode::Version;
use dayshift_schedule::Calendars;
use dayshift_workload::{
    Annotations, Change, Decision, DecisionContext, Kind, Observed, Prefix, decide,
};

use crate::{
    clock::guard::{Now, SeenAt},
    ids::{Id, WatchId},
    object::{Object, parse_cache::ParseCache, rare::KnownVersions},
    settings::{OwnPod, Settings},
    store::{
        history::History,
        namespace::{NamedObject, Namespace, UnscheduledObject},
        namespaces::Namespaces,
        text_budget::TextBudget,
    },
    telemetry::snapshot::ObjectSnapshot,
};

pub(crate) use namespace::WatchSource;
pub(crate) use needed::{Progress, reports_no_readiness};
pub(crate) use observe::ObjectChange;

pub(crate) mod history;
pub(crate) mod namespace;
pub(crate) mod namespaces;
mod needed;
mod observe;
pub(crate) mod slices;
mod text_budget;

/// Every object in scope, and the Namespaces.
pub(crate) struct Store {
    pub(crate) prefix: Prefix,
    pub(crate) own_pod: Option<OwnPod>,
    catch_up: TimeDelta,
    dry_run: bool,
    pub(crate) parse_cache: ParseCache,
    pub(crate) namespaces: Namespaces,
    pub(crate) history: History,
    text_budget: TextBudget,
    // Boxed: a node of the tree has free places. Iteration is the order of first sight.
    objects: BTreeMap<Id, Box<Object>>,
    /// The objects that may have changed since they were published, or are gone.
    touched: Vec<Id>,
    last_id: Id,
    /// How often each object was decided about.
    #[cfg(test)]
    pub(crate) decisions: std::cell::RefCell<BTreeMap<Id, usize>>,
}

impl Store {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            prefix: settings.prefix.clone(),
            own_pod: settings.own_pod.clone(),
            catch_up: settings.catch_up,
            dry_run: settings.dry_run,
            parse_cache: ParseCache::new(settings.parse_context()),
            namespaces: Namespaces::new(settings),
            history: History::default(),
            text_budget: TextBudget::default(),
            objects: BTreeMap::new(),
            touched: Vec::new(),
            last_id: Id::default(),
            #[cfg(test)]
            decisions: std::cell::RefCell::default(),
        }
    }

    pub(crate) fn get(&self, id: Id) -> Option<&Object> {
        self.objects.get(&id).map(Box::as_ref)
    }

    /// An object that the caller changes: it is published again.
    pub(crate) fn get_mut(&mut self, id: Id) -> Option<&mut Object> {
        let object = self.objects.get_mut(&id)?;
        touch(&mut self.touched, id, object);
        Some(object)
    }

    /// An object of which nothing changes that is published.
    pub(crate) fn get_unpublished(&mut self, id: Id) -> Option<&mut Object> {
        self.objects.get_mut(&id).map(Box::as_mut)
    }

    /// All ids, in the order in which the objects were first seen.
    pub(crate) fn ids(&self) -> impl Iterator<Item = Id> {
        self.objects.keys().copied()
    }

    /// The objects of a namespace, or all if none is named, in the order of first sight.
    pub(crate) fn ids_in(&self, namespace: Option<&str>) -> Vec<Id> {
        match namespace {
            None => self.ids().collect(),
            Some(name) => {
                let namespace = self.namespaces.get(name);
                namespace.map_or_else(Vec::new, Namespace::ids)
            }
        }
    }

    /// The scheduled object of that name.
    pub(crate) fn find(&self, kind: &Kind, namespace: &str, name: &str) -> Option<Id> {
        self.namespaces.get(namespace)?.id(kind, name)
    }

    /// Adds an object that is not known yet; `None` if it has no schedule and no state.
    pub(crate) fn add(
        &mut self,
        mut observed: Observed,
        created: i64,
        version: Version,
        watch: WatchId,
        seen_at: SeenAt,
    ) -> Option<Id> {
        let object = &observed.object;
        let namespace = self.namespaces.entry(&object.namespace);
        if !observed.concerns_us() {
            let plain = UnscheduledObject::from_observed(&observed, version);
            namespace.insert_unscheduled(&object.kind, &object.name, plain);
            return None;
        }
        let id = loop {
            self.last_id = self.last_id.next();
            if !self.objects.contains_key(&self.last_id) {
                break self.last_id;
            }
        };
        namespace.insert(&object.kind, &object.name, id);
        self.limit_text(id, &mut observed, created);
        let object = Object::new(observed, version, watch, seen_at, &mut self.parse_cache);
        let mut object = Box::new(object);
        touch(&mut self.touched, id, &mut object);
        self.objects.insert(id, object);
        Some(id)
    }

    pub(crate) fn update(&mut self, id: Id, observed: Observed, version: Version, seen_at: SeenAt) {
        if let Some(object) = self.objects.get_mut(&id) {
            touch(&mut self.touched, id, object);
            object.version = version;
            object.show(observed, &mut self.parse_cache, seen_at, self.dry_run);
        }
    }

    /// Sets the annotations of its Namespace; returns whether that makes a difference.
    pub(crate) fn inherit(
        &mut self,
        id: Id,
        defaults: Option<Arc<Annotations>>,
        seen_at: SeenAt,
    ) -> bool {
        let Some(object) = self.objects.get_mut(&id) else {
            return false;
        };
        touch(&mut self.touched, id, object);
        object.inherit(defaults, &mut self.parse_cache, seen_at)
    }

    /// Drops the text of an object, as the server shows it, if its namespace has too much.
    pub(crate) fn limit_text(&mut self, id: Id, observed: &mut Observed, created: i64) {
        if !self.text_budget.observe(id, observed, created) {
            observed.drop_texts(text_budget::NAMESPACE);
        }
    }

    /// Drops the texts for which there is no room any more. Returns the objects to decide about:
    /// those, and the ones whose text there is room for again.
    pub(crate) fn settle_texts(&mut self, seen_at: SeenAt) -> Vec<Id> {
        let mut changed = self.text_budget.take_changed();
        changed.retain(|id| {
            let is_accepted = self.text_budget.accepts(*id);
            let Some(object) = self.objects.get_mut(id) else {
                return false;
            };
            if is_accepted == object.observed.has_texts() {
                return false;
            }
            if !is_accepted {
                touch(&mut self.touched, *id, object);
                object.drop_texts(text_budget::NAMESPACE, &mut self.parse_cache, seen_at);
            }
            true
        });
        changed
    }

    /// Whether the text of an object was dropped, and there is room for it again.
    pub(crate) fn lacks_text(&self, id: Id) -> bool {
        let object = self.get(id);
        object.is_some_and(|object| !object.observed.has_texts()) && self.text_budget.accepts(id)
    }

    /// Removes an object. Another may have its name by now.
    pub(crate) fn remove(&mut self, id: Id) -> Option<Box<Object>> {
        let mut removed = self.objects.remove(&id)?;
        touch(&mut self.touched, id, &mut removed);
        self.text_budget.remove(id);
        let name = removed.name();
        if let Some(namespace) = self.namespaces.get_mut(&name.namespace) {
            let is_it = |known: &NamedObject| matches!(known, NamedObject::Scheduled(known) if *known == id);
            namespace.remove(&name.kind, &name.name, is_it);
            if !namespace.has_scheduled() {
                self.namespaces.forget_gone(&name.namespace);
            }
        }
        self.namespaces.prune(&name.namespace);
        Some(removed)
    }

    /// Keeps an object without annotations of ours in a small form, for a later schedule of its
    /// Namespace and for starts that wait for it.
    pub(crate) fn keep_unscheduled(&mut self, id: Id) {
        if let Some(object) = self.objects.get(&id) {
            let name = object.name();
            let plain = UnscheduledObject::from_observed(&object.observed, object.version);
            let namespace = self.namespaces.entry(&name.namespace);
            namespace.insert_unscheduled(&name.kind, &name.name, plain);
        }
    }

    /// An object about which enough is known to decide.
    pub(crate) fn get_decidable(&self, id: Id) -> Option<&Object> {
        let object = self.get(id)?;
        let may_decide = self.namespaces.may_decide(&object.observed);
        may_decide.then_some(object)
    }

    /// Decides about an object now; `None` if its Namespace is awaited, unreadable or gone.
    pub(crate) fn decide(&self, id: Id, now: DateTime<Utc>) -> Option<Decision> {
        let object = self.get_decidable(id)?;
        #[cfg(test)]
        {
            *self.decisions.borrow_mut().entry(id).or_default() += 1;
        }
        let context = DecisionContext {
            parsed: &object.parsed,
            observed: &object.observed,
            memory: &object.memory,
            seen: object.seen,
            catch_up: self.catch_up,
            prefix: &self.prefix,
        };
        Some(decide(&context, now))
    }

    /// Makes a change in memory only, for a dry run.
    pub(crate) fn apply_dry_run(&mut self, id: Id, change: &Change, now: DateTime<Utc>) {
        if let Some(object) = self.objects.get_mut(&id) {
            touch(&mut self.touched, id, object);
            object.apply_dry_run(change, &mut self.parse_cache, now);
        }
    }

    /// The known versions of an object and its kind.
    pub(crate) fn known_versions(&self, object: &Object) -> KnownVersions {
        self.history.known(&object.name().kind, object.version)
    }

    /// Sets other calendars. Returns the objects that name any.
    pub(crate) fn set_calendars(&mut self, calendars: Calendars, seen_at: SeenAt) -> Vec<Id> {
        self.namespaces
            .set_calendars(calendars.clone(), &self.prefix);
        self.parse_cache.set_calendars(calendars);
        let mut changed = Vec::new();
        for (id, object) in &mut self.objects {
            if object.parse_again(&mut self.parse_cache, seen_at) {
                touch(&mut self.touched, *id, object);
                changed.push(*id);
            }
        }
        changed
    }

    /// The clock was set: another controller may have corrected a state from the future meanwhile,
    /// and an observation may never have been from the future.
    pub(crate) fn refresh_memories(&mut self, now: DateTime<Utc>) {
        for object in self.objects.values_mut() {
            object.memory.observe(&object.observed, now);
        }
    }

    /// The clock is right again: dates the observations that were made meanwhile.
    pub(crate) fn redate_observations(&mut self, now: Now) {
        for (id, object) in &mut self.objects {
            object.redate(now);
            touch(&mut self.touched, *id, object);
        }
    }

    /// Marks the objects of a namespace that has entered or left the scope.
    pub(crate) fn touch_in(&mut self, namespace: &str) {
        for id in self.ids_in(Some(namespace)) {
            self.get_mut(id);
        }
    }

    /// Publishes at most this many of the objects that may have changed; `None` for one that is gone,
    /// or out of scope.
    pub(crate) fn publish(
        &mut self,
        max: usize,
        now: DateTime<Utc>,
        mut publish: impl FnMut(Id, Option<ObjectSnapshot>),
    ) {
        for _ in 0..max {
            let Some(id) = self.touched.pop() else {
                return;
            };
            let object = self.objects.get_mut(&id);
            let snapshot = object.and_then(|object| {
                object.is_touched = false;
                let namespace = &object.name().namespace;
                let is_in_scope = self.namespaces.is_in_scope(namespace);
                is_in_scope.then(|| object.snapshot(now))
            });
            publish(id, snapshot);
        }
    }

    /// Whether objects that may have changed are still unpublished.
    pub(crate) const fn has_unpublished(&self) -> bool {
        !self.touched.is_empty()
    }

    /// The UID of a Namespace; empty if it is not known.
    pub(crate) fn namespace_uid(&self, namespace: &str) -> Arc<str> {
        self.namespaces.uid(namespace).into()
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.objects.len()
    }
}

fn touch(touched: &mut Vec<Id>, id: Id, object: &mut Object) {
    if !std::mem::replace(&mut object.is_touched, true) {
        touched.push(id);
    }
}
