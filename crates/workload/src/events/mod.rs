//! The messages for users: the conditions of workloads, and Kubernetes Events with their reasons. No
//! other directory contains such texts.

mod condition;
mod event;
mod note;

pub use condition::{Condition, EnforcedStop, Message, RevertEnd, Subject, specified, sync_help};
pub use event::{EventReason, EventText, STARTS_WAIT_INTERVAL};
pub use note::{author_text, reason_text, user_text};

pub use crate::workload_ref::{describe_command, restore_command};
