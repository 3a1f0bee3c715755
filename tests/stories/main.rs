//! What a user lives through, told with the real controller against the cluster in memory.
//!
//! 2026-11-20 is a Friday.
#![allow(clippy::unwrap_used, clippy::panic)]

mod answers;
mod busy;
mod ended;
mod faults;
mod fights;
mod guard;
mod hostile;
mod isolation;
mod kinds;
mod objects;
mod overrides;
mod retry_after;
mod sandbox;
mod scope;
mod time;
