//! Random stories, in which no count may be lost and the newest boundary has to have won.
//!
//! Each story is told to dayshift and to an oracle that knows the documentation and shares no
//! code with `decide`; after every minute and everything that happens the object must be the
//! same. `ORACLE_STORIES=100000` tells more of them, `ORACLE_SEED=…` one of them again.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr
)]

mod as_text;
mod asked;
mod calendar;
mod counts;
mod happen;
mod intent;
mod labels;
mod legal;
mod mind;
mod oracle;
mod overlay;
mod phase;
mod plans;
mod promise;
mod run;
mod story;
mod world;

use std::{
    env,
    panic::{AssertUnwindSafe, catch_unwind},
};

use run::{Tally, tell};
use story::{Kind, Story};

/// Of each kind: some ten seconds on two cores.
const STORIES: u64 = 150;

fn number(variable: &str) -> Option<u64> {
    env::var(variable).ok()?.parse().ok()
}

#[test]
fn users_restarts_and_clocks() {
    tell_all("users_restarts_and_clocks", Kind::Life);
}

#[test]
fn labels_lost_spoilt_and_brought_back() {
    tell_all("labels_lost_spoilt_and_brought_back", Kind::Tampering);
}

#[test]
fn two_scalers_and_answers_that_are_lost() {
    tell_all("two_scalers_and_answers_that_are_lost", Kind::Two);
}

fn tell_all(test: &str, kind: Kind) {
    let seeds = match number("ORACLE_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("ORACLE_STORIES").unwrap_or(STORIES),
    };
    let mut tally = Tally::default();
    for seed in seeds {
        match told(&Story::of(seed, kind)) {
            Ok(more) => {
                tally.minutes += more.minutes;
                tally.writes += more.writes;
                tally.transitions += more.transitions;
            }
            Err(_) => {
                let (story, why) = shortest(seed, kind);
                panic!(
                    "{why}\n{story}To repeat it: ORACLE_SEED={seed} cargo test --test oracle {test}"
                );
            }
        }
    }
    eprintln!("{tally:?}");
}

fn told(story: &Story) -> Result<Tally, String> {
    catch_unwind(AssertUnwindSafe(|| tell(story))).unwrap_or_else(|_| Err("it panicked".into()))
}

/// The same story without all that can be left out of it.
fn shortest(seed: u64, kind: Kind) -> (Story, String) {
    let mut story = Story::of(seed, kind);
    let mut why = told(&story).unwrap_err();
    let mut size = story.steps.len();
    while size > 0 {
        let before = story.steps.len();
        let mut from = 0;
        while from < story.steps.len() {
            let to = (from + size).min(story.steps.len());
            let cut: Vec<_> = story.steps.drain(from..to).collect();
            match told(&story) {
                Err(still) => why = still,
                Ok(_) => {
                    story.steps.splice(from..from, cut);
                    from = to;
                }
            }
        }
        if story.steps.len() == before {
            size /= 2;
        }
    }
    (story, why)
}
