//! Events of `events.k8s.io/v1`: defaults and validation.

use serde_json::Value;

use crate::cause::Cause;
use crate::objects::names;

/// The fields of an Event in a bookmark.
pub(crate) const EMPTY: &str = r#","eventTime":null,"regarding":{},"deprecatedSource":{},"deprecatedFirstTimestamp":null,"deprecatedLastTimestamp":null"#;

/// Sets the fields that the server always shows.
pub(crate) fn complete(new: &mut Value, _: Option<&Value>) {
    for key in ["regarding", "deprecatedSource"] {
        if new[key].is_null() {
            new[key] = Value::Object(serde_json::Map::new());
        }
    }
    for key in ["deprecatedFirstTimestamp", "deprecatedLastTimestamp"] {
        // Go writes a missing time as null.
        let _ = &mut new[key];
    }
}

/// Validates required fields, lengths and the namespace.
pub(crate) fn check(new: &Value, _: Option<&Value>, causes: &mut Vec<Cause>) {
    let text = |key: &str| new[key].as_str().unwrap_or_default();
    let namespace = new["metadata"]["namespace"].as_str().unwrap_or_default();
    let about = new["regarding"]["namespace"].as_str().unwrap_or_default();
    let timed = !text("eventTime").is_empty();
    let elsewhere = if timed {
        about.is_empty() && !matches!(namespace, "default" | "kube-system")
    } else if about.is_empty() {
        namespace != "default"
    } else {
        about != namespace
    };
    if elsewhere {
        let (field, why) = ("involvedObject.namespace", "does not match event.namespace");
        causes.push(Cause::invalid_text(field, about, why));
    }
    if timed {
        let controller = text("reportingController");
        if controller.is_empty() {
            causes.push(Cause::required("reportingController", ""));
        }
        for why in names::label_key(controller) {
            causes.push(Cause::invalid_text("reportingController", controller, &why));
        }
        for (key, required, limit) in [
            ("reportingInstance", true, 128),
            ("action", true, 128),
            ("reason", true, 128),
            ("note", false, 1024),
        ] {
            let field = if key == "note" { "message" } else { key };
            if required && text(key).is_empty() {
                causes.push(Cause::required(field, ""));
            }
            if text(key).len() > limit {
                let why = format!("can have at most {limit} characters");
                causes.push(Cause::invalid_text(field, "", &why));
            }
        }
    } else {
        causes.push(Cause::required("eventTime", ""));
    }
    if !matches!(text("type"), "Normal" | "Warning") {
        let why = format!("has invalid value: {}", text("type"));
        causes.push(Cause::invalid_text("type", "", &why));
    }
}
