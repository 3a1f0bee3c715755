//! The values of the chart: each one reaches its object, and values without a meaning are rejected.

use serde_json::{Value, json};

use super::rendered::{CHART, rendered};
use crate::rows::rows;
use crate::support::{ControlPlane, Parts, Scenario, scenarios};

pub(super) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Server;
        invalid_values_are_rejected_by_name,
        each_value_changes_its_object,
    ]
}

fn invalid_values_are_rejected_by_name(plane: &ControlPlane) {
    for [values, expected] in rows(
        "
            scope.clusterWide=false => scope.namespaces is empty
            scope.clusterWide=false,scope.namespaces={a},scope.namespaceSelector=x => scope.namespaceSelector needs
            scope.namespaces={TestNamespace} => /scope/namespaces/0
            kinds={pods} => /kinds/0
            kinds=null => kinds is empty
            defaultSchedule.hours=daily 09:00-19:00 => bound it by scope.namespaces
            scope.namespaces={a},defaultSchedule.hours=x,defaultSchedule.stop=y => only one of these
            timezon=Asia/Tokyo => timezon
            serviceAccount.create=false => serviceAccount.name
            image.digest=abc => /image/digest
            calendars.De=x => 'De' does not match
            replicas=two => /replicas
            dashboard.exposed=true => set dashboard.enabled=true too
            policy.writers={it's} => /policy/writers/0
        "
    ) {
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
            assert_contains!(refused.stderr, expected, "{values}");
        }
    }
    for version in [3, 4] {
        let lint = ["lint", "--strict", "--kube-version=1.36.0", CHART];
        plane.helm(version, &lint).success();
    }
}

