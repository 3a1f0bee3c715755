//! All namespaces: whether their Namespace objects were listed, and the defaults that they give to the
//! objects in them. Objects whose Namespace is not known yet are not decided about.

use std::{collections::HashMap, sync::Arc};

use dayshift_cluster::{decode::Version, read::ObservedNamespace, write::EventObject};
use dayshift_schedule::Calendars;
use dayshift_workload::{
    Annotations, Fingerprint, Inheritance, Inputs, InvalidSchedule, Key, NamedSchedules, Observed,
    Origin, ParseContext, ParsedInputs, Prefix, read,
};

use crate::{
    ids::WatchId,
    settings::{Settings, Watched},
    store::namespace::{Namespace, NamespaceRecord, ObservationOrigin},
};

/// What is known about the Namespaces of a watch, which are one or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Knowledge {
    /// Nothing: the first list has not arrived yet.
    Awaited,
    /// They cannot be read. Objects that might inherit from them are not changed.
    Unreadable,
    /// They were listed, and are being watched.
    Complete,
}

/// All namespaces, by name.
pub(crate) struct Namespaces {
    by_name: HashMap<Arc<str>, Namespace>,
    /// By the name of each Namespace that is watched individually, or by `None` if all are watched. Empty
    /// if Namespaces are not watched.
    knowledge: HashMap<Option<Box<str>>, Knowledge>,
    /// For each watch, the newest version of a Namespace that was deleted and has no record anymore. An
    /// older change is late.
    gone_versions: HashMap<WatchId, Version>,
    /// The number of existing Namespaces with invalid annotations.
    invalid: usize,
    /// The empty annotations, which all Namespaces without annotations share.
    no_annotations: Arc<Annotations>,
    context: ParseContext,
    /// Whether a selector limits the scope, and the watch, to matching Namespaces.
    are_selected: bool,
    /// Whether Namespaces and the controller have defaults for objects.
    inheritance: Inheritance,
}

/// A Namespace whose annotations are rejected.
pub(crate) struct RejectedNamespace {
    pub(crate) name: Arc<str>,
    /// The subject of its Event.
    pub(crate) about: EventObject,
    pub(crate) error: String,
}

/// The effect of a watch event about a Namespace.
#[derive(Default)]
pub(crate) struct NamespaceChange {
    /// Whether the annotations have changed, which are the defaults of the objects in it.
    pub(crate) is_changed: bool,
    /// Whether the Namespace has entered the scope, with all objects in it.
    pub(crate) has_entered: bool,
    /// Why the annotations are invalid, if that was not reported yet.
    pub(crate) error: Option<String>,
}

impl Namespaces {
    /// Creates the store of namespaces, which are not listed yet.
    pub(crate) fn new(settings: &Settings) -> Self {
        let scope = &settings.scope;
        let own_namespace = settings.own_pod.as_ref().map(|pod| &*pod.namespace);
        let default_schedule = settings.default_schedule.clone();
        let watched = scope.watches().filter_map(|(watched, namespace)| {
            let name = namespace.map(Box::from);
            (watched == Watched::Namespaces).then_some((name, Knowledge::Awaited))
        });
        Self {
            by_name: HashMap::new(),
            knowledge: watched.collect(),
            gone_versions: HashMap::new(),
            invalid: 0,
            no_annotations: Arc::default(),
            context: settings.parse_context(),
            are_selected: scope.namespace_selector.is_some(),
            inheritance: Inheritance {
                from_namespaces: scope.namespace_defaults,
                default_schedule: default_schedule
                    .map(|schedule| schedule.except_in(own_namespace)),
                schedules: settings.schedules.current(),
            },
        }
    }

    pub(super) fn get(&self, namespace: &str) -> Option<&Namespace> {
        self.by_name.get(namespace)
    }

    /// The namespace with a name. A caller that removes content should call [`Self::prune`].
    pub(super) fn get_mut(&mut self, namespace: &str) -> Option<&mut Namespace> {
        self.by_name.get_mut(namespace)
    }

    /// The namespace with a name, which is created if it does not exist.
    pub(super) fn entry(&mut self, namespace: &Arc<str>) -> &mut Namespace {
        self.by_name.entry(Arc::clone(namespace)).or_default()
    }

