//! Annotation text: pieces that know their position, tokens, and diagnostics that point at a
//! mistake.

pub(crate) mod diagnostic;
pub(crate) mod piece;
pub(crate) mod tokens;
