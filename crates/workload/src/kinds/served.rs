//! In which version the API server has a kind, and what it was found to lack.

use std::sync::{
    PoisonError, RwLock,
    atomic::{AtomicBool, Ordering},
};

/// How the API server calls a kind, and where it has it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Served {
    /// `Deployment`
    pub(super) name: &'static str,
    /// `v1`
    pub(super) version: &'static str,
    /// `apps/v1`
    pub(super) api_version: &'static str,
    /// `/apis/apps/v1/`
    pub(super) root: &'static str,
}

/// What the API server has said of a kind that is known by its resource alone.
#[derive(Debug)]
pub(super) struct Discovery {
    /// What is known until it was asked.
    pub(super) unasked: Served,
    /// All that it has said so far; the last counts. They are never dropped, and a version that comes
    /// back is not kept twice.
    said: RwLock<Vec<&'static Served>>,
    /// Whether it has dropped what was written where a count was expected.
    lacks_count: AtomicBool,
    /// Whether an object of it has shown how many of its replicas are ready.
    shows_ready_replicas: AtomicBool,
    /// Whether somebody has asked for it by its group.
    is_named: AtomicBool,
    /// Whether no row says where its count is, so that it is taken for a kind with `spec.replicas`.
    pub(super) is_assumed: bool,
}

impl Discovery {
    /// A kind of this name, or with this plural where its name is not known.
    pub(super) const fn new(name: &'static str) -> Self {
        Self {
            unasked: Served {
                name,
                version: "",
                api_version: "",
                root: "",
            },
            said: RwLock::new(Vec::new()),
            lacks_count: AtomicBool::new(false),
            shows_ready_replicas: AtomicBool::new(false),
            is_named: AtomicBool::new(false),
            is_assumed: false,
        }
    }

    /// The same of a kind without a row.
    pub(super) fn assumed(plural: &'static str) -> Self {
        Self {
            is_assumed: true,
            ..Self::new(plural)
        }
    }

    /// Takes in the name of the kind and the version that the API server prefers, in place of what
    /// it has said before.
    pub(super) fn take_in(&self, name: &str, group: &str, version: &str) {
        let is_known = |it: &&Served| it.name == name && it.version == version;
        let mut all = self.said.write().unwrap_or_else(PoisonError::into_inner);
        let said = match all.iter().position(is_known) {
            Some(place) => all.remove(place),
            None => Box::leak(Box::new(Served {
                name: leaked(name.to_owned()),
                version: leaked(version.to_owned()),
                api_version: leaked(format!("{group}/{version}")),
                root: leaked(format!("/apis/{group}/{version}/")),
            })),
        };
        all.push(said);
    }

    /// What the API server has said last.
    pub(super) fn said(&self) -> Option<&'static Served> {
        let all = self.said.read().unwrap_or_else(PoisonError::into_inner);
        all.last().copied()
    }

    /// Whether somebody has asked for it by its group.
    pub(super) fn is_named(&self) -> bool {
        self.is_named.load(Ordering::Relaxed)
    }

    /// Notes that somebody has.
    pub(super) fn mark_named(&self) {
        self.is_named.store(true, Ordering::Relaxed);
    }

    /// Whether an object of it has shown how many of its replicas are ready.
    pub(super) fn shows_ready_replicas(&self) -> bool {
        self.shows_ready_replicas.load(Ordering::Relaxed)
    }

    /// Notes that one has.
    pub(super) fn note_ready_replicas(&self) {
        self.shows_ready_replicas.store(true, Ordering::Relaxed);
    }

    /// Whether its schema has no place for a count, as far as is known.
    pub(super) fn lacks_count(&self) -> bool {
        self.lacks_count.load(Ordering::Relaxed)
    }

    /// Notes whether its schema has no place for a count; whether that is news.
    pub(super) fn note_lacks_count(&self, lacks: bool) -> bool {
        self.lacks_count.swap(lacks, Ordering::Relaxed) != lacks
    }
}

/// A text that is never dropped: there are a few of each kind that is named.
pub(super) fn leaked(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}
