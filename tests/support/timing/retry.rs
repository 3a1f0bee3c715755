//! Retries for scenarios in real time, if the machine stalls.
//!
//! A scenario needs seconds to prepare for a boundary, and checks results within a second. If the machine
//! stalled meanwhile, the result shows nothing, so the scenario runs again with more time. Stalls are
//! measured ([`Stall`]): without one, a late result is a failure.

use std::cell::Cell;
use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};

use super::stall_detector::{self, Stall};

/// The factors by which all times are multiplied, by attempt.
const PACES: [i64; 3] = [1, 2, 4];

thread_local! {
    static PACE: Cell<i64> = const { Cell::new(1) };
}

/// The descriptions of all repeated attempts.
static AGAIN: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The duration of each scenario, including all attempts.
static TIMES: Mutex<Vec<(Duration, String)>> = Mutex::new(Vec::new());

/// The maximum number of repeated attempts in a run of all scenarios.
const MAX_TRIES: usize = 20;

/// The number of longest scenarios that are printed.
const MAX_PRINTED: usize = 12;

/// The factors of this run. With `SCENARIOS=slow`, each scenario runs once, with the largest factor.
fn paces() -> &'static [i64] {
    match env::var("SCENARIOS").as_deref() {
        Ok("slow") => &PACES[PACES.len() - 1..],
        Ok(other) if !["", "full"].contains(&other) => {
            panic!("SCENARIOS={other}: `full`, `slow` or nothing")
        }
        _ => &PACES,
    }
}

/// The panic payload of a scenario that was too slow.
struct TooSlow {
    description: String,
    /// The period in which the machine had to be on time, and the time by which the result was late.
    excess: Option<(Instant, Instant, Duration)>,
}

impl TooSlow {
    /// The stall that might be the reason.
    fn excuse(&self, begin: Instant) -> Option<Stall> {
        match self.excess {
            None => Stall::since(begin),
            Some((from, to, excess)) => {
                Stall::explains(from, to, excess).then(|| Stall::worst_since(from))
            }
        }
    }
}

/// The factor for all times of the scenario on this thread.
pub(crate) fn pace() -> i64 {
    PACE.get()
}

/// Ends this attempt, because `description` did not happen in time. It is a failure unless the machine stalled.
pub(crate) fn too_slow(description: &str) -> ! {
    let description = description.to_owned();
    resume_unwind(Box::new(TooSlow {
        description,
        excess: None,
    }))
}

/// Ends this attempt, because a result was `late` seconds after `due`, and `bound` are allowed. A stall
/// between the two must be long enough to explain it.
pub(crate) fn too_late(description: &str, due: DateTime<Utc>, late: f64, bound: f64) -> ! {
    let (now, passed) = (Instant::now(), (Utc::now() - due).to_std());
    let due = now.checked_sub(passed.unwrap_or_default()).unwrap_or(now);
    let [late_by, excess] =
        [late, late - bound].map(|seconds| Duration::from_secs_f64(seconds.max(0.0)));
    resume_unwind(Box::new(TooSlow {
        description: format!("{description} {late:.3} s late, more than {bound} s"),
        excess: Some((due - Duration::from_secs(1), due + late_by, excess)),
    }))
}

/// Runs a scenario, and repeats it more slowly if the machine stalled. Returns the result and the number of
/// attempts. The error is the late result.
pub(crate) fn retry_when_stalled<T>(
    name: &str,
    attempt: impl Fn() -> T,
) -> Result<(T, usize), String> {
    let begin = Instant::now();
    let reported = run_with_retries(name, attempt);
    let mut times = TIMES.lock().unwrap_or_else(PoisonError::into_inner);
    times.push((begin.elapsed(), name.to_owned()));
    reported
}

fn run_with_retries<T>(name: &str, attempt: impl Fn() -> T) -> Result<(T, usize), String> {
    stall_detector::begin();
    let mut late = String::new();
    for (index, pace) in paces().iter().enumerate() {
        PACE.set(*pace);
        let begin = Instant::now();
        let slow;
        match catch_unwind(AssertUnwindSafe(&attempt)) {
            Ok(reported) => return Ok((reported, index + 1)),
            Err(payload) => match payload.downcast::<TooSlow>() {
                Ok(it) => slow = it,
                Err(failure) => resume_unwind(failure),
            },
        }
        let Some(stall) = slow.excuse(begin) else {
            let worst = Stall::worst_since(begin);
            let description = slow.description;
            return Err(format!(
                "{description}; that is no fault of the machine: it withheld {worst}"
            ));
        };
        late = slow.description;
        let again = format!(
            "{name}, attempt {}: {late}; the machine stalled: {stall}",
            index + 1
        );
        eprintln!("{again}");
        let mut all = AGAIN.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(again);
    }
    Err(format!(
        "too slow in all {} attempts: {late}",
        paces().len()
    ))
}

/// Prints the repeated attempts and the longest scenarios at the end of a test binary. Returns whether there
/// were too many repetitions: machines are rarely that busy, and a late program could hide behind them.
pub(crate) fn print_tries() -> bool {
    let all = AGAIN.lock().unwrap_or_else(PoisonError::into_inner);
    eprintln!(
        "{} attempts were repeated because the machine stalled",
        all.len()
    );
    for again in all.iter() {
        eprintln!("  {again}");
    }
    let mut times = TIMES.lock().unwrap_or_else(PoisonError::into_inner);
    times.sort_by(|one, other| other.cmp(one));
    let sum: Duration = times.iter().map(|(time, _)| *time).sum();
    eprintln!(
        "{} scenarios took {} s in all; the longest:",
        times.len(),
        sum.as_secs()
    );
    for (time, name) in times.iter().take(MAX_PRINTED) {
        eprintln!("  {:>4} s  {name}", time.as_secs());
    }
    let are_too_many = all.len() > MAX_TRIES;
    if are_too_many {
        eprintln!("more than {MAX_TRIES} repeated attempts: use a less busy machine");
    }
    are_too_many
}
