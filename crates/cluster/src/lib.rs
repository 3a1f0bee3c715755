//! What needs a cluster's API: the client and the only code that sends writes ([`cluster`]), how a live
//! object stands ([`status`]), and what the commands do to live objects ([`operations`]). Each uses only
//! those before it. [`clock`] alone reads the time and sleeps.

pub mod clock;
pub mod cluster;
pub mod delays;
pub mod operations;
pub mod status;
