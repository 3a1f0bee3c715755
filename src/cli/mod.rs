//! The program's command line: one thin file per subcommand.

mod await_obeyed;
mod connection;
mod exit;
mod instruct;
mod lint;
mod log;
mod moments;
mod override_args;
mod plan;
mod plan_table;
mod program;
mod progress;
mod reading;
mod run;
mod run_args;
mod sandbox;
mod selector;
mod signals;
mod table;
mod targets;
mod terminal;
mod until;
mod values;

pub use exit::Exit;
pub use program::Program;
