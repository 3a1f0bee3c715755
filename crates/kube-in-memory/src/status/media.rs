//! Refusals of what a client sends, or wants to be sent, in another form than there is.

use super::refusal::{Details, Status};
use crate::objects::Resource;

impl Status {
    pub(crate) fn unsupported_media_type(accepted: &str) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {accepted}"
        );
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// 415 for a patch, which the server's router refuses before its handler.
    pub(crate) fn unsupported_patch() -> Self {
        let message = "415: Unsupported Media Type";
        Self {
            details: Some(Box::<Details>::default()),
            ..Self::new(415, "UnsupportedMediaType", message)
        }
    }

    /// 406; a collection can be watched, so there are more forms of it.
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

    /// 406: none of the forms that a client takes is one of the server's.
    pub(crate) fn no_such_form() -> Self {
        Self::new(
            406,
            "NotAcceptable",
            "only the following media types are accepted: application/json, application/yaml, \
             application/vnd.kubernetes.protobuf",
        )
    }

    /// 406: the metadata of a list as if it were one object.
    pub(crate) fn form_of_a_list(resource: &Resource) -> Self {
        let why = format!(
            "you requested PartialObjectMetadata, but the requested object is a list ({}List)",
            go_type(resource)
        );
        Self::new(406, "NotAcceptable", why)
    }

    /// 406: the metadata of an object as if it were a list.
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

/// What the server's code calls the kind.
fn go_type(resource: &Resource) -> String {
    if resource.custom {
        return "*unstructured.Unstructured".to_owned();
    }
    let package = match resource.group {
        "" | "events.k8s.io" => "core",
        group => group.split('.').next().unwrap_or(group),
    };
    format!("*{package}.{}", resource.kind)
}
