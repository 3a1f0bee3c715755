//! Stories in real time on machines of any speed.
//!
//! A story needs some seconds before a boundary to make ready for it. Where they were not enough
//! nothing is shown, neither good nor bad: it is told again, with more time between its instants.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// How much longer than written the times are, try by try.
const PACES: [i64; 3] = [1, 2, 4];

thread_local! {
    static PACE: Cell<i64> = const { Cell::new(1) };
}

/// What a story ends with when it was too slow for its own instants.
struct TooSlow(String);

/// How much longer than written the times of this thread's story are.
pub(super) fn pace() -> i64 {
    PACE.get()
}

/// Ends this try of the story: `what` did not come about in time. It is no failure unless it
/// happens at every pace.
pub(crate) fn too_slow(what: &str) -> ! {
    resume_unwind(Box::new(TooSlow(what.to_owned())))
}

/// Tells a story, again and slower as long as it was too slow; the error is what came too late
/// even then.
pub(crate) fn at_any_pace(name: &str, tell: impl Fn()) -> Result<(), String> {
    let mut late = String::new();
    for pace in PACES {
        PACE.set(pace);
        match catch_unwind(AssertUnwindSafe(&tell)) {
            Ok(()) => return Ok(()),
            Err(payload) => match payload.downcast::<TooSlow>() {
                Ok(what) => late = what.0,
                Err(failure) => resume_unwind(failure),
            },
        }
        eprintln!("{name}: too slow at pace {pace}: {late}");
    }
    Err(format!("too slow at every pace, or never: {late}"))
}
