//! Overrides that users set with plain `kubectl annotate`, and the effect of `kubectl rollout undo`
//! on them.

pub(super) mod authors;
pub(super) mod ended;
pub(super) mod notices;
pub(super) mod rollout;
