//! See `src/targets/schedules.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| dayshift_fuzz::targets::schedules(bytes));
