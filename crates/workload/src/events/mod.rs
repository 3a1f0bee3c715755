//! Events: what users are told of changes, and the commands that help, in words. Each text stands here.

mod author_text;
mod commands;
mod event_text;
mod jobs;
mod note_text;
mod reason;
mod reverted;
mod starts_wait;
mod stop_notice;
mod without;

pub use author_text::{author_text, user_text};
pub use event_text::EventText;
pub use reason::EventReason;
pub use starts_wait::STARTS_WAIT_INTERVAL;
