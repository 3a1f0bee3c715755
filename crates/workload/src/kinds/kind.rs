//! A kind of workload, and how to find one by the names that people, manifests and the API use.

use std::{
    cmp::Ordering,
    collections::BTreeSet,
    fmt,
    hash::{Hash, Hasher},
    ptr,
    sync::LazyLock,
};

use crate::{
    keys::Label,
    kinds::{
        count::CountKind,
        operators::OPERATORS,
        row::{CountForm, Discovery, Part, Pods, ReadyForm, Row, Served, Serving, Shape},
        switch::Switch,
        table,
    },
};

/// A kind of workload: a row of the table of kinds. It says how the kind is called, where its count
/// lies and what that means; how the API server is asked for it stands in `cluster`.
#[derive(Clone, Copy)]
pub struct Kind(pub(super) &'static Row);

impl Kind {
    /// `deployments.apps`
    pub const DEPLOYMENT: Self = Self(&table::DEPLOYMENT);
    /// `statefulsets.apps`
    pub const STATEFUL_SET: Self = Self(&table::STATEFUL_SET);
    /// `cronjobs.batch`
    pub const CRON_JOB: Self = Self(&table::CRON_JOB);
    /// `horizontalpodautoscalers.autoscaling`
    pub const HORIZONTAL_POD_AUTOSCALER: Self = Self(&table::HORIZONTAL_POD_AUTOSCALER);
    /// `scaledobjects.keda.sh`
    pub const SCALED_OBJECT: Self = Self(&table::SCALED_OBJECT);

    /// Those that are known by name, in the order in which they are listed.
    pub const BUILT_IN: [Self; 5] = [
        Self::DEPLOYMENT,
        Self::STATEFUL_SET,
        Self::CRON_JOB,
        Self::HORIZONTAL_POD_AUTOSCALER,
        Self::SCALED_OBJECT,
    ];

    /// Those that are looked at where nobody says which.
    pub const DEFAULT: [Self; 3] = [Self::DEPLOYMENT, Self::STATEFUL_SET, Self::CRON_JOB];

    /// The kind of what is named without one, as in `dev/web`.
    pub const OF_A_NAME: Self = Self::DEPLOYMENT;

    fn served(self) -> &'static Served {
        match &self.0.serving {
            Serving::Fixed(served) => served,
            Serving::Discovered(discovery) => discovery.said().unwrap_or(&discovery.unasked),
        }
    }

    pub(super) fn discovery(self) -> Option<&'static Discovery> {
        match &self.0.serving {
            Serving::Fixed(_) => None,
            Serving::Discovered(discovery) => Some(discovery),
        }
    }

    /// `Deployment`, as in a manifest; the plural of a kind that is known by its resource alone, until
    /// the server was asked about it.
    pub fn name(self) -> &'static str {
        self.served().name
    }

    /// `apps`, the API group; empty for the core group.
    pub const fn group(self) -> &'static str {
        self.0.group
    }

    /// `v1`, the version of the group that is asked for; empty for a kind that the server was not
    /// asked about yet.
    pub fn version(self) -> &'static str {
        self.served().version
    }

    /// `apps/v1`, as in a manifest; empty likewise.
    pub fn api_version(self) -> &'static str {
        self.served().api_version
    }

    /// `/apis/apps/v1/`, under which the API server has it; empty likewise.
    pub fn root(self) -> &'static str {
        self.served().root
    }

    /// `deployments`, as in URLs and RBAC.
    pub const fn plural(self) -> &'static str {
        self.0.plural
    }

    /// `deployment`, as in `kubectl scale deployment/web`.
    pub fn singular(self) -> String {
        self.name().to_lowercase()
    }

    /// `deployment`, or `clusters.postgresql.cnpg.io`: what kubectl takes for it, where others may
    /// have the same name.
    pub fn unambiguous(self) -> String {
        if self.is_discovered() {
            self.argument().to_owned()
        } else {
            self.singular()
        }
    }

    /// `deploy`, the short name that kubectl takes; `rollouts.argoproj.io` for a kind without one.
    pub const fn short_name(self) -> &'static str {
        self.0.short
    }

    /// `deployments`, or `rollouts.argoproj.io`: what `--kinds` takes for it.
    pub const fn argument(self) -> &'static str {
        self.0.argument
    }

    /// `Deployments`, as a sentence names all of them.
    pub fn names_of_all(self) -> String {
        match self.name() {
            name if name == self.plural() => name.to_owned(),
            name => format!("{name}s"),
        }
    }

    /// `deployments.apps`, as the API server and kubectl name the resource.
    pub fn resource(self) -> String {
        format!("{}.{}", self.plural(), self.group())
    }

    /// What the count of such an object means.
    pub const fn counts(self) -> CountKind {
        self.0.counts
    }

    /// What stands where such an object holds its count.
    pub const fn form(self) -> CountForm {
        self.0.form
    }

    /// How it is switched off and on; `None` where it has a count.
    pub const fn switch(self) -> Option<&'static Switch> {
        match self.0.form {
            CountForm::Switch(switch) => Some(switch),
            _ => None,
        }
    }

    /// The state labels of an object of this kind. Only an on/off kind has a saved value.
    pub fn state_labels(self) -> impl Iterator<Item = Label> {
        let has_value = self.switch().is_some();
        let all = Label::ALL.into_iter();
        all.filter(move |label| has_value || *label != Label::SavedValue)
    }

    /// Where such an object holds its count, as the tokens of a JSON pointer.
    pub const fn path(self) -> &'static [&'static str] {
        self.0.path
    }

    /// The same as a JSON pointer (RFC 6901): `/spec/replicas`.
    pub fn pointer(self) -> String {
        pointer(self.path())
    }

    /// The shape of its `spec`.
    pub const fn shape(self) -> Shape {
        self.0.shape
    }

    /// How the pods of such an object are called.
    pub const fn pods(self) -> Pods {
        self.0.pods
    }

    /// Where such an object says which pods it runs; empty where that is its count and its pod template.
    pub const fn size(self) -> &'static [Part] {
        self.0.size
    }

    /// Where the status of such an object says how much of it is ready.
    pub const fn ready_form(self) -> ReadyForm {
        self.0.ready
    }

    /// Whether an object of the kind has shown `status.readyReplicas`.
    pub fn shows_ready_replicas(self) -> bool {
        self.discovery().is_none_or(Discovery::shows_ready_replicas)
    }

    /// Notes that one has.
    pub fn note_ready_replicas(self) {
        if let Some(discovery) = self.discovery() {
            discovery.note_ready_replicas();
        }
    }

    /// Whether the API server gives each such object a policy that says what becomes of its volumes.
    pub const fn has_claim_policy(self) -> bool {
        self.0.has_claim_policy
    }

    /// Whether the API server has to be asked about it before it is asked for it: nothing else says
    /// in which version it is served.
    pub fn is_unasked(self) -> bool {
        self.discovery()
            .is_some_and(|discovery| discovery.said().is_none())
    }

    /// Whether its version is the one that the API server says.
    pub fn is_discovered(self) -> bool {
        self.discovery().is_some()
    }

    /// Whether no row says where its count is: it is taken for a kind with `spec.replicas`.
    pub fn is_assumed(self) -> bool {
        self.discovery()
            .is_some_and(|discovery| discovery.is_assumed)
    }

    /// Takes in the name of the kind and the version that the API server prefers, in place of what
    /// it has said before.
    pub fn discovered(self, name: &str, version: &str) {
        if let Some(discovery) = self.discovery() {
            discovery.take_in(name, self.group(), version);
        }
    }

    /// Whether its schema has no place for a count, as far as is known.
    pub fn lacks_count(self) -> bool {
        self.discovery().is_some_and(Discovery::lacks_count)
    }

    /// Notes whether its schema has no place for a count; whether that is news. The schemas of kinds
    /// with a fixed version have one.
    pub fn note_lacks_count(self, lacks: bool) -> bool {
        self.discovery()
            .is_some_and(|discovery| discovery.note_lacks_count(lacks))
    }

    /// What kinds are compared, sorted and hashed by.
    const fn key(self) -> (u8, &'static str) {
        match self.0.place {
            Row::NAMED => (Row::NAMED, self.0.argument),
            place => (place, ""),
        }
    }
}

