//! The Namespaces whose annotations are defaults for the objects in them.

use std::{collections::HashMap, sync::Arc};

use dayshift_cluster::{decode::Version, read::ObservedNamespace};
use dayshift_schedule::Calendars;
use dayshift_workload::{
    Annotations, Fingerprint, Inheritance, Inputs, InvalidSchedule, Observed, ParseContext,
    ParsedInputs, Prefix, read,
};

use crate::{
    ids::WatchId,
    objects::shown_by::ShownBy,
    settings::{Settings, Watched},
};

/// How much is known of the Namespaces of a watch: one, or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Knowledge {
    /// Nothing yet: the first list is still to come.
    Awaited,
    /// They cannot be read. Objects that depend on them are left alone.
    Unreadable,
    /// All of them were listed, and each change since.
    Complete,
}

/// The Namespaces, and how much is known of them.
pub(crate) struct Namespaces {
    /// By the name of each Namespace with a watch of its own, or without a name for all of them;
    /// empty if Namespaces have no defaults.
    knowledge: HashMap<Option<Box<str>>, Knowledge>,
    /// Also those without annotations: earlier ones may still arrive, late.
    known: HashMap<Box<str>, Known>,
    /// For each watch, the newest version of deleted Namespaces of which nothing is kept: an older
    /// change is late.
    gone_versions: HashMap<WatchId, Version>,
    /// How many existing ones have invalid annotations.
    invalid: usize,
    /// The problems of one of them, which they share.
    nothing: Arc<Annotations>,
    context: ParseContext,
    /// Whether a selector limits the scope, and with it the watch, to matching Namespaces.
    are_selected: bool,
    /// Defaults of Namespaces, and of the scaler itself, for objects.
    inheritance: Inheritance,
}

struct Known {
    uid: Box<str>,
    annotations: Arc<Annotations>,
    /// The defaults for the objects in it: its annotations, or those and the default schedule.
    in_force: Option<Arc<Annotations>>,
    version: Version,
    watch: WatchId,
    listed: bool,
    /// Whether it was deleted, and no other of its name was seen since.
    is_gone: bool,
    /// Its problems, which are told once.
    told: Option<String>,
}

impl Known {
    const fn is_invalid(&self) -> bool {
        self.told.is_some() && !self.is_gone
    }
}

/// The effect of an event of a Namespace.
#[derive(Default)]
pub(crate) struct NamespaceNews {
    /// Its annotations have changed: the objects in it have other defaults.
    pub(crate) is_changed: bool,
    /// It has come into scope, with every known object in it.
    pub(crate) has_entered: bool,
    /// Its problems, if not told yet.
    pub(crate) error: Option<String>,
}

impl Namespaces {
    /// Nothing is known yet.
    pub(crate) fn new(settings: &Settings) -> Self {
        let scope = &settings.scope;
        let own_namespace = settings.own_pod.as_ref().map(|pod| &*pod.namespace);
        let default_schedule = settings.default_schedule.clone();
        let are_selected = scope.namespace_selector.is_some();
        let watched = scope.watches().filter_map(|(what, namespace)| {
            let name = namespace.map(Box::from);
            (what == Watched::Namespaces).then_some((name, Knowledge::Awaited))
        });
        Self {
            knowledge: watched.collect(),
            known: HashMap::new(),
            gone_versions: HashMap::new(),
            invalid: 0,
            nothing: Arc::default(),
            context: settings.parse_context(),
            are_selected,
            inheritance: Inheritance {
                from_namespaces: scope.namespace_defaults,
                default_schedule: default_schedule.map(|it| it.except_in(own_namespace)),
            },
        }
    }

