//! Objects of files, and changes of their text.

pub(super) mod edit;
mod editor;
pub(super) mod objects;
mod style;
pub(super) mod verify;
