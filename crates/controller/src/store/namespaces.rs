//! All namespaces, and the defaults that their Namespace objects and the ConfigMaps of their teams give to
//! the objects in them. Objects whose defaults are not known yet are not decided about.

use std::{collections::HashMap, mem, sync::Arc};

use dayshift_cluster::{
    decode::Version,
    read::{ObservedNamespace, ObservedTeamDefaults},
    watch::ObjectSource,
    write::EventObject,
};
use dayshift_schedule::Calendars;
use dayshift_workload::{
    Annotations, Fingerprint, Inheritance, Inputs, InvalidSchedule, Key, NamedSchedules, Observed,
    Origin, ParseContext, ParsedInputs, Prefix, allows_team, read,
};

use crate::{
    ids::WatchId,
    settings::{Settings, Watched},
    store::{
        namespace::{DefaultsSource, Namespace, NamespaceRecord, RejectedDefaults},
        watches::{Knowledge, ObservationOrigin, Watches},
    },
};

/// All namespaces, by name.
pub(crate) struct Namespaces {
    by_name: HashMap<Arc<str>, Namespace>,
    /// For each watch, the newest version of a Namespace that was deleted and has no record anymore. An
    /// older change is late.
    gone_versions: HashMap<WatchId, Version>,
    /// The number of namespaces with invalid annotations of their Namespace or invalid defaults of their team.
    invalid: usize,
    /// The empty annotations, which all Namespaces without annotations share.
    no_annotations: Arc<Annotations>,
    prefix: Prefix,
    context: ParseContext,
    /// Whether a selector limits the scope, and the watch, to matching Namespaces.
    are_selected: bool,
    /// Whether Namespaces and the controller have defaults for objects.
    inheritance: Inheritance,
}

/// The effect of an observation on the defaults of the objects in a namespace.
#[derive(Default)]
pub(crate) struct NamespaceChange {
    /// Whether the defaults have changed.
    pub(crate) is_changed: bool,
    /// Whether the Namespace has entered the scope, with all objects in it.
    pub(crate) has_entered: bool,
    /// Why they are invalid, if that was not reported yet.
    pub(crate) rejected: Option<RejectedDefaults>,
}

