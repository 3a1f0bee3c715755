//! The only asynchronous code of the controller: clocks, watches and requests.

mod clocks;
#[expect(clippy::module_inception, reason = "the loop itself, beside its parts")]
pub(crate) mod driver;
mod pass;
mod requests;
mod streams;

pub(crate) use clocks::ServerClock;
