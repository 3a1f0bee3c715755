//! Kinds by the names that people, manifests and fields have for them.

use std::{collections::BTreeSet, sync::LazyLock};

use super::kind::Kind;
use super::operators::OPERATORS;
use super::row::{ReadyForm, Row};
use super::served::Discovery;
use super::table;

impl Kind {
    /// The kind of this resource: one with `spec.replicas`, where nothing else is known of it.
    pub fn named(plural: &str, group: &str) -> Self {
        let is_it = |it: &Self| it.plural() == plural && it.group() == group;
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
        Self::known().find(|it| it.is_of(api_version, kind))
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
        Self::of(api_version, kind).filter(|it| it.is_discovered())
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
        let found = Self::known().find(|it| {
            let names = [it.short_name(), it.plural(), &it.singular()];
            names.contains(&resource)
                && (rest.is_empty() && it.is_named()
                    || rest == it.group()
                    || rest.split_once('.') == Some((it.version(), it.group())))
        });
        found
            .filter(|_| !rest.is_empty())
            .inspect(|it| it.mark_named());
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
