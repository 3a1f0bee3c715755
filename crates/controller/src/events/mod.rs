//! Events for users: each condition is reported once.

pub(crate) mod digest;
#[expect(
    clippy::module_inception,
    reason = "the reports themselves, beside their parts"
)]
pub(crate) mod events;
pub(crate) mod recorder;
