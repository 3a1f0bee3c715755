//! How the program ends.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use dayshift_text::{is_unprintable, printable};

/// How the program ends. The status tells a pipeline a finding from an outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done: 0.
    Done,
    /// Something was found that a person should look at: 1.
    Problems,
    /// The command line is wrong: 2.
    Usage,
    /// It could not run (no cluster, no permission, no port): 3.
    CouldNotRun,
    /// A second signal of that number ended it at once: 128 and the number, as a shell has it.
    Signal(u8),
}

impl Exit {
    /// The worse of two: what could not run is worse than what should be looked at.
    pub(super) fn worse(self, other: Self) -> Self {
        match (self, other) {
            (Self::Done, other) => other,
            (_, Self::CouldNotRun) => Self::CouldNotRun,
            _ => self,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Problems => 1,
            Exit::Usage => 2,
            Exit::CouldNotRun => 3,
            Exit::Signal(number) => 128_u8.saturating_add(number),
        })
    }
}

fn acts(character: char) -> bool {
    character != '\n' && is_unprintable(character)
}

/// Says what is wrong with the command line, or prints the help or version that it asks for.
pub(super) fn wrong_usage(error: &clap::Error) -> Exit {
    let shown = error.render().to_string();
    // Where nobody reads, nobody misses it.
    let _ = if shown.contains(acts) {
        let lines = shown.lines().map(printable).collect::<Vec<_>>().join("\n");
        writeln!(io::stderr(), "{lines}")
    } else {
        error.print()
    };
    if error.use_stderr() {
        Exit::Usage
    } else {
        Exit::Done
    }
}
