//! Objects that scale workloads by themselves, and which.

use dayshift_workload::Kind;

use crate::manifest::tree::{location::Location, node::Node, scalar::Scalar};

/// What an object does to the count of a workload of its namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScaleTarget {
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

impl ScaleTarget {
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
        let kind = Kind::BUILT_IN.into_iter().find(|it| it.name() == kind)?;
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
