//! The program's command line: `commands` has one thin file for each subcommand, `args` the flags
//! that they share, and `output` everything that is shown.

mod args;
mod calendar_watch;
mod commands;
mod exit;
mod kind_files;
mod output;
mod program;
mod runtime;
mod signals;
mod variables;
mod word_order;
mod zoneinfo;

pub use args::values::calendar_file::CalendarFile;
pub use calendar_watch::CalendarWatch;
pub use exit::Exit;
pub use program::Program;