/// The room that is made for a JSON pointer at once, in bytes: each patch has some twenty.
const USUAL_POINTER: usize = 64;

/// Tokens as a JSON pointer (RFC 6901).
pub fn pointer(tokens: &[&str]) -> String {
    let mut pointer = String::with_capacity(USUAL_POINTER);
    for token in tokens {
        pointer.push('/');
        for letter in token.chars() {
            match letter {
                '~' => pointer.push_str("~0"),
                '/' => pointer.push_str("~1"),
                _ => pointer.push(letter),
            }
        }
    }
    pointer
}

/// There is one row of each kind.
impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self.0, other.0)
    }
}

impl Eq for Kind {}

impl PartialOrd for Kind {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Kind {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl Hash for Kind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.place.hash(state);
        if self.0.place == Row::NAMED {
            self.0.argument.hash(state);
        }
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Kind {
    /// The kind of this resource: one with `spec.replicas`, where nothing else is known of it.
    pub fn named(plural: &str, group: &str) -> Self {
        let is_it = |kind: &Self| kind.plural() == plural && kind.group() == group;
        let built_in = Self::BUILT_IN.into_iter().find(is_it);
        let kind = built_in.unwrap_or_else(|| Self(table::named(plural, group)));
        kind.mark_named();
        kind
    }

    /// Those of Kubernetes and KEDA, those of other operators, and those that were named so far.
    pub fn known() -> impl Iterator<Item = Self> {
        let named = table::all_named().into_iter();
        let others = OPERATORS.iter().chain(named).map(Self);
        Self::BUILT_IN.into_iter().chain(others)
    }

    /// The rows of other operators' resources.
    pub fn of_operators() -> impl Iterator<Item = Self> {
        OPERATORS.iter().map(Self)
    }

    /// This name, where a kind that is known holds its count in a member of `spec` that is called
    /// so.
    pub(super) fn spec_member(name: &str) -> Option<&'static str> {
        static OF_OPERATORS: LazyLock<BTreeSet<&str>> =
            LazyLock::new(|| OPERATORS.iter().flat_map(Row::spec_members).collect());
        let of_operators = OF_OPERATORS.get(name).copied();
        of_operators.or_else(|| table::spec_member(name))
    }

