//! The kinds of workload, and what the count of each means.

pub mod count_kind;
pub mod kind;
pub mod row;
mod served;
mod table;
