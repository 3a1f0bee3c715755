//! The kinds of workload, and what the count of each means.

pub mod count_kind;
pub mod kind;
mod lookup;
mod operators;
pub mod row;
mod served;
pub mod switch;
mod table;
