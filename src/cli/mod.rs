//! The program's command line: `commands` has one thin file for each subcommand, `args` the flags
//! that they share, and `output` everything that is shown.

mod args;
mod await_obeyed;
mod commands;
mod exit;
mod instruct;
mod meant;
mod output;
mod program;
mod restore;
mod retry;
mod signals;

pub use exit::Exit;
pub use program::Program;