    /// Removes a namespace if it is empty.
    pub(super) fn prune(&mut self, namespace: &str) {
        if self.by_name.get(namespace).is_some_and(Namespace::is_empty) {
            self.by_name.remove(namespace);
        }
    }

    /// The shared copy of the name of a namespace.
    pub(super) fn name(&self, namespace: &str) -> Arc<str> {
        let known = self.by_name.get_key_value(namespace);
        known.map_or_else(|| namespace.into(), |(name, _)| Arc::clone(name))
    }

    fn record(&self, namespace: &str) -> Option<&NamespaceRecord> {
        self.by_name.get(namespace)?.record.as_ref()
    }

    /// Replaces the calendars. Checks invalid annotations again, because a calendar might have been the
    /// reason.
    pub(super) fn set_calendars(&mut self, calendars: Calendars, prefix: &Prefix) {
        self.context.calendars = calendars;
        self.invalid = 0;
        for namespace in self.by_name.values_mut() {
            let Some(record) = &mut namespace.record else {
                continue;
            };
            if record.error.is_some() {
                let problem = problems(&record.annotations, &self.inheritance, &self.context);
                record.error = problem.map(|problem| problem.text(prefix));
            }
            self.invalid += usize::from(record.is_invalid());
        }
    }

    /// The named schedules.
    pub(super) const fn schedules(&self) -> &NamedSchedules {
        &self.inheritance.schedules
    }

    /// Sets other named schedules. Returns the namespaces whose defaults have changed, and the
    /// Namespaces that are rejected for another reason than before.
    pub(super) fn set_schedules(
        &mut self,
        schedules: NamedSchedules,
        prefix: &Prefix,
    ) -> (Vec<Arc<str>>, Vec<RejectedNamespace>) {
        self.context.schedules = schedules.clone();
        self.inheritance.schedules = schedules;
        let default = self.inheritance.default_schedule.as_ref();
        let is_default_named = default.is_some_and(|default| default.name().is_some());
        let (mut changed, mut rejected) = (Vec::new(), Vec::new());
        self.invalid = 0;
        for (name, namespace) in &mut self.by_name {
            let Some(record) = &mut namespace.record else {
                if is_default_named && !self.are_selected {
                    changed.push(Arc::clone(name));
                }
                continue;
            };
            let in_force = self.inheritance.in_force(name, Some(&record.annotations));
            if record.defaults != in_force {
                record.defaults = in_force;
                changed.push(Arc::clone(name));
            }
            let names_one = record.annotations.has(Key::NamedSchedule);
            if names_one && self.inheritance.from_namespaces {
                let problem = problems(&record.annotations, &self.inheritance, &self.context);
                let problem = problem.map(|problem| problem.text(prefix));
                if let Some(error) = problem.clone().filter(|_| problem != record.error)
                    && !record.is_gone
                {
                    rejected.push(RejectedNamespace {
                        name: Arc::clone(name),
                        about: EventObject::namespace(Arc::clone(name), (&*record.uid).into()),
                        error,
                    });
                }
                record.error = problem;
            }
            self.invalid += usize::from(record.is_invalid());
        }
        rejected.sort_by(|one, other| one.name.cmp(&other.name));
        changed.sort();
        (changed, rejected)
    }

    /// Marks the Namespace with this name, or all Namespaces, as listed. Returns whether they were not
    /// listed before.
    pub(crate) fn mark_complete(&mut self, name: Option<&str>) -> bool {
        let known = self.knowledge.get_mut(&name.map(Box::from));
        known.is_some_and(|known| {
            std::mem::replace(known, Knowledge::Complete) != Knowledge::Complete
        })
    }

    /// Marks the Namespace with this name, or all Namespaces, as unreadable if they were not listed
    /// before. Returns whether that changes anything.
    pub(crate) fn mark_unreadable(&mut self, name: Option<&str>) -> bool {
        let known = self.knowledge.get_mut(&name.map(Box::from));
        let awaited = known.filter(|known| **known == Knowledge::Awaited);
        awaited.is_some_and(|known| {
            *known = Knowledge::Unreadable;
            true
        })
    }

    /// What is known about one Namespace; `None` if Namespaces are not watched.
    fn knowledge_of(&self, namespace: &str) -> Option<Knowledge> {
        let of_all = self.knowledge.get(&None);
        let known = of_all.or_else(|| self.knowledge.get(&Some(namespace.into())));
        known.copied()
    }