    /// The type of a condition, where a kind that is known says by it that an object is ready.
    pub fn ready_condition(name: &str) -> Option<&'static str> {
        static NAMED: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
            let of = |row: &'static Row| match row.ready {
                ReadyForm::Condition(name) => Some(name),
                _ => None,
            };
            OPERATORS.iter().filter_map(of).collect()
        });
        NAMED.get(name).copied()
    }

    /// The kind of a manifest's `apiVersion` and `kind`; none where dayshift does not scale it.
    pub fn of(api_version: &str, kind: &str) -> Option<Self> {
        Self::known().find(|known| known.is_of(api_version, kind))
    }

    /// The kind of an owner whose operator sets the counts of what it owns: one of another operator
    /// that is known, or of a user's own. What such an operator makes in between, and sets again itself,
    /// stands for the resource that people write.
    pub fn of_owner(api_version: &str, kind: &str) -> Option<Self> {
        // Percona's operator makes it of a PerconaPGCluster, and its workloads belong to it (its
        // `pkg/apis/upstream.pgv2.percona.com`).
        if kind == "PostgresCluster" && api_version.starts_with("upstream.pgv2.percona.com/") {
            return Some(Self::named("perconapgclusters", "pgv2.percona.com"));
        }
        Self::of(api_version, kind).filter(|known| known.is_discovered())
    }

    /// Whether a manifest's `apiVersion` and `kind` are of this kind. Until the server was asked
    /// about a kind that is known by its resource alone, the plural is guessed as Kubernetes itself
    /// does (`meta.UnsafeGuessKindToResource`).
    fn is_of(self, api_version: &str, kind: &str) -> bool {
        if !self.is_discovered() {
            return self.name() == kind && self.api_version() == api_version;
        }
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        let is_nameless = self.is_unasked() && self.name() == self.plural();
        let is_named = if is_nameless {
            plural_of(kind) == self.plural()
        } else {
            self.name() == kind
        };
        group == self.group() && is_named
    }

    /// The kind that kubectl takes `text` for: its singular, plural or short name, with or without
    /// the group and version (`deploy`, `deployments.apps`, `statefulset.v1.apps`), in any case.
    pub fn from_argument(text: &str) -> Option<Self> {
        let text = text.to_lowercase();
        let (resource, rest) = text.split_once('.').unwrap_or((&text, ""));
        let found = Self::known().find(|known| {
            let names = [known.short_name(), known.plural(), &known.singular()];
            names.contains(&resource)
                && (rest.is_empty() && known.is_named()
                    || rest == known.group()
                    || rest.split_once('.') == Some((known.version(), known.group())))
        });
        found
            .filter(|_| !rest.is_empty())
            .inspect(|known| known.mark_named());
        found
    }

    /// Whether a name without a group means it: those of other operators are so many, and so like
    /// each other, that it takes somebody to ask for one by its group first.
    fn is_named(self) -> bool {
        self.discovery().is_none_or(Discovery::is_named)
    }

    pub(super) fn mark_named(self) {
        if let Some(discovery) = self.discovery() {
            discovery.mark_named();
        }
    }

    /// `rollouts.argoproj.io` for the `apiVersion` and `kind` of a manifest, the plural guessed as
    /// for [`Self::of`]; none for what is Kubernetes' own, whose groups have no dot or are its.
    pub fn guessed_resource(api_version: &str, kind: &str) -> Option<String> {
        let (group, _) = api_version.split_once('/')?;
        let is_custom = group.contains('.') && !group.ends_with(".k8s.io");
        is_custom.then(|| format!("{}.{group}", plural_of(kind)))
    }
}

