//! All namespaces: whether their Namespace objects and the ConfigMaps of their teams were listed, and the
//! defaults that these give to the objects in them. Objects whose defaults are not known yet are not decided
//! about.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

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
    settings::{Scope, Settings, Watched},
    store::namespace::{Namespace, NamespaceRecord, ObservationOrigin, TeamRecord},
};

/// What is known about the Namespaces or ConfigMaps of a watch, which are those of one namespace or of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Knowledge {
    /// They were listed, and are being watched.
    Complete,
    /// They cannot be read. Objects that might inherit from them are not changed.
    Unreadable,
    /// Nothing: the first list has not arrived yet.
    Awaited,
}

/// What is known, by the name of each namespace that is watched individually, or by `None` if all are
/// watched. Empty if there is no such watch.
struct KnowledgeByNamespace(HashMap<Option<Box<str>>, Knowledge>);

impl KnowledgeByNamespace {
    fn new(scope: &Scope, of: &Watched) -> Self {
        let watched = scope.watches().filter_map(|(watched, namespace)| {
            let name = namespace.map(Box::from);
            (watched == *of).then_some((name, Knowledge::Awaited))
        });
        Self(watched.collect())
    }

    fn get_mut(&mut self, name: Option<&str>) -> Option<&mut Knowledge> {
        self.0.get_mut(&name.map(Box::from))
    }

    /// What is known about one namespace; `None` if there is no such watch.
    fn for_namespace(&self, namespace: &str) -> Option<Knowledge> {
        if self.0.is_empty() {
            return None;
        }
        let of_all = self.0.get(&None);
        let known = of_all.or_else(|| self.0.get(&Some(namespace.into())));
        known.copied()
    }
}

/// After a change of a team's defaults was applied, the next one waits this long: any user of a namespace
/// can edit its ConfigMap all the time, and each change is a decision about every workload in it.
const TEAM_INTERVAL: Duration = Duration::from_secs(1);

/// All namespaces, by name.
pub(crate) struct Namespaces {
    by_name: HashMap<Arc<str>, Namespace>,
    /// What is known about Namespaces.
    knowledge: KnowledgeByNamespace,
    /// What is known about the ConfigMaps of teams.
    team_knowledge: KnowledgeByNamespace,
    /// The namespaces whose team's defaults have changed, and when the next change can be applied.
    settling_teams: VecDeque<(Duration, Arc<str>)>,
    /// For each watch, the newest version of a Namespace that was deleted and has no record anymore. An
    /// older change is late.
    gone_versions: HashMap<WatchId, Version>,
    /// The number of namespaces with invalid annotations of their Namespace or invalid defaults of their team.
    invalid: usize,
    /// The empty annotations, which all Namespaces without annotations share.
    no_annotations: Arc<Annotations>,
    context: ParseContext,
    /// Whether a selector limits the scope, and the watch, to matching Namespaces.
    are_selected: bool,
    /// Whether Namespaces and the controller have defaults for objects.
    inheritance: Inheritance,
}

