//! Both real Helms install, upgrade, roll back and uninstall the chart.

use super::rendered::CHART;
use crate::support::{ControlPlane, Namespace, Parts, Scenario, scenarios};

pub(super) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Pods;
        helm_4_installs_upgrades_and_uninstalls,
        helm_3_installs_upgrades_and_uninstalls,
    ]
}

fn helm_4_installs_upgrades_and_uninstalls(plane: &ControlPlane) {
    check_release(plane, 4);
}

fn helm_3_installs_upgrades_and_uninstalls(plane: &ControlPlane) {
    check_release(plane, 3);
}

/// Installs, upgrades, rolls back and uninstalls the chart under the `restricted` Pod Security Standard.
/// Pods become ready, because Helm waits for them.
fn check_release(plane: &ControlPlane, version: u32) {
    let team = plane.namespace(&format!("helm{version}"));
    let restricted = "pod-security.kubernetes.io/enforce=restricted";
    plane
        .kubectl(&["label", "namespace", team.name(), restricted])
        .success();
    // Cluster-wide objects have the name of the release.
    let release = &format!("day-{}", team.name());
    let name = format!("{release}-dayshift");
    let helm = |arguments: &[&str]| {
        let place = ["-n", team.name()];
        plane.helm(version, &[arguments, &place].concat()).success()
    };
    let message = helm(&["install", release, CHART, "--wait", "--timeout=60s"]);
    assert_contains!(message, "dayshift/start='Mon-Fri 09:00'");
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
        "a kind that --kinds does not name"
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
