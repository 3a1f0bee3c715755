//! The kinds of workload, and what the count of each means.

pub mod count_kind;
mod count_phrases;
pub mod custom_kind;
pub mod kind;
