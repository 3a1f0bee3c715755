//! Kinds that people hope to stop by a field that does something else.

use super::kind::Kind;

/// What the field of a kind does in place of stopping anything, by the kind's name and group.
const NOT_SWITCHES: [(&str, &str, &str); 5] = [
    (
        "MariaDB",
        "k8s.mariadb.com",
        "its spec.suspend keeps the operator from reconciling it, and its pods run on",
    ),
    (
        "Kafka",
        "kafka.strimzi.io",
        "its annotation strimzi.io/pause-reconciliation keeps the operator from reconciling it, and its pods run on",
    ),
    (
        "Elasticsearch",
        "elasticsearch.k8s.elastic.co",
        "its operator keeps at least one master node running",
    ),
    (
        "HelmRelease",
        "helm.toolkit.fluxcd.io",
        "its spec.suspend keeps Flux from reconciling it, and what it has installed runs on",
    ),
    (
        "Kustomization",
        "kustomize.toolkit.fluxcd.io",
        "its spec.suspend keeps Flux from reconciling it, and what it has applied runs on",
    ),
];

/// Why no stop of a kind of this name and group would do anything, where that is known.
pub fn why_not_stopped(group: &str, kind: &str) -> Option<&'static str> {
    let mut all = NOT_SWITCHES.into_iter();
    let found = all.find(|(name, of, _)| *of == group && *name == kind);
    found.map(|(_, _, why)| why)
}

impl Kind {
    /// Why no stop of it would do anything, where that is known.
    pub fn why_not_stopped(self) -> Option<&'static str> {
        why_not_stopped(self.group(), self.name())
    }
}
