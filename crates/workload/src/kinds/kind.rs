//! A handle to one kind of workload: its definition, and the answers of the API server about it.

use std::{
    borrow::Cow,
    cmp::Ordering,
    collections::BTreeSet,
    fmt,
    hash::{Hash, Hasher},
    sync::{
        Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use crate::{
    keys::Label,
    kinds::{
        CountKind,
        definition::{CountForm, KindDefinition, PodGroup, Pods, ReadyForm, Shape, Switch},
    },
};

/// A kind of workload. Cheap to clone; compared, sorted and hashed by its resource. The URLs of its API
/// are in the `cluster` crate.
#[derive(Clone)]
pub struct Kind(Inner);

#[derive(Clone)]
enum Inner {
    BuiltIn(BuiltIn),
    Discovered(Arc<DiscoveredKind>),
}

/// The kinds of Kubernetes and KEDA with a short name, in the order in which they are listed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum BuiltIn {
    Deployment,
    StatefulSet,
    CronJob,
    HorizontalPodAutoscaler,
    ScaledObject,
}

/// A kind whose version the API server reports, with its answers. All handles share them.
struct DiscoveredKind {
    definition: Cow<'static, KindDefinition>,
    name: OnceLock<String>,
    version: Mutex<Option<Arc<str>>>,
    /// Whether the schema has no field for the count.
    lacks_count: AtomicBool,
    /// The namespaces in which a write of the count was dropped. A mutating webhook can drop it in one
    /// namespace, which should not change how the objects of another are read.
    lacks_count_in: Mutex<BTreeSet<Box<str>>>,
    /// The namespaces with an object that has had `status.readyReplicas`. The users of one namespace can
    /// write it, and should not change how the objects of another are read.
    shows_ready_replicas: Mutex<BTreeSet<Box<str>>>,
    is_named: AtomicBool,
}

static BUILT_IN: LazyLock<[KindDefinition; 5]> = LazyLock::new(|| {
    let built_in = KindDefinition::built_in;
    let replicas = ["spec", "replicas"];
    [
        KindDefinition {
            shape: Shape::Pods,
            pods: Pods::ByHash,
            ready: ReadyForm::Replicas,
            ..built_in("Deployment", "deploy", ("apps", "v1"), &replicas)
        },
        KindDefinition {
            shape: Shape::Pods,
            pods: Pods::ByNumber,
            ready: ReadyForm::Replicas,
            has_claim_policy: true,
            ..built_in("StatefulSet", "sts", ("apps", "v1"), &replicas)
        },
        KindDefinition {
            shape: Shape::Jobs,
            form: CountForm::Suspended,
            counts: CountKind::Suspend { has_jobs: true },
            ..built_in("CronJob", "cj", ("batch", "v1"), &["spec", "suspend"])
        },
        KindDefinition {
            shape: Shape::Autoscaler,
            counts: CountKind::Minimum { may_be_zero: false },
            ..built_in(
                "HorizontalPodAutoscaler",
                "hpa",
                ("autoscaling", "v2"),
                &["spec", "minReplicas"],
            )
        },
        KindDefinition {
            pods: Pods::OfTarget,
            form: CountForm::PausedReplicas,
            counts: CountKind::Pause,
            ..built_in(
                "ScaledObject",
                "so",
                ("keda.sh", "v1alpha1"),
                &[
                    "metadata",
                    "annotations",
                    "autoscaling.keda.sh/paused-replicas",
                ],
            )
        },
    ]
});

impl Kind {
    /// `deployments.apps`
    pub const DEPLOYMENT: Self = Self(Inner::BuiltIn(BuiltIn::Deployment));
    /// `statefulsets.apps`
    pub const STATEFUL_SET: Self = Self(Inner::BuiltIn(BuiltIn::StatefulSet));
    /// `cronjobs.batch`
    pub const CRON_JOB: Self = Self(Inner::BuiltIn(BuiltIn::CronJob));
    /// `horizontalpodautoscalers.autoscaling`
    pub const HORIZONTAL_POD_AUTOSCALER: Self =
        Self(Inner::BuiltIn(BuiltIn::HorizontalPodAutoscaler));
    /// `scaledobjects.keda.sh`
    pub const SCALED_OBJECT: Self = Self(Inner::BuiltIn(BuiltIn::ScaledObject));

    /// The kinds with a short name, in the order in which they are listed.
    pub const BUILT_IN: [Self; 5] = [
        Self::DEPLOYMENT,
        Self::STATEFUL_SET,
        Self::CRON_JOB,
        Self::HORIZONTAL_POD_AUTOSCALER,
        Self::SCALED_OBJECT,
    ];

    /// The default of `--kinds`.
    pub const DEFAULT: [Self; 3] = [Self::DEPLOYMENT, Self::STATEFUL_SET, Self::CRON_JOB];

    /// The kind of a workload that is named without one, as in `dev/web`.
    pub const DEFAULT_FOR_NAMES: Self = Self::DEPLOYMENT;

    /// A kind that the API server must be asked about.
    pub(super) fn new(definition: Cow<'static, KindDefinition>) -> Self {
        Self(Inner::Discovered(Arc::new(DiscoveredKind {
            definition,
            name: OnceLock::new(),
            version: Mutex::new(None),
            lacks_count: AtomicBool::new(false),
            lacks_count_in: Mutex::default(),
            shows_ready_replicas: Mutex::default(),
            is_named: AtomicBool::new(false),
        })))
    }

    /// The definition.
    pub(super) fn definition(&self) -> &KindDefinition {
        match &self.0 {
            Inner::BuiltIn(kind) => &BUILT_IN[*kind as usize],
            Inner::Discovered(kind) => &kind.definition,
        }
    }

    fn discovered_kind(&self) -> Option<&DiscoveredKind> {
        match &self.0 {
            Inner::BuiltIn(_) => None,
            Inner::Discovered(kind) => Some(kind),
        }
    }

    /// `Deployment`, as in a manifest. If only the resource is known: its plural, until the API server
    /// has reported the name.
    pub fn name(&self) -> &str {
        let discovered = self.discovered_kind().and_then(|kind| kind.name.get());
        discovered.unwrap_or(&self.definition().name)
    }

    /// `apps`, the API group; empty for the core group.
    pub fn group(&self) -> &str {
        &self.definition().group
    }

    /// `v1`, the version of the group in requests; empty before discovery.
    pub fn version(&self) -> Cow<'_, str> {
        match &self.0 {
            Inner::BuiltIn(_) => self.definition().version.unwrap_or_default().into(),
            Inner::Discovered(kind) => {
                let version = kind.version();
                version.as_deref().unwrap_or_default().to_owned().into()
            }
        }
    }

    /// `apps/v1`, as in a manifest; empty before discovery.
    pub fn api_version(&self) -> String {
        match &*self.version() {
            "" => String::new(),
            version => format!("{}/{version}", self.group()),
        }
    }

    /// `/apis/apps/v1/`, the URL path of the group and version; empty before discovery.
    pub fn root(&self) -> String {
        match &*self.version() {
            "" => String::new(),
            version => format!("/apis/{}/{version}/", self.group()),
        }
    }

    /// `deployments`, as in URLs and RBAC.
    pub fn plural(&self) -> &str {
        &self.definition().plural
    }

    /// `deployment`, as in `kubectl scale deployment/web`.
    pub fn singular(&self) -> String {
        self.name().to_lowercase()
    }

    /// `deployment`, or `clusters.postgresql.cnpg.io` if other groups might have a kind of that name.
    pub fn unambiguous(&self) -> String {
        if self.is_discovered() {
            self.argument().to_owned()
        } else {
            self.singular()
        }
    }

    /// `deploy`, the short name in kubectl; `rollouts.argoproj.io` for a kind without one.
    pub fn short_name(&self) -> &str {
        &self.definition().short_name
    }

    /// The value for `--kinds`: `deployments`, or `rollouts.argoproj.io`.
    pub fn argument(&self) -> &str {
        &self.definition().argument
    }

    /// `Deployments`, the plural in a sentence.
    pub fn names_of_all(&self) -> String {
        match self.name() {
            name if name == self.plural() => name.to_owned(),
            name => format!("{name}s"),
        }
    }

    /// `deployments.apps`, as the API server and kubectl name the resource.
    pub fn resource(&self) -> String {
        format!("{}.{}", self.plural(), self.group())
    }

    /// The meaning of the count of such an object.
    pub fn counts(&self) -> CountKind {
        self.definition().counts
    }

    /// The form of the count in such an object.
    pub fn form(&self) -> &CountForm {
        &self.definition().form
    }

    /// The on/off field; `None` for a kind with a count.
    pub fn switch(&self) -> Option<&Switch> {
        match self.form() {
            CountForm::Switch(switch) => Some(switch),
            _ => None,
        }
    }

    /// The state labels of an object of this kind. Only an on/off kind has a saved value.
    pub fn state_labels(&self) -> impl Iterator<Item = Label> + use<> {
        let has_value = self.switch().is_some();
        let all = Label::ALL.into_iter();
        all.filter(move |label| has_value || *label != Label::SavedValue)
    }

    /// The field or annotation of the count, as the tokens of a JSON pointer.
    pub fn path(&self) -> &[String] {
        &self.definition().path
    }

    /// [`Self::path`] as a JSON pointer (RFC 6901): `/spec/replicas`.
    pub fn pointer(&self) -> String {
        pointer(self.path())
    }

    /// The last token of [`Self::path`]: `replicas`.
    pub fn field(&self) -> &str {
        self.path().last().map_or("", String::as_str)
    }

    /// The shape of the `spec`.
    pub fn shape(&self) -> Shape {
        self.definition().shape
    }

    /// How the pods of such an object are named.
    pub fn pods(&self) -> Pods {
        self.definition().pods
    }

    /// The groups of pods that such an object runs; empty if its count and its pod template determine
    /// them.
    pub fn pod_groups(&self) -> &[PodGroup] {
        &self.definition().pod_groups
    }

    /// Where the status of such an object reports how much of it is ready.
    pub fn ready_form(&self) -> ReadyForm {
        self.definition().ready
    }

    /// Whether the API server sets a retention policy for the volumes of each such object.
    pub fn has_claim_policy(&self) -> bool {
        self.definition().has_claim_policy
    }

    /// Whether the API server reports the version of this kind.
    pub fn is_discovered(&self) -> bool {
        self.discovered_kind().is_some()
    }

    /// Whether nothing but the resource is known, so that `spec.replicas` is assumed.
    pub fn is_assumed(&self) -> bool {
        self.definition().is_assumed
    }

    /// Whether the API server must be asked for the version before any other request.
    pub fn needs_discovery(&self) -> bool {
        let kind = self.discovered_kind();
        kind.is_some_and(|kind| kind.version().is_none())
    }

    /// Records the name of the kind and the version that the API server prefers. A later version
    /// replaces an earlier one.
    pub fn discovered(&self, name: &str, version: &str) {
        if let Some(kind) = self.discovered_kind() {
            kind.name.get_or_init(|| name.to_owned());
            *kind.version() = Some(version.into());
            // Another version can have another schema.
            kind.lacks_count_in().clear();
        }
    }

    /// Whether the objects of the kind in the namespace have no field for the count, as far as is known.
    pub fn lacks_count(&self, namespace: &str) -> bool {
        let kind = self.discovered_kind();
        kind.is_some_and(|kind| {
            kind.lacks_count.load(Relaxed) || kind.lacks_count_in().contains(namespace)
        })
    }

    /// Records that the schema of the kind has no field for the count. Returns whether that is new.
    pub fn record_schema_lacks_count(&self) -> bool {
        let kind = self.discovered_kind();
        kind.is_some_and(|kind| !kind.lacks_count.swap(true, Relaxed))
    }

    /// Records that the API server has dropped the count of an object in the namespace. Returns whether that
    /// is new.
    pub fn record_dropped_count(&self, namespace: &str) -> bool {
        let kind = self.discovered_kind();
        let is_new = !self.lacks_count(namespace);
        kind.is_some_and(|kind| is_new && kind.lacks_count_in().insert(namespace.into()))
    }

    /// Records that an object in the namespace has the field for the count, so the schema allows it.
    pub fn record_count(&self, namespace: &str) {
        if let Some(kind) = self.discovered_kind() {
            kind.lacks_count.store(false, Relaxed);
            kind.lacks_count_in().remove(namespace);
        }
    }

    /// Whether any object of the kind in the namespace has had `status.readyReplicas`.
    pub fn shows_ready_replicas(&self, namespace: &str) -> bool {
        let kind = self.discovered_kind();
        kind.is_none_or(|kind| kind.shown_in().contains(namespace))
    }

    /// Records that an object of the kind in the namespace has `status.readyReplicas`.
    pub fn record_ready_replicas(&self, namespace: &str) {
        if let Some(kind) = self.discovered_kind() {
            let mut shown_in = kind.shown_in();
            if !shown_in.contains(namespace) {
                shown_in.insert(namespace.into());
            }
        }
    }

    /// Whether a name without a group can mean this kind. Operators have so many kinds with similar
    /// names that a user must first name one with its group.
    pub(super) fn is_named(&self) -> bool {
        let kind = self.discovered_kind();
        kind.is_none_or(|kind| kind.is_named.load(Relaxed))
    }

    pub(super) fn mark_named(&self) {
        if let Some(kind) = self.discovered_kind() {
            kind.is_named.store(true, Relaxed);
        }
    }

    /// The built-in kind with this `apiVersion` and `kind`.
    pub fn built_in(api_version: &str, kind: &str) -> Option<Self> {
        let mut all = Self::BUILT_IN.into_iter();
        all.find(|known| known.name() == kind && known.api_version() == api_version)
    }

    fn key(&self) -> (Option<BuiltIn>, &str) {
        match &self.0 {
            Inner::BuiltIn(kind) => (Some(*kind), ""),
            Inner::Discovered(kind) => (None, &kind.definition.argument),
        }
    }
}

