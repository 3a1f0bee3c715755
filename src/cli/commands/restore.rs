//! `dayshift restore`: restores saved counts without a controller.

use dayshift_cluster::clock::Clock;
use dayshift_operations::{OverrideReport, Restore};
use dayshift_workload::{Job, KindTable, Label, Observed, may_have_suspended_jobs};
use kube::Client;

use crate::cli::{
    args::{
        connection::ConnectionArgs,
        kinds::KindFiles,
        schedules::PrefixArgs,
        targets::{ChosenArgs, Targets},
    },
    commands::overrides::select,
    outcome::CommandError,
    output::{
        actions::{ActionFormat, ActionOutput},
        messages::{as_far_as_seen, print_line, print_note},
    },
    process::Exit,
};

/// Restore the saved counts of stopped workloads without a controller
///
/// Use it after you have removed dayshift, or instead of it. It also restores workloads whose
/// schedule was removed, and resumes the Jobs that the stop of a CronJob has suspended. A controller
/// that is still running acts again at the next boundary: remove it first, or pause the workloads.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit status: 0 done, 1 a workload could not be restored, 2 wrong usage, 3 could not reach the \
cluster, a permission to read is missing, or the definition of a kind (--kind-file).")]
pub(crate) struct RestoreArgs {
    #[command(flatten)]
    chosen: ChosenArgs,

    /// Show what would be restored, and write nothing
    #[arg(long, help_heading = "Changes")]
    dry_run: bool,

    /// The output format
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        default_value = "text",
        help_heading = None::<&'static str>
    )]
    output: ActionFormat,

    #[command(flatten)]
    prefix: PrefixArgs,

    #[command(flatten)]
    connection: ConnectionArgs,
}

impl RestoreArgs {
    pub(crate) fn run(self, kind_files: &KindFiles) -> Result<Exit, CommandError> {
        let targets = self.chosen.targets(kind_files)?;
        let restore = Restore {
            prefix: self.prefix.annotation_prefix,
            now: Clock::system().now(),
            dry_run: self.dry_run,
        };
        let output = ActionOutput {
            command: "restore",
            dry_run: self.dry_run,
            format: self.output,
        };
        self.connection.on_cluster("restore", async |client| {
            restore_all(&client, &targets, &restore, &output, &kind_files.table).await
        })
    }
}

/// Restores the saved count of each workload.
async fn restore_all(
    client: &Client,
    targets: &Targets,
    restore: &Restore,
    output: &ActionOutput,
    table: &KindTable,
) -> Result<Exit, CommandError> {
    let is_down = |workload: &Observed| {
        workload.labels.text(Label::SavedReplicas).is_some() || may_have_suspended_jobs(workload)
    };
    // The saved counts are stored in labels of the workloads.
    let selected = select(client, targets, &restore.prefix, table, output, is_down);
    let (selection, mut printer) = selected.await?;
    let named = selection.is_by_name();
    let dry = if restore.dry_run { " (dry run)" } else { "" };
    let (mut done, mut scheduled, mut quiet) = (0, false, selection.missing.is_empty());
    restore
        .restore(client, &selection, |observed, answer| {
            let subject = selection.subject(&observed.object);
            done += 1;
            let report = match answer {
                Ok(Some((before, after))) => {
                    let counts = observed.object.kind.counts();
                    let [before, after] = [before, after].map(|count| counts.short_text(count));
                    scheduled |= observed.inputs.has_schedule();
                    let text = format!("{subject} restored, {before} -> {after}{dry}");
                    Some(OverrideReport::Done(text))
                }
                Ok(None) if named => Some(OverrideReport::Done(format!("{subject} unchanged"))),
                Ok(None) => None,
                // Deleted workloads are reported only if they were named.
                Err(error) if error.is_gone() && !named => None,
                Err(error) => Some(OverrideReport::Failed {
                    text: format!("{subject}: not restored: {error}"),
                    is_refusal: error.is_refusal(),
                }),
            };
            if let Some(report) = report {
                quiet = false;
                printer.print(report);
            }
            let all = selection.workloads.len();
            printer.say(&format!("restoring: {done} of {all}"));
        })
        .await;
    restore
        .resume_jobs(client, &selection, |namespace, job, answer| {
            quiet = false;
            let named = |job: &Job| selection.placed(format!("job.batch/{}", job.name), namespace);
            match (job, answer) {
                (Some(job), Ok(())) => {
                    let text = format!("{} resumed{dry}", named(job));
                    printer.print(OverrideReport::Done(text));
                }
                (None, Ok(())) => {}
                (job, Err(error)) => {
                    let subject = job.map_or_else(|| format!("Jobs in {namespace}"), named);
                    printer.print(OverrideReport::Failed {
                        text: format!("{subject}: not resumed: {error}"),
                        is_refusal: false,
                    });
                }
            }
        })
        .await;
    let is_document = printer.is_document();
    let exit = printer.finish();
    if quiet && !is_document {
        let nothing = format!("nothing to restore in {}", selection.query.place());
        print_line(&as_far_as_seen(nothing, &selection.unreadable));
    }
    if scheduled && !restore.dry_run {
        print_note("a running controller acts again at the next boundary");
    }
    Ok(exit)
}
