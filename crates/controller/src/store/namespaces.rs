//! All namespaces: how much is known of them, and which defaults their objects have.

use std::{collections::HashMap, sync::Arc};

use dayshift_cluster::{decode::Version, read::ObservedNamespace};
use dayshift_schedule::Calendars;
use dayshift_workload::{
    Annotations, Fingerprint, Inheritance, Inputs, InvalidSchedule, Observed, ParseContext,
    ParsedInputs, Prefix, read,
};

use crate::{
    ids::WatchId,
    settings::{Settings, Watched},
    store::namespace::{Namespace, NamespaceRecord, WatchSource},
};

/// How much is known of the Namespaces of a watch: one, or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Knowledge {
    /// Nothing yet: the first list is still to come.
    Awaited,
    /// They cannot be read. Objects that depend on them are not changed.
    Unreadable,
    /// All of them were listed, and each change since.
    Complete,
}

/// All namespaces, by name.
pub(crate) struct Namespaces {
    by_name: HashMap<Arc<str>, Namespace>,
    /// By the name of each Namespace with a watch of its own, or without a name for all of them;
    /// empty if Namespaces are not watched.
    knowledge: HashMap<Option<Box<str>>, Knowledge>,
    /// For each watch, the newest version of deleted Namespaces of which nothing is kept: an older
    /// change is late.
    gone_versions: HashMap<WatchId, Version>,
    /// How many existing ones have invalid annotations.
    invalid: usize,
    /// The annotations of those without any, which they share.
    nothing: Arc<Annotations>,
    context: ParseContext,
    /// Whether a selector limits the scope, and with it the watch, to matching Namespaces.
    are_selected: bool,
    /// Defaults of Namespaces, and of the controller itself, for objects.
    inheritance: Inheritance,
}

/// The effect of an event of a Namespace.
#[derive(Default)]
pub(crate) struct NamespaceChange {
    /// Its annotations have changed: the objects in it have other defaults.
    pub(crate) is_changed: bool,
    /// It has come into scope, with every known object in it.
    pub(crate) has_entered: bool,
    /// Its problems, if they were not reported yet.
    pub(crate) error: Option<String>,
}

impl Namespaces {
    /// Nothing is known yet.
    pub(crate) fn new(settings: &Settings) -> Self {
        let scope = &settings.scope;
        let own_namespace = settings.own_pod.as_ref().map(|pod| &*pod.namespace);
        let default_schedule = settings.default_schedule.clone();
        let watched = scope.watches().filter_map(|(what, namespace)| {
            let name = namespace.map(Box::from);
            (what == Watched::Namespaces).then_some((name, Knowledge::Awaited))
        });
        Self {
            by_name: HashMap::new(),
            knowledge: watched.collect(),
            gone_versions: HashMap::new(),
            invalid: 0,
            nothing: Arc::default(),
            context: settings.parse_context(),
            are_selected: scope.namespace_selector.is_some(),
            inheritance: Inheritance {
                from_namespaces: scope.namespace_defaults,
                default_schedule: default_schedule
                    .map(|schedule| schedule.except_in(own_namespace)),
            },
        }
    }

    pub(super) fn get(&self, namespace: &str) -> Option<&Namespace> {
        self.by_name.get(namespace)
    }

    /// The namespace of that name. A caller that removes something calls [`Self::prune`].
    pub(super) fn get_mut(&mut self, namespace: &str) -> Option<&mut Namespace> {
        self.by_name.get_mut(namespace)
    }

    /// The namespace of that name, which may be new.
    pub(super) fn entry(&mut self, namespace: &Arc<str>) -> &mut Namespace {
        self.by_name.entry(Arc::clone(namespace)).or_default()
    }

    /// Drops a namespace without any content.
    pub(super) fn prune(&mut self, namespace: &str) {
        if self.by_name.get(namespace).is_some_and(Namespace::is_empty) {
            self.by_name.remove(namespace);
        }
    }

    /// The shared text of the name of a namespace.
    pub(super) fn name(&self, namespace: &str) -> Arc<str> {
        let known = self.by_name.get_key_value(namespace);
        known.map_or_else(|| namespace.into(), |(name, _)| Arc::clone(name))
    }

