//! The program `dayshift`: parses, runs, exits.

use std::process::ExitCode;

use dayshift::cli::Program;

fn main() -> ExitCode {
    match Program::from_arguments() {
        Ok(program) => program.run(),
        Err(exit) => exit,
    }
    .into()
}
