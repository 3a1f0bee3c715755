//! Custom kinds: nothing is known of them but where they are served.

use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::names;
use super::resource::{Generation, Resource};
use super::resources::{NAMES, RESOURCES};

/// All that have been named so far, by any server of this process. Like the kinds of the table they
/// live as long as the process: there are as many as its tests name.
static NAMED: Mutex<Vec<(Schema, &'static Resource)>> = Mutex::new(Vec::new());

/// What the schema of a custom kind leaves of its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Schema {
    /// Everything: `x-kubernetes-preserve-unknown-fields`.
    PreservesAll,
    /// Everything but `spec.replicas`, which it does not have and so prunes.
    LacksReplicas,
}

/// The custom kind of this name, in namespaces and with a status of its own.
pub(crate) fn custom(
    schema: Schema,
    group: &str,
    version: &str,
    plural: &str,
    kind: &str,
) -> &'static Resource {
    let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    let known = named.iter().find(|(of, known)| {
        let it = (known.group, known.version, known.plural, known.kind);
        *of == schema && it == (group, version, plural, kind)
    });
    if let Some((_, known)) = known {
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
        complete: match schema {
            Schema::PreservesAll => complete,
            Schema::LacksReplicas => prune,
        },
        check: |_, _, _| {},
        empty: "",
    }));
    named.push((schema, resource));
    resource
}

/// As the API server drops what a structural schema does not have, without a word in the body of
/// its answer (<https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#field-pruning>).
fn prune(new: &mut Value, old: Option<&Value>) {
    complete(new, old);
    if let Some(spec) = new.get_mut("spec").and_then(Value::as_object_mut) {
        spec.remove("replicas");
    }
}

/// The status is its controller's alone; nothing else is touched.
fn complete(new: &mut Value, old: Option<&Value>) {
    let Value::Object(members) = new else { return };
    match old.and_then(|old| old.get("status")) {
        Some(status) => members.insert("status".to_owned(), status.clone()),
        None => members.remove("status"),
    };
}
