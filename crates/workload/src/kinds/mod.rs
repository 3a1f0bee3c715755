//! The kinds of workload, and what the count of each means.

pub mod count;
pub mod definition;
pub mod kind;
pub mod not_stopped;
mod operators;
pub mod row;
pub mod switch;
pub mod table;
