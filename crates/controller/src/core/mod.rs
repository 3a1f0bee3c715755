//! The controller as a state machine: it takes one input, and returns the effects to carry out. It reads no
//! clock, sends nothing and waits for nothing.

#[expect(
    clippy::module_inception,
    reason = "the state machine itself, beside its parts"
)]
pub(crate) mod core;
mod evaluate;
pub(crate) mod io;
mod observe;
mod responses;
#[cfg(test)]
mod rig;
#[cfg(test)]
mod tests;
