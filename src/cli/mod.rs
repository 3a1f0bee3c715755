//! The command line: `commands` has one file for each subcommand, `args` the flags that they share,
//! and `output` everything that is printed.

mod args;
mod calendar_files;
mod command_line;
mod commands;
mod file_contents;
mod named_schedule_file;
mod outcome;
mod output;
mod process;
mod program;
mod zoneinfo;

pub use calendar_files::{CalendarFile, CalendarWatch};
pub use named_schedule_file::{NamedScheduleFile, ScheduleWatch};
pub use process::Exit;
pub use program::Program;