    fn record(&self, namespace: &str) -> Option<&NamespaceRecord> {
        self.by_name.get(namespace)?.own.as_ref()
    }

    /// Sets other calendars: the problem of a Namespace may have been one that could not be read.
    pub(super) fn set_calendars(&mut self, calendars: Calendars, prefix: &Prefix) {
        self.context.calendars = calendars;
        self.invalid = 0;
        for namespace in self.by_name.values_mut() {
            let Some(record) = &mut namespace.own else {
                continue;
            };
            if record.reported.is_some() {
                let problem = problems(&record.annotations, &self.context);
                record.reported = problem.map(|problem| problem.text(prefix));
            }
            self.invalid += usize::from(record.is_invalid());
        }
    }

    /// Marks the Namespace of that name, or all of them, as listed; returns whether that is news.
    pub(crate) fn mark_complete(&mut self, name: Option<&str>) -> bool {
        let known = self.knowledge.get_mut(&name.map(Box::from));
        known.is_some_and(|known| {
            std::mem::replace(known, Knowledge::Complete) != Knowledge::Complete
        })
    }

    /// Marks it as unreadable; returns whether that is news. Earlier knowledge of it stays.
    pub(crate) fn mark_unreadable(&mut self, name: Option<&str>) -> bool {
        let known = self.knowledge.get_mut(&name.map(Box::from));
        let awaited = known.filter(|known| **known == Knowledge::Awaited);
        awaited.is_some_and(|known| {
            *known = Knowledge::Unreadable;
            true
        })
    }

    /// How much is known of one Namespace; `None` if Namespaces are not watched.
    fn knowledge_of(&self, namespace: &str) -> Option<Knowledge> {
        let of_all = self.knowledge.get(&None);
        let known = of_all.or_else(|| self.knowledge.get(&Some(namespace.into())));
        known.copied()
    }

    /// The defaults for the objects in a namespace, if any.
    pub(crate) fn defaults(&self, namespace: &str) -> Option<Arc<Annotations>> {
        match self.record(namespace) {
            Some(record) => record.in_force.clone(),
            None if self.are_selected => None,
            None => self.inheritance.in_force(namespace, None),
        }
    }

    /// The UID of one; empty if it is not known.
    pub(crate) fn uid(&self, namespace: &str) -> &str {
        self.record(namespace).map_or("", |record| &record.uid)
    }

    /// Whether a selector limits the scope to matching Namespaces.
    pub(super) const fn are_selected(&self) -> bool {
        self.are_selected
    }

    /// Whether the objects of a namespace are in scope, as far as its labels show.
    pub(crate) fn is_in_scope(&self, namespace: &str) -> bool {
        !self.are_selected || self.record(namespace).is_some()
    }

    /// How many existing ones have invalid annotations.
    pub(crate) const fn invalid(&self) -> usize {
        self.invalid
    }

    /// Changes the record of one, and the number of invalid ones with it.
    fn counted<T>(&mut self, namespace: &str, change: impl FnOnce(&mut Self) -> T) -> T {
        let is_invalid = |all: &Self| {
            let record = all.record(namespace);
            usize::from(record.is_some_and(NamespaceRecord::is_invalid))
        };
        self.invalid -= is_invalid(self);
        let result = change(self);
        self.invalid += is_invalid(self);
        result
    }

    /// Applies what a watch shows of a Namespace. A change to an older version than the known one is
    /// late. A Namespace that is being deleted keeps its annotations: the objects in it go too.
    pub(super) fn observe(
        &mut self,
        namespace: &ObservedNamespace,
        source: WatchSource,
        prefix: &Prefix,
    ) -> NamespaceChange {
        self.counted(&namespace.name, |all| all.apply(namespace, source, prefix))
    }

