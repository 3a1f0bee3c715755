//! The work itself: observe, decide, send, take in the answer.

pub(super) mod answers;
pub(super) mod census;
pub(super) mod dispatch;
pub(super) mod due;
pub(super) mod engine;
pub(super) mod observe;
mod publish;
mod reverts;
pub(super) mod scheduler;
mod troubles;
