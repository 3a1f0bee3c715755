//! The chart renders the objects of `manifests/`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::rendered::{CHART, Objects, objects, rendered};
use crate::support::{ControlPlane, Parts, Scenario, scenarios};

/// The labels that Helm's users expect, and that the plain manifests do not have.
const HELM_LABELS: [&str; 4] = [
    "app.kubernetes.io/instance",
    "app.kubernetes.io/version",
    "app.kubernetes.io/managed-by",
    "helm.sh/chart",
];

pub(super) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Server;
        chart_renders_the_manifests,
        chart_renders_the_policies_of_the_manifests,
        chart_renders_the_network_policies_of_the_manifests,
        namespaced_chart_has_one_role_per_namespace_and_no_cluster_role,
        chart_renders_the_user_roles_of_the_manifests,
    ]
}

/// Removes Helm's labels and the namespace.
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

fn chart_renders_the_manifests(plane: &ControlPlane) {
    let file = |path: &str| std::fs::read_to_string(path).unwrap();
    let mut cluster = all_plain(objects(plane, &file("manifests/dayshift.yaml")));
    // Helm creates the Namespace with --create-namespace.
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

/// The admission policies, without labels, which not every file has.
fn policies(objects: Objects) -> Objects {
    let policies = objects.into_iter().filter_map(|(key, mut object)| {
        object["metadata"].as_object_mut()?.remove("labels");
        key.0.contains("AdmissionPolicy").then_some((key, object))
    });
    policies.collect()
}

fn chart_renders_the_policies_of_the_manifests(plane: &ControlPlane) {
    let file = |name: &str| {
        let path = format!("manifests/policy/{name}.yaml");
        policies(all_plain(objects(
            plane,
            &std::fs::read_to_string(path).unwrap(),
        )))
    };
    let chart = |values: &str| {
        let values = format!("policy.scaler=false,{values}");
        policies(all_plain(rendered(plane, &["--set", &values])))
    };
    assert_eq!(chart("policy.enabled=true"), file("texts"));
    // The binding of the other file replaces this one.
    let mut denied = file("texts");
    denied.extend(file("deny"));
    assert_eq!(chart("policy.enabled=true,policy.deny=true"), denied);
    let writers = "policy.writers={system:serviceaccount:shop:annotator}";
    assert_eq!(chart(writers), file("writers"));
    assert_eq!(chart("policy.scaler=true"), file("scaler"));
    assert_eq!(chart("policy.stamp=true"), file("stamp"));
    assert_eq!(chart("policy.limits.longest-wake=1h"), file("limits"));

    // The server compiles the expressions with another prefix, and none of them contains the default prefix.
    let prefix = "annotationPrefix=ours.example.com,policy.enabled=true,policy.writers={jane},policy.scaler=true,policy.stamp=true,policy.limits.longest-wake=1h";
    let render = [
        "template",
        "other",
        CHART,
        "--kube-version=1.36.0",
        "--show-only=templates/policy.yaml",
        "--set",
        prefix,
    ];
    let text = plane.helm(4, &render).success();
    assert_contains!(text, "'ours.example.com/start'");
    assert_lacks!(text, "'dayshift/");
    let file = tempfile::NamedTempFile::with_suffix(".yaml").unwrap();
    std::fs::write(file.path(), text).unwrap();
    let path = file.path().to_str().unwrap();
    let create = ["create", "--dry-run=server", "-f", path];
    plane.kubectl(&create).success();

    let old = ["template", "x", CHART, "--kube-version=1.29.0", "--set"];
    let refused = plane.helm(4, &[&old[..], &["policy.enabled=true"]].concat());
    assert_contains!(refused.stderr, "1.30");
}

fn chart_renders_the_network_policies_of_the_manifests(plane: &ControlPlane) {
    let file = std::fs::read_to_string("manifests/networkpolicy.yaml").unwrap();
    let manifest = all_plain(objects(plane, &file));
    assert_eq!(manifest.len(), 2);
    let values = "networkPolicy.enabled=true,activator.enabled=true";
    let mut chart = all_plain(rendered(plane, &["--set", values]));
    chart.retain(|(kind, _), _| kind == "NetworkPolicy");
    assert_eq!(chart, manifest);
    // Each NetworkPolicy selects the pods of the Deployment with its name, and names the ports of these pods.
    for path in ["manifests/dayshift.yaml", "manifests/activator.yaml"] {
        let file = std::fs::read_to_string(path).unwrap();
        let mut deployments = all_plain(objects(plane, &file));
        deployments.retain(|(kind, _), _| kind == "Deployment");
        let ((_, name), deployment) = deployments.into_iter().next().unwrap();
        let policy = &manifest[&("NetworkPolicy".to_owned(), name)]["spec"];
        let pod = &deployment["spec"]["template"];
        assert_eq!(
            policy["podSelector"]["matchLabels"],
            pod["metadata"]["labels"]
        );
        let ports = pod["spec"]["containers"][0]["ports"].as_array().unwrap();
        let metrics = &policy["ingress"][0]["ports"][0]["port"];
        assert!(ports.iter().any(|it| it["name"] == *metrics), "{metrics}");
    }
}

fn namespaced_chart_has_one_role_per_namespace_and_no_cluster_role(plane: &ControlPlane) {
    let render = [
        "template",
        "ours",
        CHART,
        "--kube-version=1.36.0",
        "--set",
        "scope.clusterWide=false,scope.namespaces={team-a,team-b},kinds={deployments,rollouts.argoproj.io}",
    ];
    let text = plane.helm(4, &render).success();
    assert_lacks!(text, "kind: ClusterRole");
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
    assert_starts_with!(rules, expected);
}

/// Group, resource and verb of everything that a role allows.
fn allowed(role: &Value) -> BTreeSet<[String; 3]> {
    let texts = |rule: &Value, key: &str| -> Vec<String> {
        serde_json::from_value(rule[key].clone()).unwrap()
    };
    let mut allowed = BTreeSet::new();
    for rule in role["rules"].as_array().unwrap() {
        for group in texts(rule, "apiGroups") {
            for resource in texts(rule, "resources") {
                for verb in texts(rule, "verbs") {
                    allowed.insert([group.clone(), resource.clone(), verb]);
                }
            }
        }
    }
    allowed
}

fn chart_renders_the_user_roles_of_the_manifests(plane: &ControlPlane) {
    let file = std::fs::read_to_string("manifests/users/roles.yaml").unwrap();
    let more = file
        .replace("\n  #- ", "\n  - ")
        .replace("\n  #  ", "\n    ");
    let kinds = "kinds={deployments,statefulsets,cronjobs,horizontalpodautoscalers,\
                 scaledobjects,rollouts.argoproj.io}";
    roles_agree(plane, &file, "rbac.userRoles=true");
    roles_agree(plane, &more, &format!("rbac.userRoles=true,{kinds}"));
}

fn roles_agree(plane: &ControlPlane, file: &str, values: &str) {
    let manifest = objects(plane, file);
    assert_eq!(manifest.len(), 2);
    let chart = rendered(plane, &["--set", values]);
    for (key, role) in &manifest {
        let theirs = &chart[key];
        assert_eq!(allowed(theirs), allowed(role), "{key:?}");
        let aggregates = |role: &Value| {
            let labels = role["metadata"]["labels"].as_object().unwrap().clone();
            let of_rbac = labels
                .into_iter()
                .filter(|(key, _)| key.starts_with("rbac."));
            of_rbac.collect::<Vec<_>>()
        };
        assert_eq!(aggregates(theirs), aggregates(role), "{key:?}");
    }
}