/// Each value of `values.yaml` differs from its default, and must appear in its object.
fn each_value_changes_its_object(plane: &ControlPlane) {
    let values = "tests/cluster/e2e/install/values.yaml";
    // kubectl cannot read the kinds of the Prometheus Operator here.
    let monitoring = "podMonitor.enabled=false,prometheusRule.enabled=false";
    let objects = rendered(plane, &["-f", values, "--set", monitoring]);
    let get = |kind: &str, name: &str, pointer: &str| -> Value {
        let object = &objects[&(kind.to_owned(), name.to_owned())];
        object.pointer(pointer).cloned().unwrap_or_default()
    };
    let table = r#"
        ConfigMap/day-dashboard => /metadata/labels/dashboards => "ours"
        Deployment/day => /spec/replicas => 2
        Deployment/day => /spec/template/metadata/annotations => {"note": "a"}
        Deployment/day => /spec/template/metadata/labels/team => "platform"
        Deployment/day => /spec/template/spec/imagePullSecrets => [{"name": "registry"}]
        Deployment/day => /spec/template/spec/priorityClassName => "system-cluster-critical"
        Deployment/day => /spec/template/spec/tolerations => [{"key": "infra", "operator": "Exists"}]
        Deployment/day => /spec/template/spec/nodeSelector => {"kubernetes.io/os": "linux", "pool": "infra"}
        Deployment/day => /spec/template/spec/topologySpreadConstraints/0/maxSkew => 1
        Deployment/day => /spec/template/spec/affinity => {"nodeAffinity": {}}
        Deployment/day => /spec/template/spec/serviceAccountName => "account"
        Deployment/day => /spec/template/spec/securityContext/runAsUser => 1000
        Deployment/day => /spec/template/spec/containers/0/env/2 => {"name": "RUST_BACKTRACE", "value": "1"}
        Deployment/day => /spec/template/spec/containers/0/imagePullPolicy => "Always"
        Deployment/day => /spec/template/spec/containers/0/livenessProbe/periodSeconds => 20
        Deployment/day => /spec/template/spec/containers/0/readinessProbe/periodSeconds => 7
        Deployment/day => /spec/template/spec/containers/0/resources/limits/memory => "256Mi"
        Deployment/day => /spec/template/spec/containers/0/securityContext/readOnlyRootFilesystem => true
        ServiceAccount/account => /metadata/annotations => {"role": "x"}
        NetworkPolicy/day => /spec/egress/0/ports => [{"port": 16443}]
        NetworkPolicy/day => /spec/egress/0/to => [{"ipBlock": {"cidr": "192.0.2.7/32"}}]
        NetworkPolicy/day => /spec/ingress/0/from => [{"podSelector": {}}]
        PodDisruptionBudget/day => /spec/maxUnavailable => "50%"
        ConfigMap/day-calendars => /data => {"de.ics": "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n", "us.ics": "x: {}"}
        ValidatingAdmissionPolicyBinding/day-texts => /spec/validationActions => ["Deny"]
        ValidatingAdmissionPolicy/day-writers => /spec/matchConditions/0/expression => "request.userInfo.username in ['system:serviceaccount:shop:annotator', 'jane']"
        ConfigMap/day-more => /data => {"a": "b"}
        ConfigMap/as-text => /data => {"release": "dayshift"}
    "#;
    for [object, pointer, expected] in rows(table) {
        let (kind, name) = object.split_once('/').unwrap();
        let expected: Value = serde_json::from_str(expected).unwrap();
        assert_eq!(get(kind, name, pointer), expected, "{object} {pointer}");
    }
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
                "--team-defaults",
                "--selector=team=web,tier!=db",
                "--default-start=Mon-Fri 09:00",
                "--default-stop=daily 19:00",
                "--timezone=Asia/Tokyo",
                "--annotation-prefix=ours.example.com",
                "--catch-up=24h",
                "--max-clock-skew=10s",
                "--revert-window=5m",
                "--max-starting=20",
                "--notice=30m",
                "--ready-within=20m",
                "--log-format=json",
                "--log-level=debug",
                "--calendar=de=/etc/dayshift/calendars/de.ics",
                "--calendar=us=/etc/dayshift/calendars/us.ics",
                "--services",
                "--per-namespace-metrics",
                "--per-workload-metrics",
                "--per-user-metrics",
                "--dashboard-listen=127.0.0.1:8081",
                "--user-header=X-User",
                "--group-header=X-Groups",
                "--trusted-proxy=10.0.0.0/24",
                "--proxy-secret-file=/etc/dayshift/proxy/secret",
                "--dry-run",
                "--max-in-flight=8"
            ]),
        ),
        (
            "ConfigMap",
            "day-dashboard",
            "/data/dayshift.json",
            json!(include_str!(
                "../../../../charts/dayshift/files/dashboard.json"
            )),
        ),
        (
            "ClusterRole",
            "day-dashboard-login",
            "/rules",
            json!([
                {"apiGroups": [""], "resources": ["users"], "verbs": ["impersonate"]},
                {
                    "apiGroups": [""], "resources": ["groups"], "verbs": ["impersonate"],
                    "resourceNames": ["team-a"],
                },
            ]),
        ),
        (
            "Deployment",
            "day",
            "/spec/template/spec/volumes",
            json!([
                {
                    "name": "proxy-secret",
                    "secret": {"secretName": "proxy", "items": [{"key": "secret", "path": "secret"}]},
                },
                {"name": "calendars", "configMap": {"name": "day-calendars"}},
                {"name": "x", "emptyDir": {}}
            ]),
        ),
        (
            "Deployment",
            "day",
            "/spec/template/spec/containers/0/volumeMounts",
            json!([
                {"name": "calendars", "mountPath": "/etc/dayshift/calendars", "readOnly": true},
                {"name": "proxy-secret", "mountPath": "/etc/dayshift/proxy", "readOnly": true},
                {"name": "x", "mountPath": "/x"}]),
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
        "honorLabels: true\n",
        "kind: PrometheusRule\n",
        "release: prometheus\n",
        "alert: DayshiftOverdue\n",
    ] {
        assert_contains!(text, part);
    }
}
