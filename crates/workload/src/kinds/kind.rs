//! The kinds of workload that dayshift scales.

use std::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    ptr,
};

use super::count_kind::CountKind;
use super::row::{CountForm, Part, Pods, ReadyForm, Row, Serving, Shape};
use super::served::{Discovery, Served};
use super::switch::Switch;
use super::table;

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
        self.discovery().is_some_and(|it| it.said().is_none())
    }

    /// Whether its version is the one that the API server says.
    pub fn is_discovered(self) -> bool {
        self.discovery().is_some()
    }

    /// Whether no row says where its count is: it is taken for a kind with `spec.replicas`.
    pub fn is_assumed(self) -> bool {
        self.discovery().is_some_and(|it| it.is_assumed)
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
        let places = Kind::BUILT_IN.map(|it| usize::from(it.0.place));
        assert!(places.into_iter().eq(0..Kind::BUILT_IN.len()));
        for kind in Kind::BUILT_IN {
            assert_eq!(Kind::named(kind.plural(), kind.group()), kind);
        }
    }
}
