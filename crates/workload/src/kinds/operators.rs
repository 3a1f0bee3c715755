//! The rows of other operators' resources. docs/reference/operator-kinds.md says where each comes from.

use crate::kinds::{
    count::CountKind,
    row::{CountForm, Discovery, Part, Pods, ReadyForm, Row, Serving, Shape},
    switch::{Switch, SwitchConstant},
};

const REPLICAS: &[&str] = &["spec", "replicas"];
const SUSPEND: &[&str] = &["spec", "suspend"];
const PAUSE: &[&str] = &["spec", "pause"];
const STACKABLE: &[&str] = &["spec", "clusterOperation", "stopped"];

/// A field that is `true` where the object is stopped.
const TRUE: CountForm = CountForm::Switch(&Switch {
    stopped: SwitchConstant::Flag(true),
    also_stopped: &[],
    running: Some(SwitchConstant::Flag(false)),
    is_absent_stopped: false,
    not_beside: None,
});

/// A text that stops the object, and another or none with which it runs.
const fn text(stopped: &'static str, running: Option<SwitchConstant>) -> Switch {
    Switch {
        stopped: SwitchConstant::Text(stopped),
        also_stopped: &[],
        running,
        is_absent_stopped: false,
        not_beside: None,
    }
}

/// The operator runs three where the field is absent (its `AbstractKafkaConnectSpec.java`).
const KAFKA_CONNECT: CountForm = CountForm::Number(3);

const CLOUD_NATIVE_PG: CountForm = CountForm::Switch(&text("on", None));

/// The operator takes each of these for true (its `type_string_bool.go`), in lower case or with a
/// capital.
const CLICK_HOUSE: CountForm = CountForm::Switch(&Switch {
    also_stopped: &[
        "Yes", "1", "true", "True", "on", "On", "enable", "Enable", "enabled", "Enabled",
    ],
    ..text("yes", Some(SwitchConstant::Text("no")))
});

/// The deprecated `running` is exclusive with it: KubeVirt refuses both.
const VIRTUAL_MACHINE: CountForm = CountForm::Switch(&Switch {
    not_beside: Some(&["spec", "running"]),
    ..text("Halted", Some(SwitchConstant::Text("Always")))
});

/// Any text stops it.
const NOTEBOOK: CountForm = CountForm::Switch(&Switch {
    stopped: SwitchConstant::Instant,
    ..text("", None)
});

const HIVE: CountForm =
    CountForm::Switch(&text("Hibernating", Some(SwitchConstant::Text("Running"))));

/// Pods with the `resources` beside their number, in each item of `list`. `None`: as many as its count.
const fn part(list: &'static [&'static str], instances: Option<&'static [&'static str]>) -> Part {
    Part {
        list,
        instances,
        resources: Some(&["resources"]),
        ..Part::POD
    }
}

/// The same, below a member of `spec`, or of each item of `list`, that may be missing.
macro_rules! below {
    ($list:expr, $($member:literal).+, $number:literal) => {
        Part {
            list: $list,
            instances: Some(&[$($member,)+ $number]),
            resources: Some(&[$($member,)+ "resources"]),
            ..Part::POD
        }
    };
}

/// The operators' sources: `Resources` of `rabbitmqcluster_types.go`, `getResources` of Strimzi's specs, and
/// `resources` of Zalando's `postgresql_type.go`.
const ITS_COUNT: &[Part] = &[part(&[], None)];

/// `Resources` of CloudNativePG's `cluster_types.go`.
const INSTANCES: &[Part] = &[part(&[], Some(&["instances"]))];

/// `Resources` of `cassandradatacenter_types.go`.
const NODES: &[Part] = &[part(&[], Some(&["size"]))];

/// Crunchy's `postgrescluster_types.go` and `pgbouncer_types.go`, and Percona's `perconapgcluster_types.go`.
const POSTGRES: &[Part] = &[
    part(&["instances", Part::EACH], Some(&["replicas"])),
    below!(&[], "proxy"."pgBouncer", "replicas"),
];

