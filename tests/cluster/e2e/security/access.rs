//! The permissions of the shipped manifests, and that a cluster with strict rules accepts them.

use crate::e2e::kinds::allow_every_kind;
use crate::rows::words;
use crate::support::{ControlPlane, Namespace, Parts, Scenario, scenarios};

pub(crate) fn scenarios() -> Vec<Scenario> {
    [
        scenarios![
            Parts::Server;
            service_account_has_exactly_the_permissions_of_the_manifest,
            namespaced_manifest_grants_nothing_outside_its_namespace,
        ],
        scenarios![
            Parts::Pods;
            manifest_meets_the_restricted_pod_security_standard,
            each_enabled_kind_adds_only_four_verbs,
        ],
    ]
    .concat()
}

/// The Namespace and the name of the ServiceAccount in `manifests/dayshift.yaml`.
const SHIPPED: (&str, &str) = ("dayshift", "dayshift");

/// Rows of `kubectl auth can-i --list` that every authenticated user or ServiceAccount has. The last one
/// exists since Kubernetes 1.37, by the role `system:cluster-trust-bundle-discovery`.
const RIGHTS_OF_ALL_USERS: [&str; 3] = [
    ".authorization.k8s.io",
    ".authentication.k8s.io",
    "clustertrustbundles.certificates.k8s.io [] [] [get list watch]",
];

/// The additional rows of `kubectl auth can-i --list` of the ServiceAccount.
fn rights(plane: &ControlPlane, team: &Namespace<'_>) -> Vec<String> {
    let list = ["auth", "can-i", "--list", "--no-headers", "-n", team.name()];
    let listed = plane.kubectl_as(plane.install(), &list).success();
    let mut rights: Vec<String> = listed
        .lines()
        .filter(|row| !row.trim_start().starts_with('['))
        .map(|row| row.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|row| {
            !RIGHTS_OF_ALL_USERS
                .iter()
                .any(|theirs| row.contains(theirs))
        })
        .collect();
    rights.sort();
    rights
}

fn each_enabled_kind_adds_only_four_verbs(plane: &ControlPlane) {
    allow_every_kind(plane);
    let mut rights = rights(plane, &plane.namespace("kinds"));
    // The kinds that scenarios define.
    let of_scenarios = [
        ".toys.example.com ",
        ".postgresql.cnpg.io ",
        ".postgres-operator.crunchydata.com ",
        ".kubevirt.io ",
        ".core.gardener.cloud ",
        ".acid.zalan.do ",
        ".rabbitmq.com ",
    ];
    rights.retain(|row| of_scenarios.iter().all(|it| !row.contains(it)));
    assert_eq!(
        rights,
        [
            "cronjobs.batch [] [] [get list watch patch]",
            "deployments.apps [] [] [get list watch patch]",
            // Not a scaled kind: the Services that starts can wait for.
            "endpointslices.discovery.k8s.io [] [] [list watch]",
            "events.events.k8s.io [] [] [create]",
            "horizontalpodautoscalers.autoscaling [] [] [get list watch patch]",
            // Not a scaled kind: the Jobs of a CronJob with stop-jobs.
            "jobs.batch [] [] [list patch]",
            "namespaces [] [] [list watch]",
            "rollouts.argoproj.io [] [] [get list watch patch]",
            "scaledobjects.keda.sh [] [] [get list watch patch]",
            "statefulsets.apps [] [] [get list watch patch]",
        ]
    );
}

fn service_account_has_exactly_the_permissions_of_the_manifest(plane: &ControlPlane) {
    plane.install();
    let team = plane.namespace("access");

    assert_eq!(
        rights(plane, &team),
        [
            "cronjobs.batch [] [] [get list watch patch]",
            "deployments.apps [] [] [get list watch patch]",
            "events.events.k8s.io [] [] [create]",
            "namespaces [] [] [list watch]",
            "statefulsets.apps [] [] [get list watch patch]",
        ]
    );

    for (allowed, verb, resource) in [
        (true, "list", "deployments.apps"),
        (true, "watch", "deployments.apps"),
        (true, "get", "deployments.apps/web"),
        (true, "patch", "deployments.apps/web"),
        (true, "patch", "cronjobs.batch/report"),
        (true, "create", "events.events.k8s.io"),
        (false, "create", "deployments.apps"),
        (false, "update", "deployments.apps/web"),
        (false, "delete", "deployments.apps/web"),
        (false, "list", "replicasets.apps"),
        (false, "list", "jobs.batch"),
        (false, "list", "horizontalpodautoscalers.autoscaling"),
        (false, "list", "pods"),
        (false, "get", "secrets"),
        (false, "get", "configmaps"),
        (true, "list", "namespaces"),
        (true, "watch", "namespaces"),
        (false, "get", "namespaces"),
        (false, "patch", "namespaces"),
        (false, "list", "events.events.k8s.io"),
        (false, "patch", "events.events.k8s.io"),
    ] {
        let can = plane.can(SHIPPED, verb, resource, team.name());
        assert_eq!(can, allowed, "{verb} {resource}");
    }
    let scale = [
        "auth",
        "can-i",
        "patch",
        "deployments.apps",
        "--subresource=scale",
        "-n",
        team.name(),
    ];
    let scales = plane.kubectl_as(plane.install(), &scale);
    assert_eq!(scales.stdout.trim(), "no");
}

fn namespaced_manifest_grants_nothing_outside_its_namespace(plane: &ControlPlane) {
    let team = plane.namespace("own");
    let neighbour = plane.namespace("neighbour");
    let applied = team.kubectl(&["apply", "-f", "manifests/namespaced.yaml"]);
    assert_eq!(applied.stderr, "");
    applied.success();
    for (allowed, verb, resource, namespace) in [
        (true, "watch", "deployments.apps", team.name()),
        (true, "patch", "deployments.apps", team.name()),
        (true, "create", "events.events.k8s.io", team.name()),
        (false, "list", "namespaces", team.name()),
        (false, "watch", "namespaces", team.name()),
        (false, "list", "deployments.apps", neighbour.name()),
        (false, "patch", "deployments.apps", neighbour.name()),
        (false, "create", "events.events.k8s.io", neighbour.name()),
    ] {
        let can = plane.can((team.name(), "dayshift"), verb, resource, namespace);
        assert_eq!(can, allowed, "{verb} {resource} in {namespace}");
    }
}

/// Pod Security admission checks pods, so the test creates one.
fn manifest_meets_the_restricted_pod_security_standard(plane: &ControlPlane) {
    plane.install();
    let label = "pod-security.kubernetes.io/enforce";
    let level = [
        "get",
        "namespace",
        "dayshift",
        "-o",
        &format!(
            "jsonpath={{.metadata.labels['{}']}}",
            label.replace('.', "\\.")
        ),
    ];
    assert_eq!(plane.kubectl(&level).success(), "restricted");

    let rolled_out = words("rollout status -n dayshift deployment/dayshift --timeout=30s");
    plane.kubectl(&rolled_out).success();
}
