//! The members of a `spec` that are read.

use super::kind::Kind;

/// A member of a `spec`, by what is read of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecMember {
    /// `replicas`
    Replicas,
    /// The template of its pods: what they request.
    Template,
    /// `suspend`
    Suspend,
    /// `minReplicas`
    MinReplicas,
    /// `metrics`
    Metrics,
    /// `persistentVolumeClaimRetentionPolicy`
    ClaimRetention,
    /// `scaleTargetRef`
    ScaleTarget,
    /// Another one, in which a kind that is known holds its count or its switch.
    Named(&'static str),
}

impl SpecMember {
    /// The member of this name, where it is read.
    pub fn of(name: &str) -> Option<Self> {
        Some(match name {
            "replicas" => Self::Replicas,
            "template" => Self::Template,
            "suspend" => Self::Suspend,
            "minReplicas" => Self::MinReplicas,
            "metrics" => Self::Metrics,
            "persistentVolumeClaimRetentionPolicy" => Self::ClaimRetention,
            "scaleTargetRef" => Self::ScaleTarget,
            name => Self::Named(Kind::spec_member(name)?),
        })
    }

    /// Whether a row may name it: the others are read for something else.
    pub const fn may_be_named(self) -> bool {
        matches!(self, Self::Replicas | Self::Suspend | Self::Named(_))
    }
}
