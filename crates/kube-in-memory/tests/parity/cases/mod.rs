//! The table, in the order in which one would ask.

mod autoscalers;
mod cron_jobs;
mod cron_schedules;
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

/// All cases, by the file that holds their recorded answers.
pub fn all() -> Vec<(&'static str, Vec<Case>)> {
    vec![
        ("objects", objects::cases()),
        ("patches", patches::cases()),
        ("refusals", refusals::cases()),
        ("lists", lists::cases()),
        ("watches", watches::cases()),
        ("statefulsets", stateful_sets::cases()),
        ("cronjobs", cron_jobs::cases()),
        ("cronschedules", cron_schedules::cases()),
        ("jobs", jobs::cases()),
        ("autoscalers", autoscalers::cases()),
        ("namespaces", namespaces::cases()),
        ("metadata", metadata::cases()),
        ("custom", custom::cases()),
    ]
}

/// A Deployment that is as small as it may be.
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

/// A CronJob that is as small as it may be.
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

/// `web` with labels and annotations.
fn web() -> Value {
    let mut web = deployment("web");
    web["metadata"]["labels"] = json!({"app": "web", "tier": "front"});
    web["metadata"]["annotations"] = json!({"dayshift/start": "Mon-Fri 09:00", "plain": "x"});
    web["spec"]["replicas"] = json!(3);
    web
}

/// `value` with the member at a JSON pointer's path set; its parent is there.
fn with(mut value: Value, path: &str, member: Value) -> Value {
    let (parent, key) = path.rsplit_once('/').unwrap();
    match value.pointer_mut(parent).unwrap() {
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = member,
        parent => parent[key] = member,
    }
    value
}

/// `a` and `b` in the case's namespace, `c` in another one; no other case has their label.
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

/// What `--exclude-namespace` asks for.
const EXCLUDING: [(&str, &str); 4] = [
    (
        "but for another namespace",
        "metadata.namespace!%3D{ns}-other",
    ),
    ("but for its own namespace", "metadata.namespace!%3D{ns}"),
    (
        "but for both namespaces",
        "metadata.namespace!%3D{ns},metadata.namespace!%3D{ns}-other",
    ),
    (
        "but for a namespace that is not there",
        "metadata.namespace!%3D{ns}-gone",
    ),
];
