//! The unchanged controller, the cluster in memory, and everything that happens to both.

pub mod apply_op;
pub mod controller;
pub mod day;
pub mod faults;
pub mod files;
pub mod listen;
pub mod run;
mod served;
pub mod shrink;
mod snapshots;
pub mod tamper;
pub mod transport;
pub mod troubles;
pub mod user_ops;
