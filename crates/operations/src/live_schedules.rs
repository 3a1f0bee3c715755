//! Reads the objects of a cluster that have schedules of other tools, as if they were manifest files,
//! for `dayshift convert`.

use dayshift_cluster::{
    Query,
    read::{FindError, QueryPart, RawList, get_raw, list_raw, namespace_exists, no_namespaces},
};
use dayshift_manifest::SourceFile;
use dayshift_workload::KindTable;
use kube::Client;
use serde_json::{Map, Value, json};

/// The objects that were read.
#[derive(Clone, Debug, Default)]
pub struct LiveSchedules {
    /// The objects, each kind as a separate file.
    pub sources: Vec<SourceFile>,
    /// Why some objects were not read.
    pub problems: Vec<String>,
}

/// How an object is related to schedules.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScheduleRole {
    /// Its annotations are the schedule of the workloads in it.
    Namespace,
    /// Its annotations are its schedule.
    Workload,
    /// Its spec is the schedule of another tool.
    Schedule,
}

/// A collection of objects: their role, API version, plural and kind.
type Collection<'r> = (ScheduleRole, &'r str, &'r str, &'r str);

/// The collections that are listed if no objects are selected.
#[rustfmt::skip]
const COLLECTIONS: [Collection<'_>; 11] = [
    (ScheduleRole::Namespace, "v1", "namespaces", "Namespace"),
    (ScheduleRole::Workload, "apps/v1", "deployments", "Deployment"),
    (ScheduleRole::Workload, "apps/v1", "statefulsets", "StatefulSet"),
    (ScheduleRole::Workload, "batch/v1", "cronjobs", "CronJob"),
    (ScheduleRole::Workload, "autoscaling/v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler"),
    // Other tools scale these kinds and dayshift does not. The conversion reports those with a schedule.
    (ScheduleRole::Workload, "apps/v1", "daemonsets", "DaemonSet"),
    (ScheduleRole::Workload, "batch/v1", "jobs", "Job"),
    (ScheduleRole::Workload, "policy/v1", "poddisruptionbudgets", "PodDisruptionBudget"),
    (ScheduleRole::Schedule, "kube-green.com/v1alpha1", "sleepinfos", "SleepInfo"),
    (ScheduleRole::Schedule, "autoscaling.alibabacloud.com/v1beta1", "cronhorizontalpodautoscalers", "CronHorizontalPodAutoscaler"),
    (ScheduleRole::Schedule, "keda.sh/v1alpha1", "scaledobjects", "ScaledObject"),
];

impl LiveSchedules {
    /// Reads the workloads that a query names, and some Namespaces.
    ///
    /// # Errors
    /// If the API server cannot be reached or fails, or rejects a request.
    pub async fn named(
        client: &Client,
        query: &Query,
        namespaces: &[String],
    ) -> Result<Self, FindError> {
        let mut found = Self::default();
        for QueryPart {
            kind,
            namespace,
            name,
        } in query.parts()
        {
            if let (Some(namespace), Some(name)) = (namespace, name) {
                let resource = (&*kind.api_version(), kind.plural());
                found.read_one(client, resource, namespace, name).await?;
            }
        }
        for name in namespaces {
            let resource = ("v1", "namespaces");
            found.read_one(client, resource, "", name).await?;
        }
        Ok(found)
    }

    /// Reads all objects of one namespace and its Namespace, or of all namespaces. If there is a label
    /// selector, only the workloads that match it.
    ///
    /// # Errors
    /// If the API server cannot be reached or fails. A missing permission is not an error; it is one of
    /// the problems.
    pub async fn all(
        client: &Client,
        namespace: Option<&str>,
        selector: Option<&str>,
    ) -> Result<Self, FindError> {
        let mut found = Self::default();
        for collection in COLLECTIONS {
            if selector.is_none() || collection.0 == ScheduleRole::Workload {
                let read = found.read_all(client, collection, namespace, selector);
                read.await?;
            }
        }
        found.read_operators(client, namespace, selector).await?;
        if let Some(name) = namespace
            && found.sources.is_empty()
            && found.problems.is_empty()
            && namespace_exists(client, name).await == Some(false)
        {
            found.problems.push(no_namespaces(&[name]));
        }
        Ok(found)
    }

    async fn read_one(
        &mut self,
        client: &Client,
        (api_version, plural): (&str, &str),
        namespace: &str,
        name: &str,
    ) -> Result<(), FindError> {
        let path = object_path(api_version, plural, namespace, name);
        match get_raw(client, &path).await? {
            Some(object) => self.add(plural, &[trimmed(&object, api_version, "")]),
            None => self
                .problems
                .push(format!("{plural}/{name} is not in namespace {namespace}")),
        }
        Ok(())
    }

