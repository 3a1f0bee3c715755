//! What has to hold whatever somebody writes: for the targets, which bring new texts, and for
//! `tests/semantics/fuzz_corpus.rs`, which brings those that were found before.

mod boundaries;
mod story;
pub mod targets;
mod texts;