fn plural_of(kind: &str) -> String {
    let singular = kind.to_lowercase();
    if singular.ends_with('s') {
        return singular + "es";
    }
    match singular.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => singular + "s",
    }
}

/// A member of a `spec`, by what is read of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecMember {
    /// `replicas`
    Replicas,
    /// The template of its pods: what they request.
    Template,
    /// `suspend`
    Suspend,
    /// `minReplicas`
    MinReplicas,
    /// `metrics`
    Metrics,
    /// `persistentVolumeClaimRetentionPolicy`
    ClaimRetention,
    /// `scaleTargetRef`
    ScaleTarget,
    /// Another one, in which a kind that is known holds its count or its switch.
    Named(&'static str),
}

impl SpecMember {
    /// The member of this name, where it is read.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "replicas" => Self::Replicas,
            "template" => Self::Template,
            "suspend" => Self::Suspend,
            "minReplicas" => Self::MinReplicas,
            "metrics" => Self::Metrics,
            "persistentVolumeClaimRetentionPolicy" => Self::ClaimRetention,
            "scaleTargetRef" => Self::ScaleTarget,
            name => Self::Named(Kind::spec_member(name)?),
        })
    }

    /// Whether a row may name it: the others are read for something else.
    pub const fn may_be_named(self) -> bool {
        matches!(self, Self::Replicas | Self::Suspend | Self::Named(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_json_pointer() {
        for (tokens, expected) in [
            (&["spec", "replicas"][..], "/spec/replicas"),
            (&["a", "dayshift/stop"], "/a/dayshift~1stop"),
            (&["~/~1", ""], "/~0~1~01/"),
        ] {
            assert_eq!(pointer(tokens), expected, "{tokens:?}");
        }
    }

    #[test]
    fn the_rows_are_each_listed_once_and_in_order() {
        let places = Kind::BUILT_IN.map(|kind| usize::from(kind.0.place));
        assert!(places.into_iter().eq(0..Kind::BUILT_IN.len()));
        for kind in Kind::BUILT_IN {
            assert_eq!(Kind::named(kind.plural(), kind.group()), kind);
        }
    }

    #[test]
    fn knows_what_kubectl_takes_for_a_kind() {
        for (text, expected) in [
            ("deploy", Some(Kind::DEPLOYMENT)),
            ("Deployments.apps", Some(Kind::DEPLOYMENT)),
            ("deployment.v1.apps", Some(Kind::DEPLOYMENT)),
            ("sts", Some(Kind::STATEFUL_SET)),
            ("statefulsets.v1.apps", Some(Kind::STATEFUL_SET)),
            ("cj", Some(Kind::CRON_JOB)),
            ("cronjobs.batch", Some(Kind::CRON_JOB)),
            ("hpa", Some(Kind::HORIZONTAL_POD_AUTOSCALER)),
            ("so", Some(Kind::SCALED_OBJECT)),
            ("scaledobject.keda.sh", Some(Kind::SCALED_OBJECT)),
            ("deploy.extensions", None),
            ("deployment.v2.apps", None),
            ("deploy.", Some(Kind::DEPLOYMENT)),
            ("ds", None),
            ("", None),
        ] {
            assert_eq!(Kind::from_argument(text), expected, "{text}");
        }
    }

    #[test]
    fn a_plural_is_guessed_as_kubernetes_does() {
        for (kind, plural) in [
            ("Rollout", "rollouts"),
            ("Policy", "policies"),
            ("Class", "classes"),
        ] {
            assert_eq!(plural_of(kind), plural);
        }
    }

    #[test]
    fn knows_the_kind_of_a_manifest() {
        assert_eq!(Kind::of("apps/v1", "StatefulSet"), Some(Kind::STATEFUL_SET));
        assert_eq!(Kind::of("batch/v1", "CronJob"), Some(Kind::CRON_JOB));
        assert_eq!(Kind::of("batch/v1", "Job"), None);
        assert_eq!(Kind::of("apps/v1beta1", "Deployment"), None);
        assert_eq!(Kind::of("apps/v1", "deployment"), None);
    }

    #[test]
    fn a_custom_kind_is_found_by_what_is_known_of_it() {
        let kind = Kind::named("gliders", "air.example.com");
        assert_eq!(Kind::of("air.example.com/v1", "Glider"), Some(kind));
        assert_eq!(Kind::of("air.example.com/v1", "Kite"), None);
        assert_eq!(Kind::from_argument("gliders.air.example.com"), Some(kind));
        assert_eq!((kind.name(), kind.version()), ("gliders", ""));
        kind.discovered("Glider", "v1");
        assert_eq!(
            (kind.name(), kind.api_version()),
            ("Glider", "air.example.com/v1")
        );
        assert_eq!(Kind::from_argument("glider"), Some(kind));
        assert_eq!(Kind::named("gliders", "air.example.com"), kind);
    }

    #[test]
    fn a_kind_of_an_operator_is_meant_by_its_group_until_somebody_has_named_it() {
        let resource = "nificlusters.nifi.stackable.tech";
        assert_eq!(Kind::from_argument("nificluster"), None);
        let kind = Kind::from_argument(resource).unwrap();
        assert_eq!(kind.name(), "NifiCluster");
        assert_eq!(Kind::from_argument("nificluster"), Some(kind));
        assert_eq!(Kind::from_argument("nificlusters"), Some(kind));
    }
}
