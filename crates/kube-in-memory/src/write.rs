//! Creating, replacing, patching and deleting an object, with defaults, validation and admission.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::{
    cause::Cause,
    objects::{
        IMMORTAL, NAMESPACES, Resource,
        metadata::{self, text},
    },
    ownership::{self, Writer},
    patch::{PatchForm, apply_patch, check_kind, read_patch, undecodable_result},
    server::Admission,
    status::Status,
    store::{Object, Store},
};

const OUTDATED: &str =
    "the object has been modified; please apply your changes to the latest version and try again";

/// A write in progress.
pub(crate) struct Write<'a> {
    pub store: &'a mut Store,
    pub resource: &'a Resource,
    pub namespace: &'a str,
    pub name: &'a str,
    pub now: DateTime<Utc>,
    pub writer: Writer<'a>,
    /// If set, nothing is stored.
    pub dry_run: bool,
    /// The validating policy.
    pub admit: &'a dyn Fn(&Admission<'_>) -> Option<Status>,
    /// The mutating policy, which returns a JSON merge patch.
    pub mutate: &'a dyn Fn(&Admission<'_>) -> Option<Value>,
}

impl Write<'_> {
    pub(crate) fn create(&mut self, mut new: Value) -> Result<Arc<Object>, Status> {
        let resource = self.resource;
        decode(resource, &mut new, None).map_err(|why| self.undecodable(&why))?;
        self.settle_namespace(&mut new)?;
        self.check_namespace(text(&new, "name"))?;
        let uid = uid(self.store.revision(), self.now);
        if text(&new, "name").is_empty() && !text(&new, "generateName").is_empty() {
            let suffix = &uid[..5];
            new["metadata"]["name"] = json!(format!("{}{suffix}", text(&new, "generateName")));
        }
        let versioned = !matches!(text(&new, "resourceVersion"), "" | "0");
        metadata::normalize(&mut new, resource);
        metadata::begin(&mut new, resource, &uid, self.now);
        (resource.complete)(&mut new, None);
        let name = text(&new, "name").to_owned();
        self.mutate("create", &name, None, &mut new);
        let mut causes = Vec::new();
        metadata::check_new(&new, resource, &mut causes);
        (resource.check)(&new, None, &mut causes);
        self.refuse_if(causes, &name)?;
        ownership::record(&mut new, None, resource, self.writer, self.now);
        self.admit("create", &name, None, &new)?;
        if versioned {
            let why = "resourceVersion should not be set on objects to be created";
            return Err(Status::unexpected(why));
        }
        let key = resource.key(self.namespace, &name);
        if let Some(there) = self.store.get(resource, &key) {
            return Err(Status::already_exists(resource, &name, there.deleting));
        }
        Ok(self.put(&key, &mut new))
    }

    pub(crate) fn update(&mut self, mut new: Value) -> Result<Arc<Object>, Status> {
        decode(self.resource, &mut new, None).map_err(|why| self.undecodable(&why))?;
        self.settle_namespace(&mut new)?;
        self.check_name(&new)?;
        let (object, old) = self.current()?;
        let (asked, known) = (text(&new, "uid"), text(&old, "uid"));
        if !asked.is_empty() && asked != known {
            let key = format!("/registry/{}/{}", self.resource.plural, object.key);
            let why = format!(
                "StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, \
                 AdditionalErrorMsg: Precondition failed: UID in precondition: {asked}, \
                 UID in object meta: {known}"
            );
            return Err(Status::conflict(self.resource, self.name, &why));
        }
        if self.resource.custom && text(&new, "resourceVersion").is_empty() {
            return Err(self.without_version());
        }
        self.replace(&object, &old, new)
    }

    pub(crate) fn patch(&mut self, form: PatchForm, body: &[u8]) -> Result<Arc<Object>, Status> {
        let patch = read_patch(form, body)?;
        let (object, old) = self.current()?;
        let mut new = old.clone();
        new["kind"] = json!(self.resource.kind);
        new["apiVersion"] = json!(self.resource.api_version());
        apply_patch(&mut new, form, &patch)?;
        check_kind(self.resource, self.name, &new)?;
        // An empty kind means the kind of the request.
        new["kind"] = json!(self.resource.kind);
        if let Err(why) = decode(self.resource, &mut new, Some(&old)) {
            return Err(undecodable_result(&new, &why));
        }
        self.settle_namespace(&mut new)?;
        self.check_name(&new)?;
        self.replace(&object, &old, new)
    }

    /// Replaces the status, like a controller through the subresource.
    pub(crate) fn set_status(&mut self, status: Value) -> Result<Arc<Object>, Status> {
        let (object, mut new) = self.current()?;
        if new["status"] == status {
            return Ok(object);
        }
        new["status"] = status;
        let key = Arc::clone(&object.key);
        Ok(self.put(&key, &mut new))
    }

    fn replace(
        &mut self,
        object: &Object,
        old: &Value,
        mut new: Value,
    ) -> Result<Arc<Object>, Status> {
        let resource = self.resource;
        let asked = text(&new, "resourceVersion");
        if !asked.is_empty() && asked.parse::<u64>().is_err() {
            let why = format!("strconv.ParseUint: parsing {asked:?}: invalid syntax");
            return Err(Status::unexpected(why));
        }
        if resource.custom && asked == "0" {
            return Err(self.without_version());
        }
        if !matches!(asked, "" | "0") && asked != object.revision.to_string() {
            return Err(Status::conflict(resource, self.name, OUTDATED));
        }
        metadata::normalize(&mut new, resource);
        metadata::keep(&mut new, old);
        if let Value::Object(members) = &mut new {
            members.remove("kind");
            members.remove("apiVersion");
        }
        (resource.complete)(&mut new, Some(old));
        self.mutate("update", self.name, Some(old), &mut new);
        if let Some(counted) = resource.generation {
            metadata::count(&mut new, old, counted);
        }
        let mut causes = Vec::new();
        metadata::check_update(&new, old, resource, &mut causes);
        (resource.check)(&new, Some(old), &mut causes);
        self.refuse_if(causes, self.name)?;
        self.admit("update", self.name, Some(old), &new)?;
        new["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"].clone();
        let key = Arc::clone(&object.key);
        if new == *old {
            return self.store.get(resource, &key).ok_or_else(|| self.absent());
        }
        ownership::record(&mut new, Some(old), resource, self.writer, self.now);
        let deleting = new["metadata"]["deletionTimestamp"].is_string();
        if deleting && !self.is_deletion_delayed(&new) {
            if !self.dry_run {
                self.store.delete(resource, &key, self.now);
            }
            return Ok(Arc::new(Object::unstored(key, object.revision, &new)));
        }
        Ok(self.put(&key, &mut new))
    }

    pub(crate) fn current(&self) -> Result<(Arc<Object>, Value), Status> {
        let key = self.resource.key(self.namespace, self.name);
        let object = self.store.get(self.resource, &key);
        let object = object.ok_or_else(|| self.absent())?;
        let value = object.value();
        Ok((object, value))
    }

    fn without_version(&self) -> Status {
        let (group, plural) = (&self.resource.group, &self.resource.plural);
        let why = "must be specified for an update";
        let cause = Cause::invalid("metadata.resourceVersion", &"0", why);
        Status::invalid(group, plural, self.name, vec![cause])
    }

    fn absent(&self) -> Status {
        Status::not_found(self.resource, self.name)
    }

    fn undecodable(&self, why: &str) -> Status {
        let (kind, version) = (&self.resource.kind, &self.resource.version);
        Status::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {kind}: {why}"
        ))
    }

    fn settle_namespace(&self, new: &mut Value) -> Result<(), Status> {
        let given = text(new, "namespace");
        let wanted = if self.resource.namespaced() {
            self.namespace
        } else {
            ""
        };
        if given.is_empty() || given == wanted {
            if !wanted.is_empty() {
                new["metadata"]["namespace"] = json!(wanted);
            }
            return Ok(());
        }
        Err(Status::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ))
    }

    /// A new object needs a Namespace that is not terminating.
    fn check_namespace(&self, name: &str) -> Result<(), Status> {
        if !self.resource.namespaced() {
            return Ok(());
        }
        let namespace = self.store.get(NAMESPACES, self.namespace);
        let namespace = namespace.ok_or_else(|| Status::not_found(NAMESPACES, self.namespace))?;
        if namespace.deleting {
            return Err(Status::terminating(self.resource, name, self.namespace));
        }
        Ok(())
    }

    fn check_name(&self, new: &Value) -> Result<(), Status> {
        let (given, wanted) = (text(new, "name"), self.name);
        if given == wanted {
            return Ok(());
        }
        if given.is_empty() {
            return Err(Status::without_name(wanted));
        }
        Err(Status::bad_request(format!(
            "the name of the object ({given}) does not match the name on the URL ({wanted})"
        )))
    }

    fn refuse_if(&self, causes: Vec<Cause>, name: &str) -> Result<(), Status> {
        if causes.is_empty() {
            return Ok(());
        }
        let (group, kind) = (self.resource.error_group(), &self.resource.kind);
        Err(Status::invalid(group, kind, name, causes))
    }

    pub(crate) fn admit(
        &self,
        verb: &'static str,
        name: &str,
        old: Option<&Value>,
        new: &Value,
    ) -> Result<(), Status> {
        let admission = self.admission(verb, name, old, new);
        (self.admit)(&admission).map_or(Ok(()), Err)
    }

    fn mutate(&self, verb: &'static str, name: &str, old: Option<&Value>, new: &mut Value) {
        if let Some(patch) = (self.mutate)(&self.admission(verb, name, old, new)) {
            ::json_patch::merge(new, &patch);
        }
    }

    fn admission<'b>(
        &'b self,
        verb: &'static str,
        name: &'b str,
        old: Option<&'b Value>,
        new: &'b Value,
    ) -> Admission<'b> {
        Admission {
            verb,
            resource: &self.resource.plural,
            namespace: self.namespace,
            name,
            old,
            new,
            manager: self.writer.manager,
        }
    }

    /// Stores a new version unless this is a dry run.
    pub(crate) fn put(&mut self, key: &str, new: &mut Value) -> Arc<Object> {
        if self.dry_run {
            return Arc::new(Object::unstored(key.into(), 0, new));
        }
        self.store.put(self.resource, key, new, self.now)
    }
}

