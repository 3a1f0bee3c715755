//! A Deployment with the hands on its `spec.replicas`.

use std::borrow::Cow;

use k8s_openapi::{
    NamespaceResourceScope,
    apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta},
};
use kube::Resource;
use serde::Deserialize;

use super::deployment::{Deployment, Meta, Spec};

/// A Deployment and who has set its count. Its managed fields are read, which the controller
/// has no need of and does not pay for.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Raw")]
pub struct WithManagers {
    /// The Deployment.
    pub deployment: Deployment,
    /// Who has set `spec.replicas` to what it is, as the API server keeps it
    /// (<https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management>).
    pub managers: Vec<FieldManager>,
}

/// One of those who have set `spec.replicas`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldManager {
    /// What it calls itself.
    pub manager: String,
    /// Whether it declares the field (server-side apply) and does not only write it.
    pub applies: bool,
    /// Whether it came through the subresource `scale`.
    pub scales: bool,
}

#[derive(Deserialize)]
struct Raw {
    metadata: HeldMeta,
    #[serde(default)]
    spec: Spec,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HeldMeta {
    #[serde(flatten)]
    meta: Meta,
    #[serde(default)]
    managed_fields: Option<Vec<ManagedFieldsEntry>>,
}

impl From<Raw> for WithManagers {
    fn from(raw: Raw) -> Self {
        let entries = raw.metadata.managed_fields.unwrap_or_default();
        Self {
            deployment: Deployment::new(raw.metadata.meta, raw.spec),
            managers: entries
                .into_iter()
                .filter_map(FieldManager::on_replicas)
                .collect(),
        }
    }
}

impl FieldManager {
    fn on_replicas(entry: ManagedFieldsEntry) -> Option<Self> {
        entry
            .fields_v1?
            .0
            .pointer("/f:spec/f:replicas")
            .map(|_| Self {
                manager: entry.manager.unwrap_or_default(),
                applies: entry.operation.as_deref() == Some("Apply"),
                scales: entry.subresource.as_deref() == Some("scale"),
            })
    }
}

impl Resource for WithManagers {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        Deployment::kind(&())
    }

    fn group((): &()) -> Cow<'_, str> {
        Deployment::group(&())
    }

    fn version((): &()) -> Cow<'_, str> {
        <Deployment as Resource>::version(&())
    }

    fn plural((): &()) -> Cow<'_, str> {
        Deployment::plural(&())
    }

    fn meta(&self) -> &ObjectMeta {
        self.deployment.meta()
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        self.deployment.meta_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_hands_on_the_count_and_no_others() {
        let managed: WithManagers = serde_json::from_value(serde_json::json!({
            "metadata": {
                "name": "web", "namespace": "dev", "annotations": null,
                "managedFields": [
                    {"manager": "kubectl", "operation": "Apply",
                     "fieldsV1": {"f:spec": {"f:replicas": {}}}},
                    {"manager": "kube-controller-manager", "operation": "Update",
                     "subresource": "scale", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
                    {"manager": "kubectl-edit", "operation": "Update",
                     "fieldsV1": {"f:spec": {"f:template": {}}}},
                ],
            },
            "spec": {"replicas": 2},
        }))
        .unwrap();
        assert_eq!(managed.deployment.name(), "web");
        let manager = |manager: &str, applies, scales| FieldManager {
            manager: manager.to_owned(),
            applies,
            scales,
        };
        assert_eq!(
            managed.managers,
            [
                manager("kubectl", true, false),
                manager("kube-controller-manager", false, true),
            ]
        );
    }
}
