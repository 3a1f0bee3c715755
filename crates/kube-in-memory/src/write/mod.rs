//! Creating, replacing, patching and deleting.

mod go_json_text;
mod json_patch;
mod operation;
mod ownership;
mod patch;

pub(crate) use operation::{Deleted, Write};
pub(crate) use ownership::Writer;
pub(crate) use patch::PatchForm;