    /// Sets other calendars: the problem of a Namespace may have been one that could not be read.
    pub(crate) fn set_calendars(&mut self, calendars: Calendars, prefix: &Prefix) {
        self.context.calendars = calendars;
        for known in self.known.values_mut().filter(|it| it.told.is_some()) {
            let refusal = problems(&known.annotations, &self.context);
            known.told = refusal.map(|refusal| refusal.text(prefix));
        }
        self.count_all();
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

    /// How much is known of one Namespace; `None` if Namespaces have no defaults.
    fn knowledge_of(&self, namespace: &str) -> Option<Knowledge> {
        let of_all = self.knowledge.get(&None);
        let known = of_all.or_else(|| self.knowledge.get(&Some(namespace.into())));
        known.copied()
    }

    /// The defaults for the objects in a namespace, if any.
    pub(crate) fn defaults(&self, namespace: &str) -> Option<Arc<Annotations>> {
        match self.known.get(namespace) {
            Some(known) => known.in_force.clone(),
            None if self.are_selected => None,
            None => self.inheritance.in_force(namespace, None),
        }
    }

    /// The UID of one; empty where it is not known.
    pub(crate) fn uid(&self, namespace: &str) -> &str {
        self.known.get(namespace).map_or("", |it| &it.uid)
    }

    /// Whether a selector limits the scope to matching Namespaces.
    pub(crate) const fn are_selected(&self) -> bool {
        self.are_selected
    }

    /// Whether the objects of a namespace are in scope, as far as its labels say.
    pub(crate) fn is_in_scope(&self, namespace: &str) -> bool {
        !self.are_selected || self.known.contains_key(namespace)
    }

    /// How many existing ones have invalid annotations.
    pub(crate) const fn invalid(&self) -> usize {
        self.invalid
    }

    /// Changes the knowledge of one, and counts it anew.
    fn counted<T>(&mut self, namespace: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let is_invalid = |it: &Self| it.known.get(namespace).is_some_and(Known::is_invalid);
        self.invalid -= usize::from(is_invalid(self));
        let result = work(self);
        self.invalid += usize::from(is_invalid(self));
        result
    }

    fn count_all(&mut self) {
        self.invalid = self.known.values().filter(|it| it.is_invalid()).count();
    }

    /// Takes in a Namespace from a watch. A change to an older version than the known one is late.
    /// A Namespace that is being deleted keeps its annotations: the objects in it go too.
    pub(crate) fn observe(
        &mut self,
        namespace: &ObservedNamespace,
        shown: ShownBy,
        prefix: &Prefix,
    ) -> NamespaceNews {
        self.counted(&namespace.name, |it| it.take_in(namespace, shown, prefix))
    }

    fn take_in(
        &mut self,
        namespace: &ObservedNamespace,
        shown: ShownBy,
        prefix: &Prefix,
    ) -> NamespaceNews {
        let is_plain = namespace.annotations.is_empty() && !self.are_selected;
        let is_new = !self.known.contains_key(&namespace.name);
        if is_new && shown.may_be_late() && self.is_late(namespace.version, shown.watch) {
            return NamespaceNews::default();
        }
        if is_new && is_plain {
            let known = self.read(namespace, shown.watch, prefix);
            self.known.insert(namespace.name.clone(), known);
            return NamespaceNews::default();
        }
        let mut has_come_back = false;
        if let Some(known) = self.known.get_mut(&namespace.name) {
            known.listed = true;
            known.watch = shown.watch;
            let is_late = shown.may_be_late() && namespace.version.is_before(known.version);
            if is_late {
                return NamespaceNews::default();
            }
            has_come_back = std::mem::take(&mut known.is_gone);
            if namespace.deleting {
                return NamespaceNews::default();
            }
            known.version = namespace.version;
            known.uid.clone_from(&namespace.uid);
            if *known.annotations == namespace.annotations {
                return NamespaceNews {
                    is_changed: has_come_back,
                    has_entered: has_come_back,
                    error: known.told.clone().filter(|_| has_come_back),
                };
            }
        }
        let known = self.read(namespace, shown.watch, prefix);
        let before = self.known.insert(namespace.name.clone(), known);
        // Another Namespace of that name is told the same problems again.
        let told = before.and_then(|it| it.told).filter(|_| !has_come_back);
        let error = self.known.get(&namespace.name);
        let error = error.and_then(|it| it.told.clone());
        NamespaceNews {
            is_changed: true,
            has_entered: is_new && self.are_selected,
            error: error.filter(|error| told.as_ref() != Some(error)),
        }
    }

    fn read(&self, namespace: &ObservedNamespace, watch: WatchId, prefix: &Prefix) -> Known {
        let is_plain = namespace.annotations.is_empty();
        let annotations = if is_plain {
            self.nothing.clone()
        } else {
            Arc::new(namespace.annotations.clone())
        };
        let refusal = (self.inheritance.from_namespaces && !is_plain)
            .then(|| problems(&annotations, &self.context))
            .flatten();
        Known {
            uid: namespace.uid.clone(),
            in_force: self
                .inheritance
                .in_force(&namespace.name, Some(&annotations)),
            annotations,
            version: namespace.version,
            watch,
            listed: true,
            is_gone: false,
            told: refusal.map(|refusal| refusal.text(prefix)),
        }
    }

    /// A Namespace is gone, or the selector matches it no more. While objects in it are known and
    /// there is no selector, it keeps its annotations: the objects go too, and those in a new
    /// Namespace of that name wait for it.
    pub(crate) fn gone(&mut self, namespace: &str, has_objects: bool) {
        self.counted(namespace, |it| it.mark_gone(namespace, has_objects));
    }

    fn mark_gone(&mut self, namespace: &str, has_objects: bool) {
        let Some(known) = self.known.get_mut(namespace) else {
            return;
        };
        if self.are_selected || known.annotations.is_empty() || !has_objects {
            self.forget(namespace);
        } else {
            known.is_gone = true;
            known.listed = false;
        }
    }

    /// The last object of a namespace is gone. If its Namespace is gone too, nothing is kept of it.
    pub(crate) fn forget_gone(&mut self, namespace: &str) {
        if self.known.get(namespace).is_some_and(|it| it.is_gone) {
            self.forget(namespace);
        }
    }

    fn forget(&mut self, namespace: &str) {
        if let Some(known) = self.known.remove(namespace) {
            let newest = self.gone_versions.entry(known.watch).or_default();
            if *newest == Version::default() || newest.is_before(known.version) {
                *newest = known.version;
            }
        }
    }

    fn is_late(&self, version: Version, watch: WatchId) -> bool {
        let newest = self.gone_versions.get(&watch);
        newest.is_some_and(|newest| version.is_before(*newest))
    }

    /// How many are known.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    /// Begins a list: Namespaces that it does not show are gone when it ends.
    pub(crate) fn begin_list(&mut self, watch: WatchId) {
        self.gone_versions.remove(&watch);
        for known in self.known.values_mut().filter(|it| it.watch == watch) {
            known.listed = false;
        }
    }

    /// Ends a list: forgets the Namespaces that it did not show, with their objects. Returns their
    /// names.
    pub(crate) fn end_list(&mut self, watch: WatchId) -> Vec<Box<str>> {
        let gone = self
            .known
            .extract_if(|_, it| it.watch == watch && !it.listed);
        let names = gone.map(|(name, _)| name).collect();
        self.count_all();
        names
    }

    /// Whether enough is known to decide about an object. While Namespaces cannot be read, an
    /// object with a schedule of its own, which its state agrees with, continues: nothing that it
    /// inherits could change that schedule.
    pub(crate) fn may_decide(&self, observed: &Observed) -> bool {
        let namespace = &*observed.object.namespace;
        let is_gone = self.known.get(namespace).is_some_and(|it| it.is_gone);
        if is_gone || !self.is_in_scope(namespace) {
            return false;
        }
        match self.knowledge_of(namespace) {
            None | Some(Knowledge::Complete) => true,
            Some(Knowledge::Awaited) => false,
            Some(Knowledge::Unreadable) => {
                let (inputs, state) = (&observed.inputs, observed.state());
                let is_own = |it: Fingerprint| it == inputs.fingerprint(&observed.object.uid);
                let agrees = state.fingerprint.is_none_or(is_own);
                inputs.own().has_schedule() && agrees
            }
        }
    }
}

/// The problems of a Namespace's annotations by themselves, whatever objects are in it.
fn problems(annotations: &Arc<Annotations>, context: &ParseContext) -> Option<InvalidSchedule> {
    let inputs = Inputs::default().with_defaults(Some(annotations.clone()));
    match read(&inputs.or_always_on(), context) {
        ParsedInputs::Invalid(refusal) => Some(refusal),
        ParsedInputs::Unscheduled | ParsedInputs::Scheduled(_) => None,
    }
}
