//! The requests of a replica, of a file and of a live object.

use dayshift_manifest::SourceFile;
use dayshift_workload::{KindTable, Prefix};
use serde_json::Value;

/// Millicores and MiB, calculated manually.
const CASES: [(&str, u64, u64); 9] = [
    ("{}", 0, 0),
    ("{template: {spec: {containers: [{name: web}]}}}", 0, 0),
    (
        "{template: {spec: {containers: [{resources: {requests: {cpu: 250m, memory: 128Mi}}},
         {resources: {requests: {cpu: 1, memory: '1Gi'}}}]}}}",
        1250,
        1152,
    ),
    (
        "{template: {spec: {containers: [{resources: {requests: {cpu: 0.5, memory: 134217728}}}]}}}",
        500,
        128,
    ),
    (
        "{template: {spec: {containers: [{resources: {limits: {cpu: 1e3m, memory: 64Mi}}},
         {resources: {limits: {cpu: 1e1}}}]}}}",
        10_000, // 0 in Kubernetes is a parse error of `1e3m`
        64,
    ),
    (
        "{template: {spec: {
          containers: [{resources: {requests: {cpu: 250m, memory: 128Mi}}}],
          initContainers: [{restartPolicy: Always, resources: {requests: {cpu: 50m, memory: 32Mi}}},
                           {resources: {requests: {cpu: 600m, memory: 1Mi}}}],
          overhead: {cpu: 10m}}}}",
        660,
        160,
    ),
    (
        "{template: {spec: {containers: [{resources: {requests: {cpu: 250m, memory: 128Mi}}}],
          resources: {requests: {cpu: '2'}}}}}",
        2000,
        128,
    ),
    ("{template: [containers], replicas: 3}", 0, 0),
    (
        "{template: {spec: {containers: [{resources: {requests: {cpu: [1], memory: 1Gi}}}, 7]}}}",
        0,
        1024,
    ),
];

#[test]
fn a_file_and_a_live_object_request_the_same() {
    let prefix = Prefix::default();
    let kinds = KindTable::default();
    kinds.resource("rollouts", "argoproj.io");
    for (api_version, name) in [
        ("apps/v1", "Deployment"),
        ("apps/v1", "StatefulSet"),
        ("argoproj.io/v1alpha1", "Rollout"),
    ] {
        let kind = kinds.from_manifest(api_version, name).unwrap();
        for (spec, cpu, memory) in CASES {
            let expected = (cpu * 1_000_000, memory << 20);
            let text = format!(
                "{{apiVersion: {api_version}, kind: {name}, metadata: {{name: web, namespace: dev}}, spec: {spec}}}"
            );
            let source = SourceFile::new("file", text.clone());
            let found = source.contents(&prefix, "default", &kinds).workloads;
            let of_file = found[0].footprint.requests;
            assert_eq!(
                (of_file.cpu_nanos, of_file.memory_bytes),
                expected,
                "{text}"
            );

            let manifests = source.manifests(&prefix, "default", &kinds).workloads;
            let object: Value = manifests[0].1.clone();
            let live: dayshift_cluster::Workload = serde_json::from_value(object).unwrap();
            assert_eq!(
                live.observe(&kind, &prefix).footprint.requests,
                of_file,
                "{text}"
            );
        }
    }
}

/// Checks a resource with one replica: the number of its pods, and the millicores and MiB of each, in a file
/// and in a live object.
fn has_footprint(resource: &str, spec: &str, (replicas, cpu, memory): (u32, u64, u64)) {
    let prefix = Prefix::default();
    let (plural, group) = resource.split_once('.').unwrap();
    let kinds = KindTable::default();
    let kind = kinds.resource(plural, group);
    let name = kind.name();
    let text = format!(
        "{{apiVersion: {group}/v1, kind: {name}, metadata: {{name: db, namespace: dev}}, spec: {spec}}}"
    );
    let source = SourceFile::new("file", text);
    let of_file = source.contents(&prefix, "default", &kinds).workloads[0].footprint;
    let object: Value = source.manifests(&prefix, "default", &kinds).workloads[0]
        .1
        .clone();
    let live: dayshift_cluster::Workload = serde_json::from_value(object).unwrap();
    assert_eq!(live.observe(&kind, &prefix).footprint, of_file, "{spec}");
    let requests = of_file.requests;
    let found = (of_file.replicas, requests.cpu_nanos, requests.memory_bytes);
    assert_eq!(found, (replicas, cpu * 1_000_000, memory << 20), "{spec}");
}

