//! The work itself: observe, decide, send, take in the answer.

pub(super) mod answers;
pub(super) mod dispatch;
pub(super) mod engine;
mod events;
pub(super) mod observe;
mod publish;
mod reverts;
mod troubles;
