//! Kinds that are known by their resource alone, until the API server is asked about them.

use std::{
    cmp::Ordering,
    hash::{Hash, Hasher},
    sync::{
        Mutex, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering as MemoryOrdering},
    },
};

/// A kind with `spec.replicas` that somebody has named by its resource, such as
/// `rollouts.argoproj.io`. There is one of each in a process, and it is never dropped: its name
/// goes with every object of the kind.
#[derive(Debug)]
pub struct CustomKind {
    /// `rollouts.argoproj.io`
    resource: String,
    /// Where the plural ends in it.
    dot: usize,
    /// All that the API server has said of it so far; the last counts. They are never dropped
    /// either, and a version that comes back is not kept twice.
    discovered: RwLock<Vec<&'static Discovered>>,
    /// Whether the API server has dropped `spec.replicas` from what was written.
    lacks_count: AtomicBool,
}

/// What the API server says of a kind.
#[derive(Debug, PartialEq, Eq)]
struct Discovered {
    name: String,
    version: String,
    api_version: String,
    root: String,
}

/// Those that were named so far.
static NAMED: Mutex<Vec<&'static CustomKind>> = Mutex::new(Vec::new());

impl CustomKind {
    /// The kind of this resource.
    pub fn named(plural: &str, group: &str) -> &'static Self {
        let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
        let known = named
            .iter()
            .find(|it| it.plural() == plural && it.group() == group);
        if let Some(known) = known {
            return known;
        }
        let custom: &'static Self = Box::leak(Box::new(Self {
            resource: format!("{plural}.{group}"),
            dot: plural.len(),
            discovered: RwLock::default(),
            lacks_count: AtomicBool::new(false),
        }));
        named.push(custom);
        custom
    }

    /// Those that were named so far.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        let named = NAMED.lock().unwrap_or_else(PoisonError::into_inner).clone();
        named.into_iter()
    }

    /// `rollouts.argoproj.io` for the `apiVersion` and `kind` of a manifest, the plural guessed as
    /// in [`Self::is_of`]; none for what is Kubernetes' own, whose groups have no dot or are its.
    pub fn resource_of(api_version: &str, kind: &str) -> Option<String> {
        let (group, _) = api_version.split_once('/')?;
        let is_custom = group.contains('.') && !group.ends_with(".k8s.io");
        is_custom.then(|| format!("{}.{group}", plural_of(kind)))
    }

    /// Takes in the name of the kind and the version that the API server prefers, in place of what
    /// it has said before.
    pub fn discovered(&self, name: &str, version: &str) {
        let group = self.group();
        let said = Discovered {
            name: name.to_owned(),
            version: version.to_owned(),
            api_version: format!("{group}/{version}"),
            root: format!("/apis/{group}/{version}/"),
        };
        let mut all = self
            .discovered
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let known = all.iter().position(|it| **it == said);
        let said = match known {
            Some(place) => all.remove(place),
            None => Box::leak(Box::new(said)),
        };
        all.push(said);
    }

    /// Whether the API server was asked about it.
    pub fn is_discovered(&self) -> bool {
        self.known().is_some()
    }

    fn known(&self) -> Option<&'static Discovered> {
        let all = self.discovered.read();
        all.unwrap_or_else(PoisonError::into_inner).last().copied()
    }

    /// Whether its schema has no `spec.replicas`, as far as is known.
    pub fn lacks_count(&self) -> bool {
        self.lacks_count.load(MemoryOrdering::Relaxed)
    }

    /// Notes whether its schema has no `spec.replicas`; whether that is news.
    pub fn note_lacks_count(&self, lacks: bool) -> bool {
        self.lacks_count.swap(lacks, MemoryOrdering::Relaxed) != lacks
    }

    /// `rollouts.argoproj.io`
    pub fn resource(&self) -> &str {
        &self.resource
    }

    /// `rollouts`
    pub fn plural(&self) -> &str {
        self.resource.get(..self.dot).unwrap_or_default()
    }

    /// `argoproj.io`
    pub fn group(&self) -> &str {
        self.resource.get(self.dot + 1..).unwrap_or_default()
    }

    /// `Rollout`; the plural until that is known.
    pub fn name(&self) -> &str {
        self.known().map_or(self.plural(), |it| &it.name)
    }

    /// `v1alpha1`; empty until that is known.
    pub fn version(&self) -> &str {
        self.known().map_or("", |it| &it.version)
    }

    /// `argoproj.io/v1alpha1`; empty until that is known.
    pub fn api_version(&self) -> &str {
        self.known().map_or("", |it| &it.api_version)
    }

    /// `/apis/argoproj.io/v1alpha1/`; empty until that is known.
    pub fn root(&self) -> &str {
        self.known().map_or("", |it| &it.root)
    }

    /// Whether a manifest's `apiVersion` and `kind` are of this kind. Until the server was asked,
    /// the plural is guessed as Kubernetes itself does (`meta.UnsafeGuessKindToResource`).
    pub fn is_of(&self, api_version: &str, kind: &str) -> bool {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        let is_named = match self.known() {
            Some(known) => known.name == kind,
            None => plural_of(kind) == self.plural(),
        };
        group == self.group() && is_named
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

impl PartialEq for CustomKind {
    fn eq(&self, other: &Self) -> bool {
        self.resource == other.resource
    }
}

impl Eq for CustomKind {}

impl PartialOrd for CustomKind {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for CustomKind {
    fn cmp(&self, other: &Self) -> Ordering {
        self.resource.cmp(&other.resource)
    }
}

impl Hash for CustomKind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.resource.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
