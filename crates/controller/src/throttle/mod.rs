//! Limits the requests in flight, and delays requests after failures.

mod health;
pub(crate) mod permissions;
#[expect(
    clippy::module_inception,
    reason = "the rules together, beside each of them"
)]
pub(crate) mod throttle;
pub(crate) mod window;
