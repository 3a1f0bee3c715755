//! Objects that dayshift does not scale and that have to do with schedules all the same.

use crate::manifest::annotations::misplaced_key::{MisplacedKey, misplaced_keys};
use crate::manifest::objects::delivery::{Delivery, IgnoredByAll};
use crate::manifest::objects::scale_target::ScaleTarget;
use crate::manifest::scope::Scope;
use crate::manifest::tree::location::Location;
use crate::manifest::tree::node::Node;

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
    pub misplaced: Vec<MisplacedKey>,
    /// Which workload it scales, if it does that.
    pub scales: Option<ScaleTarget>,
    /// What it puts back, if it is of a GitOps tool.
    pub delivers: Option<Delivery>,
    /// What Argo CD ignores in every Application, if it is the ConfigMap that says so.
    pub ignored_by_all: Option<IgnoredByAll>,
}

impl Other {
    /// Reads an object, unless it has nothing to do with schedules.
    pub(crate) fn read(node: &Node<'_>, scope: Scope<'_>) -> Option<Self> {
        let kind = node.get("kind")?.text()?;
        let misplaced = misplaced_keys(node, scope, false);
        let scales = ScaleTarget::read(node);
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
            misplaced,
            scales,
            delivers,
            ignored_by_all,
        })
    }
}

impl Other {
    /// Reads what an object that has a count of its own does to others, if it does that.
    pub(crate) fn scaler(node: &Node<'_>, scope: Scope<'_>) -> Option<Self> {
        ScaleTarget::read(node)?;
        let other = Self::read(node, scope)?;
        // The names of ours on it are read with its own count.
        Some(Self {
            misplaced: Vec::new(),
            ..other
        })
    }
}
