//! The kinds of workload that dayshift scales.

use std::fmt;

/// A kind of workload. Its variants are the rows of the table of kinds, as far as it says how a
/// kind is called; where its count lies and how the API server is asked for it stands in
/// `cluster`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `deployments.apps`
    Deployment,
    /// `statefulsets.apps`
    StatefulSet,
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
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 2] = [Self::Deployment, Self::StatefulSet];

    const fn names(self) -> Names {
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
        }
    }

    /// `Deployment`, as in a manifest.
    pub const fn name(self) -> &'static str {
        self.names().kind
    }

    /// `apps`, the API group; empty for the core group.
    pub const fn group(self) -> &'static str {
        self.names().group
    }

    /// `v1`, the version of the group that is asked for.
    pub const fn version(self) -> &'static str {
        self.names().version
    }

    /// `apps/v1`, as in a manifest.
    pub const fn api_version(self) -> &'static str {
        self.names().api_version
    }

    /// `deployments`, as in URLs and RBAC.
    pub const fn plural(self) -> &'static str {
        self.names().plural
    }

    /// `deployment`, as in `kubectl scale deployment/web`.
    pub fn singular(self) -> String {
        self.name().to_lowercase()
    }

    /// `deploy`, the short name that kubectl takes.
    pub const fn short_name(self) -> &'static str {
        self.names().short
    }

    /// The kind of a manifest's `apiVersion` and `kind`; none where dayshift does not scale it.
    pub fn of(api_version: &str, kind: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|it| it.name() == kind && it.api_version() == api_version)
    }

    /// The kind that kubectl takes `text` for: its singular, plural or short name, with or without
    /// the group and version (`deploy`, `deployments.apps`, `statefulset.v1.apps`), in any case.
    pub fn from_argument(text: &str) -> Option<Self> {
        let text = text.to_lowercase();
        let (resource, rest) = text.split_once('.').unwrap_or((&text, ""));
        Self::ALL.into_iter().find(|it| {
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
        assert_eq!(Kind::of("apps/v1beta1", "Deployment"), None);
        assert_eq!(Kind::of("apps/v1", "deployment"), None);
    }
}
