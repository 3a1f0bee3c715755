//! Events: what users are told of changes, and the commands that help, in words. Each text stands here.

mod commands;
mod event;
mod note;
mod reason;

pub use event::EventText;
pub use event::STARTS_WAIT_INTERVAL;
pub use note::{author_text, user_text};
pub use reason::EventReason;
