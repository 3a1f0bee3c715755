//! A Namespace for one test.

use std::collections::BTreeMap;
use std::fmt::Debug;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use k8s_openapi::api::batch::v1::{CronJob, Job};
use k8s_openapi::api::core::v1::{Namespace as Definition, Pod};
use k8s_openapi::api::events::v1::Event;
use kube::Resource;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::audit::{Mark, Request};
use super::control_plane::ControlPlane;
use super::output::Output;
use super::programs::Parts;
use crate::support::blocking::block_on;
use crate::support::timing::wait::{eventually, wait_until};

/// A Namespace for one test, used as `admin`. Its objects stay after the test, except those that keep
/// controllers busy.
pub(crate) struct Namespace<'a> {
    plane: &'a ControlPlane,
    name: String,
    begin: Mark,
}

impl ControlPlane {
    /// Creates a Namespace with a unique name that begins with `name`.
    pub(crate) fn namespace(&self, name: &str) -> Namespace<'_> {
        let name = self.unused_name(name);
        let definition: Definition =
            serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
        let namespaces: Api<Definition> = Api::all(self.client().clone());
        block_on(namespaces.create(&PostParams::default(), &definition)).unwrap();
        Namespace::new(self, name)
    }
}

impl<'a> Namespace<'a> {
    fn new(plane: &'a ControlPlane, name: String) -> Self {
        Self {
            plane,
            name,
            begin: plane.audit().mark(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn plane(&self) -> &'a ControlPlane {
        self.plane
    }

    /// Runs kubectl in this Namespace.
    pub(crate) fn kubectl(&self, arguments: &[&str]) -> Output {
        let mut all = vec!["--namespace", &self.name];
        all.extend(arguments);
        self.plane.kubectl(&all)
    }

    /// Creates a Deployment. Panics if it exists.
    pub(crate) fn create(&self, deployment: impl Into<Deployment>) -> Deployment {
        let params = PostParams::default();
        block_on(self.deployments().create(&params, &deployment.into())).unwrap()
    }

    pub(crate) fn delete(&self, name: &str) {
        block_on(self.deployments().delete(name, &DeleteParams::default())).unwrap();
        wait_until("the Deployment is gone", || {
            block_on(self.deployments().get_opt(name))
                .unwrap()
                .is_none()
        });
    }

    /// Deletes all objects of a kind and their dependents, without waiting.
    pub(crate) fn delete_all<K>(&self)
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
            + Clone
            + Debug
            + DeserializeOwned,
    {
        let objects: Api<K> = Api::namespaced(self.plane.client().clone(), &self.name);
        let (params, all) = (DeleteParams::background(), ListParams::default());
        let _ = block_on(objects.delete_collection(&params, &all));
    }

    pub(crate) fn get(&self, name: &str) -> Deployment {
        block_on(self.deployments().get(name)).unwrap()
    }

    /// All Deployments in this Namespace.
    pub(crate) fn list(&self) -> Vec<Deployment> {
        block_on(self.deployments().list(&ListParams::default()))
            .unwrap()
            .items
    }

    /// Scales through the subresource, like `kubectl scale`.
    pub(crate) fn scale(&self, name: &str, replicas: i32) {
        let patch = json!({"spec": {"replicas": replicas}});
        let params = PatchParams::default();
        block_on(
            self.deployments()
                .patch_scale(name, &params, &Patch::Merge(&patch)),
        )
        .unwrap();
    }

    /// Sets an annotation, or removes it if `None`.
    pub(crate) fn annotate<'v>(&self, name: &str, key: &str, value: impl Into<Option<&'v str>>) {
        self.merge(
            name,
            &json!({"metadata": {"annotations": {key: value.into()}}}),
        );
    }

    pub(crate) fn merge(&self, name: &str, patch: &Value) -> Deployment {
        let params = PatchParams::default();
        block_on(
            self.deployments()
                .patch(name, &params, &Patch::Merge(patch)),
        )
        .unwrap()
    }

    /// The error of the server if this patch of a Deployment would be denied.
    pub(crate) fn refusal(&self, name: &str, patch: &Value) -> Option<String> {
        let params = PatchParams {
            dry_run: true,
            ..PatchParams::default()
        };
        let (deployments, patch) = (self.deployments(), Patch::Merge(patch));
        let answer = block_on(deployments.patch(name, &params, &patch));
        answer.err().map(|error| error.to_string())
    }

    pub(crate) fn replicas(&self, name: &str) -> i32 {
        self.get(name).spec.unwrap().replicas.unwrap()
    }

    /// The `spec.replicas` of all Deployments by name.
    pub(crate) fn all_replicas(&self) -> BTreeMap<String, i32> {
        let replicas = |deployment: Deployment| {
            (
                deployment.metadata.name.unwrap(),
                deployment.spec.unwrap().replicas.unwrap(),
            )
        };
        self.list().into_iter().map(replicas).collect()
    }

    pub(crate) fn label(&self, name: &str, key: &str) -> Option<String> {
        self.get(name)
            .metadata
            .labels
            .unwrap_or_default()
            .remove(key)
    }

    pub(crate) fn annotation(&self, name: &str, key: &str) -> Option<String> {
        self.get(name)
            .metadata
            .annotations
            .unwrap_or_default()
            .remove(key)
    }

    /// Waits until `spec.replicas` is `expected`.
    pub(crate) fn await_replicas(&self, name: &str, expected: i32) {
        wait_until(
            &format!("{}/{name} has {expected} replicas", self.name),
            || self.replicas(name) == expected,
        );
    }

    /// Waits until a label has this value.
    pub(crate) fn await_label(&self, name: &str, key: &str, expected: &str) {
        wait_until(
            &format!("{}/{name} has the label {key}={expected}", self.name),
            || self.label(name, key).as_deref() == Some(expected),
        );
    }

    /// Waits until a Deployment has exactly `expected` pods, all ready.
    pub(crate) fn await_pods(&self, name: &str, expected: usize) {
        wait_until(&format!("{}/{name} has {expected} pods", self.name), || {
            let pods = self.pods(name);
            pods.len() == expected && pods.iter().all(is_ready)
        });
    }

    /// The pods with the label `app` from [`crate::support::deployment`].
    pub(crate) fn pods(&self, name: &str) -> Vec<Pod> {
        let pods: Api<Pod> = Api::namespaced(self.plane.client().clone(), &self.name);
        let params = ListParams::default().labels(&format!("app={name}"));
        block_on(pods.list(&params)).unwrap().items
    }

    /// dayshift's Events about a Deployment, oldest first, for example `("Stopped", "3 → 0 …")`.
    pub(crate) fn events(&self, name: &str) -> Vec<(String, String)> {
        let events: Api<Event> = Api::namespaced(self.plane.client().clone(), &self.name);
        let mut events = block_on(events.list(&ListParams::default())).unwrap().items;
        events.sort_by_key(|event| event.event_time.clone().map(|time| time.0));
        events
            .into_iter()
            .filter(|event| {
                let about = event.regarding.clone().unwrap_or_default();
                about.kind.as_deref() == Some("Deployment") && about.name.as_deref() == Some(name)
            })
            .filter(|event| event.reporting_controller.as_deref() == Some("dayshift"))
            .map(|event| {
                (
                    event.reason.unwrap_or_default(),
                    event.note.unwrap_or_default(),
                )
            })
            .collect()
    }

    /// Waits for an Event with this reason and returns its note.
    pub(crate) fn await_event(&self, name: &str, reason: &str) -> String {
        eventually(
            &format!("{}/{name} has an Event {reason}", self.name),
            || {
                self.events(name)
                    .into_iter()
                    .find(|event| event.0 == reason)
                    .map(|event| event.1)
            },
        )
    }

    /// The requests of dayshift's ServiceAccount in this Namespace.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.plane.audit().by_dayshift(self.begin, &self.name)
    }

    /// The changes of workloads in this Namespace by other users.
    pub(crate) fn changes_by_others(&self) -> Vec<Request> {
        let audit = self.plane.audit();
        audit.changes_by_others(self.begin, &self.name)
    }

    /// dayshift's writes to workloads with this name, including rejected ones.
    pub(crate) fn writes(&self, name: &str) -> Vec<Request> {
        let mut requests = self.requests();
        requests.retain(|request| {
            request.is_write() && request.is_of_workload() && request.name == name
        });
        requests
    }

    fn deployments(&self) -> Api<Deployment> {
        Api::namespaced(self.plane.client().clone(), &self.name)
    }
}

impl Drop for Namespace<'_> {
    /// Tests share the controllers, so objects that create pods endlessly would delay other tests.
    fn drop(&mut self) {
        if self.plane.parts() == Parts::Pods {
            self.delete_all::<CronJob>();
            self.delete_all::<Job>();
            self.delete_all::<HorizontalPodAutoscaler>();
        }
    }
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod
        .status
        .as_ref()
        .and_then(|status| status.conditions.as_ref());
    conditions.is_some_and(|all| {
        all.iter()
            .any(|each| each.type_ == "Ready" && each.status == "True")
    })
}
