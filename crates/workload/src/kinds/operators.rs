//! The definitions of other operators' kinds, and the fields that users might expect to stop them but
//! that do something else. `docs/reference/operator-kinds.md` names the source of each.

use std::fmt;

use crate::kinds::{
    CountKind,
    definition::{
        CountForm, KindDefinition, PodGroup, Pods, ReadyForm, Switch, SwitchConstant, plural_of,
        tokens,
    },
};

const REPLICAS: &[&str] = &["spec", "replicas"];
const SUSPEND: &[&str] = &["spec", "suspend"];
const PAUSE: &[&str] = &["spec", "pause"];

/// The definitions, in the order of the documentation.
pub(super) fn operators() -> Vec<KindDefinition> {
    let mut all = vec![
        KindDefinition {
            ready: ReadyForm::Replicas,
            pods: Pods::ByHash,
            ..operator("Rollout", "argoproj.io", REPLICAS)
        },
        operator(
            "Cluster",
            "postgresql.cnpg.io",
            &["metadata", "annotations", "cnpg.io/hibernation"],
        )
        .with_switch(text("on", None))
        // `Resources` of CloudNativePG's `cluster_types.go`.
        .with_pods(vec![group(&[], Some(&["instances"]), &["resources"])]),
        operator("Pooler", "postgresql.cnpg.io", &["spec", "instances"]),
        operator(
            "PostgresCluster",
            "postgres-operator.crunchydata.com",
            &["spec", "shutdown"],
        )
        .with_switch(flag())
        .with_pods(postgres()),
        operator("PerconaPGCluster", "pgv2.percona.com", PAUSE)
            .with_switch(flag())
            .with_pods(postgres()),
        operator("PerconaServerMongoDB", "psmdb.percona.com", PAUSE)
            .with_switch(flag())
            .with_pods(mongo_db()),
        operator("PerconaXtraDBCluster", "pxc.percona.com", PAUSE)
            .with_switch(flag())
            .with_pods(xtra_db()),
        operator(
            "postgresql",
            "acid.zalan.do",
            &["spec", "numberOfInstances"],
        )
        .with_pods(own_count()),
        operator(
            "CassandraDatacenter",
            "cassandra.datastax.com",
            &["spec", "stopped"],
        )
        .with_switch(flag())
        // `Resources` of `cassandradatacenter_types.go`.
        .with_pods(vec![group(&[], Some(&["size"]), &["resources"])]),
        operator(
            "ClickHouseInstallation",
            "clickhouse.altinity.com",
            &["spec", "stop"],
        )
        .with_switch(click_house()),
        KindDefinition {
            counts: CountKind::Exact,
            ready: ReadyForm::Condition("AllReplicasReady"),
            ..operator("RabbitmqCluster", "rabbitmq.com", REPLICAS)
        }
        .with_pods(own_count()),
        strimzi("KafkaConnect", 3),
        strimzi("KafkaBridge", 1),
        strimzi("KafkaMirrorMaker2", 3),
    ];
    all.extend(
        [
            ("AirflowCluster", "airflow"),
            ("DruidCluster", "druid"),
            ("HbaseCluster", "hbase"),
            ("HdfsCluster", "hdfs"),
            ("HiveCluster", "hive"),
            ("KafkaCluster", "kafka"),
            ("NifiCluster", "nifi"),
            ("OpaCluster", "opa"),
            ("OpenSearchCluster", "opensearch"),
            ("SupersetCluster", "superset"),
            ("TrinoCluster", "trino"),
            ("ZookeeperCluster", "zookeeper"),
        ]
        .map(|(name, product)| {
            let group = format!("{product}.stackable.tech");
            let path = ["spec", "clusterOperation", "stopped"];
            operator(name, &group, &path).with_switch(flag())
        }),
    );
    all.extend([
        KindDefinition {
            ready: ReadyForm::Condition("Ready"),
            ..operator("VirtualMachine", "kubevirt.io", &["spec", "runStrategy"])
        }
        .with_switch(Switch {
            // KubeVirt rejects an object that also has the deprecated `running`.
            not_beside: Some(tokens(&["spec", "running"])),
            ..text("Halted", Some("Always"))
        })
        .with_pods(one_pod()),
        operator("RayCluster", "ray.io", SUSPEND)
            .with_switch(flag())
            .with_pods(ray(&[])),
        operator(
            "RayService",
            "ray.io",
            &["spec", "rayClusterConfig", "suspend"],
        )
        .with_switch(flag())
        .with_pods(ray(&["rayClusterConfig"])),
        KindDefinition {
            counts: CountKind::SUSPEND,
            form: CountForm::Switch(flag()),
            ..operator("CronWorkflow", "argoproj.io", SUSPEND)
        },
        KindDefinition {
            counts: CountKind::SUSPEND,
            form: CountForm::Switch(flag()),
            ..operator("ScheduledSparkApplication", "sparkoperator.k8s.io", SUSPEND)
        },
        KindDefinition {
            counts: CountKind::Runners,
            form: CountForm::Number(0),
            ..operator(
                "AutoscalingRunnerSet",
                "actions.github.com",
                &["spec", "minRunners"],
            )
        },
        operator(
            "Notebook",
            "kubeflow.org",
            &["metadata", "annotations", "kubeflow-resource-stopped"],
        )
        // Any text stops it.
        .with_switch(Switch::new(SwitchConstant::Instant, None))
        .with_pods(one_pod()),
        operator(
            "Shoot",
            "core.gardener.cloud",
            &["spec", "hibernation", "enabled"],
        )
        .with_switch(flag()),
        operator(
            "ClusterDeployment",
            "hive.openshift.io",
            &["spec", "powerState"],
        )
        .with_switch(text("Hibernating", Some("Running"))),
    ]);
    all
}