impl Namespaces {
    /// Creates the store of namespaces, of which none was observed yet.
    pub(crate) fn new(settings: &Settings) -> Self {
        let scope = &settings.scope;
        let own_namespace = settings.own_pod.as_ref().map(|pod| &*pod.namespace);
        let default_schedule = settings.default_schedule.clone();
        Self {
            by_name: HashMap::new(),
            gone_versions: HashMap::new(),
            invalid: 0,
            no_annotations: Arc::default(),
            prefix: settings.prefix.clone(),
            context: settings.parse_context(),
            are_selected: scope.namespace_selector.is_some(),
            inheritance: Inheritance {
                from_namespaces: scope.namespace_defaults,
                from_teams: scope.team_defaults,
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
    pub(super) fn set_calendars(&mut self, calendars: Calendars) {
        self.context.calendars = calendars;
        self.check_again(|_, error| error.is_some());
    }

    /// The named schedules.
    pub(super) const fn schedules(&self) -> &NamedSchedules {
        &self.inheritance.schedules
    }

    /// Sets other named schedules. Returns the namespaces whose defaults have changed, and those that are
    /// rejected for another reason than before.
    pub(super) fn set_schedules(
        &mut self,
        schedules: NamedSchedules,
    ) -> (Vec<Arc<str>>, Vec<RejectedDefaults>) {
        self.context.schedules = schedules.clone();
        self.inheritance.schedules = schedules;
        let default = self.inheritance.default_schedule.as_ref();
        let is_default_named = default.is_some_and(|default| default.name().is_some());
        let mut changed = Vec::new();
        for (name, namespace) in &mut self.by_name {
            let is_changed = if namespace.record.is_none() && namespace.team.is_none() {
                is_default_named && !self.are_selected
            } else {
                update_defaults(&self.inheritance, name, namespace)
            };
            if is_changed {
                changed.push(Arc::clone(name));
            }
        }
        changed.sort();
        let rejected = self.check_again(|annotations, _| annotations.has(Key::NamedSchedule));
        (changed, rejected)
    }

    /// Checks annotations of Namespaces and defaults of teams again, if the predicate returns true for them
    /// and their last error. Returns those that are rejected for another reason than before.
    fn check_again(
        &mut self,
        predicate: impl Fn(&Annotations, Option<&String>) -> bool,
    ) -> Vec<RejectedDefaults> {
        let (inheritance, context) = (&self.inheritance, &self.context);
        let text = |problem: Option<InvalidSchedule>| Some(problem?.text(&self.prefix));
        let mut rejected = Vec::new();
        self.invalid = 0;
        for (name, namespace) in &mut self.by_name {
            if let Some(record) = &mut namespace.record
                && let source = &mut record.source
                && inheritance.from_namespaces
                && predicate(&source.annotations, source.error.as_ref())
            {
                let error = text(problems(&source.annotations, inheritance, context));
                let about = EventObject::namespace(Arc::clone(name), (&*source.uid).into());
                let new = source.set_error(error, about);
                rejected.extend(new.filter(|_| !record.is_gone));
            }
            if let Some(team) = &mut namespace.team
                && predicate(&team.annotations, team.error.as_ref())
            {
                let error = text(inheritance.team_problem(&team.annotations, context));
                let about = EventObject::team_defaults(Arc::clone(name), (&*team.uid).into());
                rejected.extend(team.set_error(error, about));
            }
            self.invalid += usize::from(namespace.is_invalid());
        }
        rejected.sort_by(|one, other| one.about.namespace.cmp(&other.about.namespace));
        rejected
    }

    /// What is known about the defaults in a namespace; `None` if neither Namespaces nor ConfigMaps are
    /// watched.
    fn knowledge(&self, namespace: &str, watches: &Watches) -> Option<Knowledge> {
        let known = |watched| {
            let watch = watches.find(&watched, namespace);
            watch.map(|watch| watch.knowledge)
        };
        let is_forbidden = || {
            let record = self.record(namespace);
            record.is_some_and(|record| !allows_team(&record.source.annotations))
        };
        let of_team = known(Watched::TeamDefaults).filter(|_| !is_forbidden());
        known(Watched::Namespaces).max(of_team)
    }

    /// The defaults for the objects in a namespace, if any.
    pub(crate) fn defaults(&self, namespace: &str) -> Option<Arc<Annotations>> {
        if !self.is_in_scope(namespace) {
            return None;
        }
        match self.by_name.get(namespace) {
            Some(known) if known.record.is_some() || known.team.is_some() => known.defaults.clone(),
            _ => self.inheritance.in_force(namespace, None, None),
        }
    }

    /// The length of the stored annotations of a Namespace and of its team's defaults, in bytes.
    pub(super) fn default_bytes(&self, namespace: &str) -> usize {
        let Some(known) = self.by_name.get(namespace) else {
            return 0;
        };
        let record = known.record.as_ref().map(|record| &record.source);
        let both = record.into_iter().chain(known.team.as_deref());
        both.map(|source| source.annotations.counted_bytes()).sum()
    }

    /// Applies the ConfigMap of a team; `None` if it was deleted.
    pub(super) fn observe_team(
        &mut self,
        namespace: &Arc<str>,
        observed: Option<ObservedTeamDefaults>,
        source: ObjectSource,
    ) -> NamespaceChange {
        self.with_invalid_count(namespace, |all| match observed {
            Some(observed) => all.apply_team(namespace, observed, source),
            None => all.forget_team(namespace),
        })
    }

    fn apply_team(
        &mut self,
        name: &Arc<str>,
        observed: ObservedTeamDefaults,
        source: ObjectSource,
    ) -> NamespaceChange {
        let known = self.by_name.entry(Arc::clone(name)).or_default();
        if let Some(team) = &mut known.team {
            if source == ObjectSource::Change && observed.version.is_before(team.version) {
                return NamespaceChange::default();
            }
            team.version = observed.version;
            if *team.annotations == observed.annotations {
                team.uid = observed.uid;
                return NamespaceChange::default();
            }
        }
        let about = EventObject::team_defaults(Arc::clone(name), (&*observed.uid).into());
        let mut team = DefaultsSource {
            uid: observed.uid,
            version: observed.version,
            annotations: Arc::new(observed.annotations),
            error: known.team.take().and_then(|before| before.error),
        };
        let problem = self
            .inheritance
            .team_problem(&team.annotations, &self.context);
        let error = problem.map(|problem| problem.text(&self.prefix));
        let rejected = team.set_error(error, about);
        known.team = Some(Box::new(team));
        update_defaults(&self.inheritance, name, known);
        NamespaceChange {
            is_changed: true,
            has_entered: false,
            rejected,
        }
    }

    fn forget_team(&mut self, name: &Arc<str>) -> NamespaceChange {
        let known = self.by_name.get_mut(name);
        let Some(known) = known.filter(|known| known.team.is_some()) else {
            return NamespaceChange::default();
        };
        known.team = None;
        update_defaults(&self.inheritance, name, known);
        self.prune(name);
        NamespaceChange {
            is_changed: true,
            ..NamespaceChange::default()
        }
    }

    /// Whether a Namespace is being deleted.
    pub(crate) fn is_terminating(&self, namespace: &str) -> bool {
        let record = self.record(namespace);
        record.is_some_and(|record| record.is_terminating)
    }

    /// The UID of a Namespace; empty if unknown.
    pub(crate) fn uid(&self, namespace: &str) -> &str {
        self.record(namespace)
            .map_or("", |record| &record.source.uid)
    }

    /// Whether a selector limits the scope to matching Namespaces.
    pub(super) const fn are_selected(&self) -> bool {
        self.are_selected
    }

    /// Whether the labels of a Namespace match the selector, if there is one.
    pub(crate) fn is_in_scope(&self, namespace: &str) -> bool {
        !self.are_selected || self.record(namespace).is_some()
    }

    /// The number of namespaces with invalid annotations of their Namespace or invalid defaults of their team.
    pub(crate) const fn invalid(&self) -> usize {
        self.invalid
    }

    /// Changes the record of a Namespace, and updates the number of invalid Namespaces.
    fn with_invalid_count<T>(&mut self, namespace: &str, change: impl FnOnce(&mut Self) -> T) -> T {
        let is_invalid = |all: &Self| {
            let known = all.by_name.get(namespace);
            usize::from(known.is_some_and(Namespace::is_invalid))
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
    ) -> NamespaceChange {
        self.with_invalid_count(&namespace.name, |all| all.apply(namespace, origin))
    }

    fn apply(
        &mut self,
        namespace: &ObservedNamespace,
        origin: ObservationOrigin,
    ) -> NamespaceChange {
        let is_new = self.record(&namespace.name).is_none();
        if is_new && !origin.is_list() && self.is_late(namespace.version, origin.watch) {
            return NamespaceChange::default();
        }
        let known = self.by_name.get_mut(&*namespace.name);
        if let Some(known) = known.and_then(|known| known.record.as_mut()) {
            known.watch = origin.watch;
            if !origin.is_list() && namespace.version.is_before(known.source.version) {
                return NamespaceChange::default();
            }
            let has_returned = mem::take(&mut known.is_gone);
            known.is_terminating = namespace.deleting;
            if namespace.deleting {
                return NamespaceChange::default();
            }
            let source = &mut known.source;
            source.version = namespace.version;
            source.uid.clone_from(&namespace.uid);
            // An error is reported again if the Namespace was deleted and created again.
            let error = source.error.take_if(|_| has_returned);
            if *source.annotations == namespace.annotations {
                return NamespaceChange {
                    is_changed: has_returned,
                    has_entered: has_returned,
                    rejected: error
                        .and_then(|error| source.set_error(Some(error), namespace.into())),
                };
            }
        }
        let has_no_effect = namespace.annotations.is_empty() && !self.are_selected;
        NamespaceChange {
            is_changed: !is_new || !has_no_effect,
            has_entered: is_new && self.are_selected,
            rejected: self.set_record(namespace, origin.watch),
        }
    }

    /// Replaces the record of a Namespace. Returns the rejection, if it was not reported yet.
    fn set_record(
        &mut self,
        namespace: &ObservedNamespace,
        watch: WatchId,
    ) -> Option<RejectedDefaults> {
        let has_none = namespace.annotations.is_empty();
        let annotations = if has_none {
            self.no_annotations.clone()
        } else {
            Arc::new(namespace.annotations.clone())
        };
        let problem = (self.inheritance.from_namespaces && !has_none)
            .then(|| problems(&annotations, &self.inheritance, &self.context))
            .flatten();
        let error = problem.map(|problem| problem.text(&self.prefix));
        let name = self.name(&namespace.name);
        let known = self.by_name.entry(Arc::clone(&name)).or_default();
        let before = known.record.take();
        let mut source = DefaultsSource {
            uid: namespace.uid.clone(),
            version: namespace.version,
            annotations,
            error: before.and_then(|before| before.source.error),
        };
        let rejected = source.set_error(error, namespace.into());
        known.record = Some(NamespaceRecord {
            source,
            watch,
            is_terminating: namespace.deleting,
            is_gone: false,
        });
        update_defaults(&self.inheritance, &name, known);
        rejected
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
                && !record.source.annotations.is_empty()
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
            let version = record.source.version;
            if *newest == Version::default() || newest.is_before(version) {
                *newest = version;
            }
        }
        // The team's defaults are those of a Namespace without annotations from now on.
        let name = self.name(namespace);
        if let Some(known) = self.by_name.get_mut(namespace) {
            update_defaults(&self.inheritance, &name, known);
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
    pub(super) fn may_decide(&self, observed: &Observed, watches: &Watches) -> bool {
        let namespace = &*observed.object.namespace;
        let is_gone = self.record(namespace).is_some_and(|record| record.is_gone);
        if is_gone || !self.is_in_scope(namespace) {
            return false;
        }
        match self.knowledge(namespace, watches) {
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

/// Computes the defaults of a namespace again. Returns whether they have changed.
fn update_defaults(inheritance: &Inheritance, name: &str, namespace: &mut Namespace) -> bool {
    let record = namespace.record.as_ref();
    let record = record.map(|record| &record.source.annotations);
    let team = namespace.team.as_ref().map(|team| &team.annotations);
    let in_force = inheritance.in_force(name, record, team);
    let is_changed = namespace.defaults != in_force;
    namespace.defaults = in_force;
    is_changed
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
