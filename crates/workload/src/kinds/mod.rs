//! The kinds of workload, and the meaning of the count of each.

pub mod count;
pub mod definition;
pub mod kind;
pub mod not_stopped;
mod operators;
pub mod switch;
pub mod table;
