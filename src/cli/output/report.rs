//! What came of a request, line by line as it comes.

use dayshift_operations::OverrideReport;

use super::{
    messages::{print_error, print_line},
    progress::Progress,
};
use crate::cli::exit::Exit;

/// Prints what is said, and keeps the exit status that it comes to.
pub(crate) struct Report {
    pub(crate) exit: Exit,
    progress: Progress,
}

impl Report {
    /// Nothing has been said, and it has come to this.
    pub(crate) fn new(exit: Exit) -> Self {
        let progress = Progress::new();
        Self { exit, progress }
    }

    pub(crate) fn take(&mut self, said: OverrideReport) {
        match said {
            OverrideReport::Waiting { done, all } => {
                let text = format!("waiting for the controller: {done} of {all} done");
                self.progress.say(&text);
            }
            OverrideReport::Done(line) => {
                self.progress.clear();
                print_line(&line);
            }
            OverrideReport::Failed { text, is_refusal } => {
                self.progress.clear();
                print_error(&text);
                let worse = if is_refusal {
                    Exit::Problems
                } else {
                    Exit::CouldNotRun
                };
                self.exit = self.exit.worse(worse);
            }
        }
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        self.progress.clear();
    }
}
