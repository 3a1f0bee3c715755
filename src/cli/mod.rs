//! The command line: `commands` has one file for each subcommand, `args` the flags that they share,
//! and `output` what several commands print, and the larger outputs of single ones.

mod args;
mod command_line;
mod commands;
mod outcome;
mod output;
mod process;
mod program;
mod watched_files;
mod zoneinfo;

pub use process::Exit;
pub use program::Program;
pub use watched_files::{CalendarFile, CalendarWatch, NamedScheduleFile, ScheduleWatch};
