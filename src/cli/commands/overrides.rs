//! `dayshift wake`, `sleep`, `pause`, `resume` and `sync`, which differ in little more than a word.

use std::fmt::Display;

use chrono::{DateTime, TimeDelta, Utc};
use clap::{builder::BoolishValueParser, error::ErrorKind};
use dayshift_cluster::{
    clock::Clock,
    read::{FindError, no_namespaces},
};
use dayshift_operations::{OverrideRequest, RequestedOverride, Selection, Until};
use dayshift_workload::{Observed, ParsedInputs, READY_WITHIN, read};
use kube::Client;

use crate::cli::{
    args::{
        chosen_args::ChosenArgs,
        connection::ConnectionArgs,
        schedule_args::ScheduleArgs,
        targets::Targets,
        values::{until::UntilArgs, value_parsers::parse_span},
    },
    exit::{Exit, wrong_usage},
    output::{
        messages::{as_far_as_seen, left_alone, note_unreadable, print_error},
        report::Report,
    },
};

pub(crate) const AFTER_HELP: &str = "\
The command only writes annotations, as kubectl annotate does; a running controller acts on them.
Exit status: 0 done, 1 no controller acted in time, or a workload cannot be changed, 2 wrong usage, \
3 could not reach the cluster, may not read all that was asked for, or lacks the row of a kind \
(--kind-file).";

/// The flags that all of them share.
#[derive(Debug, clap::Args)]
pub(crate) struct OverrideArgs {
    #[command(flatten)]
    chosen: ChosenArgs,

    #[command(flatten)]
    wait: WaitArgs,

    #[command(flatten)]
    schedules: ScheduleArgs,

    #[command(flatten)]
    connection: ConnectionArgs,
}

/// Those of `wake`, `sleep` and `pause`, which last until a time.
#[derive(Debug, clap::Args)]
pub(crate) struct LastingArgs {
    #[command(flatten)]
    until: UntilArgs,

    #[command(flatten)]
    common: OverrideArgs,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Changes")]
struct WaitArgs {
    /// Write the annotations, and do not wait until a controller has acted
    #[arg(long, value_parser = BoolishValueParser::new(), hide_short_help = true)]
    no_wait: bool,

    /// Wait until a controller has acted and all of it is ready
    #[arg(
        long,
        value_name = "WHAT",
        value_enum,
        conflicts_with = "no_wait",
        hide_short_help = true
    )]
    wait: Option<WaitFor>,

    /// How long to wait for a controller to act [default: 10s; 10m with --wait=ready]
    #[arg(long, value_name = "TIME", value_parser = parse_span, hide_short_help = true)]
    timeout: Option<TimeDelta>,

    /// Show what would be written, and write nothing
    #[arg(long, value_parser = BoolishValueParser::new())]
    dry_run: bool,
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum WaitFor {
    /// All of it is ready
    Ready,
}

/// How long a command waits for a controller to act.
const TIMEOUT: TimeDelta = TimeDelta::seconds(10);

impl WaitArgs {
    /// For how long to wait; `None` where nobody waits.
    fn timeout(&self) -> Option<TimeDelta> {
        let usual = self.wait.map_or(TIMEOUT, |_| READY_WITHIN);
        (!self.no_wait).then_some(self.timeout.unwrap_or(usual))
    }
}

impl LastingArgs {
    /// Requests an override with an end.
    pub(crate) fn until(self, requested: fn(Until) -> RequestedOverride) -> Exit {
        self.request(|until| until.map(requested))
    }

    /// Requests a pause, with an end or without.
    pub(crate) fn pause(self) -> Exit {
        self.request(|until| Some(RequestedOverride::Pause(until)))
    }

    fn request(self, of: impl FnOnce(Option<Until>) -> Option<RequestedOverride>) -> Exit {
        let now = Clock::system().now();
        match self.until.until(now).map(of) {
            Ok(Some(requested)) => self.common.request(now, requested, self.until.reason),
            Ok(None) => usage(&"set an end: --for 2h, or --until 22:00"),
            Err(error) => usage(&error),
        }
    }
}

impl OverrideArgs {
    /// Requests what has no end.
    pub(crate) fn now(self, requested: RequestedOverride) -> Exit {
        self.request(Clock::system().now(), requested, None)
    }

    fn request(
        self,
        now: DateTime<Utc>,
        requested: RequestedOverride,
        reason: Option<String>,
    ) -> Exit {
        self.schedules.warn_of_unreadable();
        let targets = match self.chosen.targets() {
            Ok(targets) => targets,
            Err(error) => return wrong_usage(&error),
        };
        let command = requested.command();
        let request = OverrideRequest {
            context: match requested {
                // What the schedule says now may rest on the dates.
                RequestedOverride::Sync => self.schedules.context(),
                _ => self.schedules.context_of_others(),
            },
            requested,
            prefix: self.schedules.prefix.annotation_prefix,
            now,
            reason,
            dry_run: self.wait.dry_run,
            until_ready: self.wait.wait.is_some(),
        };
        let timeout = self.wait.timeout();
        self.connection
            .on_cluster(command, async |client| match targets.whole_namespace() {
                Some(name) if !matches!(request.requested, RequestedOverride::Sync) => {
                    let query = targets.query(client.default_namespace());
                    let mut report = Report::new(Exit::Done);
                    let mut said = |said| report.take(said);
                    request
                        .carry_out_in_namespace(&client, name, &query, None, timeout, &mut said)
                        .await?;
                    Ok(report.exit)
                }
                _ => send(&client, &targets, &request, timeout).await,
            })
            .unwrap_or_else(|error| error.report())
    }
}

fn usage(message: &dyn Display) -> Exit {
    wrong_usage(&clap::Error::raw(
        ErrorKind::ValueValidation,
        format!("{message}\n"),
    ))
}

/// Annotates the workloads, and waits until a controller has acted on each.
async fn send(
    client: &Client,
    targets: &Targets,
    request: &OverrideRequest,
    timeout: Option<TimeDelta>,
) -> Result<Exit, FindError> {
    // `--all` means all with a schedule.
    let has_schedule = |it: &Observed| {
        it.phase().is_some()
            || !matches!(
                read(&it.inputs, &request.context),
                ParsedInputs::Unscheduled
            )
    };
    let query = targets.query(client.default_namespace());
    let selection = Selection::find(client, query, &request.prefix, has_schedule).await?;
    let missing = selection.missing_namespaces(client).await;
    if !missing.is_empty() {
        print_error(&no_namespaces(&missing));
        return Ok(Exit::CouldNotRun);
    }
    let mut report = Report::new(left_alone(&selection));
    if selection.observed.is_empty() && !selection.is_by_name() {
        let nothing = selection.query.nothing_scheduled();
        let not_all = !selection.unreadable.is_empty();
        print_error(&as_far_as_seen(nothing, not_all));
        note_unreadable(&selection.defaults);
        return Ok(report.exit.worse(Exit::Problems));
    }
    request
        .carry_out(client, &selection, timeout, &mut |said| report.take(said))
        .await;
    Ok(report.exit)
}
