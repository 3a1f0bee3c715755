//! Kinds with a field that users might expect to stop them, but that does something else.

use std::fmt;

/// A kind that no field can stop.
///
/// Its text is a reason: `dayshift cannot stop a MariaDB: its spec.suspend …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotStopped {
    /// `MariaDB`
    name: &'static str,
    plural: &'static str,
    group: &'static str,
    /// The misleading field, as the tokens of a JSON pointer; empty if there is none.
    field: &'static [&'static str],
    /// The effect of the field, or why nothing stops the kind.
    why: &'static str,
    /// An alternative to a schedule, as an instruction.
    pub instead: &'static str,
}

const NOT_STOPPED: [NotStopped; 5] = [
    NotStopped {
        name: "MariaDB",
        plural: "mariadbs",
        group: "k8s.mariadb.com",
        field: &["spec", "suspend"],
        why: "its spec.suspend only keeps the operator from reconciling it, and its pods keep running",
        instead: "schedule the workloads that use it",
    },
    NotStopped {
        name: "Kafka",
        plural: "kafkas",
        group: "kafka.strimzi.io",
        field: &["metadata", "annotations", "strimzi.io/pause-reconciliation"],
        why: "its annotation strimzi.io/pause-reconciliation only keeps the operator from \
            reconciling it, and its pods keep running",
        instead: "schedule its KafkaConnects, its KafkaBridges and the workloads that use it",
    },
    NotStopped {
        name: "Elasticsearch",
        plural: "elasticsearches",
        group: "elasticsearch.k8s.elastic.co",
        field: &[],
        why: "its operator keeps at least one master node running",
        instead: "schedule the workloads that use it",
    },
    NotStopped {
        name: "HelmRelease",
        plural: "helmreleases",
        group: "helm.toolkit.fluxcd.io",
        field: &["spec", "suspend"],
        why: "its spec.suspend only keeps Flux from reconciling it, and what it installed keeps \
            running",
        instead: "schedule the workloads that it installs",
    },
    NotStopped {
        name: "Kustomization",
        plural: "kustomizations",
        group: "kustomize.toolkit.fluxcd.io",
        field: &["spec", "suspend"],
        why: "its spec.suspend only keeps Flux from reconciling it, and what it applied keeps running",
        instead: "schedule the workloads that it applies",
    },
];

impl NotStopped {
    /// The kind with this name in a manifest and this group.
    pub fn from_kind(kind: &str, group: &str) -> Option<Self> {
        let mut all = NOT_STOPPED.into_iter();
        all.find(|known| known.name == kind && known.group == group)
    }

    /// The kind of this resource.
    pub fn from_resource(plural: &str, group: &str) -> Option<Self> {
        let mut all = NOT_STOPPED.into_iter();
        all.find(|known| known.plural == plural && known.group == group)
    }

    /// Whether `path` is the misleading field.
    pub(super) fn is_by(self, path: &[String]) -> bool {
        path == self.field
    }
}

impl fmt::Display for NotStopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, why, .. } = self;
        let article = if name.starts_with(['A', 'E', 'I', 'O']) {
            "an"
        } else {
            "a"
        };
        write!(f, "dayshift cannot stop {article} {name}: {why}")
    }
}
