//! The definitions of other operators' kinds. `docs/reference/operator-kinds.md` names the source of each.

use crate::kinds::{
    count::CountKind,
    definition::{CountForm, KindDefinition, PodGroup, Pods, ReadyForm, tokens},
    switch::{Switch, SwitchConstant},
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
            ..KindDefinition::operator("Rollout", "rollouts", "argoproj.io", REPLICAS)
        },
        KindDefinition::operator(
            "Cluster",
            "clusters",
            "postgresql.cnpg.io",
            &["metadata", "annotations", "cnpg.io/hibernation"],
        )
        .with_switch(text("on", None))
        // `Resources` of CloudNativePG's `cluster_types.go`.
        .with_pods(vec![group(&[], Some(&["instances"]), &["resources"])]),
        KindDefinition::operator(
            "Pooler",
            "poolers",
            "postgresql.cnpg.io",
            &["spec", "instances"],
        ),
        KindDefinition::operator(
            "PostgresCluster",
            "postgresclusters",
            "postgres-operator.crunchydata.com",
            &["spec", "shutdown"],
        )
        .with_switch(flag())
        .with_pods(postgres()),
        KindDefinition::operator(
            "PerconaPGCluster",
            "perconapgclusters",
            "pgv2.percona.com",
            PAUSE,
        )
        .with_switch(flag())
        .with_pods(postgres()),
        KindDefinition::operator(
            "PerconaServerMongoDB",
            "perconaservermongodbs",
            "psmdb.percona.com",
            PAUSE,
        )
        .with_switch(flag())
        .with_pods(mongo_db()),
        KindDefinition::operator(
            "PerconaXtraDBCluster",
            "perconaxtradbclusters",
            "pxc.percona.com",
            PAUSE,
        )
        .with_switch(flag())
        .with_pods(xtra_db()),
        KindDefinition::operator(
            "postgresql",
            "postgresqls",
            "acid.zalan.do",
            &["spec", "numberOfInstances"],
        )
        .with_pods(own_count()),
        KindDefinition::operator(
            "CassandraDatacenter",
            "cassandradatacenters",
            "cassandra.datastax.com",
            &["spec", "stopped"],
        )
        .with_switch(flag())
        // `Resources` of `cassandradatacenter_types.go`.
        .with_pods(vec![group(&[], Some(&["size"]), &["resources"])]),
        KindDefinition::operator(
            "ClickHouseInstallation",
            "clickhouseinstallations",
            "clickhouse.altinity.com",
            &["spec", "stop"],
        )
        .with_switch(click_house()),
        KindDefinition {
            counts: CountKind::Exact,
            ready: ReadyForm::Condition("AllReplicasReady"),
            ..KindDefinition::operator(
                "RabbitmqCluster",
                "rabbitmqclusters",
                "rabbitmq.com",
                REPLICAS,
            )
        }
        .with_pods(own_count()),
        strimzi("KafkaConnect", "kafkaconnects", 3),
        strimzi("KafkaBridge", "kafkabridges", 1),
        strimzi("KafkaMirrorMaker2", "kafkamirrormaker2s", 3),
    ];
    all.extend(
        [
            ("AirflowCluster", "airflowclusters", "airflow"),
            ("DruidCluster", "druidclusters", "druid"),
            ("HbaseCluster", "hbaseclusters", "hbase"),
            ("HdfsCluster", "hdfsclusters", "hdfs"),
            ("HiveCluster", "hiveclusters", "hive"),
            ("KafkaCluster", "kafkaclusters", "kafka"),
            ("NifiCluster", "nificlusters", "nifi"),
            ("OpaCluster", "opaclusters", "opa"),
            ("OpenSearchCluster", "opensearchclusters", "opensearch"),
            ("SupersetCluster", "supersetclusters", "superset"),
            ("TrinoCluster", "trinoclusters", "trino"),
            ("ZookeeperCluster", "zookeeperclusters", "zookeeper"),
        ]
        .map(|(name, plural, product)| {
            let group = format!("{product}.stackable.tech");
            let path = ["spec", "clusterOperation", "stopped"];
            KindDefinition::operator(name, plural, &group, &path).with_switch(flag())
        }),
    );
    all.extend([
        KindDefinition {
            ready: ReadyForm::Condition("Ready"),
            ..KindDefinition::operator(
                "VirtualMachine",
                "virtualmachines",
                "kubevirt.io",
                &["spec", "runStrategy"],
            )
        }
        .with_switch(Switch {
            // KubeVirt rejects an object that also has the deprecated `running`.
            not_beside: Some(tokens(&["spec", "running"])),
            ..text("Halted", Some("Always"))
        })
        .with_pods(one_pod()),
        KindDefinition::operator("RayCluster", "rayclusters", "ray.io", SUSPEND)
            .with_switch(flag())
            .with_pods(ray(&[])),
        KindDefinition::operator(
            "RayService",
            "rayservices",
            "ray.io",
            &["spec", "rayClusterConfig", "suspend"],
        )
        .with_switch(flag())
        .with_pods(ray(&["rayClusterConfig"])),
        KindDefinition {
            counts: CountKind::SUSPEND,
            form: CountForm::Switch(flag()),
            ..KindDefinition::operator("CronWorkflow", "cronworkflows", "argoproj.io", SUSPEND)
        },
        KindDefinition {
            counts: CountKind::SUSPEND,
            form: CountForm::Switch(flag()),
            ..KindDefinition::operator(
                "ScheduledSparkApplication",
                "scheduledsparkapplications",
                "sparkoperator.k8s.io",
                SUSPEND,
            )
        },
        KindDefinition {
            counts: CountKind::Runners,
            form: CountForm::Number(0),
            ..KindDefinition::operator(
                "AutoscalingRunnerSet",
                "autoscalingrunnersets",
                "actions.github.com",
                &["spec", "minRunners"],
            )
        },
        KindDefinition::operator(
            "Notebook",
            "notebooks",
            "kubeflow.org",
            &["metadata", "annotations", "kubeflow-resource-stopped"],
        )
        // Any text stops it.
        .with_switch(Switch::new(SwitchConstant::Instant, None))
        .with_pods(one_pod()),
        KindDefinition::operator(
            "Shoot",
            "shoots",
            "core.gardener.cloud",
            &["spec", "hibernation", "enabled"],
        )
        .with_switch(flag()),
        KindDefinition::operator(
            "ClusterDeployment",
            "clusterdeployments",
            "hive.openshift.io",
            &["spec", "powerState"],
        )
        .with_switch(text("Hibernating", Some("Running"))),
    ]);
    all
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
fn strimzi(name: &str, plural: &str, absent: u32) -> KindDefinition {
    let definition = KindDefinition::operator(name, plural, "kafka.strimzi.io", REPLICAS);
    KindDefinition {
        form: CountForm::Number(absent),
        ready: ReadyForm::Condition("Ready"),
        ..definition
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
