//! The data that describes one kind: its names, its API version, and where its count, its pods and its
//! readiness are.

use std::sync::{
    PoisonError, RwLock,
    atomic::{AtomicBool, Ordering},
};

use crate::kinds::{count::CountKind, switch::Switch};

/// A kind of workload, as data: how it is called, where its count lies, and what it means. Rows are
/// never dropped: one goes with every object of its kind.
#[derive(Debug)]
pub(super) struct Row {
    /// Its place among the rows of Kubernetes' own kinds and KEDA's; [`Self::NAMED`] for the others.
    pub(super) place: u8,
    /// `apps`
    pub(super) group: &'static str,
    /// `deployments`
    pub(super) plural: &'static str,
    /// `deploy`, or `rollouts.argoproj.io`
    pub(super) short: &'static str,
    /// `deployments`, or `rollouts.argoproj.io`: what `--kinds` takes for it.
    pub(super) argument: &'static str,
    pub(super) serving: Serving,
    /// Where its count lies, as the tokens of a JSON pointer.
    pub(super) path: &'static [&'static str],
    pub(super) form: CountForm,
    pub(super) counts: CountKind,
    pub(super) shape: Shape,
    pub(super) pods: Pods,
    /// Where it says which pods it runs; empty where that is its count and the template of its pods.
    pub(super) size: &'static [Part],
    /// Where it says how much of it is ready.
    pub(super) ready: ReadyForm,
    /// Whether a policy on the object says what becomes of its volumes.
    pub(super) has_claim_policy: bool,
}

impl Row {
    /// The place of every kind that somebody has named by its resource.
    pub(super) const NAMED: u8 = u8::MAX;

    /// The names of the members of `spec` that have to be read for its count.
    pub(super) fn spec_members(&self) -> impl Iterator<Item = &'static str> + use<> {
        let beside = match self.form {
            CountForm::Switch(switch) => switch.not_beside,
            _ => None,
        };
        let paths = [Some(self.path), beside].into_iter().flatten();
        let own = paths.filter_map(|path| match path {
            ["spec", member, ..] => Some(*member),
            _ => None,
        });
        own.chain(self.size.iter().flat_map(Part::spec_members))
    }
}

/// In which version the API server has a kind.
#[derive(Debug)]
pub(super) enum Serving {
    /// Always in this one.
    Fixed(Served),
    /// In the one that it says when it is asked.
    Discovered(Discovery),
}

/// What stands where an object holds its count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountForm {
    /// A whole number; this one where it is absent.
    Number(u32),
    /// This where it is stopped, else `false` or nothing.
    Suspended,
    /// A text where it is stopped: the count at which it rests. Else nothing.
    RestsAt,
    /// One value where it is stopped, and another where it runs, which a start brings back.
    Switch(&'static Switch),
}

/// The shape of a `spec`, as Kubernetes' own API has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// With `replicas` and the template of its pods.
    Pods,
    /// With `suspend` and the template of its Jobs.
    Jobs,
    /// With `minReplicas`.
    Autoscaler,
    /// Whatever a CustomResourceDefinition says.
    Custom,
}

/// Where an object says how many pods of one sort it runs, as the tokens of JSON pointers below its `spec`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The lists to go through, each followed by [`Part::EACH`]; empty where there is none.
    pub list: Path,
    /// The number of pods, from there on; `None` for one pod.
    pub instances: Option<Path>,
    /// The name beside it of a number that is run at least. Where both are missing, there are none.
    pub at_least: Option<&'static str>,
    /// The name beside it of how many pods each of that number is.
    pub times: Option<&'static str>,
    /// The `resources` or the template of each pod, from there on; `None` where its pod template has them.
    pub resources: Option<Path>,
}

type Path = &'static [&'static str];

impl Part {
    /// The token that stands for each item of a list.
    pub const EACH: &'static str = "[]";

    /// One pod, by the object's pod template.
    pub const POD: Self = Self {
        list: &[],
        instances: None,
        at_least: None,
        times: None,
        resources: None,
    };

    fn spec_members(&self) -> impl Iterator<Item = &'static str> + use<> {
        let Self { list, .. } = *self;
        let paths = [Some(list), self.instances, self.resources];
        let begun = if list.is_empty() { 3 } else { 1 };
        let paths = paths.into_iter().take(begun).flatten();
        paths.filter_map(|path| path.first().copied())
    }
}

/// Where the status of an object says how much of it is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadyForm {
    /// `readyReplicas`, which is left out where it is 0.
    Replicas,
    /// The same, where some object of the kind has it: nothing else is known of the kind.
    ReplicasIfShown,
    /// A condition of this type.
    Condition(&'static str),
    /// Nowhere, as far as is known.
    Nowhere,
}

/// How the pods of an object are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pods {
    /// `<name>-<hash>-<five characters>`, as those of a Deployment.
    ByHash,
    /// `<name>-<number>`, as those of a StatefulSet.
    ByNumber,
    /// As those of what it scales: `spec.scaleTargetRef`.
    OfTarget,
    /// It has none that go by its name.
    None,
}

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
        let is_known = |served: &&Served| served.name == name && served.version == version;
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
