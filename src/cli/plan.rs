//! `dayshift plan`: what the schedules in files will do.

use std::{
    io::{self, BufWriter, Write},
    path::PathBuf,
};

use chrono::{DateTime, Utc};
use clap::error::ErrorKind;

use super::{
    exit::{Exit, wrong_usage},
    reading::ReadingArgs,
    values::one_namespace,
};
use crate::{
    clock::Clock,
    manifest::{OpenError, Source, SyntaxError},
    plan::{Period, Plan, Planner},
    schedule::quote,
};

/// Show when the Deployments in files will start and stop
///
/// No cluster is needed. Everything but Deployments in the files is passed over, and so are
/// Deployments without a schedule.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A time T is local time of --timezone, such as \"2026-11-23\" or \"2026-11-23 09:00\", or RFC 3339, such
as 2026-11-23T09:00:00+09:00. What happens at the end of the time shown is not shown.
Exit status: 0 done, 1 a schedule has problems, 2 wrong usage, 3 a file cannot be read.")]
pub(super) struct PlanArgs {
    /// A file of YAML or JSON, a folder of such files, or - for standard input; several times for
    /// several
    #[arg(
        short,
        long,
        value_name = "FILE",
        required = true,
        env = "DAYSHIFT_FILE"
    )]
    file: Vec<PathBuf>,

    /// The beginning of the time shown [default: now]
    #[arg(long, value_name = "T", env = "DAYSHIFT_FROM")]
    from: Option<String>,

    /// How many days are shown, of the calendar of --timezone
    #[arg(
        long,
        value_name = "N",
        default_value = "7",
        value_parser = clap::value_parser!(u32).range(1..=36_600),
        env = "DAYSHIFT_DAYS"
    )]
    days: u32,

    /// The end of the time shown, in place of --days
    #[arg(
        long,
        value_name = "T",
        conflicts_with = "days",
        env = "DAYSHIFT_UNTIL"
    )]
    until: Option<String>,

    /// How it is shown
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        default_value = "json",
        env = "DAYSHIFT_OUTPUT"
    )]
    output: Output,

    /// The namespace of Deployments that name none
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
    reading: ReadingArgs,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Output {
    Json,
}

/// Why a file cannot be planned.
#[derive(Debug, thiserror::Error)]
enum FileError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
}

impl PlanArgs {
    pub(super) fn run(self) -> Exit {
        let period = match self.period(Clock::system().now()) {
            Ok(period) => period,
            Err(error) => return wrong_usage(&error),
        };
        let planner = Planner {
            period,
            default_zone: self.reading.timezone,
            prefix: self.reading.annotation_prefix.clone(),
        };
        let (plan, errors) = self.plan(&planner);
        if !errors.is_empty() {
            for error in errors {
                // Where nobody reads, nobody misses it.
                let _ = writeln!(io::stderr(), "error: {error}");
            }
            return Exit::CouldNotRun;
        }
        match write(&plan, self.output) {
            // Who reads only the beginning has what they want.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                let _ = writeln!(io::stderr(), "error: cannot write the plan: {error}");
                Exit::CouldNotRun
            }
            _ if plan.has_problems() => Exit::Problems,
            _ => Exit::Done,
        }
    }

    fn period(&self, now: DateTime<Utc>) -> Result<Period, clap::Error> {
        let usage = |message| clap::Error::raw(ErrorKind::ValueValidation, format!("{message}\n"));
        let end = |flag: &str, text: &str| {
            Period::parse_end(text, self.reading.timezone).map_err(|error| {
                usage(format!(
                    "invalid value '{}' for '--{flag} <T>': {error}",
                    quote(text)
                ))
            })
        };
        let from = self
            .from
            .as_deref()
            .map_or(Ok(now), |text| end("from", text))?;
        let period = match &self.until {
            Some(until) => Period::new(from, end("until", until)?),
            None => Period::days(from, self.days, self.reading.timezone),
        };
        period.map_err(|error| usage(error.to_string()))
    }

    /// The plan of all files, and what kept any of them from being read.
    fn plan(&self, planner: &Planner) -> (Plan, Vec<FileError>) {
        let mut plan = Plan::default();
        let mut errors = Vec::new();
        for file in &self.file {
            let sources = Source::open(file).map_err(|error| errors.push(error.into()));
            for source in sources.unwrap_or_default() {
                match source.workloads(&planner.prefix, &self.namespace) {
                    Ok(found) => plan.workloads.extend(
                        found
                            .iter()
                            .filter_map(|it| planner.plan(&it.object, &it.inputs, &it.problems)),
                    ),
                    Err(error) => errors.push(error.into()),
                }
            }
        }
        (plan, errors)
    }
}

fn write(plan: &Plan, output: Output) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    match output {
        Output::Json => serde_json::to_writer_pretty(&mut out, plan)?,
    }
    writeln!(out)?;
    out.flush()
}
