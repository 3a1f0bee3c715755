//! Random patches, answered by both servers and compared.
//!
//! `PARITY_PATCHES=N` asks for more of them, `PARITY_SEED=S` for others.

mod answer;
mod compare;
mod object;
mod operation;
mod patch;
mod shrink;
mod story;

pub use compare::stories;
