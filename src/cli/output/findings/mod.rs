//! Findings in files, as text for people: of every command that reads files.

pub(crate) mod region;
pub(crate) mod text;
