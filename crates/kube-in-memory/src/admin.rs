//! Direct access to the cluster for tests: without HTTP, faults, policies or log lines.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::api::Api;
use crate::objects::Resource;
use crate::objects::{DEPLOYMENTS, NAMESPACES};
use crate::read::whole_value;
use crate::status::Status;
use crate::store::Object;
use crate::{
    ownership::Writer,
    patch::PatchForm,
    write::{Deleted, Write},
};

/// The annotation in which `kubectl apply` stores the applied manifest.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
const KUBECTL: Writer<'static> = Writer::new("kubectl");
const APPLY: Writer<'static> = Writer::new("kubectl-client-side-apply");
const REPLACE: Writer<'static> = Writer::new("kubectl-replace");
const SCALE: Writer<'static> = Writer::scaling("kubectl");

impl Api {
    /// Creates an object from its manifest, in `default` if it has no namespace.
    ///
    /// # Errors
    ///
    /// As the server: 409 if the object exists, 422 if it is invalid, 404 if its namespace does not exist,
    /// 400 for an unknown kind.
    pub fn create(&self, manifest: Value) -> Result<Value, Status> {
        let (resource, namespace, name, manifest) = self.place(manifest)?;
        self.put(&resource, &namespace, &name, KUBECTL, |write| {
            write.create(manifest)
        })
    }

    /// Creates or changes an object like client-side `kubectl apply`: fields that were removed from the
    /// manifest are removed, other fields stay, and lists are replaced as a whole.
    ///
    /// # Errors
    ///
    /// As for [`Api::create`], except that the object can exist.
    pub fn apply(&self, manifest: Value) -> Result<Value, Status> {
        let (resource, namespace, name, mut manifest) = self.place(manifest)?;
        let applied = manifest.to_string();
        manifest["metadata"]["annotations"][LAST_APPLIED] = json!(applied);
        let live = self.get(&resource.kind, &namespace, &name);
        if let Some(live) = live {
            let last = live["metadata"]["annotations"][LAST_APPLIED].as_str();
            let last = last.and_then(|text| serde_json::from_str(text).ok());
            let patch = three_way(&last.unwrap_or_default(), &manifest);
            return self.merge_as(APPLY, &resource, &namespace, &name, &patch);
        }
        self.put(&resource, &namespace, &name, APPLY, |write| {
            write.create(manifest)
        })
    }

    /// Replaces an object like `kubectl replace`.
    ///
    /// # Errors
    ///
    /// 404 if it does not exist, 409 for an old resourceVersion, 422 if it is invalid.
    pub fn replace(&self, manifest: Value) -> Result<Value, Status> {
        let (resource, namespace, name, manifest) = self.place(manifest)?;
        self.put(&resource, &namespace, &name, REPLACE, |write| {
            write.update(manifest)
        })
    }

    /// Changes an object by a JSON merge patch, like `kubectl patch --type=merge`.
    ///
    /// # Errors
    ///
    /// 404 if it does not exist, 422 if the result is invalid.
    pub fn merge(
        &self,
        kind: &str,
        namespace: &str,
        name: &str,
        patch: &Value,
    ) -> Result<Value, Status> {
        self.merge_as(KUBECTL, &*self.server.kind(kind)?, namespace, name, patch)
    }

    /// Like [`Api::merge`], with another writer in `managedFields`.
    ///
    /// # Errors
    ///
    /// As for [`Api::merge`].
    pub fn merge_by(
        &self,
        writer: Writer<'_>,
        kind: &str,
        namespace: &str,
        name: &str,
        patch: &Value,
    ) -> Result<Value, Status> {
        self.merge_as(writer, &*self.server.kind(kind)?, namespace, name, patch)
    }

    /// An object with its kind and version.
    pub fn get(&self, kind: &str, namespace: &str, name: &str) -> Option<Value> {
        let resource = self.server.kind(kind).ok()?;
        let key = resource.key(namespace, name);
        let object = self.server.store().get(&resource, &key)?;
        Some(whole_value(&resource, &object))
    }

