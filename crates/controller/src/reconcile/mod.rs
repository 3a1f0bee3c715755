//! The work itself: observe, decide, send, take in the answers.

mod answers;
mod decide;
mod dispatch;
pub(super) mod engine;
mod observe;
mod services;
mod waits;
