//! What a text means and what follows from it, without a cluster: the library alone.
//!
//! - `schedule/`: times and hours against a naive model of local time
//! - `convert/`: what other tools mean by their schedules, and what comes of them
//! - `decide/`: each rule of behaviour, on the pure function
//! - `house`: how the code itself lies in files and folders
//! - `manifest/`: which objects files hold, and where everything stands
//! - `fuzz_corpus`: what fuzzing has kept
//! - `pages/`: pages that list what the program and the chart have
//! - `shipped_manifests`: what the manifests that users apply have in common

mod convert;
mod decide;
mod fuzz_corpus;
mod house;
mod manifest;
mod pages;
#[path = "../support/quoted_text.rs"]
mod quoted_text;
mod schedule;
mod shipped_manifests;
#[path = "../support/zone_file.rs"]
mod zone_file;