/// Percona's `psmdb_types.go`.
const MONGO_DB: &[Part] = &[
    part(&["replsets", Part::EACH], Some(&["size"])),
    below!(&["replsets", Part::EACH], "nonvoting", "size"),
    below!(&["replsets", Part::EACH], "arbiter", "size"),
    below!(&[], "sharding"."configsvrReplSet", "size"),
    below!(&[], "sharding"."mongos", "size"),
];

/// Percona's `pxc_types.go`.
const XTRA_DB: &[Part] = &[
    below!(&[], "pxc", "size"),
    below!(&[], "haproxy", "size"),
    below!(&[], "proxysql", "size"),
];

/// One pod, by its pod template (Kubeflow's `notebook_types.go`, KubeVirt's `schema.go`).
const ONE_POD: &[Part] = &[Part::POD];

/// A head, and groups of workers, of each of which as many as `GetWorkerGroupDesiredReplicas` of KubeRay's
/// `util.go` says.
macro_rules! ray {
    ($($above:literal),*) => {
        &[
            Part {
                resources: Some(&[$($above,)* "headGroupSpec", "template"]),
                ..Part::POD
            },
            Part {
                list: &[$($above,)* "workerGroupSpecs", Part::EACH],
                instances: Some(&["replicas"]),
                at_least: Some("minReplicas"),
                times: Some("numOfHosts"),
                resources: Some(&["template"]),
            },
        ]
    };
}

/// A row of a kind that the API server is asked about before it is asked for it. How it says that it is
/// ready, how its pods are found and which it runs may be left out: not at all, and by its count and its
/// pod template.
macro_rules! row {
    (@or $default:expr) => {
        $default
    };
    (@or $default:expr, $given:expr) => {
        $given
    };
    ($name:literal, $plural:literal, $group:literal, $path:expr, $form:expr, $counts:ident $(, $ready:expr $(, $pods:expr)?)? $(; $size:expr)?) => {
        Row {
            place: Row::NAMED,
            group: $group,
            plural: $plural,
            short: concat!($plural, ".", $group),
            argument: concat!($plural, ".", $group),
            serving: Serving::Discovered(Discovery::new($name)),
            path: $path,
            form: $form,
            counts: CountKind::$counts,
            shape: Shape::Custom,
            pods: row!(@or Pods::None $($(, $pods)?)?),
            size: row!(@or &[] $(, $size)?),
            ready: row!(@or ReadyForm::Nowhere $(, $ready)?),
            has_claim_policy: false,
        }
    };
}