/// A kind with the usual plural of its name.
fn operator(name: &str, group: &str, path: &[&str]) -> KindDefinition {
    KindDefinition::operator(name, &plural_of(name), group, path)
}

impl KindDefinition {
    fn with_switch(self, switch: Switch) -> Self {
        Self {
            form: CountForm::Switch(switch),
            counts: CountKind::Switch,
            ..self
        }
    }

    fn with_pods(self, pod_groups: Vec<PodGroup>) -> Self {
        Self { pod_groups, ..self }
    }
}

/// A field that is `true` while the object is stopped.
fn flag() -> Switch {
    Switch::new(
        SwitchConstant::Flag(true),
        Some(SwitchConstant::Flag(false)),
    )
}

/// A text that stops the object, and another or none with which it runs.
fn text(stopped: &str, running: Option<&str>) -> Switch {
    let running = running.map(|running| SwitchConstant::Text(running.to_owned()));
    Switch::new(SwitchConstant::Text(stopped.to_owned()), running)
}

/// The operator accepts each of these as true, in lower case or with a capital (its
/// `type_string_bool.go`).
fn click_house() -> Switch {
    Switch {
        also_stopped: tokens(&[
            "Yes", "1", "true", "True", "on", "On", "enable", "Enable", "enabled", "Enabled",
        ]),
        ..text("yes", Some("no"))
    }
}

/// A kind of Strimzi. If the field is absent, its operator runs this many replicas (its
/// `AbstractKafkaConnectSpec.java`).
fn strimzi(name: &str, absent: u32) -> KindDefinition {
    KindDefinition {
        form: CountForm::Number(absent),
        ready: ReadyForm::Condition("Ready"),
        ..operator(name, "kafka.strimzi.io", REPLICAS)
    }
    .with_pods(own_count())
}

/// Pods whose number and whose `resources` are at these paths in each item of `list`. Without
/// `instances` the count is their number.
fn group(list: &[&str], instances: Option<&[&str]>, resources: &[&str]) -> PodGroup {
    PodGroup {
        list: tokens(list),
        instances: instances.map(tokens),
        resources: Some(tokens(resources)),
        ..PodGroup::default()
    }
}

/// `Resources` of `rabbitmqcluster_types.go`, `getResources` of Strimzi's specs, and `resources` of
/// Zalando's `postgresql_type.go`.
fn own_count() -> Vec<PodGroup> {
    vec![group(&[], None, &["resources"])]
}

/// Crunchy's `postgrescluster_types.go` and `pgbouncer_types.go`, and Percona's
/// `perconapgcluster_types.go`.
fn postgres() -> Vec<PodGroup> {
    vec![
        group(
            &["instances", PodGroup::EACH],
            Some(&["replicas"]),
            &["resources"],
        ),
        group(
            &[],
            Some(&["proxy", "pgBouncer", "replicas"]),
            &["proxy", "pgBouncer", "resources"],
        ),
    ]
}

/// Percona's `psmdb_types.go`.
fn mongo_db() -> Vec<PodGroup> {
    let sets = ["replsets", PodGroup::EACH];
    vec![
        group(&sets, Some(&["size"]), &["resources"]),
        group(
            &sets,
            Some(&["nonvoting", "size"]),
            &["nonvoting", "resources"],
        ),
        group(&sets, Some(&["arbiter", "size"]), &["arbiter", "resources"]),
        group(
            &[],
            Some(&["sharding", "configsvrReplSet", "size"]),
            &["sharding", "configsvrReplSet", "resources"],
        ),
        group(
            &[],
            Some(&["sharding", "mongos", "size"]),
            &["sharding", "mongos", "resources"],
        ),
    ]
}

/// Percona's `pxc_types.go`.
fn xtra_db() -> Vec<PodGroup> {
    ["pxc", "haproxy", "proxysql"]
        .map(|part| group(&[], Some(&[part, "size"]), &[part, "resources"]))
        .into()
}

/// One pod, by its pod template (Kubeflow's `notebook_types.go`, KubeVirt's `schema.go`).
fn one_pod() -> Vec<PodGroup> {
    vec![PodGroup::default()]
}

/// A head, and groups of workers with the size that `GetWorkerGroupDesiredReplicas` of KubeRay's
/// `util.go` calculates.
fn ray(above: &[&str]) -> Vec<PodGroup> {
    let below = |path: &[&str]| tokens(&[above, path].concat());
    vec![
        PodGroup {
            resources: Some(below(&["headGroupSpec", "template"])),
            ..PodGroup::default()
        },
        PodGroup {
            list: below(&["workerGroupSpecs", PodGroup::EACH]),
            instances: Some(tokens(&["replicas"])),
            at_least: Some("minReplicas".to_owned()),
            times: Some("numOfHosts".to_owned()),
            resources: Some(tokens(&["template"])),
        },
    ]
}

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
