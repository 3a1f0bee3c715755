//! The command `dayshift status`: its flags, and what its help says.

use clap::builder::BoolishValueParser;

use super::view::{Output, View};
use crate::cli::{
    args::{
        connection::ConnectionArgs, price_args::PriceArgs, schedule_args::ScheduleArgs,
        targets::TargetArgs,
    },
    exit::{Exit, wrong_usage},
    output::status::SortBy,
};

/// Show the state of scheduled workloads, what they do next, and what is wrong
///
/// Those with a problem come first. Errors, what to do about them, and how to configure an HPA,
/// Argo CD, Flux or Helm to ignore replicas follow the table, which leaves out what does not fit
/// the terminal.
#[derive(Debug, clap::Args)]
#[command(
    after_help = EXIT_STATUS,
    after_long_help = format!("{AFTER_LONG_HELP}\n\n{EXIT_STATUS}")
)]
pub(crate) struct StatusArgs {
    /// The output format
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: Output,

    /// What the rows are sorted by
    #[arg(long, value_name = "COLUMN", default_value = "problems")]
    sort_by: SortBy,

    /// Show only workloads with a problem: those that make the exit status 1
    #[arg(long, value_parser = BoolishValueParser::new())]
    problems: bool,

    /// Keep running: a terminal is refreshed in place, other output gets all of it at each change
    #[arg(
        short,
        long,
        value_parser = BoolishValueParser::new()
    )]
    watch: bool,

    #[command(flatten)]
    price: PriceArgs,

    #[command(flatten)]
    targets: TargetArgs,

    #[command(flatten)]
    connection: ConnectionArgs,

    #[command(flatten)]
    schedules: ScheduleArgs,
}

const EXIT_STATUS: &str = "\
Exit status: 0 done, 1 a workload has a problem, 2 wrong usage, 3 no cluster, no such workload, or \
not all of those that were asked for may be read.";

const AFTER_LONG_HELP: &str = "\
A problem is a schedule that is refused; a start, stop or override that is more than 10 s overdue; a \
workload that is down without a schedule, against its schedule or with no saved count; one with \
nothing ready 10 minutes after its start; one whose next start names something in vain in \
dayshift/after; and a count that another program has set back within 15 minutes.

With -o json there is one document, {\"workloads\": [...], \"unread\": [...]}. Each \
workload has these fields, null where there is no value:
  kind, namespace, name, timezone, replicas
  from           where the schedule is written: \"object\" or \"namespace\";
                 \"scaler\" where it is the default of the scaler
  state          adopted, running, stopped, woken, slept or paused; null until a
                 controller has seen it
  since, next    RFC 3339 in the workload's zone
  nextAction     what happens then: \"start\", \"stop\", or null where that is open,
                 as after a pause, or where a wake ends and it runs on
  waitsFor       what a start that is due waits for:
                 {\"objects\": [\"sts/db\", ...], \"until\": when it stops waiting}
  onRequest      what requests come to, with dayshift/wake-on-request:
                 {\"services\": those that wake it, \"notCovered\": [texts]}; null
                 where you may not list Services
  ready          whether all of it is ready, by its status
  readyReplicas  how many replicas are ready
  savedReplicas  the count that a start restores
  requests       {\"cpuCores\", \"memoryBytes\"}: what one replica requests
  heldDown       {\"replicas\", \"cpuCores\", \"memoryBytes\"}: what would run now
                 without the schedule, and does not
  override       {\"action\": \"wake\", \"sleep\" or \"pause\", \"until\": a time or null,
                 \"from\": as above}
  error          what is wrong
  problems       [{\"annotation\", \"message\", \"start\", \"end\", \"from\"}]; start and
                 end are bytes of the annotation's text
  overdueSince   since when something should have been done
  notes          texts, as under the table
  restore        the command that restores a stopped workload without a schedule
  revertedBy     the program that has set another count since: {\"manager\", \"at\",
                 \"cure\"}; at is null for an HPA, cure is the setting that ends
                 it or null; null also where a person did
  owners         who else sets the count: \"HPA\", \"KEDA\", \"Argo CD\", \"Flux
                 Kustomization\", ...; an HPA or KEDA that has not scaled yet is
                 found where you may list HPAs and ScaledObjects

Standard error and unread name what may not be read: {\"resource\", such as \
\"cronjobs.batch\", \"message\", \"cure\": what helps, or null}. Where that is a kind or a workload \
that was asked for, the others are shown and the exit status is 3, whatever they say; Namespaces, \
Services, HPAs and ScaledObjects do not change it.";

impl StatusArgs {
    pub(crate) fn run(self) -> Exit {
        self.schedules.warn_of_unreadable();
        let targets = match self.targets.targets() {
            Ok(targets) => targets,
            Err(error) => return wrong_usage(&error),
        };
        let view = View {
            output: self.output,
            sort_by: self.sort_by,
            problems: self.problems,
            price: self.price.price,
            schedules: self.schedules,
        };
        let shown = self.connection.on_cluster("status", async |client| {
            if self.watch {
                view.follow(&client, &targets).await
            } else {
                view.show(&client, &targets).await
            }
        });
        shown.unwrap_or_else(|error| error.report())
    }
}
