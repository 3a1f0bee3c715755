//! See `src/targets/activator_head.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| dayshift_fuzz::targets::activator_head(bytes));
