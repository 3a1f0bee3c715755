//! Findings in files, as text for people: of every command that reads files.

pub(in crate::cli) mod region;
pub(in crate::cli) mod text;
