//! The program's command line: one thin file per subcommand.

mod connection;
mod exit;
mod lint;
mod log;
mod plan;
mod program;
mod reading;
mod run;
mod run_args;
mod sandbox;
mod selector;
mod signals;
mod terminal;
mod values;

pub use exit::Exit;
pub use program::Program;
