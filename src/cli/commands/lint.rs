//! The arguments of `dayshift lint`, and what it does with them.

use std::{
    io::{self, BufWriter, Write},
    path::PathBuf,
};

use chrono::{DateTime, Utc};

use crate::{
    cli::{
        args::{schedule_args::ScheduleArgs, time_flag::time_flag, value_parsers::one_namespace},
        exit::{Exit, wrong_usage},
        output::{
            lint::{github, json, junit, sarif, text},
            messages::print_error,
            terminal,
        },
    },
    clock::Clock,
    lint::{Linter, Report},
    manifest::{OpenError, Source},
    text::TerminalSafe,
};

/// Find errors and likely mistakes in the schedules of files
///
/// No cluster is needed. An annotation suppresses a warning on its object and gives the reason:
/// lint.dayshift/start-without-stop: "stopped manually".
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A time T is local time of --timezone, such as \"2026-11-23\" or \"2026-11-23 09:00\", or RFC 3339, such
as 2026-11-23T09:00:00+09:00.
Exit status: 0 nothing found, 1 errors or warnings found, 2 wrong usage, 3 a file cannot be read.")]
pub(crate) struct LintArgs {
    /// Files of YAML or JSON, folders of such files, or - for standard input
    #[arg(value_name = "FILE", required_unless_present = "file")]
    files: Vec<PathBuf>,

    /// The same as FILE, as in kubectl; repeatable
    #[arg(short, long, value_name = "FILE", env = "DAYSHIFT_FILE")]
    file: Vec<PathBuf>,

    /// The first day of the year that is checked [default: now]
    #[arg(long, value_name = "T", env = "DAYSHIFT_FROM")]
    from: Option<String>,

    /// The output format
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        default_value = "text",
        env = "DAYSHIFT_OUTPUT"
    )]
    output: Output,

    /// The namespace of objects without one
    #[arg(
        short,
        long,
        value_name = "NAME",
        default_value = "default",
        value_parser = one_namespace,
        env = "DAYSHIFT_NAMESPACE"
    )]
    namespace: String,

    #[command(flatten)]
    schedules: ScheduleArgs,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Output {
    /// Lines and carets, as in rustc
    Text,
    /// For other programs
    Json,
    /// Workflow commands of GitHub Actions
    Github,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// XML for build servers
    Junit,
}

impl LintArgs {
    pub(crate) fn run(self) -> Exit {
        let from = match self.from(Clock::system().now()) {
            Ok(from) => from,
            Err(error) => return wrong_usage(&error),
        };
        let (sources, errors) = self.sources();
        let linter = Linter {
            from,
            default_zone: self.schedules.timezone,
            prefix: self.schedules.annotation_prefix.clone(),
            namespace: self.namespace.clone(),
        };
        let report = linter.lint(&sources);
        for error in &errors {
            print_error(error);
        }
        match write(&report, &sources, self.output) {
            // Who reads only the beginning has what they want.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                print_error(&format!("cannot write the report: {error}"));
                Exit::CouldNotRun
            }
            _ if !errors.is_empty() => Exit::CouldNotRun,
            _ if !report.findings.is_empty() => Exit::Problems,
            _ => Exit::Done,
        }
    }

    fn from(&self, now: DateTime<Utc>) -> Result<DateTime<Utc>, clap::Error> {
        let Some(text) = &self.from else {
            return Ok(now);
        };
        time_flag("from", text, self.schedules.timezone)
    }

    /// What could be opened, and why the rest could not.
    fn sources(&self) -> (Vec<Source>, Vec<OpenError>) {
        let mut sources = Vec::new();
        let mut errors = Vec::new();
        for file in self.files.iter().chain(&self.file) {
            match Source::open(file) {
                Ok(found) => sources.extend(found),
                Err(error) => errors.push(error),
            }
        }
        (sources, errors)
    }
}

fn write(report: &Report, sources: &[Source], output: Output) -> io::Result<()> {
    let stdout = io::stdout();
    let style = terminal::style(&stdout);
    let mut out = BufWriter::new(stdout.lock());
    match output {
        Output::Text => text::write(&mut out, report, sources, style)?,
        Output::Github => github::write(&mut out, report, sources)?,
        Output::Junit => junit::write(&mut out, report, sources)?,
        Output::Json => {
            serde_json::to_writer_pretty(TerminalSafe(&mut out), &json::document(report, sources))?;
            writeln!(out)?;
        }
        Output::Sarif => {
            serde_json::to_writer_pretty(
                TerminalSafe(&mut out),
                &sarif::document(report, sources),
            )?;
            writeln!(out)?;
        }
    }
    out.flush()
}
