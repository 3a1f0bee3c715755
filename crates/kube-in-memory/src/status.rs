//! The `Status` object: the errors of the API, in the words of kube-apiserver.

use serde::Serialize;
use serde_json::{Value, json};

use crate::{cause::Cause, objects::Resource};

/// An API error, as in the `Status` object of `k8s.io/apimachinery`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({code} {reason})")]
pub struct Status {
    /// The HTTP status code.
    pub code: u16,
    /// The reason for programs, for example `Conflict`.
    pub reason: String,
    /// The message for users.
    pub message: String,
    /// The object and its invalid fields. `None` if the server sends no details.
    pub details: Option<Box<Details>>,
    /// The token to continue an expired list inconsistently.
    pub continue_token: Option<String>,
}

/// The object that a [`Status`] is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// The name of the object.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The API group.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The plural of the resource, or the kind if the object is invalid.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The UID of the object, after a deletion.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// The invalid fields. Empty if a `test` in a patch failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// The seconds until a retry, also sent as the `Retry-After` header.
    #[serde(skip_serializing_if = "is_zero")]
    pub retry_after_seconds: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(seconds: &u32) -> bool {
    *seconds == 0
}

impl Status {
    /// An error without details.
    pub fn new(code: u16, reason: &str, message: impl Into<String>) -> Self {
        let (reason, message) = (reason.into(), message.into());
        Self {
            code,
            reason,
            message,
            details: None,
            continue_token: None,
        }
    }

    /// 422 with a cause for each field, from validation or an admission policy. `group` and `kind` are those
    /// of the object, for example `apps` and `Deployment`.
    pub fn invalid(group: &str, kind: &str, name: &str, causes: Vec<Cause>) -> Self {
        let mut bodies: Vec<String> = Vec::new();
        for cause in &causes {
            let text = if cause.field.is_empty() {
                cause.message.clone()
            } else {
                format!("{}: {}", cause.field, cause.message)
            };
            if !bodies.contains(&text) {
                bodies.push(text);
            }
        }
        let bodies = match bodies.as_slice() {
            [] => String::new(),
            [only] => format!(": {only}"),
            several => format!(": [{}]", several.join(", ")),
        };
        let message = format!("{} {name:?} is invalid{bodies}", qualified(kind, group));
        let mut details = Details::new(group, kind, name);
        details.causes = causes;
        Self::new(422, "Invalid", message).with(details)
    }

    /// 403 from an authorizer or an admission plugin.
    pub fn forbidden(group: &str, plural: &str, name: &str, why: &str) -> Self {
        let shown = match name {
            "" => String::new(),
            name => format!(" {name:?}"),
        };
        let message = format!("{}{shown} is forbidden: {why}", qualified(plural, group));
        Self::new(403, "Forbidden", message).with(Details::new(group, plural, name))
    }

    /// 422 from a ValidatingAdmissionPolicy and a binding with the same name. `why` is its message.
    pub fn denied_by_policy(
        group: &str,
        plural: &str,
        name: &str,
        policy: &str,
        why: &str,
    ) -> Self {
        let message = format!(
            "ValidatingAdmissionPolicy '{policy}' with binding '{policy}' denied request: {why}"
        );
        let mut status = Self::forbidden(group, plural, name, &message);
        (status.code, status.reason) = (422, "Invalid".into());
        status.because(Cause::new("", "", message))
    }

    /// 429 with `Retry-After`.
    pub fn too_many_requests(seconds: u32) -> Self {
        let details = Details {
            retry_after_seconds: seconds,
            ..Details::default()
        };
        let message = "Too many requests, please try again later.";
        Self::new(429, "TooManyRequests", message).with(details)
    }

