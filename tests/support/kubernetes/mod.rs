//! Kubernetes' own programs: locating, building and starting them, and reading their logs.

pub(super) mod alerting;
mod appliers;
pub(super) mod argo_cd;
pub(super) mod assets;
pub(super) mod audit;
pub(super) mod compaction;
pub(super) mod control_plane;
pub(super) mod kubeconfig;
pub(super) mod manifests;
pub(super) mod namespace;
pub(super) mod operator;
pub(super) mod output;
pub(super) mod programs;
pub(super) mod token;
