//! Deleting: at once, when the last finalizer is gone, or, for a Namespace, when it is empty.

use std::sync::Arc;

use serde_json::{Value, json};

use super::operation::Write;
use crate::objects::metadata::{self, text};
use crate::objects::{IMMORTAL, NAMESPACES};
use crate::status::Status;
use crate::store::Object;

/// What a deletion leaves.
pub(crate) enum Deleted {
    /// Nothing; this is the object's uid.
    Gone(String),
    /// The object, until its finalizers are removed.
    Waiting(Arc<Object>),
}

impl Write<'_> {
    pub(crate) fn delete(&mut self, options: &Value) -> Result<Deleted, Status> {
        let (object, old) = self.current()?;
        let is_namespace = self.is_namespace();
        if is_namespace && IMMORTAL.contains(&self.name) {
            let why = "this namespace may not be deleted";
            let plural = self.resource.plural;
            return Err(Status::forbidden("", plural, self.name, why));
        }
        self.check_preconditions(options, &old)?;
        self.admit("delete", self.name, Some(&old), &Value::Null)?;
        if !self.is_held(&old) {
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

    /// Whether something has to happen before it may go: a finalizer, or what a Namespace holds.
    pub(super) fn is_held(&self, object: &Value) -> bool {
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