    /// 500, for example because etcd is unavailable.
    pub fn internal(why: &str) -> Self {
        let message = format!("Internal error occurred: {why}");
        let status = Self::new(500, "InternalError", message).with(Details::default());
        status.because(Cause::new("", "", why))
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    pub(crate) fn not_found(resource: &Resource, name: &str) -> Self {
        let message = format!("{} {name:?} not found", resource.qualified());
        Self::new(404, "NotFound", message).about(resource, name)
    }

    /// 409. `deleting` is whether the existing object waits for finalizers.
    pub(crate) fn already_exists(resource: &Resource, name: &str, deleting: bool) -> Self {
        let waits = if deleting {
            "object is being deleted: "
        } else {
            ""
        };
        let message = format!("{waits}{} {name:?} already exists", resource.qualified());
        Self::new(409, "AlreadyExists", message).about(resource, name)
    }

    pub(crate) fn conflict(resource: &Resource, name: &str, why: &str) -> Self {
        let what = resource.qualified();
        let message = format!("Operation cannot be fulfilled on {what} {name:?}: {why}");
        Self::new(409, "Conflict", message).about(resource, name)
    }

    /// 403, because the Namespace is terminating.
    pub(crate) fn terminating(resource: &Resource, name: &str, namespace: &str) -> Self {
        let why = format!(
            "unable to create new content in namespace {namespace} because it is being terminated"
        );
        let message = format!("namespace {namespace} is being terminated");
        let cause = Cause::new("NamespaceTerminating", "metadata.namespace", message);
        Self::forbidden(&resource.group, &resource.plural, name, &why).because(cause)
    }

    /// 409 for the precondition of a deletion, which names the kind.
    pub(crate) fn conflict_of_kind(resource: &Resource, name: &str, why: &str) -> Self {
        let kind = format!("{}.{}", resource.kind, resource.group);
        let message = format!("Operation cannot be fulfilled on {kind} {name:?}: {why}");
        let details = Details::new(&resource.group, &resource.kind, name);
        Self::new(409, "Conflict", message).with(details)
    }

    /// 422 without causes, for a JSON Patch with a failed `test` or a missing path.
    pub(crate) fn patch_does_not_apply() -> Self {
        let message = "the server rejected our request due to an error in our request";
        Self::new(422, "Invalid", message).with(Details::default())
    }

    /// 404 for an unknown resource in a known group.
    pub(crate) fn no_such_resource() -> Self {
        let message = "the server could not find the requested resource";
        Self::new(404, "NotFound", message).with(Details::default())
    }

    /// 500 without a reason, for an error that the server does not expect.
    pub(crate) fn unexpected(message: impl Into<String>) -> Self {
        Self::new(500, "", message)
    }

    /// 400 for an object without a kind or name.
    pub(crate) fn without_name(name: &str) -> Self {
        Self::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        ))
    }

    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::new(405, "MethodNotAllowed", message).with(Details::default())
    }

    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    pub(crate) fn version_ahead(asked: u64, current: u64) -> Self {
        let details = Details {
            retry_after_seconds: 1,
            ..Details::default()
        };
        let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
        let cause = Cause::new("ResourceVersionTooLarge", "", "Too large resource version");
        Self::new(504, "Timeout", message)
            .with(details)
            .because(cause)
    }

    /// The object in a response body or in an `ERROR` event of a watch.
    pub fn to_value(&self) -> Value {
        let metadata = match &self.continue_token {
            Some(token) => json!({ "continue": token }),
            None => json!({}),
        };
        let mut value = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": metadata, "status": "Failure",
            "message": self.message, "code": self.code,
        });
        if !self.reason.is_empty() {
            value["reason"] = json!(self.reason);
        }
        if let Some(details) = &self.details {
            value["details"] = json!(**details);
        }
        value
    }

    fn with(self, details: Details) -> Self {
        let details = Some(Box::new(details));
        Self { details, ..self }
    }

    fn about(self, resource: &Resource, name: &str) -> Self {
        self.with(Details::new(&resource.group, &resource.plural, name))
    }

    fn because(mut self, cause: Cause) -> Self {
        self.details.get_or_insert_default().causes.push(cause);
        self
    }
}

impl Details {
    pub(crate) fn new(group: &str, kind: &str, name: &str) -> Self {
        Self {
            name: name.into(),
            group: group.into(),
            kind: kind.into(),
            ..Self::default()
        }
    }
}

/// For example `deployments.apps`, or `events` in the core group.
fn qualified(kind: &str, group: &str) -> String {
    let separator = if group.is_empty() { "" } else { "." };
    format!("{kind}{separator}{group}")
}

impl Status {
    pub(crate) fn unsupported_media_type(accepted: &str) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {accepted}"
        );
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// 415 for a patch, from the server's router.
    pub(crate) fn unsupported_patch() -> Self {
        let message = "415: Unsupported Media Type";
        Self::new(415, "UnsupportedMediaType", message).with(Details::default())
    }
}
