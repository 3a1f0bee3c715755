//! What the annotations of an object ask for, and what is wrong with them.

pub(super) mod after;
pub(super) mod annotations;
pub(super) mod effective;
pub(super) mod inheritance;
pub(super) mod overrides;
pub(super) mod parse;
pub(super) mod problem;
pub(super) mod spec;
