//! What `dayshift lint` shows, a file for each format.

pub(crate) mod github;
pub(crate) mod json;
pub(crate) mod junit;
pub(crate) mod sarif;
pub(crate) mod text;
