//! `dayshift status`: how the scheduled Deployments of a cluster stand.

use std::{
    collections::BTreeMap,
    io::{self, BufWriter, IsTerminal as _, Write as _},
};

use chrono::{DateTime, TimeDelta, Utc};
use clap::builder::BoolishValueParser;
use futures::StreamExt as _;
use kube::Client;

use crate::{
    cli::{
        args::{
            connection::ConnectionArgs,
            schedule_args::ScheduleArgs,
            targets::{TargetArgs, Targets},
        },
        exit::{Exit, wrong_usage},
        output::{messages::print_error, status_output::Standings, terminal::style},
    },
    clock::Clock,
    cluster::{FindError, Query, WatchEvent, WithManagers, find, server_time, watch},
    status::WorkloadStatus,
    workload::Kind,
};

/// Show the state of scheduled Deployments, their next boundary, and what is wrong
///
/// Deployments with a problem come first. Errors, what to do about them, and how to configure an
/// HPA, Argo CD, Flux or Helm to ignore replicas follow the table.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
Exit status: 0 done, 1 a Deployment has an error, 2 wrong usage, 3 no cluster, no permission or no such
Deployment.",
    after_long_help = AFTER_LONG_HELP
)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    targets: TargetArgs,

    /// The output format
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        default_value = "table",
        env = "DAYSHIFT_OUTPUT"
    )]
    output: Output,

    /// Keep running, and show everything again after each change
    #[arg(
        short,
        long,
        value_parser = BoolishValueParser::new(),
        env = "DAYSHIFT_WATCH"
    )]
    watch: bool,

    #[command(flatten)]
    connection: ConnectionArgs,

    #[command(flatten)]
    schedules: ScheduleArgs,
}

const AFTER_LONG_HELP: &str = "\
With -o json there is one document, {\"workloads\": [...]}, with these fields for each Deployment, null
where there is no value:
  kind, namespace, name, timezone, replicas
  state          adopted, running, stopped, woken, slept or paused; null until a controller has seen it
  since, next    RFC 3339 in the Deployment's zone
  savedReplicas  the count that a start restores
  override       {\"action\": \"wake\", \"sleep\" or \"pause\", \"until\": a time or null}
  error          what is wrong
  problems       [{\"annotation\", \"message\", \"start\", \"end\"}], start and end are bytes of the annotation's text
  restore        the command that restores a stopped Deployment without a schedule
  owners         who else sets the count: \"HPA\", \"Argo CD\", \"Flux Kustomization\", ...

Exit status: 0 done, 1 a Deployment has an error, 2 wrong usage, 3 no cluster, no permission or no such
Deployment.";

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    Table,
    Wide,
    Json,
}

impl StatusArgs {
    pub(crate) fn run(self) -> Exit {
        let targets = match self.targets.targets() {
            Ok(targets) => targets,
            Err(error) => return wrong_usage(&error),
        };
        let screen = Screen {
            output: self.output,
            schedules: self.schedules,
        };
        let shown = self.connection.on_cluster(async |client| {
            if self.watch {
                screen.follow(&client, &targets).await
            } else {
                screen.show(&client, &targets).await
            }
        });
        shown.unwrap_or_else(|error| error.report())
    }
}

/// Where the standings are shown, and how.
struct Screen {
    output: Output,
    schedules: ScheduleArgs,
}

impl Screen {
    async fn show(&self, client: &Client, targets: &Targets) -> Result<Exit, FindError> {
        let query = targets.query(client.default_namespace());
        let found = find::<WithManagers>(client, &query).await?;
        let now = now(client).await;
        let mut exit = Exit::Done;
        let mut statuses = Vec::new();
        for (kind, managed) in &found.workloads {
            match self.standing(*kind, managed, now) {
                Some(standing) => statuses.push(standing),
                None if matches!(query, Query::Named { .. }) => print_error(&format!(
                    "{}.{}/{} has no schedule",
                    kind.singular(),
                    kind.group(),
                    managed.workload.name()
                )),
                None => {}
            }
        }
        if statuses.is_empty() && !matches!(query, Query::Named { .. }) {
            let place = query.place();
            // It is an answer and no error.
            let _ = writeln!(io::stderr(), "No workload has a schedule in {place}.");
        }
        for missing in &found.missing {
            print_error(missing);
            exit = Exit::CouldNotRun;
        }
        Ok(exit.worse(self.write(&statuses, now)))
    }

    /// Shows all of it after each change, until the reader leaves or what is sought cannot be
    /// watched.
    async fn follow(&self, client: &Client, targets: &Targets) -> Result<Exit, FindError> {
        let query = targets.query(client.default_namespace());
        let ahead = now(client).await - Clock::system().now();
        let mut known = BTreeMap::new();
        let mut complete = false;
        // Changes that come together are shown together.
        let mut sights = watch::<WithManagers>(client, &query).ready_chunks(1024);
        while let Some(chunk) = sights.next().await {
            for sight in chunk {
                match sight? {
                    WatchEvent::Is(kind, managed) => {
                        known.insert(key(kind, &managed), managed);
                    }
                    WatchEvent::Gone(kind, managed) => {
                        known.remove(&key(kind, &managed));
                    }
                    WatchEvent::Complete => complete = true,
                }
            }
            if complete {
                let now = Clock::system().now() + ahead;
                let statuses: Vec<_> = known
                    .iter()
                    .filter_map(|((_, _, kind), managed)| self.standing(*kind, managed, now))
                    .collect();
                if io::stdout().is_terminal() && self.output != Output::Json {
                    // Home, and nothing below it (ECMA-48, CUP and ED).
                    let _ = write!(io::stdout(), "\u{1b}[H\u{1b}[J");
                }
                if self.write(&statuses, now) == Exit::CouldNotRun {
                    return Ok(Exit::CouldNotRun);
                }
            }
        }
        Ok(Exit::Done)
    }

    fn standing(
        &self,
        kind: Kind,
        managed: &WithManagers,
        now: DateTime<Utc>,
    ) -> Option<WorkloadStatus> {
        let ScheduleArgs {
            timezone,
            annotation_prefix,
        } = &self.schedules;
        WorkloadStatus::of(kind, managed, annotation_prefix, *timezone, now)
    }

    fn write(&self, statuses: &[WorkloadStatus], now: DateTime<Utc>) -> Exit {
        let statuses = Standings::new(statuses, &self.schedules.annotation_prefix, now);
        let stdout = io::stdout();
        let style = style(&stdout);
        let mut out = BufWriter::new(stdout.lock());
        let written = match self.output {
            Output::Table => statuses.write_table(&mut out, style, false),
            Output::Wide => statuses.write_table(&mut out, style, true),
            Output::Json => statuses.write_json(&mut out),
        };
        match written.and_then(|()| out.flush()) {
            // Who reads only the beginning has what they want.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                print_error(&format!("cannot write the status: {error}"));
                Exit::CouldNotRun
            }
            _ if statuses.have_errors() => Exit::Problems,
            _ => Exit::Done,
        }
    }
}

/// The time by which schedules are followed: the API server's, whose clock is known to be good,
/// and this machine's where that does not differ by a second or more.
async fn now(client: &Client) -> DateTime<Utc> {
    let here = Clock::system().now();
    let there = server_time(client).await.unwrap_or(here);
    if (there - here).abs() < TimeDelta::seconds(2) {
        here
    } else {
        there
    }
}

fn key(kind: Kind, managed: &WithManagers) -> (String, String, Kind) {
    let workload = &managed.workload;
    (
        workload.namespace().to_owned(),
        workload.name().to_owned(),
        kind,
    )
}
