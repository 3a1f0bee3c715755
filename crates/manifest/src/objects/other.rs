//! Objects that dayshift does not scale and that have to do with schedules all the same.
//!
//! Objects that scale workloads by themselves, and which.
//!
//! Files that other objects are made from, which nobody sees before a tool has made them.

use std::path::Path;

use dayshift_workload::Kind;

use crate::{
    annotations::{MisplacedKey, ReadScope, misplaced_keys},
    objects::delivery::{Delivery, IgnoredByAll},
    yaml::node::{Location, Node, Scalar},
};

/// An object of another kind with names like ours on it, or one that scales workloads too.
#[derive(Clone, Debug)]
pub struct OtherObject {
    /// What it is, such as `DaemonSet`.
    pub kind: Box<str>,
    /// The version of its API, such as `apps/v1`; empty where it has none.
    pub api_version: Box<str>,
    /// Whether it is the schedule of another tool that starts and stops workloads.
    pub is_other_tool: bool,
    /// Its namespace, which for kinds without one says nothing.
    pub namespace: Box<str>,
    /// Its name, empty where it has none.
    pub name: Box<str>,
    /// Where it stands in the file.
    pub place: Location,
    /// Whether it has `spec.replicas`, as whatever can be scaled.
    pub has_replicas: bool,
    /// Whether a controller made it, and gave it the annotations of its owner.
    pub is_owned: bool,
    /// Names of ours, and such as may have been meant for them.
    pub misplaced: Vec<MisplacedKey>,
    /// Which workload it scales, if it does that.
    pub scales: Option<ScaledTarget>,
    /// What it puts back, if it is of a GitOps tool.
    pub delivers: Option<Delivery>,
    /// What Argo CD ignores in every Application, if it is the ConfigMap that says so.
    pub ignored_by_all: Option<IgnoredByAll>,
}

impl OtherObject {
    /// Reads an object, unless it has nothing to do with schedules.
    pub(crate) fn read(node: &Node<'_>, scope: ReadScope<'_>) -> Option<Self> {
        let kind = node.get("kind")?.text()?;
        let misplaced = misplaced_keys(node, scope, false);
        let scales = ScaledTarget::read(node);
        let delivers = Delivery::read(node);
        let ignored_by_all = IgnoredByAll::read(node);
        let api_version = node
            .get("apiVersion")
            .and_then(Node::text)
            .unwrap_or_default();
        let is_other_tool = kind == "SleepInfo" && api_version.starts_with("kube-green.com/");
        let is_neighbour = scales.is_some() || delivers.is_some() || ignored_by_all.is_some();
        if misplaced.is_empty() && !is_neighbour && !is_other_tool {
            return None;
        }
        let metadata = node.get("metadata");
        let text = |name| metadata.and_then(|metadata| metadata.get(name)?.text());
        Some(Self {
            kind: kind.into(),
            api_version: api_version.into(),
            is_other_tool,
            namespace: text("namespace").unwrap_or(scope.namespace).into(),
            name: text("name").unwrap_or_default().into(),
            place: node.place.clone(),
            has_replicas: node
                .get("spec")
                .and_then(|spec| spec.get("replicas"))
                .is_some(),
            is_owned: metadata
                .and_then(|metadata| metadata.get("ownerReferences"))
                .is_some_and(|owners| !owners.items().is_empty()),
            misplaced,
            scales,
            delivers,
            ignored_by_all,
        })
    }
}

impl OtherObject {
    /// Reads what an object that has a count of its own does to others, if it does that.
    pub(crate) fn scaler(node: &Node<'_>, scope: ReadScope<'_>) -> Option<Self> {
        ScaledTarget::read(node)?;
        let other = Self::read(node, scope)?;
        // The names of ours on it are read with its own count.
        Some(Self {
            misplaced: Vec::new(),
            ..other
        })
    }
}

