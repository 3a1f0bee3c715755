//! Tests with real programs: control planes of Kubernetes, and libraries in Go.
//!
//! - `e2e/`: the real program on a real control plane, with the shipped RBAC
//! - `reliability/`: faults of the environment of the program
//! - `api_parity/`: the API in memory compared with a real server
//! - `cron_differential`: cron expressions compared with robfig/cron
//! - `quantity_differential`: quantities compared with Kubernetes' own
//! - `stall_detector`: when a late program is excused
//!
//! The tests share control planes (`tests/support`) and use their own Namespaces. They mostly wait for times,
//! so more of them run at once than there are cores.
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::needless_pass_by_value,
    reason = "a test may stop where it stands"
)]

#[macro_use]
#[path = "../support/text_asserts.rs"]
mod text_asserts;

mod api_parity;
mod cron_differential;
mod e2e;
mod go_program;
mod nightly_table;
mod quantity_differential;
#[path = "../support/quoted_text.rs"]
mod quoted_text;
mod reliability;
#[path = "../support/rows.rs"]
mod rows;
mod stall_detector;
#[path = "../support/mod.rs"]
mod support;

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};

use reliability::{Matrix, Plane, Profile};
use support::{Stage, is_full, print_tries};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    let profile = Profile::read();
    // The reliability tests wait for half of their time. In the full form they are measured, so fewer run at
    // once.
    arguments.test_threads.get_or_insert(profile.pick(16, 8));

    let stage = Arc::new(Stage::default());
    let apart = Arc::new(stage.apart());
    let matrix = Arc::new(Matrix::new(&stage, profile));
    let is_night = includes_nightly(&arguments, profile);
    let mut cases = reliability::cases(profile);
    cases.retain(|case| is_night || !case.is_nightly);

    // The longest scenarios run first. Those that mostly compute, mostly wait, or wait for each other are
    // spread among the others. Those that need an idle machine run last.
    let chosen = |scenarios: Vec<support::Scenario>| -> Vec<Trial> {
        let scenarios = scenarios.into_iter();
        let scenarios = scenarios.filter(|scenario| is_night || !scenario.is_nightly);
        scenarios.map(|scenario| stage.trial(scenario)).collect()
    };
    let trials = chosen(e2e::scenarios());
    let mut busy = chosen(e2e::busy_scenarios());
    busy.extend(cron_differential::trials(&stage));
    busy.extend(quantity_differential::trials(&stage));
    let trials = spread(trials, busy.into_iter());
    let reported = |which: fn(Plane) -> bool| {
        // The last ones of the table are the longest.
        let cases: Vec<_> = cases.iter().filter(|it| which(it.plane)).collect();
        cases.into_iter().rev().map(|case| matrix.trial(*case))
    };
    let trials = spread(trials, reported(|plane| plane == Plane::Shared));
    let parity = api_parity::scenarios();
    let parity = parity.into_iter().map(|scenario| apart.trial(scenario));
    let trials = spread(trials, parity);
    let trials = spread(trials, reported(|plane| plane == Plane::Own));
    let mut trials = spread(trials, reported(|plane| plane == Plane::Measured));
    trials.extend(reported(|plane| plane == Plane::Quiet));
    trials.push(nightly_table::trial());
    trials.extend(stall_detector::trials(&stage));
    if is_night {
        trials.push(e2e::activator::kube_proxy::trial(&stage));
    }

    let conclusion = libtest_mimic::run(&arguments, trials);
    let are_too_many = print_tries();
    if std::env::var_os("RELIABILITY").is_some() {
        println!("\n{}", matrix.table(&cases));
    }
    if are_too_many {
        return ExitCode::FAILURE;
    }
    conclusion.exit_code()
}

/// Whether nightly scenarios run too: in the full forms, and if some are selected by name.
fn includes_nightly(arguments: &Arguments, profile: Profile) -> bool {
    is_full() || profile == Profile::Full || arguments.filter.is_some()
}

/// Distributes the few evenly among the first two thirds of the others, the first one at the beginning. The rest of the
/// others take a few seconds each, so all threads end at about the same time.
fn spread(mut others: Vec<Trial>, few: impl ExactSizeIterator<Item = Trial>) -> Vec<Trial> {
    let between = others.len() * 2 / 3 / few.len().max(1);
    for (index, each) in few.enumerate() {
        others.insert(index * (between + 1), each);
    }
    others
}