    /// All objects of a kind, sorted by namespace and name.
    pub fn list(&self, kind: &str) -> Vec<Value> {
        let Ok(resource) = self.server.kind(kind) else {
            return Vec::new();
        };
        let objects = self.server.store().objects(&resource);
        objects
            .values()
            .map(|object| whole_value(&resource, object))
            .collect()
    }

    /// A Deployment's `spec.replicas`.
    pub fn replicas(&self, namespace: &str, name: &str) -> Option<i32> {
        let deployment = self.get(&DEPLOYMENTS.kind, namespace, name)?;
        deployment["spec"]["replicas"]
            .as_i64()
            .and_then(|count| i32::try_from(count).ok())
    }

    /// Scales a Deployment through the `scale` subresource, like `kubectl scale` and an HPA.
    ///
    /// # Errors
    ///
    /// 404 if it does not exist, 422 for a negative count.
    pub fn scale(&self, namespace: &str, name: &str, replicas: i32) -> Result<Value, Status> {
        self.scale_of(&DEPLOYMENTS.kind, namespace, name, replicas)
    }

    /// Scales a Deployment, a StatefulSet or a custom object through its `scale` subresource.
    ///
    /// # Errors
    ///
    /// 404 if it does not exist, 422 for a negative count, 400 for a kind that is unknown or has no count.
    pub fn scale_of(
        &self,
        kind: &str,
        namespace: &str,
        name: &str,
        replicas: i32,
    ) -> Result<Value, Status> {
        let resource = self.server.kind(kind)?;
        if resource.group != DEPLOYMENTS.group && !resource.custom {
            return Err(Status::bad_request(format!("{kind} has no scale")));
        }
        let patch = json!({"spec": {"replicas": replicas}});
        self.merge_as(SCALE, &resource, namespace, name, &patch)
    }

    /// Sets the status of an object, like its controller.
    ///
    /// # Errors
    ///
    /// 404 if it does not exist, 400 for an unknown kind.
    pub fn set_status(
        &self,
        kind: &str,
        namespace: &str,
        name: &str,
        status: Value,
    ) -> Result<Value, Status> {
        let resource = self.server.kind(kind)?;
        self.put(&resource, namespace, name, KUBECTL, |write| {
            write.set_status(status)
        })
    }

    /// Sets an annotation of a Deployment, or removes it if `None`.
    ///
    /// # Errors
    ///
    /// 404 if it does not exist, 422 for an invalid key.
    pub fn annotate(
        &self,
        namespace: &str,
        name: &str,
        key: &str,
        value: Option<&str>,
    ) -> Result<Value, Status> {
        self.annotate_of(&DEPLOYMENTS.kind, namespace, name, key, value)
    }

    /// Sets an annotation of an object, or removes it if `None`. For a Namespace, `namespace` is empty.
    ///
    /// # Errors
    ///
    /// 404 if it does not exist, 422 for an invalid key, 400 for an unknown kind.
    pub fn annotate_of(
        &self,
        kind: &str,
        namespace: &str,
        name: &str,
        key: &str,
        value: Option<&str>,
    ) -> Result<Value, Status> {
        let patch = json!({"metadata": {"annotations": {key: value}}});
        self.merge_as(KUBECTL, &*self.server.kind(kind)?, namespace, name, &patch)
    }

    /// Sets a label of a Deployment, or removes it if `None`.
    ///
    /// # Errors
    ///
    /// 404 if it does not exist, 422 for an invalid key or value.
    pub fn label(
        &self,
        namespace: &str,
        name: &str,
        key: &str,
        value: Option<&str>,
    ) -> Result<Value, Status> {
        let patch = json!({"metadata": {"labels": {key: value}}});
        self.merge_as(KUBECTL, DEPLOYMENTS, namespace, name, &patch)
    }

    /// Deletes a Deployment. If it has finalizers, it gets a `deletionTimestamp` and stays.
    ///
    /// # Errors
    ///
    /// 404 if it does not exist.
    pub fn delete(&self, namespace: &str, name: &str) -> Result<(), Status> {
        self.delete_of(&DEPLOYMENTS.kind, namespace, name)
    }