/// What an object does to the count of a workload of its namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScaledTarget {
    /// What sort of object it is.
    pub by: ScaledBy,
    /// The workload's kind.
    pub kind: Kind,
    /// The workload's name.
    pub name: Box<str>,
    /// Where that name stands.
    pub place: Location,
    /// The lowest count; 1 where a HorizontalPodAutoscaler gives none, and 0 where a ScaledObject
    /// does not.
    pub min: u64,
    /// The highest count, if given.
    pub max: Option<u64>,
}

/// What scales a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScaledBy {
    /// A HorizontalPodAutoscaler.
    Autoscaler,
    /// A ScaledObject of KEDA.
    ScaledObject,
    /// A Rollout of Argo, which runs the pods of a Deployment in its place.
    Rollout,
}

impl ScaledTarget {
    /// What an object scales, if it does that.
    pub(crate) fn read(object: &Node<'_>) -> Option<Self> {
        let text = |name| object.get(name).and_then(Node::text);
        let version = text("apiVersion").unwrap_or_default();
        let by = match text("kind")? {
            "HorizontalPodAutoscaler" => ScaledBy::Autoscaler,
            "ScaledObject" if version.starts_with("keda.sh/") => ScaledBy::ScaledObject,
            "Rollout" if version.starts_with("argoproj.io/") => ScaledBy::Rollout,
            _ => return None,
        };
        let (target, least, most) = match by {
            ScaledBy::Autoscaler => ("scaleTargetRef", "minReplicas", "maxReplicas"),
            ScaledBy::ScaledObject => ("scaleTargetRef", "minReplicaCount", "maxReplicaCount"),
            ScaledBy::Rollout => ("workloadRef", "", ""),
        };
        let spec = object.get("spec")?;
        let target = spec.get(target)?;
        let kind = match (target.get("kind"), by) {
            (None, ScaledBy::ScaledObject) => "Deployment",
            (kind, _) => kind?.text()?,
        };
        let kind = Kind::BUILT_IN
            .into_iter()
            .find(|known| known.name() == kind)?;
        let name = target.get("name")?;
        let count = |field| match spec.get(field)?.scalar()? {
            Scalar::Number(number) => number.as_u64(),
            _ => None,
        };
        Some(Self {
            by,
            kind,
            name: name.text()?.into(),
            place: name.place.clone(),
            min: count(least).unwrap_or(u64::from(by == ScaledBy::Autoscaler)),
            max: count(most),
        })
    }
}

/// What of a kustomization changes objects, so that those in the files are not those that come to
/// be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrendered {
    /// The field that does, such as `components`.
    pub field: &'static str,
    /// Where its name stands.
    pub place: Location,
}

/// The fields that change annotations or counts, or bring in objects from elsewhere
/// (<https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/>).
const CHANGING: [&str; 12] = [
    "bases",
    "commonAnnotations",
    "components",
    "generators",
    "helmCharts",
    "patches",
    "patchesJson6902",
    "patchesStrategicMerge",
    "replacements",
    "replicas",
    "transformers",
    "vars",
];

impl Unrendered {
    /// The first of those fields in a kustomization; `file` is the name of its file.
    pub(crate) fn read(node: &Node<'_>, file: &str) -> Option<Self> {
        let text = |name| node.get(name).and_then(Node::text);
        let version = text("apiVersion").unwrap_or_default();
        let is_named = || {
            let name = Path::new(file).file_name().and_then(|name| name.to_str());
            matches!(name, Some("kustomization.yaml" | "kustomization.yml"))
        };
        let is_kustomization = match text("kind") {
            Some("Kustomization" | "Component") => version.starts_with("kustomize.config.k8s.io/"),
            Some(_) => false,
            None => is_named(),
        };
        if !is_kustomization {
            return None;
        }
        let entries = node.entries().iter();
        let mut found = entries.filter_map(|entry| {
            let field = CHANGING
                .into_iter()
                .find(|changing| *changing == entry.name())?;
            let place = entry.key.place.clone();
            Some(Self { field, place })
        });
        found.next()
    }
}
