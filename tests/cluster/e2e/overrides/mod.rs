//! Overrides that users set with plain `kubectl annotate`, and what `kubectl rollout undo` does to them.

pub(super) mod annotated;
pub(super) mod authors;
pub(super) mod ended;
pub(super) mod notices;
pub(super) mod rollout;
