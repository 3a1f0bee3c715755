//! The table of cases.

mod autoscalers;
mod cron_jobs;
mod custom;
mod jobs;
mod lists;
mod metadata;
mod namespaces;
mod objects;
mod patches;
mod refusals;
mod stateful_sets;
mod watches;

use super::table::{Case, case};
use serde_json::{Value, json};

/// All cases by the file of their recorded responses.
pub fn all() -> Vec<(&'static str, Vec<Case>)> {
    vec![
        ("objects", objects::cases()),
        ("patches", patches::cases()),
        ("refusals", refusals::cases()),
        ("lists", lists::cases()),
        ("watches", watches::cases()),
        ("statefulsets", stateful_sets::cases()),
        ("cronjobs", cron_jobs::cases()),
        ("jobs", jobs::cases()),
        ("autoscalers", autoscalers::cases()),
        ("namespaces", namespaces::cases()),
        ("metadata", metadata::cases()),
        ("custom", custom::cases()),
    ]
}

/// A minimal Deployment.
pub fn deployment(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "nginx", "image": "nginx:1"}]},
            },
        },
    })
}

/// A minimal CronJob.
fn cron_job(name: &str) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "CronJob",
        "metadata": {"name": name},
        "spec": {
            "schedule": "0 3 * * *",
            "jobTemplate": {"spec": {"template": {"spec": {
                "containers": [{"name": "report", "image": "busybox:1"}],
                "restartPolicy": "Never",
            }}}},
        },
    })
}

fn web() -> Value {
    let mut web = deployment("web");
    web["metadata"]["labels"] = json!({"app": "web", "tier": "front"});
    web["metadata"]["annotations"] = json!({"dayshift/start": "Mon-Fri 09:00", "plain": "x"});
    web["spec"]["replicas"] = json!(3);
    web
}

/// `value` with the field at this JSON pointer set.
fn with(mut value: Value, path: &str, member: Value) -> Value {
    let (parent, key) = path.rsplit_once('/').unwrap();
    match value.pointer_mut(parent).unwrap() {
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = member,
        parent => parent[key] = member,
    }
    value
}

/// `a` and `b` in the namespace of the case, `c` in another one, with a label of their own.
fn apart(name: &'static str) -> Case {
    let labelled = |name: &str| with(deployment(name), "/metadata/labels", json!({"of": "{ns}"}));
    case(name)
        .given_at(
            "/api/v1/namespaces",
            json!({"metadata": {"name": "{ns}-other"}}),
        )
        .given(labelled("a"))
        .given(labelled("b"))
        .given_at(
            "/apis/apps/v1/namespaces/{ns}-other/deployments",
            labelled("c"),
        )
}

/// The field selectors of `--exclude-namespace`.
const EXCLUDING: [(&str, &str); 4] = [
    (
        "excluding another namespace",
        "metadata.namespace!%3D{ns}-other",
    ),
    ("excluding its own namespace", "metadata.namespace!%3D{ns}"),
    (
        "excluding both namespaces",
        "metadata.namespace!%3D{ns},metadata.namespace!%3D{ns}-other",
    ),
    (
        "excluding a missing namespace",
        "metadata.namespace!%3D{ns}-gone",
    ),
];