/// A Namespace whose annotations are rejected, or the ConfigMap of its team.
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
        Self {
            by_name: HashMap::new(),
            knowledge: KnowledgeByNamespace::new(scope, &Watched::Namespaces),
            team_knowledge: KnowledgeByNamespace::new(scope, &Watched::TeamDefaults),
            settling_teams: VecDeque::new(),
            gone_versions: HashMap::new(),
            invalid: 0,
            no_annotations: Arc::default(),
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
    pub(super) fn set_calendars(&mut self, calendars: Calendars, prefix: &Prefix) {
        self.context.calendars = calendars;
        self.invalid = 0;
        for namespace in self.by_name.values_mut() {
            let record = namespace.record.as_mut();
            if let Some(record) = record.filter(|record| record.error.is_some()) {
                let problem = problems(&record.annotations, &self.inheritance, &self.context);
                record.error = problem.map(|problem| problem.text(prefix));
            }
            let team = namespace.team.as_mut();
            if let Some(team) = team.filter(|team| team.error.is_some()) {
                let problem = self.inheritance.team_problem(&team.applied, &self.context);
                team.error = problem.map(|problem| problem.text(prefix));
            }
            self.invalid += usize::from(namespace.is_invalid());
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
            if namespace.record.is_none() && namespace.team.is_none() {
                if is_default_named && !self.are_selected {
                    changed.push(Arc::clone(name));
                }
                continue;
            }
            if update_defaults(&self.inheritance, name, namespace) {
                changed.push(Arc::clone(name));
            }
            let mut reject = |about: EventObject, error: &str| {
                rejected.push(RejectedNamespace {
                    name: Arc::clone(name),
                    about,
                    error: error.to_owned(),
                });
            };
            if let Some(record) = &mut namespace.record
                && record.annotations.has(Key::NamedSchedule)
                && self.inheritance.from_namespaces
            {
                let problem = problems(&record.annotations, &self.inheritance, &self.context);
                let problem = problem.map(|problem| problem.text(prefix));
                if let Some(error) = problem.as_ref().filter(|_| problem != record.error)
                    && !record.is_gone
                {
                    let about = EventObject::namespace(Arc::clone(name), (&*record.uid).into());
                    reject(about, error);
                }
                record.error = problem;
            }
            if let Some(team) = &mut namespace.team
                && team.applied.has(Key::NamedSchedule)
            {
                let problem = self.inheritance.team_problem(&team.applied, &self.context);
                let problem = problem.map(|problem| problem.text(prefix));
                if let Some(error) = problem.as_ref().filter(|_| problem != team.error) {
                    reject(
                        EventObject::team_defaults(Arc::clone(name), team.uid().into()),
                        error,
                    );
                }
                team.error = problem;
            }
            self.invalid += usize::from(namespace.is_invalid());
        }
        rejected.sort_by(|one, other| one.name.cmp(&other.name));
        changed.sort();
        (changed, rejected)
    }

    fn knowledge_mut(&mut self, watched: &Watched, name: Option<&str>) -> Option<&mut Knowledge> {
        match watched {
            Watched::Namespaces => self.knowledge.get_mut(name),
            Watched::TeamDefaults => self.team_knowledge.get_mut(name),
            Watched::Kind(_) | Watched::Services => None,
        }
    }

    /// Marks the Namespaces or ConfigMaps of a watch as listed. Returns whether they were not listed before.
    pub(crate) fn mark_complete(&mut self, watched: &Watched, name: Option<&str>) -> bool {
        let known = self.knowledge_mut(watched, name);
        known.is_some_and(|known| {
            std::mem::replace(known, Knowledge::Complete) != Knowledge::Complete
        })
    }

    /// Marks the Namespaces or ConfigMaps of a watch as unreadable if they were not listed before. Returns
    /// whether that changes anything.
    pub(crate) fn mark_unreadable(&mut self, watched: &Watched, name: Option<&str>) -> bool {
        let known = self.knowledge_mut(watched, name);
        let awaited = known.filter(|known| **known == Knowledge::Awaited);
        awaited.is_some_and(|known| {
            *known = Knowledge::Unreadable;
            true
        })
    }

    /// What is known about the defaults in a namespace; `None` if neither Namespaces nor ConfigMaps are
    /// watched.
    fn knowledge_of(&self, namespace: &str) -> Option<Knowledge> {
        let of_team = self.team_knowledge.for_namespace(namespace);
        let is_forbidden = || {
            let record = self.record(namespace);
            record.is_some_and(|record| !allows_team(&record.annotations))
        };
        let of_team = of_team.filter(|_| !is_forbidden());
        self.knowledge.for_namespace(namespace).max(of_team)
    }

    /// The defaults for the objects in a namespace, if any.
    pub(crate) fn defaults(&self, namespace: &str) -> Option<Arc<Annotations>> {
        let known = self.by_name.get(namespace);
        let record = known.and_then(|known| known.record.as_ref());
        let team = known.and_then(|known| known.team.as_ref());
        match (record, team) {
            (Some(record), _) => record.defaults.clone(),
            (None, _) if self.are_selected => None,
            (None, Some(team)) => team.defaults.clone(),
            (None, None) => self.inheritance.in_force(namespace, None, None),
        }
    }

    /// The length of the stored annotations of a Namespace and of its team's defaults, in bytes.
    pub(super) fn default_bytes(&self, namespace: &str) -> usize {
        let bytes = |texts: &Arc<Annotations>| texts.kept_bytes();
        let record = self.record(namespace);
        record.map_or(0, |record| bytes(&record.annotations))
            + self.applied_team(namespace).map_or(0, bytes)
    }

    /// The values of a team's defaults that are in effect.
    fn applied_team(&self, namespace: &str) -> Option<&Arc<Annotations>> {
        let team = self.by_name.get(namespace)?.team.as_ref()?;
        Some(&team.applied)
    }

    /// Records the ConfigMap of a team; `None` if it was deleted. Returns whether
    /// [`Self::apply_team`] should be called now. Otherwise, nothing has changed, or
    /// [`Self::take_settled_team`] returns the namespace later.
    ///
    /// In a namespace that is being deleted, the defaults stay in effect, because its objects are deleted
    /// too.
    pub(crate) fn observe_team(
        &mut self,
        namespace: &str,
        observed: Option<ObservedTeamDefaults>,
        source: ObjectSource,
    ) -> bool {
        let name = self.name(namespace);
        let known = self.entry(&name);
        let is_terminating = known
            .record
            .as_ref()
            .is_some_and(|record| record.is_terminating);
        let is_gone = observed.is_none();
        if is_gone && (known.team.is_none() || is_terminating) {
            self.prune(&name);
            return false;
        }
        let team = known.team.get_or_insert_default();
        if let (Some(new), Some(known)) = (&observed, &team.observed)
            && source == ObjectSource::Change
            && new.version.is_before(known.version)
        {
            return false;
        }
        team.observed = observed;
        let has_changed = !team.is_up_to_date();
        if is_gone && !has_changed && !team.is_settling {
            known.team = None;
            self.prune(&name);
            return false;
        }
        has_changed && !team.is_settling
    }

    /// Applies the newest observation of a team's defaults. Returns the ConfigMap if it is rejected for
    /// another reason than before.
    pub(super) fn apply_team(
        &mut self,
        namespace: &str,
        prefix: &Prefix,
        now: Duration,
    ) -> Option<RejectedNamespace> {
        self.with_invalid_count(namespace, |all| {
            let (name, known) = all.by_name.get_key_value(namespace)?;
            let name = Arc::clone(name);
            let team = known.team.as_ref()?;
            let applied = match &team.observed {
                Some(observed) => Arc::new(observed.annotations.clone()),
                None => Arc::clone(&all.no_annotations),
            };
            let problem = all.inheritance.team_problem(&applied, &all.context);
            let problem = problem.map(|problem| problem.text(prefix));
            let known = all.by_name.get_mut(namespace)?;
            let team = known.team.as_mut()?;
            team.applied = applied;
            if !std::mem::replace(&mut team.is_settling, true) {
                all.settling_teams
                    .push_back((now + TEAM_INTERVAL, Arc::clone(&name)));
            }
            let reported = std::mem::replace(&mut team.error, problem.clone());
            let about = EventObject::team_defaults(Arc::clone(&name), team.uid().into());
            update_defaults(&all.inheritance, &name, known);
            let error = problem.filter(|error| reported.as_ref() != Some(error))?;
            Some(RejectedNamespace { name, about, error })
        })
    }

    /// When the next change of a team's defaults might be applied.
    pub(crate) fn next_settled_team(&self) -> Option<Duration> {
        self.settling_teams.front().map(|(at, _)| *at)
    }

    /// A namespace whose team's defaults have changed while an earlier change had just been applied.
    pub(crate) fn take_settled_team(&mut self, now: Duration) -> Option<Arc<str>> {
        while self.next_settled_team()? <= now {
            let (_, name) = self.settling_teams.pop_front()?;
            let known = self.by_name.get_mut(&name);
            let Some(team) = known.and_then(|known| known.team.as_mut()) else {
                continue;
            };
            team.is_settling = false;
            if !team.is_up_to_date() {
                return Some(name);
            }
            if team.observed.is_none()
                && let Some(known) = self.by_name.get_mut(&name)
            {
                known.team = None;
                self.prune(&name);
            }
        }
        None
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
            known.is_terminating = namespace.deleting;
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
            defaults: self.inheritance.in_force(
                &namespace.name,
                Some(&annotations),
                self.applied_team(&namespace.name),
            ),
            annotations,
            version: namespace.version,
            watch,
            is_terminating: namespace.deleting,
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
        // The team's defaults are those of a Namespace without annotations from now on.
        if let Some((name, known)) = self.by_name.get_key_value(namespace)
            && known.team.is_some()
        {
            let name = Arc::clone(name);
            if let Some(known) = self.by_name.get_mut(namespace) {
                update_defaults(&self.inheritance, &name, known);
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

/// Computes the defaults of a namespace again. Returns whether they have changed.
fn update_defaults(inheritance: &Inheritance, name: &str, namespace: &mut Namespace) -> bool {
    let (record, team) = (&mut namespace.record, &mut namespace.team);
    let annotations = record.as_ref().map(|record| &record.annotations);
    let applied = team.as_ref().map(|team| &team.applied);
    let in_force = inheritance.in_force(name, annotations, applied);
    let mut has_changed = false;
    if let Some(TeamRecord { defaults, .. }) = team.as_deref_mut() {
        has_changed |= *defaults != in_force;
        defaults.clone_from(&in_force);
    }
    if let Some(record) = record {
        has_changed |= record.defaults != in_force;
        record.defaults = in_force;
    }
    has_changed
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
