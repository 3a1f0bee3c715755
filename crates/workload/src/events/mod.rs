//! Kubernetes Events: their reasons, their texts, and the commands that they suggest. No other file
//! contains such texts.

mod commands;
mod event;
mod note;
mod reason;

pub use event::STARTS_WAIT_INTERVAL;
pub use event::{CorrectionLimit, EventText};
pub use note::{author_text, reason_text, user_text};
pub use reason::EventReason;
