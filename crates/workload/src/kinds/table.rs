//! The kinds that one process knows: the built-in ones, those of other operators, those of a user's
//! `--kind-file`, and any other resource that was named. A table is a value: two tables in one process
//! share nothing.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
};

use crate::kinds::{
    definition::{KindDefinition, ReadyForm, plural_of},
    kind::Kind,
    operators::{NotStopped, operators},
};

/// The kinds that dayshift can scale.
#[derive(Debug)]
pub struct KindTable {
    operators: Vec<Kind>,
    /// User-defined kinds, and resources of which only the name is known.
    named: Mutex<Vec<Kind>>,
}

/// The maximum number of user-defined kinds in one table. Each takes about 300 bytes.
pub const MAX_DEFINITIONS: usize = 200;

/// Why a table rejects a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionError {
    /// The table has a definition for the resource.
    #[error("dayshift already has a definition of this resource")]
    Known,
    /// There are [`MAX_DEFINITIONS`].
    #[error("there are more than {MAX_DEFINITIONS} definitions")]
    TooMany,
    /// Its field stops nothing.
    #[error("{0}; {instead}", instead = .0.instead)]
    StopsNothing(NotStopped),
}

impl DefinitionError {
    /// Whether the kind has no definition. Then it must not be treated as one with `spec.replicas`.
    pub const fn is_unknown(self) -> bool {
        !matches!(self, Self::Known)
    }
}

static OPERATORS: LazyLock<Vec<KindDefinition>> = LazyLock::new(operators);

impl Default for KindTable {
    fn default() -> Self {
        Self {
            operators: OPERATORS
                .iter()
                .map(|definition| Kind::new(Cow::Borrowed(definition)))
                .collect(),
            named: Mutex::default(),
        }
    }
}

impl KindTable {
    /// Adds a kind that a user defined.
    ///
    /// # Errors
    /// The resource is known, there are too many kinds, or the field stops nothing.
    pub fn add(&self, definition: KindDefinition) -> Result<Kind, DefinitionError> {
        let (plural, group) = (&*definition.plural, &*definition.group);
        let not_stopped = NotStopped::from_resource(plural, group);
        if let Some(kind) = not_stopped.filter(|kind| kind.is_by(&definition.path)) {
            return Err(DefinitionError::StopsNothing(kind));
        }
        let mut named = self.named();
        if self.defined(plural, group).is_some() || find(&named, plural, group).is_some() {
            return Err(DefinitionError::Known);
        }
        if named.len() >= MAX_DEFINITIONS {
            return Err(DefinitionError::TooMany);
        }
        let kind = Kind::new(Cow::Owned(definition));
        kind.mark_named();
        named.push(kind.clone());
        Ok(kind)
    }

    /// The kind of a resource. If the table has no definition, one with `spec.replicas` is assumed and
    /// added.
    pub fn resource(&self, plural: &str, group: &str) -> Kind {
        let kind = self.defined(plural, group).unwrap_or_else(|| {
            let mut named = self.named();
            find(&named, plural, group).unwrap_or_else(|| {
                let kind = Kind::new(Cow::Owned(KindDefinition::assumed(plural, group)));
                named.push(kind.clone());
                kind
            })
        });
        kind.mark_named();
        kind
    }

    /// The kind with this `apiVersion` and `kind` in a manifest; `None` if dayshift does not scale it.
    pub fn from_manifest(&self, api_version: &str, kind: &str) -> Option<Kind> {
        let mut known = self.known().into_iter();
        known.find(|known| is_of_manifest(known, api_version, kind))
    }

    /// The kind of an owner whose operator sets the counts of the objects that it owns. If the operator
    /// created the owner itself, this is the kind from which it did so, which users write.
    pub fn from_owner(&self, api_version: &str, kind: &str) -> Option<Kind> {
        // Percona's operator creates it for a PerconaPGCluster, and owns its workloads through it (its
        // `pkg/apis/upstream.pgv2.percona.com`).
        if kind == "PostgresCluster" && api_version.starts_with("upstream.pgv2.percona.com/") {
            return Some(self.resource("perconapgclusters", "pgv2.percona.com"));
        }
        let kind = self.from_manifest(api_version, kind);
        kind.filter(Kind::is_discovered)
    }

