//! An object's story, as [`dayshift_fuzz::tell`] reads it.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        dayshift_fuzz::tell(text);
    }
});
