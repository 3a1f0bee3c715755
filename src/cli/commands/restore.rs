//! `dayshift restore`: what it takes.

use clap::builder::BoolishValueParser;

use crate::{
    cli::{
        args::{connection::ConnectionArgs, override_args::ChosenArgs},
        exit::{Exit, wrong_usage},
        restore::Restore,
    },
    clock::Clock,
    workload::Prefix,
};

/// Bring up what is down, to the counts that are saved, for good
///
/// No running dayshift is needed: this is for the time after it, or instead of it. Deployments
/// whose schedule is gone come back too. One that runs acts again at the next boundary: take it
/// away first, or pause the Deployments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit status: 0 all that is down came back, 1 something could not, 2 wrong usage, 3 the cluster could
not be asked.")]
pub(crate) struct RestoreArgs {
    #[command(flatten)]
    chosen: ChosenArgs,

    /// Say what would come back, and write nothing
    #[arg(
        long,
        value_parser = BoolishValueParser::new(),
        help_heading = "What is done",
        env = "DAYSHIFT_DRY_RUN"
    )]
    dry_run: bool,

    /// What stands before the slash in annotations and labels
    #[arg(
        long,
        value_name = "PREFIX",
        default_value = "dayshift",
        value_parser = Prefix::parse,
        help_heading = "Schedules",
        env = "DAYSHIFT_ANNOTATION_PREFIX"
    )]
    annotation_prefix: Prefix,

    #[command(flatten)]
    connection: ConnectionArgs,
}

impl RestoreArgs {
    pub(crate) fn run(self) -> Exit {
        let targets = match self.chosen.targets() {
            Ok(targets) => targets,
            Err(error) => return wrong_usage(&error),
        };
        let restore = Restore {
            targets,
            prefix: self.annotation_prefix,
            now: Clock::system().now(),
            dry_run: self.dry_run,
        };
        self.connection
            .on_cluster(|client| restore.carry_out(client))
            .unwrap_or_else(|error| error.report())
    }
}
