//! The built-in kinds, and custom kinds. To add a built-in kind, add an entry to [`RESOURCES`].

use std::borrow::Cow;

use serde_json::Value;

use crate::objects::{
    autoscaler, cron_job, deployment, event, job, metadata, names,
    resource::{CheckName, CheckObject, CompleteObject, DecodeObject, Generation, Resource},
    stateful_set,
};

/// The functions that decode objects, set their defaults and validate them.
type Functions = (DecodeObject, CompleteObject, CheckObject);

/// A namespaced built-in kind. `names` are its group, version, kind, plural and short name.
const fn built_in(
    index: usize,
    names: [&'static str; 5],
    check_name: CheckName,
    generation: Option<Generation>,
    (decode, complete, check): Functions,
    empty: &'static str,
) -> Resource {
    let [group, version, kind, plural, short_name] = names;
    Resource {
        index,
        group: Cow::Borrowed(group),
        version: Cow::Borrowed(version),
        kind: Cow::Borrowed(kind),
        plural: Cow::Borrowed(plural),
        short_name,
        custom: false,
        check_name,
        generation,
        decode,
        complete,
        check,
        empty,
    }
}

/// The built-in kinds.
pub(crate) static RESOURCES: [Resource; 7] = [
    built_in(
        0,
        ["", "v1", "Namespace", "namespaces", "ns"],
        names::dns_label,
        None,
        (
            |_, _| Ok(()),
            metadata::complete_namespace,
            metadata::check_namespace,
        ),
        r#","spec":{},"status":{}"#,
    ),
    built_in(
        1,
        ["apps", "v1", "Deployment", "deployments", "deploy"],
        names::subdomain,
        Some(Generation::SpecAndAnnotations),
        (deployment::decode, deployment::complete, deployment::check),
        deployment::EMPTY,
    ),
    built_in(
        2,
        ["events.k8s.io", "v1", "Event", "events", "ev"],
        names::subdomain,
        None,
        (|_, _| Ok(()), event::complete, event::check),
        event::EMPTY,
    ),
    built_in(
        3,
        ["apps", "v1", "StatefulSet", "statefulsets", "sts"],
        names::dns_label,
        Some(Generation::Spec),
        (
            stateful_set::decode,
            stateful_set::complete,
            stateful_set::check,
        ),
        stateful_set::EMPTY,
    ),
    built_in(
        4,
        ["batch", "v1", "CronJob", "cronjobs", "cj"],
        names::subdomain,
        Some(Generation::Spec),
        (cron_job::decode, cron_job::complete, cron_job::check),
        cron_job::EMPTY,
    ),
    built_in(
        5,
        [
            "autoscaling",
            "v2",
            "HorizontalPodAutoscaler",
            "horizontalpodautoscalers",
            "hpa",
        ],
        names::subdomain,
        None,
        (autoscaler::decode, autoscaler::complete, autoscaler::check),
        autoscaler::EMPTY,
    ),
    built_in(
        6,
        ["batch", "v1", "Job", "jobs", ""],
        names::subdomain,
        Some(Generation::Spec),
        (job::decode, job::complete, job::check),
        job::EMPTY,
    ),
];

pub(crate) const NAMESPACES: &Resource = &RESOURCES[0];
pub(crate) const DEPLOYMENTS: &Resource = &RESOURCES[1];

/// The schema of a custom kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Schema {
    /// `x-kubernetes-preserve-unknown-fields`.
    PreservesAll,
    /// No `spec.replicas`, which is pruned.
    LacksReplicas,
}

/// A namespaced custom kind with a status subresource. `index` is its table in the store.
pub(crate) fn custom(
    schema: Schema,
    index: usize,
    group: &str,
    version: &str,
    plural: &str,
    kind: &str,
) -> Resource {
    let own = |text: &str| Cow::Owned(text.to_owned());
    Resource {
        index,
        group: own(group),
        version: own(version),
        kind: own(kind),
        plural: own(plural),
        short_name: "",
        custom: true,
        check_name: names::subdomain,
        generation: Some(Generation::AllButStatus),
        decode: |_, _| Ok(()),
        complete: match schema {
            Schema::PreservesAll => complete,
            Schema::LacksReplicas => prune,
        },
        check: |_, _, _| {},
        empty: "",
    }
}

/// Prunes a field that a structural schema does not have
/// (<https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#field-pruning>).
/// The response contains no warning.
fn prune(new: &mut Value, old: Option<&Value>) {
    complete(new, old);
    if let Some(spec) = new.get_mut("spec").and_then(Value::as_object_mut) {
        spec.remove("replicas");
    }
}

/// Only the controller can set the status.
fn complete(new: &mut Value, old: Option<&Value>) {
    let Value::Object(members) = new else { return };
    match old.and_then(|old| old.get("status")) {
        Some(status) => members.insert("status".to_owned(), status.clone()),
        None => members.remove("status"),
    };
}
