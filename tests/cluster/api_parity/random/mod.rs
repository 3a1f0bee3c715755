//! Random patches, answered by both servers and compared.
//!
//! `PARITY_PATCHES=N` runs more of them, `PARITY_SEED=S` others.

mod answer;
mod compare;
mod object;
mod operation;
mod patch;
mod scenario;
mod shrink;

pub use compare::scenarios;
