//! What a text means and what follows from it, without a cluster: the library alone. What of it is a
//! crate of its own has a `semantics` of its own, such as `crates/schedule/tests/semantics/`.
//!
//! - `convert/`: what other tools mean by their schedules, and what comes of them
//! - `layering`: import cycles, the dependencies of the pure crates, and file lengths
//! - `manifest/`: which objects files hold, and where everything stands
//! - `fuzz_corpus`: what fuzzing has kept
//! - `pages/`: pages that list what the program and the chart have
//! - `shipped_manifests`: what the manifests that users apply have in common

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
