//! The `dayshift` binary.

use std::process::ExitCode;

use dayshift::cli::Program;

fn main() -> ExitCode {
    match Program::from_arguments() {
        Ok(program) => program.run(),
        Err(exit) => exit,
    }
    .into()
}
