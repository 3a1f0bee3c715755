//! The built-in kinds, and custom kinds. To add a built-in kind, add an entry to [`RESOURCES`].

use std::{borrow::Cow, time::Duration};

use serde_json::Value;

use crate::objects::{
    autoscaler, cron_job, deployment, event, job, metadata, names,
    resource::{Generation, Resource},
    stateful_set,
};

/// The field selectors of most kinds.
pub(super) const NAMES: [&str; 2] = ["metadata.name", "metadata.namespace"];

/// The built-in kinds.
pub(crate) static RESOURCES: [Resource; 7] = [
    Resource {
        index: 0,
        group: Cow::Borrowed(""),
        error_group: Cow::Borrowed(""),
        version: Cow::Borrowed("v1"),
        kind: Cow::Borrowed("Namespace"),
        plural: Cow::Borrowed("namespaces"),
        short_name: "ns",
        namespaced: false,
        custom: false,
        check_name: names::dns_label,
        fields: &["metadata.name", "status.phase"],
        generation: None,
        lifetime: None,
        decode: |_, _| Ok(()),
        complete: metadata::complete_namespace,
        check: metadata::check_namespace,
        empty: r#","spec":{},"status":{}"#,
    },
    Resource {
        index: 1,
        group: Cow::Borrowed("apps"),
        error_group: Cow::Borrowed("apps"),
        version: Cow::Borrowed("v1"),
        kind: Cow::Borrowed("Deployment"),
        plural: Cow::Borrowed("deployments"),
        short_name: "deploy",
        namespaced: true,
        custom: false,
        check_name: names::subdomain,
        fields: &NAMES,
        generation: Some(Generation::SpecAndAnnotations),
        lifetime: None,
        decode: deployment::decode,
        complete: deployment::complete,
        check: deployment::check,
        empty: deployment::EMPTY,
    },
    Resource {
        index: 2,
        group: Cow::Borrowed("events.k8s.io"),
        error_group: Cow::Borrowed(""),
        version: Cow::Borrowed("v1"),
        kind: Cow::Borrowed("Event"),
        plural: Cow::Borrowed("events"),
        short_name: "ev",
        namespaced: true,
        custom: false,
        check_name: names::subdomain,
        fields: &NAMES,
        generation: None,
        lifetime: Some(Duration::from_secs(3600)),
        decode: |_, _| Ok(()),
        complete: event::complete,
        check: event::check,
        empty: event::EMPTY,
    },
    Resource {
        index: 3,
        group: Cow::Borrowed("apps"),
        error_group: Cow::Borrowed("apps"),
        version: Cow::Borrowed("v1"),
        kind: Cow::Borrowed("StatefulSet"),
        plural: Cow::Borrowed("statefulsets"),
        short_name: "sts",
        namespaced: true,
        custom: false,
        check_name: names::dns_label,
        fields: &NAMES,
        generation: Some(Generation::Spec),
        lifetime: None,
        decode: stateful_set::decode,
        complete: stateful_set::complete,
        check: stateful_set::check,
        empty: stateful_set::EMPTY,
    },
    Resource {
        index: 4,
        group: Cow::Borrowed("batch"),
        error_group: Cow::Borrowed("batch"),
        version: Cow::Borrowed("v1"),
        kind: Cow::Borrowed("CronJob"),
        plural: Cow::Borrowed("cronjobs"),
        short_name: "cj",
        namespaced: true,
        custom: false,
        check_name: names::subdomain,
        fields: &NAMES,
        generation: Some(Generation::Spec),
        lifetime: None,
        decode: cron_job::decode,
        complete: cron_job::complete,
        check: cron_job::check,
        empty: cron_job::EMPTY,
    },
    Resource {
        index: 5,
        group: Cow::Borrowed("autoscaling"),
        error_group: Cow::Borrowed("autoscaling"),
        version: Cow::Borrowed("v2"),
        kind: Cow::Borrowed("HorizontalPodAutoscaler"),
        plural: Cow::Borrowed("horizontalpodautoscalers"),
        short_name: "hpa",
        namespaced: true,
        custom: false,
        check_name: names::subdomain,
        fields: &NAMES,
        generation: None,
        lifetime: None,
        decode: autoscaler::decode,
        complete: autoscaler::complete,
        check: autoscaler::check,
        empty: autoscaler::EMPTY,
    },
    Resource {
        index: 6,
        group: Cow::Borrowed("batch"),
        error_group: Cow::Borrowed("batch"),
        version: Cow::Borrowed("v1"),
        kind: Cow::Borrowed("Job"),
        plural: Cow::Borrowed("jobs"),
        short_name: "",
        namespaced: true,
        custom: false,
        check_name: names::subdomain,
        fields: &NAMES,
        generation: Some(Generation::Spec),
        lifetime: None,
        decode: job::decode,
        complete: job::complete,
        check: job::check,
        empty: job::EMPTY,
    },
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
        error_group: own(group),
        version: own(version),
        kind: own(kind),
        plural: own(plural),
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
