//! The kinds of workload, and what the count of each means.

pub mod count_kind;
pub mod definition;
pub mod kind;
mod lookup;
pub mod not_stopped;
mod operators;
pub mod row;
mod served;
pub mod spec_member;
pub mod switch;
mod table;
