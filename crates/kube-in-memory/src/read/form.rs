//! An object as it stands in a response.

use std::io::Write as _;

use serde_json::{Value, json};

use crate::objects::Resource;
use crate::store::Object;

/// How much of an object is shown. The text is the version of `meta.k8s.io`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Whole,
    /// `PartialObjectMetadata`.
    Metadata(&'static str),
    /// `PartialObjectMetadataList`; its items have the form above.
    MetadataList(&'static str),
}

impl Form {
    /// The object of a response: `body` with `kind` and `apiVersion` before it.
    pub(crate) fn object(self, resource: &Resource, body: &[u8]) -> Vec<u8> {
        let mut object = Vec::with_capacity(body.len() + 64);
        self.push(&mut object, resource, body);
        object
    }

    /// The same at the end of `text`.
    pub(super) fn push(self, text: &mut Vec<u8>, resource: &Resource, body: &[u8]) {
        match self.version() {
            None => push_with_kind(text, resource.kind, &resource.api_version(), body),
            Some(version) => {
                let version = format!("meta.k8s.io/{version}");
                push_with_kind(text, "PartialObjectMetadata", &version, &metadata(body));
            }
        }
    }

    /// An item of a list, which has no kind of its own where it is whole and the server knows it.
    pub(super) fn push_item(self, list: &mut Vec<u8>, resource: &Resource, body: &[u8]) {
        match self {
            Self::Whole if !resource.custom => list.extend_from_slice(body),
            _ => self.push(list, resource, body),
        }
    }

    /// The kind and the version of a list.
    pub(super) fn list_kind(self, resource: &Resource) -> (String, String) {
        match self.version() {
            None => (format!("{}List", resource.kind), resource.api_version()),
            Some(version) => {
                let kind = "PartialObjectMetadataList".to_owned();
                (kind, format!("meta.k8s.io/{version}"))
            }
        }
    }

    fn version(self) -> Option<&'static str> {
        match self {
            Self::Whole => None,
            Self::Metadata(version) | Self::MetadataList(version) => Some(version),
        }
    }
}

fn push_with_kind(text: &mut Vec<u8>, kind: &str, version: &str, body: &[u8]) {
    // A write to a vector cannot fail.
    let _ = write!(text, r#"{{"kind":"{kind}","apiVersion":"{version}","#);
    text.extend_from_slice(body.get(1..).unwrap_or_default());
}

/// The object without its other members.
fn metadata(body: &[u8]) -> Vec<u8> {
    let object: Value = serde_json::from_slice(body).unwrap_or_default();
    json!({"metadata": object["metadata"]})
        .to_string()
        .into_bytes()
}

/// The object as a value, with its kind and version.
pub(crate) fn whole_value(resource: &Resource, object: &Object) -> Value {
    let mut value = object.value();
    value["kind"] = json!(resource.kind);
    value["apiVersion"] = json!(resource.api_version());
    value
}
