//! A Deployment of realistic size.

use serde_json::{Value, json};

/// The object that `kubectl apply` creates for a web application with two sidecars and three replicas.
pub(crate) fn large(namespace: &str, name: &str, annotations: &Value) -> Value {
    let labels = json!({
        "app.kubernetes.io/name": name, "app.kubernetes.io/component": "api",
        "app.kubernetes.io/part-of": "shop", "app.kubernetes.io/version": "2.31.4",
        "team": "checkout", "environment": "staging",
    });
    let containers = ["app", "proxy", "log-forwarder"].map(container);
    let mut manifest = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "namespace": namespace, "name": name, "labels": labels, "annotations": annotations,
        },
        "spec": {
            "replicas": 3,
            "revisionHistoryLimit": 5,
            "selector": {"matchLabels": {"app.kubernetes.io/name": name}},
            "template": {
                "metadata": {"labels": labels, "annotations": {"prometheus.io/scrape": "true"}},
                "spec": {
                    "serviceAccountName": "default",
                    "securityContext": {"runAsNonRoot": true, "runAsUser": 1000},
                    "containers": containers,
                    "volumes": [
                        {"name": "config", "configMap": {"name": format!("{name}-config")}},
                        {"name": "scratch", "emptyDir": {}},
                    ],
                },
            },
        },
    });
    let applied = manifest.to_string();
    let annotations = &mut manifest["metadata"]["annotations"];
    annotations["kubectl.kubernetes.io/last-applied-configuration"] = applied.into();
    annotations["deployment.kubernetes.io/revision"] = "1".into();
    manifest
}

fn container(name: &str) -> Value {
    let environment: Vec<_> = (0..10)
        .map(|number| {
            let address = format!("https://service-{number}.staging.svc:8443/v1");
            json!({"name": format!("SETTING_{number}"), "value": address})
        })
        .collect();
    let probe = json!({"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 10});
    json!({
        "name": name,
        "image": format!("registry.example.com/shop/{name}:2.31.4"),
        "ports": [{"name": "http", "containerPort": 8080}],
        "env": environment,
        "resources": {
            "requests": {"cpu": "100m", "memory": "128Mi"},
            "limits": {"memory": "256Mi"},
        },
        "livenessProbe": probe,
        "readinessProbe": probe,
        "volumeMounts": [
            {"name": "config", "mountPath": "/etc/app"},
            {"name": "scratch", "mountPath": "/tmp"},
        ],
    })
}
