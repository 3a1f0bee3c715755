//! The chart: both real Helms install it, upgrade it and take it away, and what it renders is what
//! `manifests/` has.

use std::collections::BTreeMap;
use std::io::Write as _;

use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::support::{ControlPlane, Namespace, Parts, Story, stories};

const CHART: &str = "charts/dayshift";

/// The labels that Helm's users expect, and that the plain manifests do without.
const HELM_LABELS: [&str; 4] = [
    "app.kubernetes.io/instance",
    "app.kubernetes.io/version",
    "app.kubernetes.io/managed-by",
    "helm.sh/chart",
];

pub(crate) fn stories() -> Vec<Story> {
    [
        stories![
            Parts::Pods;
            helm_4_installs_upgrades_and_uninstalls,
            helm_3_installs_upgrades_and_uninstalls,
        ],
        stories![
            Parts::Server;
            the_chart_is_what_the_manifests_are,
            one_role_in_each_namespace_and_no_cluster_role,
            values_that_make_no_sense_are_refused_by_name,
            each_value_reaches_its_object,
        ],
    ]
    .concat()
}

/// Objects by kind and name.
type Objects = BTreeMap<(String, String), Value>;

/// The objects of manifests, as kubectl reads them.
fn objects(plane: &ControlPlane, manifests: &str) -> Objects {
    let mut file = NamedTempFile::with_suffix(".yaml").unwrap();
    file.write_all(manifests.as_bytes()).unwrap();
    let path = file.path().to_str().unwrap();
    let read = ["create", "--dry-run=client", "-o", "json", "-f", path];
    let text = plane.kubectl(&read).success();
    let documents = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    let documents = documents.map(Result::unwrap);
    let items = documents.flat_map(|it| match it["items"].as_array() {
        Some(items) => items.clone(),
        None => vec![it],
    });
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    items
        .map(|it| ((text(&it["kind"]), text(&it["metadata"]["name"])), it))
        .collect()
}

fn rendered(plane: &ControlPlane, more: &[&str]) -> Objects {
    let render = ["template", "dayshift", CHART, "-n", "dayshift"];
    // Without a server, Helm 3 believes to speak to one that is years old.
    let all = [&render[..], &["--kube-version", "1.36.0"], more].concat();
    objects(plane, &plane.helm(4, &all).success())
}

/// Without Helm's labels and the namespace.
fn plain(mut value: Value) -> Value {
    match &mut value {
        Value::Object(members) => {
            members.retain(|key, _| !HELM_LABELS.contains(&&**key) && key != "namespace");
            for member in members.values_mut() {
                *member = plain(member.take());
            }
        }
        Value::Array(items) => {
            for item in items {
                *item = plain(item.take());
            }
        }
        _ => {}
    }
    value
}

fn all_plain(objects: Objects) -> Objects {
    let plain = objects.into_iter().map(|(key, it)| (key, plain(it)));
    plain.collect()
}

fn the_chart_is_what_the_manifests_are(plane: &ControlPlane) {
    let file = |path: &str| std::fs::read_to_string(path).unwrap();
    let mut cluster = all_plain(objects(plane, &file("manifests/dayshift.yaml")));
    // Helm makes it with --create-namespace.
    let namespace = ("Namespace".to_owned(), "dayshift".to_owned());
    assert!(cluster.remove(&namespace).is_some());
    assert_eq!(all_plain(rendered(plane, &[])), cluster);

    let scope = "scope.clusterWide=false,scope.namespaces={dayshift}";
    let mut chart = all_plain(rendered(plane, &["--set", scope]));
    let deployment = ("Deployment".to_owned(), "dayshift".to_owned());
    let arguments = |objects: &mut Objects| {
        let deployment = objects.get_mut(&deployment).unwrap();
        deployment["spec"]["template"]["spec"]["containers"][0]["args"].take()
    };
    let mut manifest = all_plain(objects(plane, &file("manifests/namespaced.yaml")));
    assert_eq!(
        arguments(&mut chart),
        json!(["run", "--namespace=dayshift", "--namespace-defaults=false"])
    );
    assert_eq!(
        arguments(&mut manifest),
        json!([
            "run",
            "--namespace",
            "$(DAYSHIFT_POD_NAMESPACE)",
            "--namespace-defaults=false"
        ])
    );
    assert_eq!(chart, manifest);
}

