//! The kinds of workload that dayshift scales.

use std::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    ptr,
};

use super::count_kind::CountKind;
use super::operators::OPERATORS;
use super::row::{CountForm, Pods, Row, Serving, Shape};
use super::served::{Discovery, Served};
use super::switch::Switch;
use super::table;

/// A kind of workload: a row of the table of kinds. It says how the kind is called, where its count
/// lies and what that means; how the API server is asked for it stands in `cluster`.
#[derive(Clone, Copy)]
pub struct Kind(&'static Row);

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

    /// The kind of this resource: one with `spec.replicas`, where nothing else is known of it.
    pub fn named(plural: &str, group: &str) -> Self {
        let is_it = |it: &Self| it.plural() == plural && it.group() == group;
        let built_in = Self::BUILT_IN.into_iter().find(is_it);
        built_in.unwrap_or_else(|| Self(table::named(plural, group)))
    }

    fn served(self) -> &'static Served {
        match &self.0.serving {
            Serving::Fixed(served) => served,
            Serving::Discovered(discovery) => discovery.said().unwrap_or(&discovery.unasked),
        }
    }

    fn discovery(self) -> Option<&'static Discovery> {
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

    /// Where such an object holds its count, as the tokens of a JSON pointer.
    pub const fn path(self) -> &'static [&'static str] {
        self.0.path
    }

    /// The same as a JSON pointer (RFC 6901): `/spec/replicas`.
    pub fn pointer(self) -> String {
        let tokens = self.path().iter();
        tokens
            .map(|token| format!("/{}", token.replace('~', "~0").replace('/', "~1")))
            .collect()
    }

    /// The shape of its `spec`.
    pub const fn shape(self) -> Shape {
        self.0.shape
    }

    /// How the pods of such an object are called.
    pub const fn pods(self) -> Pods {
        self.0.pods
    }

    /// Whether the API server gives each such object a policy that says what becomes of its volumes.
    pub const fn has_claim_policy(self) -> bool {
        self.0.has_claim_policy
    }

    /// Whether the API server has to be asked about it before it is asked for it: nothing else says
    /// in which version it is served.
    pub fn is_unasked(self) -> bool {
        self.discovery().is_some_and(|it| it.said().is_none())
    }

    /// Whether its version is the one that the API server says.
    pub fn is_discovered(self) -> bool {
        self.discovery().is_some()
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
            .is_some_and(|it| it.note_lacks_count(lacks))
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
    pub fn spec_member(name: &str) -> Option<&'static str> {
        let of_rows = OPERATORS.iter().find_map(|row| row.spec_member(name));
        of_rows.or_else(|| table::spec_member(name))
    }

    /// The kind of a manifest's `apiVersion` and `kind`; none where dayshift does not scale it.
    pub fn of(api_version: &str, kind: &str) -> Option<Self> {
        Self::known().find(|it| it.is_of(api_version, kind))
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
        Self::known().find(|it| {
            let is_named = [it.short_name(), it.plural(), &it.singular()].contains(&resource);
            is_named
                && (rest.is_empty()
                    || rest == it.group()
                    || rest.split_once('.') == Some((it.version(), it.group())))
        })
    }

    /// `rollouts.argoproj.io` for the `apiVersion` and `kind` of a manifest, the plural guessed as
    /// for [`Self::of`]; none for what is Kubernetes' own, whose groups have no dot or are its.
    pub fn guessed_resource(api_version: &str, kind: &str) -> Option<String> {
        let (group, _) = api_version.split_once('/')?;
        let is_custom = group.contains('.') && !group.ends_with(".k8s.io");
        is_custom.then(|| format!("{}.{group}", plural_of(kind)))
    }

    /// What kinds are compared, sorted and hashed by.
    const fn key(self) -> (u8, &'static str) {
        match self.0.place {
            Row::NAMED => (Row::NAMED, self.0.argument),
            place => (place, ""),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn the_rows_are_each_listed_once_and_in_order() {
        let places = Kind::BUILT_IN.map(|it| usize::from(it.0.place));
        assert!(places.into_iter().eq(0..Kind::BUILT_IN.len()));
        for kind in Kind::BUILT_IN {
            assert_eq!(Kind::named(kind.plural(), kind.group()), kind);
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
        let kind = Kind::named("rollouts", "argoproj.io");
        assert_eq!(Kind::of("argoproj.io/v1alpha1", "Rollout"), Some(kind));
        assert_eq!(Kind::of("argoproj.io/v1alpha1", "Application"), None);
        assert_eq!(Kind::from_argument("rollouts.argoproj.io"), Some(kind));
        assert_eq!((kind.name(), kind.version()), ("rollouts", ""));
        kind.discovered("Rollout", "v1alpha1");
        assert_eq!(
            (kind.name(), kind.api_version()),
            ("Rollout", "argoproj.io/v1alpha1")
        );
        assert_eq!(Kind::from_argument("rollout"), Some(kind));
        assert_eq!(Kind::named("rollouts", "argoproj.io"), kind);
    }
}
