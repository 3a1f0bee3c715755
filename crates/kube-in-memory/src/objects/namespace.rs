//! What the server does to Namespaces.

use serde_json::{Value, json};

use super::metadata;
use crate::cause::Cause;

/// The namespaces that may not be deleted.
pub(crate) const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

/// Names the namespace in a label, and makes it active.
pub(crate) fn complete(new: &mut Value, old: Option<&Value>) {
    let name = new["metadata"]["name"].clone();
    new["metadata"]["labels"]["kubernetes.io/metadata.name"] = name;
    match old {
        None => {
            let mut finalizers = match new["spec"]["finalizers"].take() {
                Value::Array(given) => given,
                _ => Vec::new(),
            };
            let own = json!("kubernetes");
            if !finalizers.contains(&own) {
                finalizers.push(own);
            }
            new["spec"] = json!({"finalizers": finalizers});
            new["status"] = json!({"phase": "Active"});
        }
        Some(old) => {
            new["spec"] = old["spec"].clone();
            new["status"] = old["status"].clone();
        }
    }
}

/// Nothing besides the metadata, at which the server looks once more when it has changed.
pub(crate) fn check(new: &Value, old: Option<&Value>, causes: &mut Vec<Cause>) {
    if old.is_some() {
        metadata::check_maps(new, causes);
    }
}