    fn apply(
        &mut self,
        namespace: &ObservedNamespace,
        source: WatchSource,
        prefix: &Prefix,
    ) -> NamespaceChange {
        let is_plain = namespace.annotations.is_empty() && !self.are_selected;
        let is_new = self.record(&namespace.name).is_none();
        if is_new && !source.in_list && self.is_late(namespace.version, source.watch) {
            return NamespaceChange::default();
        }
        if is_new && is_plain {
            let record = self.read(namespace, source.watch, prefix);
            self.set_record(&namespace.name, record);
            return NamespaceChange::default();
        }
        let mut has_come_back = false;
        let known = self.by_name.get_mut(&*namespace.name);
        if let Some(known) = known.and_then(|known| known.own.as_mut()) {
            known.watch = source.watch;
            if !source.in_list && namespace.version.is_before(known.version) {
                return NamespaceChange::default();
            }
            has_come_back = std::mem::take(&mut known.is_gone);
            if namespace.deleting {
                return NamespaceChange::default();
            }
            known.version = namespace.version;
            known.uid.clone_from(&namespace.uid);
            if *known.annotations == namespace.annotations {
                return NamespaceChange {
                    is_changed: has_come_back,
                    has_entered: has_come_back,
                    error: known.reported.clone().filter(|_| has_come_back),
                };
            }
        }
        let record = self.read(namespace, source.watch, prefix);
        let error = record.reported.clone();
        let before = self.set_record(&namespace.name, record);
        // The same problems are reported again for another Namespace of that name.
        let reported = before.and_then(|before| before.reported);
        let reported = reported.filter(|_| !has_come_back);
        NamespaceChange {
            is_changed: true,
            has_entered: is_new && self.are_selected,
            error: error.filter(|error| reported.as_ref() != Some(error)),
        }
    }

    fn set_record(&mut self, name: &str, record: NamespaceRecord) -> Option<NamespaceRecord> {
        let name = self.name(name);
        self.entry(&name).own.replace(record)
    }

    fn read(
        &self,
        namespace: &ObservedNamespace,
        watch: WatchId,
        prefix: &Prefix,
    ) -> NamespaceRecord {
        let is_plain = namespace.annotations.is_empty();
        let annotations = if is_plain {
            self.nothing.clone()
        } else {
            Arc::new(namespace.annotations.clone())
        };
        let problem = (self.inheritance.from_namespaces && !is_plain)
            .then(|| problems(&annotations, &self.context))
            .flatten();
        NamespaceRecord {
            uid: namespace.uid.clone(),
            in_force: self
                .inheritance
                .in_force(&namespace.name, Some(&annotations)),
            annotations,
            version: namespace.version,
            watch,
            is_gone: false,
            reported: problem.map(|problem| problem.text(prefix)),
        }
    }

    /// A Namespace is gone, or the selector no longer matches it. While objects in it are known and
    /// there is no selector, it keeps its annotations: the objects go too, and those in a new
    /// Namespace of that name wait for it.
    pub(super) fn mark_gone(&mut self, namespace: &str) {
        self.counted(namespace, |all| {
            let are_selected = all.are_selected;
            let Some(known) = all.by_name.get_mut(namespace) else {
                return;
            };
            let has_objects = known.has_scheduled();
            if let Some(record) = &mut known.own
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

    /// The last scheduled object of a namespace is gone. If its Namespace is gone too, nothing is
    /// kept of it.
    pub(super) fn forget_gone(&mut self, namespace: &str) {
        if self.record(namespace).is_some_and(|record| record.is_gone) {
            self.forget(namespace);
        }
    }

    fn forget(&mut self, namespace: &str) {
        let known = self.by_name.get_mut(namespace);
        if let Some(record) = known.and_then(|known| known.own.take()) {
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

    /// A list is complete. It may come from another history, so the versions of deleted Namespaces
    /// make no later change late.
    pub(crate) fn listed(&mut self, watch: WatchId) {
        self.gone_versions.remove(&watch);
    }

    /// Whether enough is known to decide about an object. While Namespaces cannot be read, an
    /// object with a schedule of its own, which its state agrees with, continues: nothing that it
    /// inherits could change that schedule.
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
                inputs.own().has_schedule() && agrees
            }
        }
    }

    /// How many namespaces have any content.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.by_name.len()
    }
}

/// The problems of a Namespace's annotations by themselves, whatever objects are in it.
fn problems(annotations: &Arc<Annotations>, context: &ParseContext) -> Option<InvalidSchedule> {
    let inputs = Inputs::default().with_defaults(Some(annotations.clone()));
    match read(&inputs.or_always_on(), context) {
        ParsedInputs::Invalid(problem) => Some(problem),
        ParsedInputs::Unscheduled | ParsedInputs::Scheduled(_) => None,
    }
}
