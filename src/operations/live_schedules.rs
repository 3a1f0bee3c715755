//! The objects of a cluster that other tools' schedules stand on, as files have them.

use kube::Client;
use serde_json::{Map, Value, json};

use crate::{
    cluster::{FindError, RawList, get_raw, list_raw},
    manifest::Source,
};

/// Which objects are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiveQuery {
    /// Objects of these API versions, plurals and names; those of the core group's `namespaces`
    /// stand in no namespace.
    Named {
        /// The namespace.
        namespace: String,
        /// API version, plural and name.
        names: Vec<(String, String, String)>,
    },
    /// All of one namespace, with itself, or of all; with a label selector workloads alone.
    All {
        /// The namespace; `None` for all.
        namespace: Option<String>,
        /// The label selector.
        selector: Option<String>,
    },
}

/// What was read.
#[derive(Clone, Debug, Default)]
pub struct LiveSchedules {
    /// The objects, each kind as a file of its own.
    pub sources: Vec<Source>,
    /// Why others were not read.
    pub problems: Vec<String>,
}

/// A kind: API version, plural, kind, and whether other tools made it for schedules alone.
const KINDS: [(&str, &str, &str, bool); 12] = [
    ("v1", "namespaces", "Namespace", false),
    ("apps/v1", "deployments", "Deployment", false),
    ("apps/v1", "statefulsets", "StatefulSet", false),
    ("batch/v1", "cronjobs", "CronJob", false),
    (
        "autoscaling/v2",
        "horizontalpodautoscalers",
        "HorizontalPodAutoscaler",
        false,
    ),
    ("argoproj.io/v1alpha1", "rollouts", "Rollout", false),
    // Others scale these, and dayshift does not: that is said of those that have a schedule.
    ("apps/v1", "daemonsets", "DaemonSet", false),
    ("batch/v1", "jobs", "Job", false),
    (
        "policy/v1",
        "poddisruptionbudgets",
        "PodDisruptionBudget",
        false,
    ),
    ("kube-green.com/v1alpha1", "sleepinfos", "SleepInfo", true),
    (
        "autoscaling.alibabacloud.com/v1beta1",
        "cronhorizontalpodautoscalers",
        "CronHorizontalPodAutoscaler",
        true,
    ),
    ("keda.sh/v1alpha1", "scaledobjects", "ScaledObject", true),
];

impl LiveSchedules {
    /// Reads them.
    ///
    /// # Errors
    /// Where the server is absent or unwilling. What the user may not read stands among the
    /// problems.
    pub async fn read(client: &Client, query: &LiveQuery) -> Result<Self, FindError> {
        let mut found = Self::default();
        match query {
            LiveQuery::Named { namespace, names } => {
                for (version, plural, name) in names {
                    let path = object_path(version, plural, namespace, name);
                    match get_raw(client, &path).await? {
                        Some(object) => found.add(plural, version, "", false, &[object]),
                        None => found
                            .problems
                            .push(format!("{plural}/{name} is not in namespace {namespace}")),
                    }
                }
            }
            LiveQuery::All {
                namespace,
                selector,
            } => {
                for (version, plural, kind, is_tool) in KINDS {
                    let is_workload = !is_tool && kind != "Namespace";
                    if selector.is_some() && !is_workload {
                        continue;
                    }
                    let list = match (kind, namespace) {
                        ("Namespace", Some(name)) => {
                            let path = object_path(version, plural, "", name);
                            match get_raw(client, &path).await {
                                Ok(one) => RawList::Items(one.into_iter().collect()),
                                // A Role in the namespace allows the rest.
                                Err(FindError::Refused(why)) => {
                                    found.problems.push(format!(
                                        "the Namespace {name} may not be read, so what stands on it is \
                                         not converted: {why}"
                                    ));
                                    continue;
                                }
                                Err(error) => return Err(error),
                            }
                        }
                        _ => {
                            let path = collection_path(version, plural, namespace.as_deref());
                            list_raw(client, &path, selector.as_deref()).await?
                        }
                    };
                    match list {
                        RawList::Items(items) => {
                            found.add(plural, version, kind, is_tool, &items);
                            if kind == "SleepInfo" {
                                found.add_secrets(client, &items).await?;
                            }
                        }
                        RawList::Absent => {}
                        RawList::Forbidden(message) => found
                            .problems
                            .push(format!("not allowed to list {plural}: {message}")),
                    }
                }
            }
        }
        Ok(found)
    }

    /// The Secrets in which kube-green saves the counts of what sleeps.
    async fn add_secrets(
        &mut self,
        client: &Client,
        sleep_infos: &[Value],
    ) -> Result<(), FindError> {
        let mut secrets = Vec::new();
        for object in sleep_infos {
            let of = |name: &str| object["metadata"][name].as_str().unwrap_or_default();
            let (namespace, name) = (of("namespace"), format!("sleepinfo-{}", of("name")));
            let path = object_path("v1", "secrets", namespace, &name);
            match get_raw(client, &path).await {
                Ok(secret) => secrets.extend(secret),
                Err(FindError::Refused(why)) => self.problems.push(format!(
                    "the Secret {namespace}/{name} may not be read, so the counts that kube-green has \
                     saved there are not converted (convert while everything is awake, or as \
                     somebody who may): {why}"
                )),
                Err(error) => return Err(error),
            }
        }
        let lines = secrets.iter().map(|secret| {
            let mut line = trimmed(secret, "v1", "Secret", false);
            line["data"] = secret["data"].clone();
            line.to_string() + "\n"
        });
        let text: String = lines.collect();
        if !text.is_empty() {
            self.sources.push(Source::new("secrets", text));
        }
        Ok(())
    }

    /// What of these objects schedules have to do with, a line for each.
    fn add(&mut self, plural: &str, version: &str, kind: &str, whole: bool, items: &[Value]) {
        // So many at a time that reading them costs little.
        for items in items.chunks(500) {
            let lines = items
                .iter()
                .map(|it| trimmed(it, version, kind, whole).to_string() + "\n");
            let text: String = lines.collect();
            self.sources.push(Source::new(plural, text));
        }
    }
}

fn trimmed(object: &Value, version: &str, kind: &str, whole: bool) -> Value {
    let of = |name: &str, other: &str| object[name].as_str().unwrap_or(other).to_owned();
    let mut metadata = Map::new();
    for name in ["name", "namespace", "annotations", "labels"] {
        if let Some(value) = object["metadata"].get(name) {
            metadata.insert(name.to_owned(), value.clone());
        }
    }
    let mut trimmed = json!({
        "apiVersion": of("apiVersion", version),
        "kind": of("kind", kind),
        "metadata": metadata,
    });
    if let Some(spec) = object.get("spec").filter(|_| whole) {
        trimmed["spec"] = spec.clone();
    }
    trimmed
}

fn collection_path(version: &str, plural: &str, namespace: Option<&str>) -> String {
    let root = if version.contains('/') { "apis" } else { "api" };
    match namespace {
        Some(namespace) => format!("/{root}/{version}/namespaces/{namespace}/{plural}"),
        None => format!("/{root}/{version}/{plural}"),
    }
}

fn object_path(version: &str, plural: &str, namespace: &str, name: &str) -> String {
    let namespace = Some(namespace).filter(|_| plural != "namespaces");
    format!("{}/{name}", collection_path(version, plural, namespace))
}
