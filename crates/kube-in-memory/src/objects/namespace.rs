//! What the server does to Namespaces.

use serde_json::{Value, json};

use crate::status::Cause;

/// Names the namespace in a label, and makes it active.
pub(crate) fn complete(new: &mut Value, old: Option<&Value>) {
    let name = new["metadata"]["name"].clone();
    new["metadata"]["labels"]["kubernetes.io/metadata.name"] = name;
    match old {
        None => {
            new["spec"] = json!({"finalizers": ["kubernetes"]});
            new["status"] = json!({"phase": "Active"});
        }
        Some(old) => {
            new["spec"] = old["spec"].clone();
            new["status"] = old["status"].clone();
        }
    }
}

/// Nothing besides the metadata.
pub(crate) fn check(_: &Value, _: Option<&Value>, _: &mut Vec<Cause>) {}
