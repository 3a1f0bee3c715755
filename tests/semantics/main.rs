//! The meaning of values and their effects, without a cluster. Some crates have a `semantics` test of their
//! own, such as `crates/schedule/tests/semantics/`.
//!
//! - `convert/`: conversions have the same effect as the other tools' schedules
//! - `layering`: import cycles, the dependencies of the pure crates, and file lengths
//! - `manifest/`: the objects in files and their positions
//! - `fuzz_corpus`: the stored inputs of fuzzing
//! - `pages/`: pages that list the features of the program and the chart
//! - `shipped_manifests`: consistency of the manifests that users apply

#[macro_use]
#[path = "../support/text_asserts.rs"]
mod text_asserts;

mod convert;
mod fuzz_corpus;
mod layering;
mod manifest;
#[path = "../../crates/workload/tests/semantics/decide/object.rs"]
#[allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    reason = "the tests of `decide` use all of it, and allow the same"
)]
mod object;
mod pages;
#[path = "../support/quoted_text.rs"]
mod quoted_text;
#[path = "../support/rows.rs"]
mod rows;
mod shipped_manifests;
mod switches;
