//! What `dayshift convert` shows, apart from the files themselves.

pub(crate) mod commands;
pub(crate) mod documents;
pub(crate) mod text;
