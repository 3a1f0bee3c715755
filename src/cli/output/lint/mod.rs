//! What `dayshift lint` shows, a file for each format.

pub(in crate::cli) mod github;
pub(in crate::cli) mod json;
pub(in crate::cli) mod junit;
pub(in crate::cli) mod sarif;
pub(in crate::cli) mod text;
