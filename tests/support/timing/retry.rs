//! Stories in real time on machines that may stand still.
//!
//! A story needs some seconds before a boundary to make ready for it, and a look at what it
//! promises within a second. Where the machine stood still meanwhile nothing is shown, neither
//! good nor bad: the story is told again, with more time between its instants. Whether it did is
//! measured ([`Stall`]); on a machine that was punctual the first try is the last.

use std::cell::Cell;
use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};

use super::stall_detector::{self, Stall};

/// How much longer than written the times are, try by try.
const PACES: [i64; 3] = [1, 2, 4];

thread_local! {
    static PACE: Cell<i64> = const { Cell::new(1) };
}

/// The tries that were told again, of all stories.
static AGAIN: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// How long each story took, all of its tries together.
static TIMES: Mutex<Vec<(Duration, String)>> = Mutex::new(Vec::new());

/// How many tries may be in vain in one run of all stories.
const MAX_TRIES: usize = 20;

/// How many of the longest are printed.
const MAX_PRINTED: usize = 12;

/// With `STORIES=full` the nightly stories are told too, with `STORIES=slow` each story is told at the last of the paces at once: it has to hold there, too.
fn paces() -> &'static [i64] {
    match env::var("STORIES").as_deref() {
        Ok("slow") => &PACES[PACES.len() - 1..],
        Ok(other) if !["", "full"].contains(&other) => {
            panic!("STORIES={other}: `full`, `slow` or nothing")
        }
        _ => &PACES,
    }
}

/// What a story ends with when it was too slow for its own instants.
struct TooSlow {
    what: String,
    /// From when to when the machine had to be punctual, and by how much it was not enough.
    excess: Option<(Instant, Instant, Duration)>,
}

impl TooSlow {
    /// What the machine withheld, where that may be the reason.
    fn excuse(&self, begin: Instant) -> Option<Stall> {
        match self.excess {
            None => Stall::since(begin),
            Some((from, to, excess)) => {
                Stall::explains(from, to, excess).then(|| Stall::worst_since(from))
            }
        }
    }
}

/// How much longer than written the times of this thread's story are.
pub(crate) fn pace() -> i64 {
    PACE.get()
}

/// Ends this try of the story: `what` did not come about in time. It is a failure, unless the
/// machine stood still meanwhile.
pub(crate) fn too_slow(what: &str) -> ! {
    let what = what.to_owned();
    resume_unwind(Box::new(TooSlow { what, excess: None }))
}

/// The same where what was due at `due` came `late` seconds after it, and `bound` are allowed: the
/// machine has to have stood still between the two, and for long enough.
pub(crate) fn too_late(what: &str, due: DateTime<Utc>, late: f64, bound: f64) -> ! {
    let (now, passed) = (Instant::now(), (Utc::now() - due).to_std());
    let due = now.checked_sub(passed.unwrap_or_default()).unwrap_or(now);
    let [late_by, excess] =
        [late, late - bound].map(|seconds| Duration::from_secs_f64(seconds.max(0.0)));
    resume_unwind(Box::new(TooSlow {
        what: format!("{what} {late:.3} s late, more than {bound} s"),
        excess: Some((due - Duration::from_secs(1), due + late_by, excess)),
    }))
}

/// Tells a story, again and slower where it was too slow on a machine that stood still. Returns
/// what it came to and after how many tries; the error is what came too late.
pub(crate) fn retry_when_stalled<T>(
    name: &str,
    tell: impl Fn() -> T,
) -> Result<(T, usize), String> {
    let begin = Instant::now();
    let told = told_in_some_try(name, tell);
    let mut times = TIMES.lock().unwrap_or_else(PoisonError::into_inner);
    times.push((begin.elapsed(), name.to_owned()));
    told
}

fn told_in_some_try<T>(name: &str, tell: impl Fn() -> T) -> Result<(T, usize), String> {
    stall_detector::begin();
    let mut late = String::new();
    for (index, pace) in paces().iter().enumerate() {
        PACE.set(*pace);
        let begin = Instant::now();
        let slow;
        match catch_unwind(AssertUnwindSafe(&tell)) {
            Ok(told) => return Ok((told, index + 1)),
            Err(payload) => match payload.downcast::<TooSlow>() {
                Ok(it) => slow = it,
                Err(failure) => resume_unwind(failure),
            },
        }
        let Some(stall) = slow.excuse(begin) else {
            let worst = Stall::worst_since(begin);
            let what = slow.what;
            return Err(format!(
                "{what}; that is no fault of the machine: it withheld {worst}"
            ));
        };
        late = slow.what;
        let again = format!(
            "{name}, try {}: {late}; the machine withheld {stall}",
            index + 1
        );
        eprintln!("{again}");
        let mut all = AGAIN.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(again);
    }
    Err(format!(
        "too slow in all of {} tries: {late}",
        paces().len()
    ))
}

/// Says how many tries were in vain and told again, and which, and what took longest; printed at
/// the end of a test binary. Returns whether they were too many: a machine is seldom so busy, and a
/// program that is often late may hide behind it.
pub(crate) fn print_tries() -> bool {
    let all = AGAIN.lock().unwrap_or_else(PoisonError::into_inner);
    eprintln!(
        "{} tries in vain, each on a machine that stood still",
        all.len()
    );
    for again in all.iter() {
        eprintln!("  {again}");
    }
    let mut times = TIMES.lock().unwrap_or_else(PoisonError::into_inner);
    times.sort_by(|one, other| other.cmp(one));
    let sum: Duration = times.iter().map(|(time, _)| *time).sum();
    eprintln!(
        "{} stories took {} s in all; the longest:",
        times.len(),
        sum.as_secs()
    );
    for (time, name) in times.iter().take(MAX_PRINTED) {
        eprintln!("  {:>4} s  {name}", time.as_secs());
    }
    let are_too_many = all.len() > MAX_TRIES;
    if are_too_many {
        eprintln!("more than {MAX_TRIES} tries in vain: run it on a machine with less to do");
    }
    are_too_many
}
