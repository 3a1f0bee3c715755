//! Invariants that should hold for any input. The fuzz targets find new inputs, and
//! `tests/semantics/fuzz_corpus.rs` checks the stored ones.

mod boundaries;
mod scenario;
pub mod targets;
mod texts;