/// KubeRay's head and worker groups: one group is suspended, one has fewer workers than its minimum, one has
/// no number, and one has two hosts for each replica.
#[test]
fn counts_the_head_and_worker_groups_of_a_ray_cluster() {
    let pod = |cpu: &str, memory: &str| {
        let requests = format!("{{requests: {{cpu: {cpu}, memory: {memory}}}}}");
        format!("template: {{spec: {{containers: [{{resources: {requests}}}]}}}}")
    };
    let small = pod("1", "1Gi");
    let head = "headGroupSpec: {template: {spec: {containers: [\
         {resources: {limits: {cpu: 2, memory: 4Gi}}}, {resources: {requests: {cpu: 1, memory: 1Gi}}}]}}}";
    let groups = format!(
        "workerGroupSpecs: [{{replicas: 2, numOfHosts: 2, {}}}, {{replicas: 5, suspend: true, {small}}},\
           {{replicas: 0, minReplicas: 1, {small}}}, {{maxReplicas: 4, {small}}}, {{replicas: 2, minReplicas: 1, {small}}}]",
        pod("2", "3Gi")
    );
    // 1 of 3 cores and 5 GiB, 4 of 2 cores and 3 GiB, and 1 and 2 of 1 core and 1 GiB: the mean of
    // 8.
    let expected = (
        8,
        (3_000 + 4 * 2_000 + 3 * 1_000) / 8,
        (5 + 4 * 3 + 3) * 1024 / 8,
    );
    has_footprint(
        "rayclusters.ray.io",
        &format!("{{suspend: false, {head}, {groups}}}"),
        expected,
    );
    // Its own `suspend` is the on/off field, not that of a group.
    let service = format!("{{rayClusterConfig: {{suspend: true, {head}, {groups}}}}}");
    has_footprint("rayservices.ray.io", &service, expected);
    has_footprint(
        "rayclusters.ray.io",
        &format!("{{{head}}}"),
        (1, 3_000, 5 * 1024),
    );
    let odd = format!("{{{head}, workerGroupSpecs: [{{replicas: many, {small}}}]}}");
    has_footprint("rayclusters.ray.io", &odd, (0, 0, 0));
}

/// For memory, `resources` precede the guest's memory. For CPU, only requests count.
#[test]
fn counts_a_virtual_machine_as_one_pod_with_its_domain_requests() {
    for (domain, cpu, memory) in [
        ("{cpu: {cores: 4}, memory: {guest: 4Gi}}", 0, 4096),
        (
            "{memory: {guest: 4Gi}, resources: {requests: {cpu: 500m, memory: 2Gi}}}",
            500,
            2048,
        ),
        (
            "{resources: {limits: {cpu: 2, memory: 3Gi}}, memory: {guest: 4Gi}}",
            2000,
            3072,
        ),
        ("{memory: {hugepages: {pageSize: 2Mi}}}", 0, 0),
        ("{memory: {guest: {}}, resources: 7}", 0, 0),
    ] {
        let spec = format!("{{runStrategy: Always, template: {{spec: {{domain: {domain}}}}}}}");
        has_footprint("virtualmachines.kubevirt.io", &spec, (1, cpu, memory));
    }
}

