//! The messages for users: the conditions of workloads, and Kubernetes Events with their reasons. No
//! other directory contains such texts.

mod commands;
mod condition;
mod event;
mod note;
mod reason;

pub use commands::{describe_command, restore_command};
pub use condition::{Condition, EnforcedStop, Message, RevertEnd, Subject, specified, sync_help};
pub use event::{EventText, STARTS_WAIT_INTERVAL};
pub use note::{author_text, reason_text, user_text};
pub use reason::EventReason;
