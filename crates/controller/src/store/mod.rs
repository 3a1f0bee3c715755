//! The newest observation of every object in scope and of every Namespace, and the progress of the watches.
//!
//! The store ignores events and responses that are late, and returns the objects that have changed. It
//! sends no requests.

use std::{
    cell::Cell,
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::decode::Version;
use dayshift_schedule::Calendars;
use dayshift_workload::{
    Annotations, Change, Decision, DecisionContext, Kind, NamedSchedules, Observed, Prefix, decide,
};

use crate::{
    clock::guard::{Now, SeenAt},
    ids::{Id, WatchId},
    object::{Object, parse_cache::ParseCache, rare::KnownVersions},
    settings::{OwnPod, Settings},
    store::{
        history::History,
        namespace::{NamedObject, Namespace},
        namespaces::Namespaces,
        text_budget::TextBudgets,
        unscheduled::UnscheduledObject,
        watches::Watches,
    },
    telemetry::snapshot::ObjectSnapshot,
};

pub(crate) use dependency_state::{Progress, reports_no_readiness};
pub(crate) use namespace::RejectedDefaults;
pub(crate) use observe::ObjectChange;
pub(crate) use watches::ObservationOrigin;

mod dependency_state;
pub(crate) mod history;
mod namespace;
pub(crate) mod namespaces;
mod observe;
mod slices;
mod text_budget;
mod unscheduled;
pub(crate) mod watches;

/// The newest observation of every object in scope and of every Namespace.
pub(crate) struct Store {
    pub(crate) watches: Watches,
    /// The time of the current step, at which objects are observed. The core sets it.
    pub(crate) seen_at: SeenAt,
    pub(crate) prefix: Prefix,
    pub(crate) own_pod: Option<OwnPod>,
    catch_up: TimeDelta,
    dry_run: bool,
    pub(crate) parse_cache: ParseCache,
    pub(crate) namespaces: Namespaces,
    pub(crate) history: History,
    text_budget: TextBudgets,
    /// In the order of first observation. Objects are boxed because the nodes of the tree have unused
    /// space.
    objects: BTreeMap<Id, Box<Object>>,
    /// The objects that might have changed since they were published, or were removed. They are published in
    /// this order, so that constant changes of some objects do not delay the others.
    touched: VecDeque<Id>,
    last_id: Id,
    /// The number of decisions about dependencies so far. Each takes as long as any other decision.
    pub(crate) dependency_decisions: Cell<usize>,
    /// The number of decisions about each object, and about all objects.
    #[cfg(test)]
    pub(crate) decisions: std::cell::RefCell<(BTreeMap<Id, usize>, usize)>,
}

/// The effect of a change of defaults, calendars or named schedules.
#[derive(Default)]
pub(crate) struct DefaultsChange {
    /// The objects that might be affected, in the order in which they were first seen. They are outdated until
    /// [`Store::update_definitions`].
    pub(crate) outdated: Vec<Id>,
    /// The objects to decide about.
    pub(crate) undecided: Vec<Id>,
    /// The defaults that are rejected for another reason than before.
    pub(crate) rejected: Vec<RejectedDefaults>,
}

impl Store {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            watches: Watches::new(&settings.scope),
            seen_at: SeenAt::default(),
            prefix: settings.prefix.clone(),
            own_pod: settings.own_pod.clone(),
            catch_up: settings.catch_up,
            dry_run: settings.dry_run,
            parse_cache: ParseCache::new(settings.parse_context()),
            namespaces: Namespaces::new(settings),
            history: History::default(),
            text_budget: TextBudgets::default(),
            objects: BTreeMap::new(),
            touched: VecDeque::new(),
            last_id: Id::default(),
            dependency_decisions: Cell::default(),
            #[cfg(test)]
            decisions: std::cell::RefCell::default(),
        }
    }

    pub(crate) fn get(&self, id: Id) -> Option<&Object> {
        self.objects.get(&id).map(Box::as_ref)
    }

    /// An object, for a change. It is published again.
    pub(crate) fn get_mut(&mut self, id: Id) -> Option<&mut Object> {
        let object = self.objects.get_mut(&id)?;
        touch(&mut self.touched, id, object);
        Some(object)
    }

    /// An object, for a change that does not affect its snapshot. It is not published again.
    pub(crate) fn get_unpublished(&mut self, id: Id) -> Option<&mut Object> {
        self.objects.get_mut(&id).map(Box::as_mut)
    }

    /// The ids of all objects, in the order of first observation.
    pub(crate) fn ids(&self) -> impl Iterator<Item = Id> {
        self.objects.keys().copied()
    }

    /// The ids of the objects in a namespace, or of all objects if it is `None`, in the order of first
    /// observation.
    pub(crate) fn ids_in(&self, namespace: Option<&str>) -> Vec<Id> {
        match namespace {
            None => self.ids().collect(),
            Some(name) => {
                let namespace = self.namespaces.get(name);
                namespace.map_or_else(Vec::new, Namespace::ids)
            }
        }
    }

    /// The id of a scheduled object, by its name.
    pub(crate) fn find(&self, kind: &Kind, namespace: &str, name: &str) -> Option<Id> {
        self.namespaces.get(namespace)?.id(kind, name)
    }

    /// Adds a new object, or stores it as unscheduled and returns `None` if it has no schedule and no
    /// state.
    pub(crate) fn add(
        &mut self,
        mut observed: Observed,
        version: Version,
        watch: WatchId,
    ) -> Option<Id> {
        let object = &observed.object;
        let namespace = self.namespaces.entry(&object.namespace);
        if !observed.concerns_us() {
            let unscheduled = UnscheduledObject::from_observed(&observed, version);
            namespace.insert_unscheduled(&object.kind, &object.name, unscheduled);
            return None;
        }
        let id = loop {
            self.last_id = self.last_id.next();
            if !self.objects.contains_key(&self.last_id) {
                break self.last_id;
            }
        };
        namespace.insert(&object.kind, &object.name, id);
        self.limit_text(id, &mut observed);
        let object = Object::new(
            observed,
            version,
            watch,
            self.seen_at,
            &mut self.parse_cache,
        );
        let mut object = Box::new(object);
        touch(&mut self.touched, id, &mut object);
        self.objects.insert(id, object);
        Some(id)
    }

    pub(crate) fn update(&mut self, id: Id, mut observed: Observed, version: Version) {
        if let Some(object) = self.objects.get_mut(&id) {
            touch(&mut self.touched, id, object);
            object.version = version;
            if self.dry_run {
                object.keep_dry_run(&mut observed);
            }
            object.observe(observed, &mut self.parse_cache, self.seen_at);
        }
    }

    /// Sets the annotations that an object inherits. Returns whether its inputs have changed.
    pub(crate) fn inherit(&mut self, id: Id, defaults: Option<Arc<Annotations>>) -> bool {
        let Some(object) = self.objects.get_mut(&id) else {
            return false;
        };
        touch(&mut self.touched, id, object);
        let schedules = self.namespaces.schedules();
        object.inherit(defaults, schedules, &mut self.parse_cache, self.seen_at)
    }

    /// Drops the annotations from an observation if they exceed the text budget of the namespace.
    fn limit_text(&mut self, id: Id, observed: &mut Observed) {
        if let Err(over_budget) = self.text_budget.observe(id, observed) {
            observed.drop_texts(over_budget.limit);
        }
    }

    /// Drops annotations that exceed the text budget. Returns the objects that should be decided about:
    /// those whose annotations were dropped, and those whose annotations fit again.
    pub(crate) fn settle_texts(&mut self) -> Vec<Id> {
        let mut changed = self.text_budget.take_changed();
        changed.retain(|id| {
            let rejection = self.text_budget.rejection(*id);
            let Some(object) = self.objects.get_mut(id) else {
                return false;
            };
            if rejection.is_none() == object.observed.has_texts() {
                return false;
            }
            if let Some(over_budget) = rejection {
                touch(&mut self.touched, *id, object);
                object.drop_texts(over_budget.limit, &mut self.parse_cache, self.seen_at);
            }
            true
        });
        changed
    }

    /// Whether the annotations of an object were dropped and fit into the budget again, so that the
    /// object should be read.
    pub(crate) fn lacks_text(&self, id: Id) -> bool {
        let object = self.get(id);
        object.is_some_and(|object| !object.observed.has_texts())
            && self.text_budget.rejection(id).is_none()
    }

    /// Updates the text budget with the annotations of a Namespace and its team's defaults, after an event
    /// about them, or after its last object was removed.
    fn count_namespace_text(&mut self, namespace: &Arc<str>) {
        let bytes = self.namespaces.default_bytes(namespace);
        self.text_budget.observe_namespace(namespace, bytes);
    }

    /// Removes an object. Its name remains if it belongs to another object by now.
    pub(crate) fn remove(&mut self, id: Id) -> Option<Box<Object>> {
        let mut removed = self.objects.remove(&id)?;
        touch(&mut self.touched, id, &mut removed);
        self.text_budget.remove(id);
        let name = removed.name();
        if let Some(namespace) = self.namespaces.get_mut(&name.namespace) {
            let is_this = |known: &NamedObject| matches!(known, NamedObject::Scheduled(known) if *known == id);
            namespace.remove(&name.kind, &name.name, is_this);
            if !namespace.has_scheduled() {
                self.namespaces.forget_gone(&name.namespace);
                self.count_namespace_text(&name.namespace);
            }
        }
        self.namespaces.prune(&name.namespace);
        Some(removed)
    }

    /// Stores an object without a schedule in a compact form, which is needed if its Namespace gets a
    /// schedule or a start depends on it.
    pub(crate) fn keep_unscheduled(&mut self, id: Id) {
        if let Some(object) = self.objects.get(&id) {
            let name = object.name();
            let unscheduled = UnscheduledObject::from_observed(&object.observed, object.version);
            let namespace = self.namespaces.entry(&name.namespace);
            namespace.insert_unscheduled(&name.kind, &name.name, unscheduled);
        }
    }

    /// An object, if enough is known about its Namespace to decide about it.
    pub(crate) fn get_decidable(&self, id: Id) -> Option<&Object> {
        let object = self.get(id)?;
        let may_decide = self.namespaces.may_decide(&object.observed, &self.watches);
        may_decide.then_some(object)
    }

    /// Decides about an object; `None` if its Namespace is not listed yet, unreadable or deleted.
    pub(crate) fn decide(&self, id: Id, now: DateTime<Utc>) -> Option<Decision> {
        let object = self.get_decidable(id)?;
        #[cfg(test)]
        {
            let (each, all) = &mut *self.decisions.borrow_mut();
            *each.entry(id).or_default() += 1;
            *all += 1;
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

    /// Applies a change only in memory, for a dry run.
    pub(crate) fn apply_dry_run(&mut self, id: Id, change: &Change, now: DateTime<Utc>) {
        if let Some(object) = self.objects.get_mut(&id) {
            touch(&mut self.touched, id, object);
            object.apply_dry_run(change, &mut self.parse_cache, now);
        }
    }

    /// The known version of an object, and the newest one of its watch.
    pub(crate) fn known_versions(&self, object: &Object) -> KnownVersions {
        self.history.known(object.watch, object.version)
    }

    /// Replaces the calendars. The objects that refer to calendars are outdated.
    pub(crate) fn set_calendars(&mut self, calendars: Calendars) -> DefaultsChange {
        self.namespaces.set_calendars(calendars.clone());
        self.parse_cache.set_calendars(calendars);
        DefaultsChange {
            outdated: self.ids_that(|object| object.parsed.depends_on_calendars()),
            ..DefaultsChange::default()
        }
    }

    /// Replaces the named schedules. The objects that use a named schedule are outdated.
    pub(crate) fn set_schedules(&mut self, schedules: NamedSchedules) -> DefaultsChange {
        self.parse_cache.set_schedules(schedules.clone());
        let (changed, rejected) = self.namespaces.set_schedules(schedules);
        let outdated = self.ids_that(|object| object.observed.inputs.refers_to_schedules());
        let mut undecided = Vec::new();
        for namespace in changed {
            undecided.extend(self.add_unscheduled(&namespace));
        }
        DefaultsChange {
            outdated,
            undecided,
            rejected,
        }
    }

    fn ids_that(&self, predicate: impl Fn(&Object) -> bool) -> Vec<Id> {
        let matching = self.objects.iter().filter(|(_, object)| predicate(object));
        matching.map(|(id, _)| *id).collect()
    }

    /// Updates an outdated object to the current defaults, calendars and named schedules. Returns whether to
    /// decide about it.
    pub(crate) fn update_definitions(&mut self, id: Id) -> bool {
        let Some(object) = self.get(id) else {
            return false;
        };
        let defaults = self.namespaces.defaults(&object.name().namespace);
        if self.inherit(id, defaults) {
            return true;
        }
        let object = self.objects.get_mut(&id);
        object.is_some_and(|object| object.parse_again(&mut self.parse_cache, self.seen_at))
    }

    /// Applies the observations to the memories again after the clock was set: a state with a time in the
    /// future might now be in the past.
    pub(crate) fn refresh_memories(&mut self, now: DateTime<Utc>) {
        for object in self.objects.values_mut() {
            object.memory.observe(&object.observed, now);
        }
    }

    /// Corrects the times of observations that were made while the clock was wrong.
    pub(crate) fn redate_observations(&mut self, now: Now) {
        for (id, object) in &mut self.objects {
            object.redate(now);
            touch(&mut self.touched, *id, object);
        }
    }

    /// Publishes at most `max` of the objects that might have changed. Passes `None` for an object that
    /// was removed or is out of scope.
    pub(crate) fn publish(
        &mut self,
        max: usize,
        now: DateTime<Utc>,
        mut publish: impl FnMut(Id, Option<ObjectSnapshot>),
    ) {
        for _ in 0..max {
            let Some(id) = self.touched.pop_front() else {
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

    /// Whether objects that might have changed are still unpublished.
    pub(crate) fn has_unpublished(&self) -> bool {
        !self.touched.is_empty()
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.objects.len()
    }
}

fn touch(touched: &mut VecDeque<Id>, id: Id, object: &mut Object) {
    if !std::mem::replace(&mut object.is_touched, true) {
        touched.push_back(id);
    }
}
