//! `dayshift wake`, `sleep`, `pause` and `resume`: what they take.

use chrono::{DateTime, TimeDelta, Utc};
use clap::{builder::BoolishValueParser, error::ErrorKind};

use super::{
    connection::ConnectionArgs,
    schedule_args::ReadingArgs,
    targets::{TargetArgs, Targets},
    until::{Until, UntilArgs},
    value_parsers::span,
};
use crate::{
    cli::{
        exit::{Exit, wrong_usage},
        instruct::{Order, Wish},
    },
    clock::Clock,
};

/// Start Deployments now, and keep them running until a time
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct WakeArgs {
    #[command(flatten)]
    common: CommonArgs,

    #[command(flatten)]
    until: UntilArgs,
}

/// Stop Deployments now, and keep them stopped until a time
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct SleepArgs {
    #[command(flatten)]
    common: CommonArgs,

    #[command(flatten)]
    until: UntilArgs,
}

/// Leave Deployments as they are, until a time or until `resume`
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct PauseArgs {
    #[command(flatten)]
    common: CommonArgs,

    #[command(flatten)]
    until: UntilArgs,
}

/// End a wake, a sleep or a pause now: the schedule counts again
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    common: CommonArgs,
}

const AFTER_HELP: &str = "\
It writes annotations and nothing else, as kubectl annotate would; a running dayshift obeys them.
Exit status: 0 obeyed, 1 not obeyed in time or not possible, 2 wrong usage, 3 the cluster could not
be asked.";

#[derive(Debug, clap::Args)]
struct CommonArgs {
    #[command(flatten)]
    chosen: ChosenArgs,

    #[command(flatten)]
    wait: WaitArgs,

    #[command(flatten)]
    reading: ReadingArgs,

    #[command(flatten)]
    connection: ConnectionArgs,
}

/// Which Deployments are written to: never all because nothing was said.
#[derive(Debug, clap::Args)]
pub(crate) struct ChosenArgs {
    #[command(flatten)]
    targets: TargetArgs,

    /// All Deployments of the namespace that dayshift looks after
    #[arg(
        long,
        value_parser = BoolishValueParser::new(),
        help_heading = "Which Deployments",
        env = "DAYSHIFT_ALL"
    )]
    all: bool,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "What is done")]
struct WaitArgs {
    /// Write, and do not wait until a running dayshift has obeyed
    #[arg(long, value_parser = BoolishValueParser::new(), env = "DAYSHIFT_NO_WAIT")]
    no_wait: bool,

    /// How long to wait for that
    #[arg(
        long,
        value_name = "TIME",
        default_value = "10s",
        value_parser = span,
        env = "DAYSHIFT_TIMEOUT"
    )]
    timeout: TimeDelta,

    /// Say what would be written, and write nothing
    #[arg(long, value_parser = BoolishValueParser::new(), env = "DAYSHIFT_DRY_RUN")]
    dry_run: bool,
}

impl WakeArgs {
    pub(crate) fn run(self) -> Exit {
        self.common.lasting(&self.until, Wish::Wake)
    }
}

impl SleepArgs {
    pub(crate) fn run(self) -> Exit {
        self.common.lasting(&self.until, Wish::Sleep)
    }
}

impl PauseArgs {
    pub(crate) fn run(self) -> Exit {
        let now = Clock::system().now();
        match self.until.until(now) {
            Ok(until) => self.common.run(now, Wish::Pause(until)),
            Err(error) => usage(&error),
        }
    }
}

impl ResumeArgs {
    pub(crate) fn run(self) -> Exit {
        self.common.run(Clock::system().now(), Wish::Resume)
    }
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
            (false, false) => "say which Deployments: deploy/web, --selector, --all or -A",
            (true, true) if self.all => "give either names or a selector, or --all",
            _ => return Ok(targets),
        };
        Err(clap::Error::raw(
            ErrorKind::MissingRequiredArgument,
            format!("{message}\n"),
        ))
    }
}

impl CommonArgs {
    /// A wish that has to end some time.
    fn lasting(self, until: &UntilArgs, wish: fn(Until) -> Wish) -> Exit {
        let now = Clock::system().now();
        match until.until(now) {
            Ok(Some(until)) => self.run(now, wish(until)),
            Ok(None) => usage(&"say until when: --for 2h, or --until 22:00"),
            Err(error) => usage(&error),
        }
    }

    fn run(self, now: DateTime<Utc>, wish: Wish) -> Exit {
        let targets = match self.chosen.targets() {
            Ok(targets) => targets,
            Err(error) => return wrong_usage(&error),
        };
        let order = Order {
            wish,
            targets,
            default_zone: self.reading.timezone,
            prefix: self.reading.annotation_prefix,
            now,
            timeout: (!self.wait.no_wait).then_some(self.wait.timeout),
            dry_run: self.wait.dry_run,
        };
        self.connection
            .on_cluster(|client| order.carry_out(client))
            .unwrap_or_else(|error| error.report())
    }
}

fn usage(message: &dyn std::fmt::Display) -> Exit {
    wrong_usage(&clap::Error::raw(
        ErrorKind::ValueValidation,
        format!("{message}\n"),
    ))
}
