//! Objects that dayshift does not scale and that have to do with schedules all the same.

use super::misplaced_key::{MisplacedKey, marks};
use super::scope::Scope;
use super::tree::location::Location;
use super::tree::node::Node;
use super::tree::scalar::Scalar;
use crate::workload::Kind;

/// An object of another kind with names like ours on it, or one that scales workloads too.
#[derive(Clone, Debug)]
pub struct Other {
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
    pub marks: Vec<MisplacedKey>,
    /// What it scales, if it is a HorizontalPodAutoscaler of a workload.
    pub scales: Option<HpaTarget>,
}

/// What a HorizontalPodAutoscaler does to a workload of its namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HpaTarget {
    /// The workload's kind.
    pub kind: Kind,
    /// The workload's name.
    pub name: Box<str>,
    /// Where that name stands.
    pub place: Location,
    /// The lowest count; Kubernetes takes 1 where none is given.
    pub min: u64,
    /// The highest count, if given.
    pub max: Option<u64>,
}

impl Other {
    /// Reads an object, unless it has nothing to do with schedules.
    pub(super) fn read(node: &Node<'_>, scope: Scope<'_>) -> Option<Self> {
        let kind = node.get("kind")?.text()?;
        let marks = marks(node, scope, false);
        let scales = Some(kind)
            .filter(|kind| *kind == "HorizontalPodAutoscaler")
            .and_then(|_| HpaTarget::read(node));
        let api_version = node
            .get("apiVersion")
            .and_then(Node::text)
            .unwrap_or_default();
        let is_other_tool = kind == "SleepInfo" && api_version.starts_with("kube-green.com/");
        if marks.is_empty() && scales.is_none() && !is_other_tool {
            return None;
        }
        let metadata = node.get("metadata");
        let text = |name| metadata.and_then(|it| it.get(name)?.text());
        Some(Self {
            kind: kind.into(),
            api_version: api_version.into(),
            is_other_tool,
            namespace: text("namespace").unwrap_or(scope.namespace).into(),
            name: text("name").unwrap_or_default().into(),
            place: node.place.clone(),
            has_replicas: node.get("spec").and_then(|it| it.get("replicas")).is_some(),
            is_owned: metadata
                .and_then(|it| it.get("ownerReferences"))
                .is_some_and(|owners| !owners.items().is_empty()),
            marks,
            scales,
        })
    }
}

impl Other {
    /// Reads what an autoscaler does to others, if that is what an object of this kind is.
    pub(super) fn autoscaler(kind: Kind, node: &Node<'_>, scope: Scope<'_>) -> Option<Self> {
        let is_one = kind == Kind::HorizontalPodAutoscaler;
        let other = Self::read(node, scope).filter(|it| is_one && it.scales.is_some())?;
        // The names of ours on it are read with its own count.
        Some(Self {
            marks: Vec::new(),
            ..other
        })
    }
}

impl HpaTarget {
    fn read(autoscaler: &Node<'_>) -> Option<Self> {
        let spec = autoscaler.get("spec")?;
        let target = spec.get("scaleTargetRef")?;
        let kind = target.get("kind")?.text()?;
        let kind = Kind::BUILT_IN.into_iter().find(|it| it.name() == kind)?;
        let name = target.get("name")?;
        let count = |field| match spec.get(field)?.scalar()? {
            Scalar::Number(number) => number.as_u64(),
            _ => None,
        };
        Some(Self {
            kind,
            name: name.text()?.into(),
            place: name.place.clone(),
            min: count("minReplicas").unwrap_or(1),
            max: count("maxReplicas"),
        })
    }
}
