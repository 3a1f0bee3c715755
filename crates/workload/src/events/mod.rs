//! Events: what users are told of changes, and the commands that help, in words. Each text stands here.

mod commands;
mod event_text;
mod note_text;
mod reason;
mod reverted;

pub use event_text::EventText;
pub use note_text::author_text;
pub use reason::EventReason;
