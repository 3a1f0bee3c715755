//! Creating, replacing, patching and deleting.

mod deletion;
mod go_json_text;
mod json_patch;
mod operation;
mod ownership;
mod patch;

pub(crate) use deletion::Deleted;
pub(crate) use operation::Write;
pub use ownership::Writer;
pub(crate) use patch::PatchForm;
