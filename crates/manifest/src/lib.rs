//! Files of manifests, without a cluster: the workloads in them ([`manifest`]), the boundaries that they
//! will have ([`plan`]), the rules ([`lint`]), and other tools' schedules in dayshift's words
//! ([`convert`]). Each uses only those before it.

pub mod convert;
pub mod lint;
pub mod manifest;
pub mod plan;
