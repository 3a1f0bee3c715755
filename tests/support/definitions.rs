//! CustomResourceDefinitions in Go modules.

/// The definitions of CloudNativePG. Its operator watches all of them.
pub(crate) const CLOUD_NATIVE_PG_CRDS: [&str; 10] = [
    "postgresql.cnpg.io_backups.yaml",
    "postgresql.cnpg.io_clusterimagecatalogs.yaml",
    "postgresql.cnpg.io_clusters.yaml",
    "postgresql.cnpg.io_databases.yaml",
    "postgresql.cnpg.io_failoverquorums.yaml",
    "postgresql.cnpg.io_imagecatalogs.yaml",
    "postgresql.cnpg.io_poolers.yaml",
    "postgresql.cnpg.io_publications.yaml",
    "postgresql.cnpg.io_scheduledbackups.yaml",
    "postgresql.cnpg.io_subscriptions.yaml",
];

pub(super) const CLOUD_NATIVE_PG_DEFINITIONS: Definitions = Definitions {
    module: "github.com/cloudnative-pg/cloudnative-pg",
    directory: "config/crd/bases",
    files: &CLOUD_NATIVE_PG_CRDS,
};

/// The definitions that Argo CD's components need.
pub(crate) const ARGO_CD_CRDS: [&str; 2] = ["application-crd.yaml", "appproject-crd.yaml"];

pub(super) const ARGO_CD_DEFINITIONS: Definitions = Definitions {
    module: "github.com/argoproj/argo-cd/v3",
    directory: "manifests/crds",
    files: &ARGO_CD_CRDS,
};

/// The Prometheus Operator's definitions that the chart and the manifests use.
pub(crate) const MONITORING_CRDS: [&str; 2] = [
    "monitoring.coreos.com_podmonitors.yaml",
    "monitoring.coreos.com_prometheusrules.yaml",
];

pub(super) const MONITORING_DEFINITIONS: Definitions = Definitions {
    module: "github.com/prometheus-operator/prometheus-operator",
    directory: "example/prometheus-operator-crd",
    files: &MONITORING_CRDS,
};

/// The definitions in a module.
#[derive(Debug)]
pub(super) struct Definitions {
    pub(super) module: &'static str,
    pub(super) directory: &'static str,
    pub(super) files: &'static [&'static str],
}