/// The rows, in the order of the documentation.
#[rustfmt::skip]
pub(super) static OPERATORS: [Row; 35] = [
    row!("Rollout", "rollouts", "argoproj.io", REPLICAS, CountForm::Number(1), Replicas, ReadyForm::Replicas, Pods::ByHash),
    row!("Cluster", "clusters", "postgresql.cnpg.io", &["metadata", "annotations", "cnpg.io/hibernation"], CLOUD_NATIVE_PG, Switch; INSTANCES),
    row!("Pooler", "poolers", "postgresql.cnpg.io", &["spec", "instances"], CountForm::Number(1), Replicas),
    row!("PostgresCluster", "postgresclusters", "postgres-operator.crunchydata.com", &["spec", "shutdown"], TRUE, Switch; POSTGRES),
    row!("PerconaPGCluster", "perconapgclusters", "pgv2.percona.com", PAUSE, TRUE, Switch; POSTGRES),
    row!("PerconaServerMongoDB", "perconaservermongodbs", "psmdb.percona.com", PAUSE, TRUE, Switch; MONGO_DB),
    row!("PerconaXtraDBCluster", "perconaxtradbclusters", "pxc.percona.com", PAUSE, TRUE, Switch; XTRA_DB),
    row!("postgresql", "postgresqls", "acid.zalan.do", &["spec", "numberOfInstances"], CountForm::Number(1), Replicas; ITS_COUNT),
    row!("CassandraDatacenter", "cassandradatacenters", "cassandra.datastax.com", &["spec", "stopped"], TRUE, Switch; NODES),
    row!("ClickHouseInstallation", "clickhouseinstallations", "clickhouse.altinity.com", &["spec", "stop"], CLICK_HOUSE, Switch),
    row!("RabbitmqCluster", "rabbitmqclusters", "rabbitmq.com", REPLICAS, CountForm::Number(1), Exact, ReadyForm::Condition("AllReplicasReady"); ITS_COUNT),
    row!("KafkaConnect", "kafkaconnects", "kafka.strimzi.io", REPLICAS, KAFKA_CONNECT, Replicas, ReadyForm::Condition("Ready"); ITS_COUNT),
    row!("KafkaBridge", "kafkabridges", "kafka.strimzi.io", REPLICAS, CountForm::Number(1), Replicas, ReadyForm::Condition("Ready"); ITS_COUNT),
    row!("KafkaMirrorMaker2", "kafkamirrormaker2s", "kafka.strimzi.io", REPLICAS, KAFKA_CONNECT, Replicas, ReadyForm::Condition("Ready"); ITS_COUNT),
    row!("AirflowCluster", "airflowclusters", "airflow.stackable.tech", STACKABLE, TRUE, Switch),
    row!("DruidCluster", "druidclusters", "druid.stackable.tech", STACKABLE, TRUE, Switch),
    row!("HbaseCluster", "hbaseclusters", "hbase.stackable.tech", STACKABLE, TRUE, Switch),
    row!("HdfsCluster", "hdfsclusters", "hdfs.stackable.tech", STACKABLE, TRUE, Switch),
    row!("HiveCluster", "hiveclusters", "hive.stackable.tech", STACKABLE, TRUE, Switch),
    row!("KafkaCluster", "kafkaclusters", "kafka.stackable.tech", STACKABLE, TRUE, Switch),
    row!("NifiCluster", "nificlusters", "nifi.stackable.tech", STACKABLE, TRUE, Switch),
    row!("OpaCluster", "opaclusters", "opa.stackable.tech", STACKABLE, TRUE, Switch),
    row!("OpenSearchCluster", "opensearchclusters", "opensearch.stackable.tech", STACKABLE, TRUE, Switch),
    row!("SupersetCluster", "supersetclusters", "superset.stackable.tech", STACKABLE, TRUE, Switch),
    row!("TrinoCluster", "trinoclusters", "trino.stackable.tech", STACKABLE, TRUE, Switch),
    row!("ZookeeperCluster", "zookeeperclusters", "zookeeper.stackable.tech", STACKABLE, TRUE, Switch),
    row!("VirtualMachine", "virtualmachines", "kubevirt.io", &["spec", "runStrategy"], VIRTUAL_MACHINE, Switch, ReadyForm::Condition("Ready"); ONE_POD),
    row!("RayCluster", "rayclusters", "ray.io", SUSPEND, TRUE, Switch; ray!()),
    row!("RayService", "rayservices", "ray.io", &["spec", "rayClusterConfig", "suspend"], TRUE, Switch; ray!("rayClusterConfig")),
    row!("CronWorkflow", "cronworkflows", "argoproj.io", SUSPEND, TRUE, SUSPEND),
    row!("ScheduledSparkApplication", "scheduledsparkapplications", "sparkoperator.k8s.io", SUSPEND, TRUE, SUSPEND),
    row!("AutoscalingRunnerSet", "autoscalingrunnersets", "actions.github.com", &["spec", "minRunners"], CountForm::Number(0), Runners),
    row!("Notebook", "notebooks", "kubeflow.org", &["metadata", "annotations", "kubeflow-resource-stopped"], NOTEBOOK, Switch; ONE_POD),
    row!("Shoot", "shoots", "core.gardener.cloud", &["spec", "hibernation", "enabled"], TRUE, Switch),
    row!("ClusterDeployment", "clusterdeployments", "hive.openshift.io", &["spec", "powerState"], HIVE, Switch),
];