    /// The defaults for the objects in a namespace, if any.
    pub(crate) fn defaults(&self, namespace: &str) -> Option<Arc<Annotations>> {
        match self.record(namespace) {
            Some(record) => record.defaults.clone(),
            None if self.are_selected => None,
            None => self.inheritance.in_force(namespace, None),
        }
    }

    /// The stored annotations of a Namespace.
    pub(super) fn annotations(&self, namespace: &str) -> Option<&Annotations> {
        self.record(namespace).map(|record| &*record.annotations)
    }

    /// The UID of a Namespace; empty if unknown.
    pub(crate) fn uid(&self, namespace: &str) -> &str {
        self.record(namespace).map_or("", |record| &record.uid)
    }

    /// Whether a selector limits the scope to matching Namespaces.
    pub(super) const fn are_selected(&self) -> bool {
        self.are_selected
    }

    /// Whether the labels of a Namespace match the selector, if there is one.
    pub(crate) fn is_in_scope(&self, namespace: &str) -> bool {
        !self.are_selected || self.record(namespace).is_some()
    }

    /// The number of existing Namespaces with invalid annotations.
    pub(crate) const fn invalid(&self) -> usize {
        self.invalid
    }

    /// Changes the record of a Namespace, and updates the number of invalid Namespaces.
    fn with_invalid_count<T>(&mut self, namespace: &str, change: impl FnOnce(&mut Self) -> T) -> T {
        let is_invalid = |all: &Self| {
            let record = all.record(namespace);
            usize::from(record.is_some_and(NamespaceRecord::is_invalid))
        };
        self.invalid -= is_invalid(self);
        let result = change(self);
        self.invalid += is_invalid(self);
        result
    }

    /// Applies a Namespace from a watch. A change with an older version than the known one is ignored. A
    /// Namespace that is being deleted keeps its annotations, because its objects are deleted too.
    pub(super) fn observe(
        &mut self,
        namespace: &ObservedNamespace,
        origin: ObservationOrigin,
        prefix: &Prefix,
    ) -> NamespaceChange {
        self.with_invalid_count(&namespace.name, |all| all.apply(namespace, origin, prefix))
    }

    fn apply(
        &mut self,
        namespace: &ObservedNamespace,
        origin: ObservationOrigin,
        prefix: &Prefix,
    ) -> NamespaceChange {
        let has_no_effect = namespace.annotations.is_empty() && !self.are_selected;
        let is_new = self.record(&namespace.name).is_none();
        if is_new && !origin.is_list() && self.is_late(namespace.version, origin.watch) {
            return NamespaceChange::default();
        }
        if is_new && has_no_effect {
            let record = self.read(namespace, origin.watch, prefix);
            self.set_record(&namespace.name, record);
            return NamespaceChange::default();
        }
        let mut has_returned = false;
        let known = self.by_name.get_mut(&*namespace.name);
        if let Some(known) = known.and_then(|known| known.record.as_mut()) {
            known.watch = origin.watch;
            if !origin.is_list() && namespace.version.is_before(known.version) {
                return NamespaceChange::default();
            }
            has_returned = std::mem::take(&mut known.is_gone);
            if namespace.deleting {
                return NamespaceChange::default();
            }
            known.version = namespace.version;
            known.uid.clone_from(&namespace.uid);
            if *known.annotations == namespace.annotations {
                return NamespaceChange {
                    is_changed: has_returned,
                    has_entered: has_returned,
                    error: known.error.clone().filter(|_| has_returned),
                };
            }
        }
        let record = self.read(namespace, origin.watch, prefix);
        let error = record.error.clone();
        let before = self.set_record(&namespace.name, record);
        // An error is reported again if the Namespace was deleted and created again.
        let reported = before.and_then(|before| before.error);
        let reported = reported.filter(|_| !has_returned);
        NamespaceChange {
            is_changed: true,
            has_entered: is_new && self.are_selected,
            error: error.filter(|error| reported.as_ref() != Some(error)),
        }
    }

    fn set_record(&mut self, name: &str, record: NamespaceRecord) -> Option<NamespaceRecord> {
        let name = self.name(name);
        self.entry(&name).record.replace(record)
    }