fn one_role_in_each_namespace_and_no_cluster_role(plane: &ControlPlane) {
    let render = [
        "template",
        "ours",
        CHART,
        "--kube-version=1.36.0",
        "--set",
        "scope.clusterWide=false,scope.namespaces={team-a,team-b},kinds={deployments,rollouts.argoproj.io}",
    ];
    let text = plane.helm(4, &render).success();
    assert!(!text.contains("kind: ClusterRole"), "{text}");
    for namespace in ["team-a", "team-b"] {
        for kind in ["Role", "RoleBinding"] {
            let head = format!(
                "kind: {kind}\nmetadata:\n  name: ours-dayshift\n  namespace: {namespace}\n"
            );
            assert_eq!(text.matches(&head).count(), 1, "{head}{text}");
        }
    }
    let rules = text.split("\nrules:\n").nth(1).unwrap();
    let expected = "  - apiGroups: [\"apps\"]
    resources: [\"deployments\"]
    verbs: [\"get\", \"list\", \"watch\", \"patch\"]
  - apiGroups: [\"argoproj.io\"]
    resources: [\"rollouts\"]
    verbs: [\"get\", \"list\", \"watch\", \"patch\"]
  - apiGroups: [\"events.k8s.io\"]
    resources: [\"events\"]
    verbs: [\"create\"]
";
    assert!(rules.starts_with(expected), "{rules}");
}

fn values_that_make_no_sense_are_refused_by_name(plane: &ControlPlane) {
    for (values, expected) in [
        ("scope.clusterWide=false", "scope.namespaces is empty"),
        (
            "scope.clusterWide=false,scope.namespaces={a},scope.namespaceSelector=x",
            "scope.namespaceSelector needs",
        ),
        ("scope.namespaces={Team}", "/scope/namespaces/0"),
        ("kinds={pods}", "/kinds/0"),
        ("kinds=null", "kinds is empty"),
        (
            "defaultSchedule.hours=daily 09:00-19:00",
            "bound it by scope.namespaces",
        ),
        (
            "scope.namespaces={a},defaultSchedule.hours=x,defaultSchedule.stop=y",
            "and not both",
        ),
        ("timezon=Asia/Tokyo", "timezon"),
        ("serviceAccount.create=false", "serviceAccount.name"),
        ("image.digest=abc", "/image/digest"),
        ("replicas=two", "/replicas"),
    ] {
        for version in [3, 4] {
            let render = [
                "template",
                "x",
                CHART,
                "--kube-version=1.36.0",
                "--set",
                values,
            ];
            let refused = plane.helm(version, &render);
            assert!(!refused.ok, "{values}");
            assert!(
                refused.stderr.contains(expected),
                "{values}: {}",
                refused.stderr
            );
        }
    }
    for version in [3, 4] {
        let lint = ["lint", "--strict", "--kube-version=1.36.0", CHART];
        plane.helm(version, &lint).success();
    }
}

/// Each value of this file is unlike its default, and is looked for where it belongs.
fn each_value_reaches_its_object(plane: &ControlPlane) {
    let values = "tests/cluster/e2e/install/values.yaml";
    // Kinds of the Prometheus Operator are not there for kubectl to read.
    let monitoring = "podMonitor.enabled=false,prometheusRule.enabled=false";
    let objects = rendered(plane, &["-f", values, "--set", monitoring]);
    let get = |kind: &str, name: &str, pointer: &str| -> Value {
        let object = &objects[&(kind.to_owned(), name.to_owned())];
        object.pointer(pointer).cloned().unwrap_or_default()
    };
    for (kind, name, pointer, expected) in [
        (
            "Deployment",
            "day",
            "/spec/template/spec/containers/0/args",
            json!([
                "run",
                "--kinds=deployments,horizontalpodautoscalers",
                "--namespace=team-a",
                "--exclude-namespace=team-b",
                "--namespace-defaults=false",
                "--selector=team=web,tier!=db",
                "--default-start=Mon-Fri 09:00",
                "--default-stop=daily 19:00",
                "--timezone=Asia/Tokyo",
                "--annotation-prefix=ours.example.com",
                "--catch-up=24h",
                "--max-clock-skew=10s",
                "--log-format=json",
                "--log-level=debug",
                "--dry-run",
                "--max-in-flight=8"
            ]),
        ),
        ("Deployment", "day", "/spec/replicas", json!(2)),
        (
            "Deployment",
            "day",
            "/spec/template/metadata/annotations",
            json!({"note": "a"}),
        ),
        (
            "Deployment",
            "day",
            "/spec/template/metadata/labels/team",
            json!("platform"),
        ),
        (
            "Deployment",
            "day",
            "/spec/template/spec/imagePullSecrets",
            json!([{"name": "registry"}]),
        ),
        (
            "Deployment",
            "day",
            "/spec/template/spec/priorityClassName",
            json!("system-cluster-critical"),
        ),
        (
            "Deployment",
            "day",
            "/spec/template/spec/tolerations",
            json!([{"key": "infra", "operator": "Exists"}]),
        ),
        (
            "Deployment",
            "day",
            "/spec/template/spec/nodeSelector",
            json!({"kubernetes.io/os": "linux", "pool": "infra"}),
        ),
        (
            "Deployment",
            "day",
            "/spec/template/spec/topologySpreadConstraints/0/maxSkew",
            json!(1),
        ),
        (
            "Deployment",
            "day",
            "/spec/template/spec/affinity",
            json!({"nodeAffinity": {}}),
        ),
        (
            "Deployment",
            "day",
            "/spec/template/spec/serviceAccountName",
            json!("account"),
        ),
        (
            "Deployment",
            "day",
            "/spec/template/spec/securityContext/runAsUser",
            json!(1000),
        ),
        (
            "Deployment",
            "day",
            "/spec/template/spec/volumes",
            json!([{"name": "x", "emptyDir": {}}]),
        ),
        (
            "Deployment",
            "day",
            "/spec/template/spec/containers/0/volumeMounts",
            json!([{"name": "x", "mountPath": "/x"}]),
        ),
        (
            "Deployment",
            "day",
            "/spec/template/spec/containers/0/env/2",
            json!({"name": "RUST_BACKTRACE", "value": "1"}),
        ),
        (
            "Deployment",
            "day",
            "/spec/template/spec/containers/0/imagePullPolicy",
            json!("Always"),
        ),
        (
            "Deployment",
            "day",
            "/spec/template/spec/containers/0/livenessProbe/periodSeconds",
            json!(20),
        ),
        (
            "Deployment",
            "day",
            "/spec/template/spec/containers/0/readinessProbe/periodSeconds",
            json!(7),
        ),
        (
            "Deployment",
            "day",
            "/spec/template/spec/containers/0/resources/limits/memory",
            json!("256Mi"),
        ),
        (
            "Deployment",
            "day",
            "/spec/template/spec/containers/0/securityContext/readOnlyRootFilesystem",
            json!(true),
        ),
        (
            "ServiceAccount",
            "account",
            "/metadata/annotations",
            json!({"role": "x"}),
        ),
        (
            "NetworkPolicy",
            "day",
            "/spec/egress/0/ports",
            json!([{"port": 16443}]),
        ),
        (
            "NetworkPolicy",
            "day",
            "/spec/ingress/0/from",
            json!([{"podSelector": {}}]),
        ),
        (
            "PodDisruptionBudget",
            "day",
            "/spec/maxUnavailable",
            json!("50%"),
        ),
        ("ConfigMap", "day-more", "/data", json!({"a": "b"})),
        (
            "ConfigMap",
            "as-text",
            "/data",
            json!({"release": "dayshift"}),
        ),
    ] {
        assert_eq!(get(kind, name, pointer), expected, "{kind} {pointer}");
    }
    let image = "/spec/template/spec/containers/0/image";
    let digest = "a".repeat(64);
    assert_eq!(
        get("Deployment", "day", image),
        format!("registry.example.com/day@sha256:{digest}")
    );

    let render = [
        "template",
        "x",
        CHART,
        "--kube-version=1.36.0",
        "-f",
        values,
    ];
    let text = plane.helm(3, &render).success();
    for part in [
        "kind: PodMonitor\n",
        "interval: 10s\n",
        "kind: PrometheusRule\n",
        "release: prometheus\n",
        "alert: DayshiftOverdue\n",
    ] {
        assert!(text.contains(part), "{part}{text}");
    }
}

fn helm_4_installs_upgrades_and_uninstalls(plane: &ControlPlane) {
    lives(plane, 4);
}

fn helm_3_installs_upgrades_and_uninstalls(plane: &ControlPlane) {
    lives(plane, 3);
}

/// Under the `restricted` Pod Security Standard, with pods that get ready, as Helm waits for them.
fn lives(plane: &ControlPlane, version: u32) {
    let team = plane.namespace(&format!("helm{version}"));
    let restricted = "pod-security.kubernetes.io/enforce=restricted";
    plane
        .kubectl(&["label", "namespace", team.name(), restricted])
        .success();
    // What is of the whole cluster has the name of the release.
    let release = &format!("day-{}", team.name());
    let name = format!("{release}-dayshift");
    let helm = |arguments: &[&str]| {
        let place = ["-n", team.name()];
        plane.helm(version, &[arguments, &place].concat()).success()
    };
    let said = helm(&["install", release, CHART, "--wait", "--timeout=60s"]);
    assert!(said.contains("dayshift/start='Mon-Fri 09:00'"), "{said}");
    let account = plane.kubeconfig_of(team.name(), &name);
    let may = |verb: &str, resource: &str| {
        let ask = ["auth", "can-i", verb, resource, "-A"];
        plane.kubectl_as(&account, &ask).stdout.trim() == "yes"
    };
    for (verb, resource, expected) in [
        ("patch", "deployments.apps", true),
        ("watch", "cronjobs.batch", true),
        ("list", "namespaces", true),
        ("create", "events.events.k8s.io", true),
        ("patch", "horizontalpodautoscalers.autoscaling", false),
        ("update", "deployments.apps", false),
        ("list", "secrets", false),
    ] {
        assert_eq!(may(verb, resource), expected, "{verb} {resource}");
    }

    let kinds = "kinds={deployments,horizontalpodautoscalers}";
    helm(&[
        "upgrade",
        release,
        CHART,
        "--wait",
        "--timeout=60s",
        "--set",
        kinds,
    ]);
    assert_eq!(
        arguments(&team, &name),
        r#"["run","--kinds=deployments,horizontalpodautoscalers"]"#
    );
    assert!(may("patch", "horizontalpodautoscalers.autoscaling"));
    assert!(
        !may("patch", "cronjobs.batch"),
        "a kind that is not asked for"
    );

    helm(&["rollback", release, "1", "--wait", "--timeout=60s"]);
    assert_eq!(arguments(&team, &name), r#"["run"]"#);

    helm(&["uninstall", release, "--wait", "--timeout=60s"]);
    let ours = format!("app.kubernetes.io/instance={release}");
    let kinds = "deployments,serviceaccounts,clusterroles,clusterrolebindings,roles,rolebindings";
    let left = team
        .kubectl(&["get", kinds, "-l", &ours, "-o", "name"])
        .success();
    assert_eq!(left, "");
}

fn arguments(team: &Namespace<'_>, name: &str) -> String {
    let path = "jsonpath={.spec.template.spec.containers[0].args}";
    team.kubectl(&["get", "deployment", name, "-o", path])
        .success()
}
