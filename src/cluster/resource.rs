//! The table of kinds: where each kind's count lies, and how the API server is asked for it.

use serde::Deserialize;

use crate::workload::{Kind, Replicas, WorkloadRef};

/// How one kind is read and written.
#[derive(Debug)]
pub(super) struct Resource {
    kind: Kind,
    /// `/apis/apps/v1/`, under which the API server has it.
    root: &'static str,
    /// Where the count lies, as the tokens of a JSON pointer.
    pub(super) count: &'static [&'static str],
    /// Whether the API server speaks protobuf of it, with the messages of `messages`.
    pub(super) protobuf: bool,
}

/// The fields in which the kinds hold their counts. Each object has those of its own kind.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Spec {
    replicas: Option<u32>,
}

impl Resource {
    /// The row of a kind.
    pub(super) const fn of(kind: Kind) -> Self {
        match kind {
            Kind::Deployment | Kind::StatefulSet => Self {
                kind,
                root: "/apis/apps/v1/",
                count: &["spec", "replicas"],
                protobuf: true,
            },
        }
    }

    /// The count of such an object.
    pub(super) fn read(&self, spec: &Spec) -> Replicas {
        match self.kind {
            Kind::Deployment | Kind::StatefulSet => Replicas::new(spec.replicas.unwrap_or(1)),
        }
    }

    /// Where the count lies in the `fieldsV1` of a manager (structured merge diff v4).
    pub(super) fn managed_count(&self) -> String {
        self.count
            .iter()
            .map(|token| format!("/f:{token}"))
            .collect()
    }

    /// `/apis/apps/v1/namespaces/dev/deployments`; without a namespace, all of the cluster.
    pub(super) fn path(&self, namespace: Option<&str>) -> String {
        let (root, plural) = (self.root, self.kind.plural());
        match namespace {
            Some(namespace) => format!("{root}namespaces/{namespace}/{plural}"),
            None => format!("{root}{plural}"),
        }
    }

    /// Whether a path leads to objects of this kind or of others beside it.
    pub(super) fn is_above(&self, path: &str) -> bool {
        path.starts_with(self.root)
    }

    /// The path of one object.
    pub(super) fn path_of(object: &WorkloadRef) -> String {
        let collection = Self::of(object.kind).path(Some(&object.namespace));
        format!("{collection}/{}", object.name)
    }
}

/// The kind whose collection has this path, in one namespace or in all; none for every other path,
/// such as that of one object.
pub fn kind_of_collection(path: &str) -> Option<Kind> {
    let is_of = |kind: &Kind| {
        let plural = kind.plural();
        let rest = path.strip_prefix(Resource::of(*kind).root);
        rest.is_some_and(|rest| {
            let mut parts = rest.split('/');
            match (parts.next(), parts.next(), parts.next(), parts.next()) {
                (Some(only), None, None, None) => only == plural,
                (Some("namespaces"), Some(_), Some(last), None) => last == plural,
                _ => false,
            }
        })
    };
    Kind::ALL.into_iter().find(is_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collection_is_told_from_everything_else() {
        for (path, expected) in [
            ("/apis/apps/v1/deployments", Some(Kind::Deployment)),
            (
                "/apis/apps/v1/namespaces/dev/statefulsets",
                Some(Kind::StatefulSet),
            ),
            ("/apis/apps/v1/namespaces/dev/deployments/web", None),
            ("/apis/apps/v1/namespaces/a/statefulsets/deployments", None),
            ("/apis/apps/v1/namespaces/deployments", None),
            ("/apis/apps/v1beta1/deployments", None),
            ("/api/v1/namespaces", None),
        ] {
            assert_eq!(kind_of_collection(path), expected, "{path}");
        }
    }

    #[test]
    fn paths_are_those_of_the_api_server() {
        let object = WorkloadRef {
            kind: Kind::Deployment,
            namespace: "dev".into(),
            name: "db".into(),
            uid: "u".into(),
        };
        assert_eq!(
            Resource::path_of(&object),
            "/apis/apps/v1/namespaces/dev/deployments/db"
        );
        assert_eq!(
            Resource::of(Kind::Deployment).managed_count(),
            "/f:spec/f:replicas"
        );
    }
}
