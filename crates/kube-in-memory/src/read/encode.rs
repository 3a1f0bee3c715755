//! An object as it stands in a response.

use serde_json::{Value, json};

use crate::objects::Resource;
use crate::store::Object;

/// The object of a response: `body` with `kind` and `apiVersion` before it.
pub(crate) fn whole(resource: &Resource, body: &[u8]) -> Vec<u8> {
    let (kind, version) = (resource.kind, resource.api_version());
    let mut object = format!(r#"{{"kind":"{kind}","apiVersion":"{version}","#).into_bytes();
    object.extend_from_slice(body.get(1..).unwrap_or_default());
    object
}

/// The same as a value.
pub(crate) fn whole_value(resource: &Resource, object: &Object) -> Value {
    let mut value = object.value();
    value["kind"] = json!(resource.kind);
    value["apiVersion"] = json!(resource.api_version());
    value
}
