//! Annotations: their values, their defaults, their meaning, and their problems.

pub(super) mod after;
pub(super) mod annotations;
pub(super) mod effective;
pub(super) mod inheritance;
pub(super) mod overrides;
pub(super) mod parse;
pub(super) mod problem;
pub(super) mod spec;
