//! What `dayshift status` shows: a table with notes under it, or JSON.

mod columns;
mod notes;
mod status_output;

pub(crate) use notes::Notes;
pub(crate) use status_output::{SortBy, StatusOutput};
