//! The cost of each operation, compared with the recorded one: allocations, bytes, instructions.
//!
//! None of these depends on how busy the machine is, so a change of more than a few percent is one of the code.
//! `recorded.txt` is the table; `UPDATE_COSTS=1 cargo test --test cost_budgets` writes it again. Instructions are
//! counted only with `COSTS=full`, by valgrind, for this unoptimized build: they are several times those of the
//! shipped program.
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    dead_code, // shared with benches/scale
    clippy::needless_pass_by_value,
    reason = "a test may stop where it stands"
)]

#[path = "../support/measuring/alloc_accounting.rs"]
mod alloc_accounting;
mod callgrind;
mod case;
mod cluster;
mod costly;
#[path = "../support/measuring/large.rs"]
mod large;
mod measure;
mod parts;
#[path = "../support/measuring/stopped.rs"]
mod stopped;
mod table;

use std::{
    alloc::System,
    collections::HashMap,
    env,
    process::ExitCode,
    sync::{Arc, Mutex, OnceLock},
};

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

use callgrind::{Count, NoCount};
use case::Case;
use table::{Row, Table};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const INSTRUCTIONS: &str = "instructions: ";

fn main() -> ExitCode {
    let cases = [parts::cases(), costly::cases(), cluster::cases()].concat();
    if callgrind::is_counted(&cases) || measure::is_measured(&cases) {
        return ExitCode::SUCCESS;
    }
    let arguments = Arguments::from_args();
    if env::var_os("UPDATE_COSTS").is_some() && !arguments.list {
        record(&cases);
    }
    let recorded = Arc::new(Table::read());
    let mut trials = vec![names_agree(&cases, &recorded)];
    trials.extend(cases.iter().map(|case| memory_trial(*case, &recorded)));
    if is_full() {
        trials.extend(instruction_trials(&cases, &recorded, &arguments));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Whether instructions are counted too, which takes more than a minute.
fn is_full() -> bool {
    match env::var("COSTS").as_deref() {
        Ok("full") => true,
        Ok(other) if !other.is_empty() => panic!("COSTS={other}: `full` or nothing"),
        _ => false,
    }
}

fn instruction_trials(
    cases: &[Case],
    recorded: &Arc<Table>,
    arguments: &Arguments,
) -> impl Iterator<Item = Trial> {
    let filter = arguments.filter.as_deref().unwrap_or_default();
    let is_asked = INSTRUCTIONS.contains(filter) && !arguments.list;
    // In parallel with the memory trials.
    let instructions = Arc::new(Instructions {
        cases: cases.to_vec(),
        begun: Mutex::new(is_asked.then(Count::begin)),
        counted: OnceLock::new(),
    });
    let counted = cases.iter().filter(|case| case.instructions);
    counted.map(move |case| instruction_trial(*case, recorded, &instructions))
}

fn record(cases: &[Case]) {
    let counted = Count::begin().and_then(|it| it.end(cases)).unwrap();
    let rows = cases.iter().map(|case| {
        let row = Row::new(measure::memory(case), counted.get(case.name).copied());
        (case.name.to_owned(), row)
    });
    Table::new(rows).write();
}

/// Checks that every operation is recorded, and that every record has an operation.
fn names_agree(cases: &[Case], recorded: &Arc<Table>) -> Trial {
    let mut measured: Vec<_> = cases.iter().map(|case| case.name.to_owned()).collect();
    measured.sort();
    let recorded = recorded.clone();
    Trial::test("every_measured_operation_is_recorded", move || {
        let recorded = recorded.names();
        let difference = || {
            format!(
                "measured: {measured:#?}\nrecorded: {recorded:#?}\n{}",
                table::HOW
            )
        };
        (measured == recorded)
            .then_some(())
            .ok_or_else(|| difference().into())
    })
}

fn memory_trial(case: Case, recorded: &Arc<Table>) -> Trial {
    let recorded = recorded.clone();
    Trial::test(format!("memory: {}", case.name), move || {
        recorded.compare_memory(case.name, measure::memory(&case))
    })
}

/// The cost of each case in instructions.
struct Instructions {
    cases: Vec<Case>,
    begun: Mutex<Option<Result<Count, NoCount>>>,
    counted: OnceLock<Result<HashMap<&'static str, f64>, NoCount>>,
}

impl Instructions {
    fn of(&self, case: &Case) -> Result<f64, NoCount> {
        let counted = self.counted.get_or_init(|| {
            let begun = self.begun.lock().unwrap().take();
            begun.unwrap_or_else(Count::begin)?.end(&self.cases)
        });
        counted
            .as_ref()
            .map_err(NoCount::clone)
            .map(|it| it[case.name])
    }
}

fn instruction_trial(case: Case, recorded: &Arc<Table>, instructions: &Arc<Instructions>) -> Trial {
    let (recorded, instructions) = (recorded.clone(), instructions.clone());
    Trial::ignorable_test(format!("{INSTRUCTIONS}{}", case.name), move || {
        if let Some(why) = recorded.is_of_another_build() {
            // The recorded counts are for the compiler in `rust-toolchain.toml`; with another one nothing is
            // compared.
            return match env::var_os("CI") {
                Some(_) if recorded.is_of_this_target() => Err(Failed::from(why)),
                _ => Ok(Completion::ignored_with(why)),
            };
        }
        match instructions.of(&case) {
            Ok(count) => recorded
                .compare_instructions(case.name, count)
                .map(|()| Completion::Completed),
            Err(NoCount::NoValgrind) if env::var_os("CI").is_none() => {
                Ok(Completion::ignored_with("valgrind is not installed"))
            }
            Err(why) => Err(Failed::from(why.to_string())),
        }
    })
}