/// Rejects fields with a wrong type and drops unknown ones.
fn decode(resource: &Resource, object: &mut Value, old: Option<&Value>) -> Result<(), String> {
    match metadata::type_error(object) {
        Some(wrong) => Err(wrong),
        None => (resource.decode)(object, old),
    }
}

/// A UID in the format of the server, but the same in each run.
fn uid(revision: u64, now: DateTime<Utc>) -> String {
    let nanos = now.timestamp_nanos_opt().unwrap_or_default();
    let hash = digest(&SHA256, format!("{revision} {nanos}").as_bytes());
    let bytes = hash.as_ref().iter().take(16);
    let hex: String = bytes.map(|byte| format!("{byte:02x}")).collect();
    let parts = [0..8, 8..12, 13..16, 17..20, 20..32].map(|range| &hex[range]);
    let [first, second, third, fourth, last] = parts;
    format!("{first}-{second}-4{third}-a{fourth}-{last}")
}

/// The result of a deletion.
pub(crate) enum Deleted {
    /// Deleted; contains the UID.
    Gone(String),
    /// Waits for its finalizers.
    Waiting(Arc<Object>),
}

impl Write<'_> {
    pub(crate) fn delete(&mut self, options: &Value) -> Result<Deleted, Status> {
        let (object, old) = self.current()?;
        let is_namespace = self.is_namespace();
        if is_namespace && IMMORTAL.contains(&self.name) {
            let why = "this namespace may not be deleted";
            let plural = &self.resource.plural;
            return Err(Status::forbidden("", plural, self.name, why));
        }
        self.check_preconditions(options, &old)?;
        self.admit("delete", self.name, Some(&old), &Value::Null)?;
        if !self.is_deletion_delayed(&old) {
            if !self.dry_run {
                self.store.delete(self.resource, &object.key, self.now);
            }
            return Ok(Deleted::Gone(text(&old, "uid").to_owned()));
        }
        if object.deleting {
            return Ok(Deleted::Waiting(object));
        }
        let mut new = old;
        new["metadata"]["deletionTimestamp"] = json!(metadata::timestamp(self.now));
        if is_namespace {
            new["status"]["phase"] = json!("Terminating");
        } else {
            new["metadata"]["deletionGracePeriodSeconds"] = json!(0);
            if let Some(generation) = new["metadata"]["generation"].as_i64() {
                new["metadata"]["generation"] = json!(generation + 1);
            }
        }
        Ok(Deleted::Waiting(self.put(&object.key, &mut new)))
    }

    /// Whether a finalizer or an object in a Namespace delays the deletion.
    pub(crate) fn is_deletion_delayed(&self, object: &Value) -> bool {
        let finalizers = object["metadata"]["finalizers"].as_array();
        self.is_namespace() || finalizers.is_some_and(|held| !held.is_empty())
    }

    fn is_namespace(&self) -> bool {
        self.resource.index == NAMESPACES.index
    }

    fn check_preconditions(&self, options: &Value, old: &Value) -> Result<(), Status> {
        for (key, what) in [("uid", "UID"), ("resourceVersion", "ResourceVersion")] {
            let (asked, known) = (options["preconditions"][key].as_str(), text(old, key));
            let Some(asked) = asked.filter(|asked| *asked != known) else {
                continue;
            };
            if self.is_namespace() {
                let why = format!(
                    "Precondition failed: {what} in precondition: {asked}, {what} in object meta: {known}"
                );
                return Err(Status::conflict(self.resource, self.name, &why));
            }
            let hint = if key == "uid" {
                "deleted and then recreated"
            } else {
                "modified"
            };
            let why = format!(
                "the {what} in the precondition ({asked}) does not match the {what} in record \
                 ({known}). The object might have been {hint}"
            );
            return Err(Status::conflict_of_kind(self.resource, self.name, &why));
        }
        Ok(())
    }
}