    async fn read_all(
        &mut self,
        client: &Client,
        (role, api_version, plural, kind): Collection<'_>,
        namespace: Option<&str>,
        selector: Option<&str>,
    ) -> Result<(), FindError> {
        let kept = |object: Value| match role {
            ScheduleRole::Schedule => with_spec(&object, api_version, kind),
            ScheduleRole::Namespace | ScheduleRole::Workload => trimmed(&object, api_version, kind),
        };
        let list = match (role, namespace) {
            (ScheduleRole::Namespace, Some(name)) => {
                let path = object_path(api_version, plural, "", name);
                match get_raw(client, &path).await {
                    Ok(one) => RawList::Items(one.into_iter().map(kept).collect()),
                    // A Role might still allow reading the objects in the namespace.
                    Err(FindError::Rejected(why)) => {
                        self.problems.push(format!(
                            "not allowed to read the Namespace {name}, so its annotations are not \
                            converted: {why}"
                        ));
                        return Ok(());
                    }
                    Err(error) => return Err(error),
                }
            }
            _ => {
                let path = collection_path(api_version, plural, namespace);
                list_raw(client, &path, selector, kept).await?
            }
        };
        match list {
            RawList::Items(items) => {
                self.add(plural, &items);
                if kind == "SleepInfo" {
                    self.add_secrets(client, &items).await?;
                }
            }
            RawList::Absent => {}
            RawList::Forbidden(message) => self
                .problems
                .push(format!("not allowed to list {plural}: {message}")),
        }
        Ok(())
    }

    /// Reads the custom resources of the kind table, each group in the version that the server prefers.
    async fn read_operators(
        &mut self,
        client: &Client,
        namespace: Option<&str>,
        selector: Option<&str>,
    ) -> Result<(), FindError> {
        let groups = match get_raw(client, "/apis").await {
            Ok(groups) => groups.unwrap_or_default(),
            Err(FindError::Rejected(why)) => {
                let problem = format!("not allowed to list the kinds of operators: {why}");
                self.problems.push(problem);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let groups = groups["groups"].as_array().map_or(&[][..], Vec::as_slice);
        for kind in KindTable::default().operators() {
            let group = groups.iter().find(|group| group["name"] == kind.group());
            let preferred =
                group.and_then(|group| group["preferredVersion"]["groupVersion"].as_str());
            if let Some(version) = preferred {
                let collection = (ScheduleRole::Workload, version, kind.plural(), kind.name());
                let read = self.read_all(client, collection, namespace, selector);
                read.await?;
            }
        }
        Ok(())
    }

    /// Reads the Secrets in which kube-green saves the counts of sleeping workloads.
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
                Err(FindError::Rejected(why)) => self.problems.push(format!(
                    "the Secret {namespace}/{name} may not be read, so the counts that kube-green has \
                     saved there are not converted (convert while everything is awake, or as a \
                     user who can read it): {why}"
                )),
                Err(error) => return Err(error),
            }
        }
        let lines = secrets.iter().map(|secret| {
            let mut line = trimmed(secret, "v1", "Secret");
            line["data"] = secret["data"].clone();
            line.to_string() + "\n"
        });
        let text: String = lines.collect();
        if !text.is_empty() {
            self.sources.push(SourceFile::new("secrets", text));
        }
        Ok(())
    }

    /// Adds the objects as one line of JSON each.
    fn add(&mut self, plural: &str, items: &[Value]) {
        // Keep the files small, so that parsing them needs little memory.
        for items in items.chunks(500) {
            let lines = items.iter().map(|item| item.to_string() + "\n");
            let text: String = lines.collect();
            self.sources.push(SourceFile::new(plural, text));
        }
    }
}

/// Reduces an object to the fields that conversion needs. The items of a list do not contain their kind.
fn trimmed(object: &Value, api_version: &str, kind: &str) -> Value {
    let of = |name: &str, other: &str| object[name].as_str().unwrap_or(other).to_owned();
    let mut metadata = Map::new();
    for name in ["name", "namespace", "annotations", "labels"] {
        if let Some(value) = object["metadata"].get(name) {
            metadata.insert(name.to_owned(), value.clone());
        }
    }
    json!({
        "apiVersion": of("apiVersion", api_version),
        "kind": of("kind", kind),
        "metadata": metadata,
    })
}

/// Like [`trimmed`], with the spec.
fn with_spec(object: &Value, api_version: &str, kind: &str) -> Value {
    let mut trimmed = trimmed(object, api_version, kind);
    if let Some(spec) = object.get("spec") {
        trimmed["spec"] = spec.clone();
    }
    trimmed
}

fn collection_path(api_version: &str, plural: &str, namespace: Option<&str>) -> String {
    let is_core = !api_version.contains('/');
    let root = if is_core { "api" } else { "apis" };
    match namespace {
        Some(namespace) => format!("/{root}/{api_version}/namespaces/{namespace}/{plural}"),
        None => format!("/{root}/{api_version}/{plural}"),
    }
}

fn object_path(api_version: &str, plural: &str, namespace: &str, name: &str) -> String {
    let namespace = Some(namespace).filter(|_| plural != "namespaces");
    format!("{}/{name}", collection_path(api_version, plural, namespace))
}
