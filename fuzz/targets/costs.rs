//! See `src/targets/costs.rs`. A step is a read of memory: LLVM inserts calls to these functions
//! if `fuzz/run` enables it.
#![no_main]

use std::sync::atomic::{AtomicU64, Ordering};

use libfuzzer_sys::fuzz_target;

static STEPS: AtomicU64 = AtomicU64::new(0);

macro_rules! count {
    ($($name:ident)*) => {$(
        /// Counts a read.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(_: *const u8) {
            STEPS.fetch_add(1, Ordering::Relaxed);
        }
    )*};
}

count! {
    __sanitizer_cov_load1 __sanitizer_cov_load2 __sanitizer_cov_load4 __sanitizer_cov_load8
    __sanitizer_cov_load16
}

fuzz_target!(|bytes: &[u8]| {
    dayshift_fuzz::targets::costs(bytes, || STEPS.load(Ordering::Relaxed));
});