impl DiscoveredKind {
    fn version(&self) -> MutexGuard<'_, Option<Arc<str>>> {
        self.version.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lacks_count_in(&self) -> MutexGuard<'_, BTreeSet<Box<str>>> {
        let lacks_count_in = self.lacks_count_in.lock();
        lacks_count_in.unwrap_or_else(PoisonError::into_inner)
    }

    fn shown_in(&self) -> MutexGuard<'_, BTreeSet<Box<str>>> {
        let shown_in = self.shows_ready_replicas.lock();
        shown_in.unwrap_or_else(PoisonError::into_inner)
    }
}

/// The capacity for a JSON pointer in bytes: each patch has about twenty of them.
const USUAL_POINTER: usize = 64;

/// Tokens as a JSON pointer (RFC 6901).
pub fn pointer<T: AsRef<str>>(tokens: &[T]) -> String {
    let mut pointer = String::with_capacity(USUAL_POINTER);
    for token in tokens {
        pointer.push('/');
        for letter in token.as_ref().chars() {
            match letter {
                '~' => pointer.push_str("~0"),
                '/' => pointer.push_str("~1"),
                _ => pointer.push(letter),
            }
        }
    }
    pointer
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
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
        // Built-in kinds come first.
        let (this, that) = (self.key(), other.key());
        let rank = |kind: Option<BuiltIn>| kind.map_or(u8::MAX, |kind| kind as u8);
        (rank(this.0), this.1).cmp(&(rank(that.0), that.1))
    }
}

impl Hash for Kind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
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
    fn built_in_kinds_are_listed_once_and_in_order() {
        for (kind, plural) in Kind::BUILT_IN.into_iter().zip([
            "deployments",
            "statefulsets",
            "cronjobs",
            "horizontalpodautoscalers",
            "scaledobjects",
        ]) {
            assert_eq!(kind.plural(), plural);
            assert_eq!(Kind::built_in(&kind.api_version(), kind.name()), Some(kind));
        }
    }
}
