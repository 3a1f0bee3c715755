//! What `dayshift convert` shows, apart from the files themselves.

pub(in crate::cli) mod commands;
pub(in crate::cli) mod documents;
pub(in crate::cli) mod text;
