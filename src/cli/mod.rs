//! The program's command line: one thin file per subcommand.

mod connection;
mod exit;
mod log;
mod plan;
mod program;
mod reading;
mod run;
mod run_args;
mod sandbox;
mod selector;
mod signals;
#[allow(dead_code, reason = "its users come next")]
mod table;
mod targets;
mod terminal;
#[allow(dead_code, reason = "its users come next")]
mod values;

pub use exit::Exit;
pub use program::Program;
