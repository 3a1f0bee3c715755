//! The flags that `wake`, `sleep`, `pause` and `resume` share.

use chrono::TimeDelta;
use clap::{builder::BoolishValueParser, error::ErrorKind};

use super::{
    connection::ConnectionArgs,
    schedule_args::ScheduleArgs,
    targets::{TargetArgs, Targets},
};
use crate::cli::args::values::value_parsers::parse_span;

pub(crate) const AFTER_HELP: &str = "\
The command only writes annotations, as kubectl annotate does; a running controller acts on them.
Exit status: 0 done, 1 no controller has acted in time, or it is not possible, 2 wrong usage, \
3 could not reach the cluster, or may not read all that was asked for.";

#[derive(Debug, clap::Args)]
pub(crate) struct OverrideArgs {
    #[command(flatten)]
    pub(crate) chosen: ChosenArgs,

    #[command(flatten)]
    pub(crate) wait: WaitArgs,

    #[command(flatten)]
    pub(crate) schedules: ScheduleArgs,

    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,
}

/// Which workloads are changed. None is selected by default.
#[derive(Debug, clap::Args)]
pub(crate) struct ChosenArgs {
    #[command(flatten)]
    targets: TargetArgs,

    /// All workloads of the namespace that have a schedule
    #[arg(
        long,
        value_parser = BoolishValueParser::new(),
        help_heading = "Which workloads"
    )]
    all: bool,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Changes")]
pub(crate) struct WaitArgs {
    /// Write the annotations, and do not wait until a controller has acted
    #[arg(long, value_parser = BoolishValueParser::new())]
    pub(crate) no_wait: bool,

    /// How long to wait for a controller to act
    #[arg(
        long,
        value_name = "TIME",
        default_value = "10s",
        value_parser = parse_span
    )]
    pub(crate) timeout: TimeDelta,

    /// Show what would be written, and write nothing
    #[arg(long, value_parser = BoolishValueParser::new())]
    pub(crate) dry_run: bool,
}

impl ChosenArgs {
    /// What is meant.
    ///
    /// # Errors
    /// Where nothing is said, or names beside `--all`.
    pub(crate) fn targets(&self) -> Result<Targets, clap::Error> {
        let targets = self.targets.targets()?;
        let everything = self.all || self.targets.all_namespaces;
        let message = match (targets.are_chosen(), everything) {
            (false, false) => "name the workloads: deploy/web, --selector, --all or -A",
            (true, true) if self.all => "give either names or a selector, or --all",
            _ => return Ok(targets),
        };
        Err(clap::Error::raw(
            ErrorKind::MissingRequiredArgument,
            format!("{message}\n"),
        ))
    }
}