    /// Deletes an object. If it has finalizers, it gets a `deletionTimestamp` and stays.
    ///
    /// Deleting a Namespace deletes its objects too, like the namespace controller. If some stay, the
    /// Namespace is terminating until the next call. A DELETE request by a client only makes it terminating.
    ///
    /// # Errors
    ///
    /// 404 if it does not exist, 400 for an unknown kind, 403 for a Namespace that every cluster has.
    pub fn delete_of(&self, kind: &str, namespace: &str, name: &str) -> Result<(), Status> {
        let resource = self.server.kind(kind)?;
        let delete = |resource, namespace: &str, name: &str| {
            self.write(resource, namespace, name, KUBECTL, |mut write| {
                write.delete(&Value::Null)
            })
        };
        delete(&resource, namespace, name)?;
        if resource.index != NAMESPACES.index {
            return Ok(());
        }
        let mut empty = true;
        let kinds = self.server.kinds();
        for resource in kinds.iter().filter(|kind| kind.namespaced()) {
            let objects = self.server.store().objects(resource);
            for object in objects.values().filter(|object| object.namespace() == name) {
                let left = delete(resource, name, object.name())?;
                empty &= matches!(left, Deleted::Gone(_));
            }
        }
        if empty {
            let now = self.server.now();
            self.server.store().delete(NAMESPACES, name, now);
        }
        Ok(())
    }

    /// Creates a Namespace unless it exists or its name is invalid.
    pub fn namespace(&self, name: &str) {
        // If the name is invalid, objects in this Namespace are rejected later.
        let _ = self.create(
            json!({"apiVersion": "v1", "kind": NAMESPACES.kind, "metadata": {"name": name}}),
        );
    }

    /// The resource, namespace and name of a manifest, and the manifest without its kind.
    fn place(&self, mut manifest: Value) -> Result<(Arc<Resource>, String, String, Value), Status> {
        let kind = manifest["kind"].as_str().unwrap_or_default();
        let resource = self.server.kind(kind)?;
        let metadata = &manifest["metadata"];
        let text = |key: &str| metadata[key].as_str().unwrap_or_default().to_owned();
        let (namespace, name) = (text("namespace"), text("name"));
        let namespace = match (resource.namespaced(), &*namespace) {
            (true, "") => "default".to_owned(),
            _ => namespace,
        };
        if let Value::Object(members) = &mut manifest {
            members.remove("kind");
            members.remove("apiVersion");
        }
        Ok((resource, namespace, name, manifest))
    }

    fn merge_as(
        &self,
        writer: Writer<'_>,
        resource: &Resource,
        namespace: &str,
        name: &str,
        patch: &Value,
    ) -> Result<Value, Status> {
        self.put(resource, namespace, name, writer, |write| {
            write.patch(PatchForm::Merge, patch.to_string().as_bytes())
        })
    }

    /// Carries out a write and returns the resulting object.
    fn put(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        writer: Writer<'_>,
        then: impl FnOnce(&mut Write<'_>) -> Result<Arc<Object>, Status>,
    ) -> Result<Value, Status> {
        self.write(resource, namespace, name, writer, |mut write| {
            let object = then(&mut write)?;
            Ok(whole_value(resource, &object))
        })
    }

    fn write<T>(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        writer: Writer<'_>,
        then: impl FnOnce(Write<'_>) -> Result<T, Status>,
    ) -> Result<T, Status> {
        let now = self.server.now();
        let mut store = self.server.store();
        let store = &mut *store;
        then(Write {
            store,
            resource,
            namespace,
            name,
            now,
            writer,
            dry_run: false,
            admit: &|_| None,
            mutate: &|_| None,
        })
    }
}

/// The merge patch from the previously applied manifest to the new one.
fn three_way(last: &Value, now: &Value) -> Value {
    let (Value::Object(last), Value::Object(now)) = (last, now) else {
        return now.clone();
    };
    let gone = last.keys().filter(|key| !now.contains_key(*key));
    let gone = gone.map(|key| (key.clone(), Value::Null));
    let kept = now.iter().map(|(key, value)| {
        let patch = match last.get(key) {
            Some(before @ Value::Object(_)) => three_way(before, value),
            _ => value.clone(),
        };
        (key.clone(), patch)
    });
    Value::Object(gone.chain(kept).collect::<Map<_, _>>())
}
