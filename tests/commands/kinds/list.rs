//! `dayshift kinds`: the supported kinds, the kinds of the cluster, and the ClusterRole.

use serde_json::Value;

use crate::fake_server::Cluster;
use crate::program::dayshift_with;
use crate::rows::words;

#[test]
fn lists_each_kind_with_its_field_and_availability() {
    let cluster = Cluster::new();
    let (group, plural) = ("postgresql.cnpg.io", "clusters");
    cluster.api.serve_custom(group, "v1", plural, "Cluster");
    let ran = cluster.dayshift(&words(
        "kinds --kinds deployments,clusters.postgresql.cnpg.io",
    ));
    assert_eq!((ran.status, &*ran.err), (0, ""), "{}", ran.out);
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<_> = ran.out.lines().map(words).collect();
    // The in-memory API does not report permissions.
    for expected in [
        "KIND FIELD STOPPED RUNNING LOOKED AT SERVED NOT ALLOWED",
        "deployments spec.replicas stop-replicas saved count yes yes ?",
        "cronjobs spec.suspend true false no yes ?",
        "jobs spec.suspend true false no ? ?",
        "clusters.postgresql.cnpg.io metadata.annotations.cnpg.io/hibernation on saved value, else absent yes yes ?",
        "virtualmachines.kubevirt.io spec.runStrategy Halted saved value, else Always no no <none>",
        "notebooks.kubeflow.org metadata.annotations.kubeflow-resource-stopped a time saved value, else absent no no <none>",
    ] {
        assert!(
            lines.iter().any(|it| it == expected),
            "{expected}: {lines:#?}"
        );
    }
    let ran = cluster.dayshift(&["kinds", "-o", "json"]);
    let shown: Value = serde_json::from_str(&ran.out).unwrap();
    let kinds = shown["kinds"].as_array().unwrap();
    let find = |name: &str| kinds.iter().find(|it| it["kind"] == name).unwrap();
    assert_eq!(find("clusters.postgresql.cnpg.io")["served"], true);
    assert_eq!(find("clusters.postgresql.cnpg.io")["lookedAt"], false);
    assert_eq!(find("rayclusters.ray.io")["served"], false);
    assert_eq!(find("rayclusters.ray.io")["field"], "/spec/suspend");
}

#[test]
fn lists_kinds_without_a_cluster() {
    let ran = dayshift_with(&[], &["kinds", "--kubeconfig", "/nowhere"], "");
    assert_eq!(ran.status, 3);
    assert_starts_with!(ran.err, "error: ");
    ran.assert_out("rabbitmqclusters.rabbitmq.com");
}

#[test]
fn the_cluster_role_contains_only_the_given_kinds() {
    let kinds = "statefulsets,deployments,clusters.postgresql.cnpg.io";
    let ran = dayshift_with(&[], &["kinds", "-o", "yaml", "--kinds", kinds], "");
    assert_eq!((ran.status, &*ran.err), (0, ""));
    let documents: Vec<&str> = ran.out.split("---\n").filter(|it| !it.is_empty()).collect();
    let [role, binding] = documents[..] else {
        panic!("{}", ran.out);
    };
    for line in ["kind: ClusterRole", "  name: dayshift-kinds"] {
        assert!(role.lines().any(|it| it == line), "{line}: {role}");
    }
    let squeezed: String = role.split_whitespace().collect();
    let rules = r#"rules:-apiGroups:["apps"]resources:["statefulsets","deployments"]verbs:["get","list","watch","patch"]-apiGroups:["postgresql.cnpg.io"]resources:["clusters"]verbs:["get","list","watch","patch"]"#;
    assert!(squeezed.ends_with(rules), "{role}");
    assert_contains!(binding, "kind: ClusterRoleBinding");
    assert_contains!(binding, "namespace: dayshift");
}

