//! Custom kinds: nothing is known of them but where they are served.

use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::names;
use super::resource::{Generation, Resource};
use super::resources::{NAMES, RESOURCES};

/// All that have been named so far, by any server of this process. Like the kinds of the table they
/// live as long as the process: there are as many as its tests name.
static NAMED: Mutex<Vec<&'static Resource>> = Mutex::new(Vec::new());

/// The custom kind of this name, in namespaces and with a status of its own.
pub(crate) fn custom(group: &str, version: &str, plural: &str, kind: &str) -> &'static Resource {
    let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    let known = named.iter().find(|known| {
        (known.group, known.version, known.plural, known.kind) == (group, version, plural, kind)
    });
    if let Some(known) = known {
        return known;
    }
    let keep = |text: &str| -> &'static str { Box::leak(text.into()) };
    let group = keep(group);
    let resource: &'static Resource = Box::leak(Box::new(Resource {
        index: RESOURCES.len() + named.len(),
        group,
        error_group: group,
        version: keep(version),
        kind: keep(kind),
        plural: keep(plural),
        short_name: "",
        namespaced: true,
        custom: true,
        check_name: names::subdomain,
        fields: &NAMES,
        generation: Some(Generation::AllButStatus),
        lifetime: None,
        decode: |_, _| Ok(()),
        complete,
        check: |_, _, _| {},
        empty: "",
    }));
    named.push(resource);
    resource
}

/// The status is its controller's alone; nothing else is touched.
fn complete(new: &mut Value, old: Option<&Value>) {
    let Value::Object(members) = new else { return };
    match old.and_then(|old| old.get("status")) {
        Some(status) => members.insert("status".to_owned(), status.clone()),
        None => members.remove("status"),
    };
}
