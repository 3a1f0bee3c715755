//! The meaning of texts and their effects, without a cluster. Other crates have a `semantics` test
//! of their own, such as `crates/schedule/tests/semantics/`.
//!
//! - `convert/`: conversions mean the same as the other tools' schedules
//! - `layering`: import cycles, the dependencies of the pure crates, and file lengths
//! - `manifest/`: the objects in files and their places
//! - `fuzz_corpus`: the stored inputs of fuzzing
//! - `pages/`: pages that list the features of the program and the chart
//! - `shipped_manifests`: consistency of the manifests that users apply

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
mod shipped_manifests;
mod switches;