    /// The kind that kubectl understands by `text`: its singular, plural or short name, in any case,
    /// with or without the group and version (`deploy`, `deployments.apps`, `statefulset.v1.apps`).
    pub fn from_argument(&self, text: &str) -> Option<Kind> {
        let text = text.to_lowercase();
        let (resource, rest) = text.split_once('.').unwrap_or((&text, ""));
        let is_meant = |kind: &Kind| {
            let names = [kind.short_name(), kind.plural(), &kind.singular()];
            names.contains(&resource)
                && (rest.is_empty() && kind.is_named()
                    || rest == kind.group()
                    || rest.split_once('.') == Some((&kind.version(), kind.group())))
        };
        let found = self.known().into_iter().find(is_meant);
        found.inspect(|kind| {
            if !rest.is_empty() {
                kind.mark_named();
            }
        })
    }

    /// All kinds: the built-in ones, those of other operators, and those that were added or named.
    pub fn known(&self) -> Vec<Kind> {
        let built_in = Kind::BUILT_IN.into_iter();
        let operators = self.operators.iter().cloned();
        built_in
            .chain(operators)
            .chain(self.named().iter().cloned())
            .collect()
    }

    /// The kinds of other operators.
    pub fn operators(&self) -> &[Kind] {
        &self.operators
    }

    /// The kind that is defined by dayshift itself.
    fn defined(&self, plural: &str, group: &str) -> Option<Kind> {
        let built_in = find(&Kind::BUILT_IN, plural, group);
        built_in.or_else(|| find(&self.operators, plural, group))
    }

    fn named(&self) -> MutexGuard<'_, Vec<Kind>> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PartialEq for KindTable {
    fn eq(&self, other: &Self) -> bool {
        let definitions = |table: &Self| -> Vec<KindDefinition> {
            let named = table.named();
            named.iter().map(|kind| kind.definition().clone()).collect()
        };
        definitions(self) == definitions(other)
    }
}

impl Eq for KindTable {}

fn find(kinds: &[Kind], plural: &str, group: &str) -> Option<Kind> {
    let mut kinds = kinds.iter();
    let found = kinds.find(|kind| kind.definition().is_resource(plural, group));
    found.cloned()
}

/// Before discovery the name of a kind might be unknown. Then its plural is guessed as Kubernetes does
/// (`meta.UnsafeGuessKindToResource`).
fn is_of_manifest(known: &Kind, api_version: &str, kind: &str) -> bool {
    if !known.is_discovered() {
        return known.name() == kind && known.api_version() == api_version;
    }
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    let is_nameless = known.needs_discovery() && known.name() == known.plural();
    let is_named = if is_nameless {
        plural_of(kind) == known.plural()
    } else {
        known.name() == kind
    };
    group == known.group() && is_named
}

/// `rollouts.argoproj.io` for the `apiVersion` and `kind` of a manifest, with a guessed plural; `None`
/// for Kubernetes' own groups, which have no dot or end in `.k8s.io`.
pub fn guess_resource(api_version: &str, kind: &str) -> Option<String> {
    let (group, _) = api_version.split_once('/')?;
    let is_custom = group.contains('.') && !group.ends_with(".k8s.io");
    is_custom.then(|| format!("{}.{group}", plural_of(kind)))
}

/// The kind that dayshift itself defines, by its API group and its name in any version.
pub fn defined_kind(group: &str, name: &str) -> Option<Kind> {
    let mut built_in = Kind::BUILT_IN.into_iter();
    let built_in = built_in.find(|kind| kind.group() == group && kind.name() == name);
    built_in.or_else(|| {
        let mut all = OPERATORS.iter();
        let found = all.find(|kind| kind.group == group && kind.name == name);
        found.map(|definition| Kind::new(Cow::Borrowed(definition)))
    })
}

/// The type of a condition by which a known kind reports that an object is ready.
pub fn ready_condition(name: &str) -> Option<&'static str> {
    static NAMED: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
        let condition = |definition: &KindDefinition| match definition.ready {
            ReadyForm::Condition(name) => Some(name),
            _ => None,
        };
        OPERATORS.iter().filter_map(condition).collect()
    });
    NAMED.get(name).copied()
}

