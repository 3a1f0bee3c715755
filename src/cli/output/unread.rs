//! What could not be read, for other programs: `unread` of every report.

use dayshift_manifest::OpenError;
use dayshift_operations::status::Unreadable;
use serde_json::{Value, json};

/// A file or folder, and why.
pub(crate) fn of_file(error: &OpenError) -> Value {
    json!({"file": error.name(), "message": error.to_string()})
}

/// A kind of the cluster, why, and what helps.
pub(crate) fn of_resource(it: &Unreadable) -> Value {
    json!({"resource": it.resource, "message": it.text, "cure": it.cure})
}
