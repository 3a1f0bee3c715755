//! Annotation text: pieces that know their position, tokens, and diagnostics with a span.

pub(crate) mod diagnostic;
pub(crate) mod piece;
pub(crate) mod tokens;