/// Jobs are not part of `--kinds`, and dayshift needs fewer verbs for them.
#[test]
fn includes_jobs_only_with_stop_jobs() {
    let flags = words("kinds -o yaml --stop-jobs --kinds rollouts.argoproj.io");
    let ran = dayshift_with(&[], &flags, "");
    assert_eq!((ran.status, &*ran.err), (0, ""));
    let squeezed: String = ran.out.split_whitespace().collect();
    let rules = r#"rules:-apiGroups:["argoproj.io"]resources:["rollouts"]verbs:["get","list","watch","patch"]-apiGroups:["batch"]resources:["jobs"]verbs:["list","patch"]---"#;
    assert!(squeezed.contains(rules), "{}", ran.out);
    let ran = dayshift_with(
        &[],
        &["kinds", "--stop-jobs", "--kubeconfig", "/nowhere"],
        "",
    );
    let words: Vec<_> = ran.out.lines().last().unwrap().split_whitespace().collect();
    assert_eq!(
        words,
        ["jobs", "spec.suspend", "true", "false", "yes", "?", "?"]
    );
}

#[test]
fn fields_that_stop_nothing_are_reported() {
    let objects = r#"
apiVersion: k8s.mariadb.com/v1alpha1
kind: MariaDB
metadata: {name: db, annotations: {dayshift/hours: "Mon-Fri 09:00-19:00"}}
spec: {replicas: 3}
"#;
    let ran = dayshift_with(&[], &["lint", "-"], objects);
    let output = "dayshift cannot stop a MariaDB: its spec.suspend only keeps the operator from reconciling \
            it";
    ran.assert_out(output);
    let help = "= help: remove its annotations, and schedule the workloads that use it";
    ran.assert_out(help);
}

/// Otherwise it would be watched for its `spec.replicas`, and a stop would have no effect.
#[test]
fn rejects_a_kind_that_cannot_be_stopped_and_names_an_alternative() {
    for (kind, output, instead) in [
        (
            "mariadbs.k8s.mariadb.com",
            "dayshift cannot stop a MariaDB: its spec.suspend",
            "the workloads that use it",
        ),
        (
            "MariaDBs.v1alpha1.k8s.mariadb.com",
            "dayshift cannot stop a MariaDB: its spec.suspend",
            "the workloads that use it",
        ),
        (
            "kafkas.kafka.strimzi.io",
            "dayshift cannot stop a Kafka: its annotation strimzi.io/pause-reconciliation",
            "its KafkaConnects, its KafkaBridges and the workloads that use it",
        ),
        (
            "elasticsearches.elasticsearch.k8s.elastic.co",
            "dayshift cannot stop an Elasticsearch: its operator keeps",
            "the workloads that use it",
        ),
        (
            "helmreleases.helm.toolkit.fluxcd.io",
            "dayshift cannot stop a HelmRelease: its spec.suspend",
            "the workloads that it installs",
        ),
        (
            "kustomizations.kustomize.toolkit.fluxcd.io",
            "dayshift cannot stop a Kustomization: its spec.suspend",
            "the workloads that it applies",
        ),
    ] {
        let kinds = format!("deployments,{kind}");
        for command in [&["run"][..], &["status"], &["plan", "-f", "-"]] {
            let ran = dayshift_with(&[], &[command, &["--kinds", &kinds]].concat(), "");
            assert_eq!(ran.status, 2, "{command:?} {kind}: {}", ran.out);
            assert!(ran.err.contains(output), "{kind}: {}", ran.err);
            let instead = format!("; leave it out, and schedule {instead}");
            assert!(ran.err.contains(&instead), "{kind}: {}", ran.err);
        }
        let ran = dayshift_with(&[], &["wake", &format!("{kind}/db"), "--for", "2h"], "");
        assert_eq!(ran.status, 2, "{kind}: {}", ran.err);
    }
}

#[test]
fn recommends_the_flag_and_permissions_for_a_database() {
    let objects = r#"
apiVersion: postgresql.cnpg.io/v1
kind: Cluster
metadata: {name: db, annotations: {dayshift/hours: "Mon-Fri 09:00-19:00"}}
spec: {instances: 3}
"#;
    let ran = dayshift_with(&[], &["lint", "-"], objects);
    let kinds = "deployments,statefulsets,cronjobs,clusters.postgresql.cnpg.io";
    let help = format!(
        "run dayshift, and lint, with --kinds={kinds}; dayshift kinds -o yaml --kinds={kinds} prints the permissions"
    );
    ran.assert_out(&help);
}
