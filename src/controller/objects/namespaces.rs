//! What is known of the Namespaces whose annotations are defaults for the objects in them.

use std::{collections::HashMap, sync::Arc};

use crate::{
    cluster::{ObservedNamespace, Version},
    controller::ids::WatchId,
    controller::objects::shown_by::ShownBy,
    controller::settings::{Settings, Watched},
    schedule::Calendars,
    workload::{
        Annotations, Fingerprint, Inheritance, Inputs, InvalidSchedule, Observed, ParseContext,
        ParsedInputs, Prefix, read,
    },
};

/// How much is known of what a watch of Namespaces shows: of one, or of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::controller) enum Knowledge {
    /// Nothing yet: what it shows is still to come.
    Awaited,
    /// It cannot be read. What depends on it is left alone.
    Unreadable,
    /// All of it was told, and each change since.
    Complete,
}

/// The Namespaces, and how far they are known.
pub(in crate::controller) struct Namespaces {
    /// Of each Namespace that is watched by itself, or under no name of all of them; empty where they
    /// have no defaults.
    knowledge: HashMap<Option<Box<str>>, Knowledge>,
    /// Those that say nothing too: what one has said before may still be told, late.
    known: HashMap<Box<str>, Known>,
    /// Per watch, the newest version of those that it has shown to be gone and of which nothing is
    /// kept: a change older than that is late.
    gone_versions: HashMap<WatchId, Version>,
    /// How many of those that are there have something wrong on them.
    invalid: usize,
    /// What such a one says, which they share.
    nothing: Arc<Annotations>,
    context: ParseContext,
    /// Whether only those are in scope that a selector matches, which are all that is watched.
    are_selected: bool,
    /// What they, and the scaler itself, give to objects.
    inheritance: Inheritance,
}

struct Known {
    annotations: Arc<Annotations>,
    /// What is in force for what is in it: the annotations, or they and the default schedule.
    in_force: Option<Arc<Annotations>>,
    version: Version,
    watch: WatchId,
    listed: bool,
    /// Whether it was deleted, and no other of its name was seen since.
    is_gone: bool,
    /// What is wrong with it, which is told once.
    told: Option<String>,
}

impl Known {
    const fn is_invalid(&self) -> bool {
        self.told.is_some() && !self.is_gone
    }
}

/// What an event of a Namespace comes to.
#[derive(Default)]
pub(in crate::controller) struct NamespaceNews {
    /// Its annotations have changed: the objects in it have other defaults.
    pub(in crate::controller) is_changed: bool,
    /// It has come into scope: whatever is known of what is in it counts from now on.
    pub(in crate::controller) has_entered: bool,
    /// What is wrong with them, where that was not told yet.
    pub(in crate::controller) error: Option<String>,
}