    fn read(
        &self,
        namespace: &ObservedNamespace,
        watch: WatchId,
        prefix: &Prefix,
    ) -> NamespaceRecord {
        let has_none = namespace.annotations.is_empty();
        let annotations = if has_none {
            self.no_annotations.clone()
        } else {
            Arc::new(namespace.annotations.clone())
        };
        let problem = (self.inheritance.from_namespaces && !has_none)
            .then(|| problems(&annotations, &self.inheritance, &self.context))
            .flatten();
        NamespaceRecord {
            uid: namespace.uid.clone(),
            defaults: self
                .inheritance
                .in_force(&namespace.name, Some(&annotations)),
            annotations,
            version: namespace.version,
            watch,
            is_gone: false,
            error: problem.map(|problem| problem.text(prefix)),
        }
    }

    /// Applies that a Namespace was deleted, or no longer matches the selector. Without a selector, it
    /// keeps its annotations while it has scheduled objects, which are deleted too. Objects in a new
    /// Namespace with the same name are not decided about until that Namespace is observed.
    pub(super) fn mark_gone(&mut self, namespace: &str) {
        self.with_invalid_count(namespace, |all| {
            let are_selected = all.are_selected;
            let Some(known) = all.by_name.get_mut(namespace) else {
                return;
            };
            let has_objects = known.has_scheduled();
            if let Some(record) = &mut known.record
                && !are_selected
                && !record.annotations.is_empty()
                && has_objects
            {
                record.is_gone = true;
            } else {
                all.forget(namespace);
            }
        });
    }

    /// Removes the record of a deleted Namespace, after its last scheduled object was removed.
    pub(super) fn forget_gone(&mut self, namespace: &str) {
        if self.record(namespace).is_some_and(|record| record.is_gone) {
            self.forget(namespace);
        }
    }

    fn forget(&mut self, namespace: &str) {
        let known = self.by_name.get_mut(namespace);
        if let Some(record) = known.and_then(|known| known.record.take()) {
            let newest = self.gone_versions.entry(record.watch).or_default();
            if *newest == Version::default() || newest.is_before(record.version) {
                *newest = record.version;
            }
        }
        self.prune(namespace);
    }

    fn is_late(&self, version: Version, watch: WatchId) -> bool {
        let newest = self.gone_versions.get(&watch);
        newest.is_some_and(|newest| version.is_before(*newest))
    }

    /// Applies that a list is complete. The versions of deleted Namespaces are forgotten, because the
    /// list may be from a restored server with older versions.
    pub(crate) fn listed(&mut self, watch: WatchId) {
        self.gone_versions.remove(&watch);
    }

    /// Whether enough is known to decide about an object. While Namespaces are unreadable, only objects
    /// with a schedule of their own are decided about, if their fingerprint matches that schedule
    /// without defaults.
    pub(super) fn may_decide(&self, observed: &Observed) -> bool {
        let namespace = &*observed.object.namespace;
        let is_gone = self.record(namespace).is_some_and(|record| record.is_gone);
        if is_gone || !self.is_in_scope(namespace) {
            return false;
        }
        match self.knowledge_of(namespace) {
            None | Some(Knowledge::Complete) => true,
            Some(Knowledge::Awaited) => false,
            Some(Knowledge::Unreadable) => {
                let (inputs, state) = (&observed.inputs, observed.state());
                let is_own = |fingerprint: Fingerprint| {
                    fingerprint == inputs.fingerprint(&observed.object.uid)
                };
                let agrees = state.fingerprint.is_none_or(is_own);
                inputs.schedule_origin() == Some(Origin::Own) && agrees
            }
        }
    }

    /// The number of namespaces with content.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.by_name.len()
    }
}

/// Why the annotations of a Namespace are invalid, independent of the objects in it.
fn problems(
    annotations: &Arc<Annotations>,
    inheritance: &Inheritance,
    context: &ParseContext,
) -> Option<InvalidSchedule> {
    let inputs = inheritance.resolved(annotations);
    let inputs = Inputs::default().with_defaults(Some(inputs));
    match read(&inputs.or_always_on(), context) {
        ParsedInputs::Invalid(problem) => Some(problem),
        ParsedInputs::Unscheduled | ParsedInputs::Scheduled(_) => None,
    }
}
