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
        let whole = if group.is_empty() {
            kind.to_owned()
        } else {
            format!("{kind}.{group}")
        };
        let message = match bodies.as_slice() {
            [] => format!("{whole} {name:?} is invalid"),
            [only] => format!("{whole} {name:?} is invalid: {only}"),
            several => format!("{whole} {name:?} is invalid: [{}]", several.join(", ")),
        };
        let details = Details {
            name: name.into(),
            group: group.into(),
            kind: kind.into(),
            causes,
            ..Details::default()
        };
        Self {
            details: Some(Box::new(details)),
            ..Self::new(422, "Invalid", message)
        }
    }

    /// 403 from an authorizer or an admission plugin.
    pub fn forbidden(group: &str, plural: &str, name: &str, why: &str) -> Self {
        let whole = if group.is_empty() {
            plural.to_owned()
        } else {
            format!("{plural}.{group}")
        };
        let message = if name.is_empty() {
            format!("{whole} is forbidden: {why}")
        } else {
            format!("{whole} {name:?} is forbidden: {why}")
        };
        let details = Details {
            name: name.into(),
            group: group.into(),
            kind: plural.into(),
            ..Details::default()
        };
        Self {
            details: Some(Box::new(details)),
            ..Self::new(403, "Forbidden", message)
        }
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
        if let Some(details) = &mut status.details {
            details.causes.push(Cause {
                reason: String::new(),
                message,
                field: String::new(),
            });
        }
        status
    }

    /// 429 with `Retry-After`.
    pub fn too_many_requests(seconds: u32) -> Self {
        let details = Details {
            retry_after_seconds: seconds,
            ..Details::default()
        };
        let message = "Too many requests, please try again later.";
        Self {
            details: Some(Box::new(details)),
            ..Self::new(429, "TooManyRequests", message)
        }
    }

    /// 500, for example because etcd is unavailable.
    pub fn internal(why: &str) -> Self {
        let cause = Cause {
            reason: String::new(),
            message: why.into(),
            field: String::new(),
        };
        let details = Details {
            causes: vec![cause],
            ..Details::default()
        };
        let message = format!("Internal error occurred: {why}");
        Self {
            details: Some(Box::new(details)),
            ..Self::new(500, "InternalError", message)
        }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    pub(crate) fn not_found(resource: &Resource, name: &str) -> Self {
        let message = format!("{} {name:?} not found", resource.qualified());
        Self::about(resource, name, Self::new(404, "NotFound", message))
    }

    /// 409. `deleting` is whether the existing object waits for finalizers.
    pub(crate) fn already_exists(resource: &Resource, name: &str, deleting: bool) -> Self {
        let waits = if deleting {
            "object is being deleted: "
        } else {
            ""
        };
        let message = format!("{waits}{} {name:?} already exists", resource.qualified());
        Self::about(resource, name, Self::new(409, "AlreadyExists", message))
    }

    pub(crate) fn conflict(resource: &Resource, name: &str, why: &str) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {} {name:?}: {why}",
            resource.qualified()
        );
        Self::about(resource, name, Self::new(409, "Conflict", message))
    }

    /// 403, because the Namespace is terminating.
    pub(crate) fn terminating(resource: &Resource, name: &str, namespace: &str) -> Self {
        let why = format!(
            "unable to create new content in namespace {namespace} because it is being terminated"
        );
        let mut status = Self::forbidden(&resource.group, &resource.plural, name, &why);
        if let Some(details) = &mut status.details {
            details.causes.push(Cause {
                reason: "NamespaceTerminating".into(),
                message: format!("namespace {namespace} is being terminated"),
                field: "metadata.namespace".into(),
            });
        }
        status
    }

    /// 409 for the precondition of a deletion, which names the kind.
    pub(crate) fn conflict_of_kind(resource: &Resource, name: &str, why: &str) -> Self {
        let kind = format!("{}.{}", resource.kind, resource.group);
        let message = format!("Operation cannot be fulfilled on {kind} {name:?}: {why}");
        let mut status = Self::about(resource, name, Self::new(409, "Conflict", message));
        if let Some(details) = &mut status.details {
            details.kind = resource.kind.to_string();
        }
        status
    }

    /// 422 without causes, for a JSON Patch with a failed `test` or a missing path.
    pub(crate) fn patch_does_not_apply() -> Self {
        let message = "the server rejected our request due to an error in our request";
        Self {
            details: Some(Box::default()),
            ..Self::new(422, "Invalid", message)
        }
    }

    /// 404 for an unknown resource in a known group.
    pub(crate) fn no_such_resource() -> Self {
        let message = "the server could not find the requested resource";
        Self {
            details: Some(Box::default()),
            ..Self::new(404, "NotFound", message)
        }
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
        Self {
            details: Some(Box::default()),
            ..Self::new(405, "MethodNotAllowed", message)
        }
    }

    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    pub(crate) fn version_ahead(asked: u64, current: u64) -> Self {
        let cause = Cause {
            reason: "ResourceVersionTooLarge".into(),
            message: "Too large resource version".into(),
            field: String::new(),
        };
        let details = Details {
            causes: vec![cause],
            retry_after_seconds: 1,
            ..Details::default()
        };
        let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
        Self {
            details: Some(Box::new(details)),
            ..Self::new(504, "Timeout", message)
        }
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

    fn about(resource: &Resource, name: &str, status: Self) -> Self {
        let details = Details {
            name: name.into(),
            group: resource.group.to_string(),
            kind: resource.plural.to_string(),
            ..Details::default()
        };
        Self {
            details: Some(Box::new(details)),
            ..status
        }
    }
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
        Self {
            details: Some(Box::<Details>::default()),
            ..Self::new(415, "UnsupportedMediaType", message)
        }
    }

    /// 406. A collection supports more media types, because it can be watched.
    pub(crate) fn not_acceptable(collection: bool) -> Self {
        let mut message = "406: Not Acceptable\n\nAvailable representations: application/json, \
                           application/yaml, application/vnd.kubernetes.protobuf"
            .to_owned();
        if collection {
            message +=
                ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
        }
        Self {
            details: Some(Box::<Details>::default()),
            ..Self::new(406, "NotAcceptable", message)
        }
    }

    /// 406 if the server supports none of the accepted representations.
    pub(crate) fn no_such_form() -> Self {
        Self::new(
            406,
            "NotAcceptable",
            "only the following media types are accepted: application/json, application/yaml, \
             application/vnd.kubernetes.protobuf",
        )
    }

    /// 406 for partial metadata of a list as one object.
    pub(crate) fn form_of_a_list(resource: &Resource) -> Self {
        let why = format!(
            "you requested PartialObjectMetadata, but the requested object is a list ({}List)",
            go_type(resource)
        );
        Self::new(406, "NotAcceptable", why)
    }

    /// 406 for partial metadata of an object as a list.
    pub(crate) fn form_of_an_object(resource: &Resource) -> Self {
        if resource.custom {
            return Self::unexpected("content is not a list");
        }
        let why = format!(
            "you requested PartialObjectMetadataList, but the requested object is not a list ({})",
            go_type(resource)
        );
        Self::new(406, "NotAcceptable", why)
    }
}

/// The name of the kind in the server's Go code.
fn go_type(resource: &Resource) -> String {
    if resource.custom {
        return "*unstructured.Unstructured".to_owned();
    }
    let package = match &*resource.group {
        "" | "events.k8s.io" => "core",
        group => group.split('.').next().unwrap_or(group),
    };
    format!("*{package}.{}", resource.kind)
}