impl Namespaces {
    /// Nothing is known yet.
    pub(in crate::controller) fn new(settings: &Settings) -> Self {
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
                default_schedule: default_schedule.map(|it| it.but_not_in(own_namespace)),
            },
        }
    }

    /// Other calendars from now on: what is wrong with a Namespace may have been one that could not
    /// be read.
    pub(in crate::controller) fn set_calendars(&mut self, calendars: Calendars, prefix: &Prefix) {
        self.context.calendars = calendars;
        for known in self.known.values_mut().filter(|it| it.told.is_some()) {
            let refusal = problems(&known.annotations, &self.context);
            known.told = refusal.map(|refusal| refusal.text(prefix));
        }
        self.count_all();
    }

    /// Whether they have defaults.
    pub(in crate::controller) fn are_used(&self) -> bool {
        !self.knowledge.is_empty()
    }

    /// The Namespace of that name, or all where there is none, was told; returns whether that is news.
    pub(in crate::controller) fn mark_complete(&mut self, name: Option<&str>) -> bool {
        let known = self.knowledge.get_mut(&name.map(Box::from));
        known.is_some_and(|known| {
            std::mem::replace(known, Knowledge::Complete) != Knowledge::Complete
        })
    }

    /// It cannot be read; returns whether that is news. What was known of it before stays so.
    pub(in crate::controller) fn mark_unreadable(&mut self, name: Option<&str>) -> bool {
        let known = self.knowledge.get_mut(&name.map(Box::from));
        let awaited = known.filter(|known| **known == Knowledge::Awaited);
        awaited.is_some_and(|known| {
            *known = Knowledge::Unreadable;
            true
        })
    }

    /// How much is known of one Namespace; `None` where they have no defaults.
    fn knowledge_of(&self, namespace: &str) -> Option<Knowledge> {
        let of_all = self.knowledge.get(&None);
        let known = of_all.or_else(|| self.knowledge.get(&Some(namespace.into())));
        known.copied()
    }

    /// The defaults of what is in a namespace, if there are any.
    pub(in crate::controller) fn defaults(&self, namespace: &str) -> Option<Arc<Annotations>> {
        match self.known.get(namespace) {
            Some(known) => known.in_force.clone(),
            None if self.are_selected => None,
            None => self.inheritance.in_force(namespace, None),
        }
    }

    /// Whether only those are in scope that a selector matches.
    pub(in crate::controller) const fn are_selected(&self) -> bool {
        self.are_selected
    }

    /// Whether the objects of a namespace are in scope, as far as its labels say.
    pub(in crate::controller) fn is_in_scope(&self, namespace: &str) -> bool {
        !self.are_selected || self.known.contains_key(namespace)
    }

    /// How many are invalid, of those that are there.
    pub(in crate::controller) const fn invalid(&self) -> usize {
        self.invalid
    }

    /// Does something to what is known of one, and counts it anew.
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

    /// Takes in a Namespace as a watch shows it. A change to what is older than what is known is
    /// merely late, and what goes keeps what it said: the objects in it go too.
    pub(in crate::controller) fn observe(
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
        // Another of that name is told what was told of the one before.
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
    /// there is no selector, it keeps what it said: they go too, and what is made in another of
    /// that name waits for it.
    pub(in crate::controller) fn gone(&mut self, namespace: &str, has_objects: bool) {
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

    /// The last object of a namespace is gone. Where the Namespace is, nothing is kept of it.
    pub(in crate::controller) fn forget_gone(&mut self, namespace: &str) {
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
    pub(in crate::controller) fn len(&self) -> usize {
        self.known.len()
    }

    /// A list begins: what it does not show is gone when it ends.
    pub(in crate::controller) fn begin_list(&mut self, watch: WatchId) {
        self.gone_versions.remove(&watch);
        for known in self.known.values_mut().filter(|it| it.watch == watch) {
            known.listed = false;
        }
    }

    /// A list has ended: what it did not show is forgotten, with the objects that were in it. Returns
    /// the names.
    pub(in crate::controller) fn end_list(&mut self, watch: WatchId) -> Vec<Box<str>> {
        let gone = self
            .known
            .extract_if(|_, it| it.watch == watch && !it.listed);
        let names = gone.map(|(name, _)| name).collect();
        self.count_all();
        names
    }

    /// Whether enough is known to decide about an object. While Namespaces cannot be read, one goes
    /// on that has a schedule of its own, with which its state agrees: it inherits nothing that
    /// would make another schedule of it.
    pub(in crate::controller) fn may_decide(&self, observed: &Observed) -> bool {
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
                let is_own = |it: Fingerprint| it.is_of(inputs, &observed.object.uid);
                let agrees = state.fingerprint.is_none_or(is_own);
                inputs.own().has_schedule() && agrees
            }
        }
    }
}

/// What is wrong with the annotations of a Namespace by themselves, whatever is in it.
fn problems(annotations: &Arc<Annotations>, context: &ParseContext) -> Option<InvalidSchedule> {
    let inputs = Inputs::default().with_defaults(Some(annotations.clone()));
    match read(&inputs.or_always_on(), context) {
        ParsedInputs::Invalid(refusal) => Some(refusal),
        ParsedInputs::Unscheduled | ParsedInputs::Scheduled(_) => None,
    }
}
