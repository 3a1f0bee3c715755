//! Builders for Deployments and other workloads.

use k8s_openapi::api::apps::v1::Deployment;
use serde_json::{Value, json};

/// A Deployment of nginx with one replica and no annotations, for example
/// `deployment("web").replicas(3).start("Mon-Fri 09:00")`.
pub(crate) fn deployment(name: &str) -> DeploymentBuilder {
    DeploymentBuilder(json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "annotations": {}, "labels": {"app": name}},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {
                    "terminationGracePeriodSeconds": 0,
                    "containers": [{"name": "nginx", "image": "nginx"}],
                },
            },
        },
    }))
}

/// A StatefulSet of nginx.
pub(crate) fn stateful_set(name: &str) -> DeploymentBuilder {
    let mut object = deployment(name).0;
    object["kind"] = "StatefulSet".into();
    object["spec"]["serviceName"] = name.into();
    DeploymentBuilder(object)
}

/// A CronJob that runs hourly.
pub(crate) fn cron_job(name: &str) -> DeploymentBuilder {
    let mut object = deployment(name).0;
    let mut template = object["spec"]["template"].take();
    template["spec"]["restartPolicy"] = "Never".into();
    object["apiVersion"] = "batch/v1".into();
    object["kind"] = "CronJob".into();
    object["spec"] =
        json!({"schedule": "0 * * * *", "jobTemplate": {"spec": {"template": template}}});
    DeploymentBuilder(object)
}

#[derive(Clone, Debug)]
pub(crate) struct DeploymentBuilder(Value);

impl DeploymentBuilder {
    pub(crate) fn replicas(mut self, replicas: impl Into<i64>) -> Self {
        self.0["spec"]["replicas"] = replicas.into().into();
        self
    }

    pub(crate) fn namespace(mut self, namespace: &str) -> Self {
        self.0["metadata"]["namespace"] = namespace.into();
        self
    }

    /// Sets the requests of each replica.
    pub(crate) fn requests(mut self, cpu: &str, memory: &str) -> Self {
        let requests = json!({"cpu": cpu, "memory": memory});
        let container = &mut self.0["spec"]["template"]["spec"]["containers"][0];
        container["resources"] = json!({ "requests": requests });
        self
    }

    pub(crate) fn suspended(mut self, is_suspended: bool) -> Self {
        self.0["spec"]["suspend"] = is_suspended.into();
        self
    }

    /// Omits `spec.replicas`, so that the server sets 1.
    pub(crate) fn without_replicas(mut self) -> Self {
        self.0["spec"].as_object_mut().unwrap().remove("replicas");
        self
    }

    pub(crate) fn start(self, times: impl Into<String>) -> Self {
        self.annotation("dayshift/start", times)
    }

    pub(crate) fn stop(self, times: impl Into<String>) -> Self {
        self.annotation("dayshift/stop", times)
    }

    pub(crate) fn hours(self, windows: impl Into<String>) -> Self {
        self.annotation("dayshift/hours", windows)
    }

    pub(crate) fn timezone(self, zone: impl Into<String>) -> Self {
        self.annotation("dayshift/timezone", zone)
    }

    pub(crate) fn annotation(mut self, key: &str, value: impl Into<String>) -> Self {
        self.0["metadata"]["annotations"][key] = value.into().into();
        self
    }

    pub(crate) fn label(mut self, key: &str, value: impl Into<String>) -> Self {
        self.0["metadata"]["labels"][key] = value.into().into();
        self
    }

    /// The manifest for kubectl.
    pub(crate) fn manifest(&self) -> String {
        self.0.to_string()
    }
}

impl From<DeploymentBuilder> for Deployment {
    fn from(builder: DeploymentBuilder) -> Self {
        serde_json::from_value(builder.0).unwrap()
    }
}

impl From<DeploymentBuilder> for Value {
    fn from(builder: DeploymentBuilder) -> Self {
        builder.0
    }
}