/// Whether a built-in definition reads this member of a `spec`.
pub fn is_spec_member(name: &str) -> bool {
    static NAMED: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
        let members = OPERATORS.iter().flat_map(KindDefinition::spec_members);
        members.collect()
    });
    let of_kubernetes = [
        "replicas",
        "suspend",
        "minReplicas",
        "metrics",
        "persistentVolumeClaimRetentionPolicy",
        "scaleTargetRef",
    ];
    of_kubernetes.contains(&name) || NAMED.contains(name)
}

impl Kind {
    /// Whether the definition uses a member of `spec` that [`is_spec_member`] does not know.
    /// Only user-defined kinds can.
    pub fn has_own_spec_members(&self) -> bool {
        let mut members = self.definition().spec_members();
        members.any(|name| name != "template" && !is_spec_member(name))
    }

    /// Whether the definition uses this member of `spec`.
    pub(crate) fn reads_spec_member(&self, name: &str) -> bool {
        self.definition()
            .spec_members()
            .any(|member| member == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn understands_the_kind_arguments_of_kubectl() {
        let kinds = KindTable::default();
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
            assert_eq!(kinds.from_argument(text), expected, "{text}");
        }
    }

    #[test]
    fn guesses_plurals_as_kubernetes_does() {
        for (kind, plural) in [
            ("Rollout", "rollouts"),
            ("Policy", "policies"),
            ("Class", "classes"),
        ] {
            assert_eq!(plural_of(kind), plural);
        }
    }

    #[test]
    fn finds_the_kind_of_a_manifest() {
        let kinds = KindTable::default();
        for (api_version, kind, expected) in [
            ("apps/v1", "StatefulSet", Some(Kind::STATEFUL_SET)),
            ("batch/v1", "CronJob", Some(Kind::CRON_JOB)),
            ("batch/v1", "Job", None),
            ("apps/v1beta1", "Deployment", None),
            ("apps/v1", "deployment", None),
        ] {
            assert_eq!(kinds.from_manifest(api_version, kind), expected, "{kind}");
        }
    }

    #[test]
    fn a_custom_kind_is_found_by_its_resource_and_after_discovery_by_its_name() {
        let kinds = KindTable::default();
        let kind = kinds.resource("gliders", "air.example.com");
        let manifest = |name| kinds.from_manifest("air.example.com/v1", name);
        assert_eq!(manifest("Glider"), Some(kind.clone()));
        assert_eq!(manifest("Kite"), None);
        let argument = "gliders.air.example.com";
        assert_eq!(kinds.from_argument(argument), Some(kind.clone()));
        assert_eq!((kind.name(), &*kind.version()), ("gliders", ""));
        kind.discovered("Glider", "v1");
        assert_eq!(
            (kind.name(), &*kind.api_version()),
            ("Glider", "air.example.com/v1")
        );
        assert_eq!(kinds.from_argument("glider"), Some(kind.clone()));
        assert_eq!(kinds.resource("gliders", "air.example.com"), kind);
    }

    #[test]
    fn an_operator_kind_needs_its_group_until_a_user_has_named_it() {
        let kinds = KindTable::default();
        let resource = "nificlusters.nifi.stackable.tech";
        assert_eq!(kinds.from_argument("nificluster"), None);
        let kind = kinds.from_argument(resource).unwrap();
        assert_eq!(kind.name(), "NifiCluster");
        assert_eq!(kinds.from_argument("nificluster"), Some(kind.clone()));
        assert_eq!(kinds.from_argument("nificlusters"), Some(kind));
    }

    #[test]
    fn changing_a_kind_table_does_not_affect_another() {
        let (one, other) = (KindTable::default(), KindTable::default());
        let kind = one.resource("rollouts", "argoproj.io");
        kind.discovered("Rollout", "v1alpha1");
        assert!(kind.record_schema_lacks_count());
        one.resource("gliders", "air.example.com");
        let same = other.resource("rollouts", "argoproj.io");
        assert_eq!(same, kind);
        assert!(same.needs_discovery() && !same.lacks_count("dev"));
        assert_eq!(other.from_argument("gliders.air.example.com"), None);
    }
}
