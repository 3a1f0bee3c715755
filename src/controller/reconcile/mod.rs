//! The work itself: observe, decide, send, take in the answers.

mod answers;
mod decide;
mod dispatch;
pub(super) mod engine;
mod jobs;
mod notices;
mod observe;
mod publish;
mod reverts;
mod services;
mod starts;
mod troubles;
mod waits;
