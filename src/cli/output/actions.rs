//! The results of commands that change workloads: a line for each, or one JSON document.

use std::io;

use dayshift_operations::OverrideReport;
use dayshift_text::counted;

use crate::cli::{
    output::{
        documents::{ActionDocument, ActionOutcome, ActionResult, ApiVersion, write_document},
        messages::{print_error, print_line},
        screen::Progress,
    },
    process::Exit,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ActionFormat {
    /// A line for each workload
    Text,
    /// A stable format for other programs
    Json,
}

/// Prints reports, or collects them for a JSON document, and keeps the worst exit status. Failures are
/// printed on standard error in both formats.
pub(crate) struct ActionPrinter {
    pub(crate) exit: Exit,
    progress: Progress,
    document: Option<ActionDocument>,
}

/// The command whose results are printed, and the format.
#[derive(Clone, Copy)]
pub(crate) struct ActionOutput {
    pub(crate) command: &'static str,
    pub(crate) dry_run: bool,
    pub(crate) format: ActionFormat,
}

impl ActionPrinter {
    pub(crate) fn new(exit: Exit, output: &ActionOutput) -> Self {
        let document = ActionDocument {
            api_version: ApiVersion::V1,
            command: output.command.to_owned(),
            dry_run: output.dry_run,
            results: Vec::new(),
        };
        Self {
            exit,
            progress: Progress::new(),
            document: Some(document).filter(|_| output.format == ActionFormat::Json),
        }
    }

    /// Writes the document if there is one.
    pub(crate) fn finish(mut self) -> Exit {
        self.progress.clear();
        if let Some(document) = self.document.take() {
            // A closed pipe is not an error: the reader has seen enough.
            let _ = write_document(&mut io::stdout().lock(), &document);
        }
        self.exit
    }

    /// Whether the results are collected for a JSON document.
    pub(crate) const fn is_document(&self) -> bool {
        self.document.is_some()
    }

    /// Shows the progress on a terminal.
    pub(crate) fn say(&mut self, progress: &str) {
        self.progress.say(progress);
    }

    /// Adds a result to the document. Returns false if there is none.
    fn collect(&mut self, outcome: ActionOutcome, message: &str) -> bool {
        let Some(document) = &mut self.document else {
            return false;
        };
        document.results.push(ActionResult {
            outcome,
            message: message.to_owned(),
        });
        true
    }

    pub(crate) fn print(&mut self, report: OverrideReport) {
        match report {
            OverrideReport::Waiting { done, all } => {
                let text = format!("waiting for {} of {}", all - done, counted(all, "workload"));
                self.progress.say(&text);
            }
            OverrideReport::Done(line) => {
                self.progress.clear();
                if !self.collect(ActionOutcome::Done, &line) {
                    print_line(&line);
                }
            }
            OverrideReport::Failed { text, is_refusal } => {
                self.progress.clear();
                print_error(&text);
                let (outcome, worse) = if is_refusal {
                    (ActionOutcome::Failed, Exit::Problems)
                } else {
                    (ActionOutcome::Unable, Exit::CouldNotRun)
                };
                self.collect(outcome, &text);
                self.exit = self.exit.worse(worse);
            }
        }
    }
}

impl Drop for ActionPrinter {
    fn drop(&mut self) {
        self.progress.clear();
    }
}