/// Each `spec` of a Cluster of CloudNativePG.
#[test]
fn a_file_and_a_live_object_have_the_same_footprint() {
    for (spec, replicas, cpu, memory) in [
        (
            "{instances: 3, resources: {requests: {cpu: 1, memory: 1Gi}}}",
            3,
            1000,
            1024,
        ),
        (
            "{instances: 1, resources: {limits: {cpu: 250m}}}",
            1,
            250,
            0,
        ),
        ("{instances: 2}", 2, 0, 0),
        (
            "{instances: 2, resources: {requests: [cpu], limits: 1}}",
            2,
            0,
            0,
        ),
        ("{instances: 2, resources: large}", 2, 0, 0),
        ("{instances: -1, resources: {requests: {cpu: 1}}}", 0, 0, 0),
        ("{instances: 4294967296}", 0, 0, 0),
        ("{instances: three}", 0, 0, 0),
        ("{instances: [3]}", 0, 0, 0),
        ("{instances: null}", 0, 0, 0),
        ("{resources: {requests: {cpu: 1}}}", 0, 0, 0),
        ("{}", 0, 0, 0),
    ] {
        has_footprint("clusters.postgresql.cnpg.io", spec, (replicas, cpu, memory));
    }
}

const CRUNCHY: &str = "postgresclusters.postgres-operator.crunchydata.com";
const MONGO_DB: &str = "perconaservermongodbs.psmdb.percona.com";
const XTRA_DB: &str = "perconaxtradbclusters.pxc.percona.com";

/// The fields of the operators' own examples: Crunchy's tutorial (two sets of instances and a
/// PgBouncer), and `deploy/cr.yaml` of Percona's operators.
#[test]
fn sums_the_parts_of_a_database() {
    for (resource, spec, expected) in [
        (
            CRUNCHY,
            "{postgresVersion: 16,
              instances: [{name: large, replicas: 2, resources: {requests: {cpu: 2, memory: 4Gi}}},
                          {name: small, resources: {limits: {cpu: 1, memory: 1Gi}}}],
              proxy: {pgBouncer: {replicas: 2, resources: {requests: {cpu: 250m, memory: 512Mi}}}}}",
            // 2 * 2 + 1 + 2 * 0.25 cores, and 2 * 4096 + 1024 + 2 * 512 MiB, divided by 5.
            (5, 1100, 2048),
        ),
        (
            "perconapgclusters.pgv2.percona.com",
            "{instances: [{name: instance1, replicas: 3}], proxy: {pgBouncer: {}}}",
            (4, 0, 0),
        ),
        (
            MONGO_DB,
            "{replsets: [{name: rs0, size: 3, resources: {requests: {cpu: 300m, memory: 512Mi}},
                nonvoting: {enabled: false, size: 3, resources: {requests: {cpu: 300m}}},
                arbiter: {enabled: true, size: 1, resources: {limits: {cpu: 300m, memory: 512Mi}}}}],
              sharding: {enabled: true,
                configsvrReplSet: {size: 3, resources: {requests: {cpu: 300m, memory: 512Mi}}},
                mongos: {size: 2, resources: {requests: {cpu: 300m, memory: 512Mi}}}}}",
            (9, 300, 512),
        ),
        (
            MONGO_DB,
            "{replsets: [{size: 3}, {size: 1}],
              sharding: {enabled: false, configsvrReplSet: {size: 3}, mongos: {size: 3}}}",
            (4, 0, 0),
        ),
        (
            XTRA_DB,
            "{pxc: {size: 3, resources: {requests: {cpu: 600m, memory: 1Gi}}},
              haproxy: {enabled: true, size: 3, resources: {requests: {cpu: 600m, memory: 1Gi}}},
              proxysql: {enabled: false, size: 3, resources: {requests: {cpu: 600m, memory: 1Gi}}}}",
            (6, 600, 1024),
        ),
        // Missing parts do not run. If one part is unreadable, the sum is unknown.
        (XTRA_DB, "{}", (0, 0, 0)),
        (XTRA_DB, "{pxc: {size: 3}, haproxy: {size: many}}", (0, 0, 0)),
        (CRUNCHY, "{instances: {replicas: 3}}", (0, 0, 0)),
        (CRUNCHY, "{instances: [{replicas: [3]}, {replicas: 2}]}", (0, 0, 0)),
    ] {
        has_footprint(resource, spec, expected);
    }
}
