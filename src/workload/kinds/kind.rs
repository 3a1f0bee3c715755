//! The kinds of workload that dayshift scales.

use std::fmt;

use super::count_kind::CountKind;
use super::custom_kind::CustomKind;

/// A kind of workload. Its variants are the rows of the table of kinds, as far as it says how a
/// kind is called and what its count means; where the count lies and how the API server is asked
/// for it stands in `cluster`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `deployments.apps`
    Deployment,
    /// `statefulsets.apps`
    StatefulSet,
    /// `cronjobs.batch`
    CronJob,
    /// `horizontalpodautoscalers.autoscaling`
    HorizontalPodAutoscaler,
    /// `scaledobjects.keda.sh`
    ScaledObject,
    /// Any other with `spec.replicas`.
    Custom(&'static CustomKind),
}

/// How a kind is called.
struct Names {
    kind: &'static str,
    group: &'static str,
    api_version: &'static str,
    version: &'static str,
    plural: &'static str,
    short: &'static str,
}

impl Kind {
    /// Those that are known by name, in the order in which they are listed.
    pub const BUILT_IN: [Self; 5] = [
        Self::Deployment,
        Self::StatefulSet,
        Self::CronJob,
        Self::HorizontalPodAutoscaler,
        Self::ScaledObject,
    ];

    /// Those that are looked at where nobody says which.
    pub const DEFAULT: [Self; 3] = [Self::Deployment, Self::StatefulSet, Self::CronJob];

    fn names(self) -> Names {
        match self {
            Self::Deployment => Names {
                kind: "Deployment",
                group: "apps",
                api_version: "apps/v1",
                version: "v1",
                plural: "deployments",
                short: "deploy",
            },
            Self::StatefulSet => Names {
                kind: "StatefulSet",
                group: "apps",
                api_version: "apps/v1",
                version: "v1",
                plural: "statefulsets",
                short: "sts",
            },
            Self::CronJob => Names {
                kind: "CronJob",
                group: "batch",
                api_version: "batch/v1",
                version: "v1",
                plural: "cronjobs",
                short: "cj",
            },
            Self::HorizontalPodAutoscaler => Names {
                kind: "HorizontalPodAutoscaler",
                group: "autoscaling",
                api_version: "autoscaling/v2",
                version: "v2",
                plural: "horizontalpodautoscalers",
                short: "hpa",
            },
            Self::ScaledObject => Names {
                kind: "ScaledObject",
                group: "keda.sh",
                api_version: "keda.sh/v1alpha1",
                version: "v1alpha1",
                plural: "scaledobjects",
                short: "so",
            },
            Self::Custom(custom) => Names {
                kind: custom.name(),
                group: custom.group(),
                api_version: custom.api_version(),
                version: custom.version(),
                plural: custom.plural(),
                short: custom.resource(),
            },
        }
    }

    /// `Deployment`, as in a manifest; the plural of a custom kind that the server was not asked
    /// about yet.
    pub fn name(self) -> &'static str {
        self.names().kind
    }

    /// `apps`, the API group; empty for the core group.
    pub fn group(self) -> &'static str {
        self.names().group
    }

    /// `v1`, the version of the group that is asked for; empty for a custom kind that the server
    /// was not asked about yet.
    pub fn version(self) -> &'static str {
        self.names().version
    }

    /// `apps/v1`, as in a manifest.
    pub fn api_version(self) -> &'static str {
        self.names().api_version
    }

    /// `deployments`, as in URLs and RBAC.
    pub fn plural(self) -> &'static str {
        self.names().plural
    }

    /// `deployment`, as in `kubectl scale deployment/web`.
    pub fn singular(self) -> String {
        self.name().to_lowercase()
    }

    /// `deploy`, the short name that kubectl takes; `rollouts.argoproj.io` for a custom kind.
    pub fn short_name(self) -> &'static str {
        self.names().short
    }

    /// `deployments`, or `rollouts.argoproj.io`: what `--kinds` takes for it.
    pub fn argument(self) -> &'static str {
        match self {
            Self::Custom(custom) => custom.resource(),
            _ => self.plural(),
        }
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
        match self {
            Self::Deployment | Self::StatefulSet | Self::Custom(_) => CountKind::Replicas,
            Self::CronJob => CountKind::Suspend,
            Self::HorizontalPodAutoscaler => CountKind::Minimum,
            Self::ScaledObject => CountKind::Pause,
        }
    }

    /// Those that are built in, and those that were named so far.
    pub fn known() -> impl Iterator<Item = Self> {
        let named = CustomKind::all().map(Self::Custom);
        Self::BUILT_IN.into_iter().chain(named)
    }

    /// The kind of a manifest's `apiVersion` and `kind`; none where dayshift does not scale it.
    pub fn of(api_version: &str, kind: &str) -> Option<Self> {
        Self::known().find(|it| it.is_of(api_version, kind))
    }

    fn is_of(self, api_version: &str, kind: &str) -> bool {
        match self {
            Self::Custom(custom) => custom.is_of(api_version, kind),
            _ => self.name() == kind && self.api_version() == api_version,
        }
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
            ("deploy", Some(Kind::Deployment)),
            ("Deployments.apps", Some(Kind::Deployment)),
            ("deployment.v1.apps", Some(Kind::Deployment)),
            ("sts", Some(Kind::StatefulSet)),
            ("statefulsets.v1.apps", Some(Kind::StatefulSet)),
            ("cj", Some(Kind::CronJob)),
            ("cronjobs.batch", Some(Kind::CronJob)),
            ("hpa", Some(Kind::HorizontalPodAutoscaler)),
            ("so", Some(Kind::ScaledObject)),
            ("scaledobject.keda.sh", Some(Kind::ScaledObject)),
            ("deploy.extensions", None),
            ("deployment.v2.apps", None),
            ("deploy.", Some(Kind::Deployment)),
            ("ds", None),
            ("", None),
        ] {
            assert_eq!(Kind::from_argument(text), expected, "{text}");
        }
    }

    #[test]
    fn knows_the_kind_of_a_manifest() {
        assert_eq!(Kind::of("apps/v1", "StatefulSet"), Some(Kind::StatefulSet));
        assert_eq!(Kind::of("batch/v1", "CronJob"), Some(Kind::CronJob));
        assert_eq!(Kind::of("batch/v1", "Job"), None);
        assert_eq!(Kind::of("apps/v1beta1", "Deployment"), None);
        assert_eq!(Kind::of("apps/v1", "deployment"), None);
    }

    #[test]
    fn a_custom_kind_is_found_by_what_is_known_of_it() {
        let rollouts = CustomKind::named("rollouts", "argoproj.io");
        let kind = Kind::Custom(rollouts);
        assert_eq!(Kind::of("argoproj.io/v1alpha1", "Rollout"), Some(kind));
        assert_eq!(Kind::of("argoproj.io/v1alpha1", "Application"), None);
        assert_eq!(Kind::from_argument("rollouts.argoproj.io"), Some(kind));
        assert_eq!((kind.name(), kind.version()), ("rollouts", ""));
        rollouts.discovered("Rollout", "v1alpha1");
        assert_eq!(
            (kind.name(), kind.api_version()),
            ("Rollout", "argoproj.io/v1alpha1")
        );
        assert_eq!(Kind::from_argument("rollout"), Some(kind));
        assert_eq!(
            Kind::Custom(CustomKind::named("rollouts", "argoproj.io")),
            kind
        );
    }
}
