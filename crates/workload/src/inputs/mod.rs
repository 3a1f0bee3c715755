//! What the annotations of an object ask for, and what is wrong with them.

pub(super) mod after;
pub(super) mod annotations;
pub(super) mod effective;
mod exclusive;
pub(super) mod fingerprint;
pub(super) mod inheritance;
pub(crate) mod inherited;
pub(super) mod overrides;
pub(super) mod parse_context;
pub(super) mod parsed;
#[cfg(test)]
mod parsed_tests;
pub(super) mod problem;
pub(super) mod spec;
