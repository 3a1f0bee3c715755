//! The program's command line: one thin file per subcommand.

mod await_obeyed;
mod complete;
mod completions;
mod connection;
mod exit;
mod instruct;
mod lint;
mod log;
mod meant;
mod moments;
mod override_args;
mod plan;
mod plan_table;
mod program;
mod progress;
mod reading;
mod restore;
mod restore_args;
mod retry;
mod run;
mod run_args;
mod sandbox;
mod say;
mod selector;
mod signals;
mod standings;
mod status;
mod table;
mod targets;
mod terminal;
mod until;
mod values;

pub use exit::Exit;
pub use program::Program;
