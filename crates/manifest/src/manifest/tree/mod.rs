//! YAML and JSON as trees whose parts know where they stand.

pub(super) mod json_stream;
pub(super) mod location;
pub(super) mod node;
pub(super) mod parse;
mod quoted_lines;
pub(super) mod scalar;
