//! `dayshift schedule`: shows the week of a schedule, and writes it on a workload.

use chrono::{DateTime, NaiveTime, Utc};
use dayshift_cluster::{clock::Clock, read::NamespaceDefaults};
use dayshift_manifest::plan::{Period, PeriodError, Plan, Planner};
use dayshift_operations::{
    LiveView, ScheduleEdit, annotations_text, annotations_yaml, gitops_manager, suggest_workload,
};
use dayshift_schedule::{Action, Zone};
use dayshift_workload::{
    Key, Kind, NamedSchedules,
    events::{Condition, Message, Subject, sync_help},
};
use kube::Client;

use crate::cli::{
    args::{
        connection::ConnectionArgs,
        kinds::KindFiles,
        schedules::ScheduleArgs,
        targets::{TargetArgs, Targets},
    },
    outcome::{CommandError, print_result},
    output::{
        chart::Chart,
        messages::{print_error, print_line, print_note, print_warning, with_hint},
        terminal,
    },
    process::{Exit, usage_error},
};

/// Write running hours on a workload, after showing the week and the savings
///
/// The hours are validated first. If Argo CD, Flux or Helm manages the workload, nothing is written,
/// and the command prints the annotations to commit.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("workloads", |arg| arg.value_name("WORKLOAD").num_args(2..=3).required(true).help(
        "The workload and its running hours: deploy/web \"Mon-Fri 09:00-19:00\""
    )),
    after_help = "\
Examples:
  dayshift schedule deploy/web \"Mon-Fri 09:00-19:00\" --timezone Europe/Berlin
  dayshift schedule sts/db \"daily 06:00-22:00\" --dry-run
--timezone is written with the hours. A new schedule takes effect at its next start or stop.
Exit status: 0 done, 1 the hours are invalid, or a conflict, 2 wrong usage, 3 no cluster, no such workload, \
or no permission."
)]
pub(crate) struct SetScheduleArgs {
    /// Show the week and the annotations, and write nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    targets: TargetArgs,

    #[command(flatten)]
    connection: ConnectionArgs,

    #[command(flatten)]
    schedules: ScheduleArgs,
}

/// The number of days that are shown.
const DAYS: u32 = 7;

impl SetScheduleArgs {
    pub(crate) fn run(mut self, kind_files: &KindFiles) -> Result<Exit, CommandError> {
        self.schedules.warn_of_unreadable();
        let hours = self.targets.workloads.pop();
        let hours = hours.ok_or_else(|| usage_error("name the workload and its hours"))?;
        let targets = self.targets.targets(kind_files)?;
        if targets.named() != 1 {
            let error = match targets.whole_namespace() {
                Some(_) => {
                    "name one workload; the schedule of a namespace is written with kubectl \
                         annotate ns/NAME"
                }
                None => {
                    "name exactly one workload, and its hours as the last argument: deploy/web \
                         \"Mon-Fri 09:00-19:00\""
                }
            };
            return Err(usage_error(error).into());
        }
        let now = Clock::system().now();
        let zone = self.schedules.given_zone();
        let mut annotations = vec![(Key::Hours, Some(hours.trim().to_owned()))];
        annotations.extend(zone.map(|zone| (Key::Timezone, Some(zone.name().to_owned()))));
        let planner = Planner {
            period: Period::days(now, DAYS, self.schedules.zone()).map_err(usage_error)?,
            context: self.schedules.context(kind_files),
            prefix: self.schedules.prefix.annotation_prefix.clone(),
        };
        let request = ScheduleRequest {
            edit: ScheduleEdit {
                annotations,
                schedules: NamedSchedules::default(),
            },
            planner,
            now,
            dry_run: self.dry_run,
        };
        self.connection.on_cluster("schedule", async |client| {
            request.send(&client, &targets).await
        })
    }
}

/// The schedule to write on one workload.
struct ScheduleRequest {
    edit: ScheduleEdit,
    planner: Planner,
    now: DateTime<Utc>,
    dry_run: bool,
}

impl ScheduleRequest {
    async fn send(&self, client: &Client, targets: &Targets) -> Result<Exit, CommandError> {
        let prefix = &self.planner.prefix;
        let query = targets.query(client.default_namespace());
        let live = LiveView::read(client, query, prefix, NamespaceDefaults::default()).await?;
        if let Some(unreadable) = live.unreadable_parts().into_iter().next() {
            return Err(unreadable.error.into());
        }
        for missing in &live.missing() {
            print_error(&with_hint(missing, suggest_workload(client, missing).await));
        }
        let Some((kind, managed)) = live.workloads().next() else {
            return Ok(Exit::CouldNotRun);
        };
        let observed = live.observe_workload(kind, managed);
        let edited = self.edit.edited(&observed);
        let Some(plan) = self.planner.plan_live(&edited.scheduled) else {
            print_error(&format!("{}: it is excluded", observed.object));
            return Ok(Exit::Problems);
        };
        if !plan.problems().is_empty() {
            for problem in plan.problems() {
                print_error(&format!("{}: {}", problem.annotation, problem.message));
            }
            return Ok(Exit::Problems);
        }
        let workloads = vec![plan];
        self.show(&Plan { workloads })?;
        let subject = subject(kind, &observed.object.name);
        let manager = gitops_manager(&observed, managed);
        if let Some(manager) = manager {
            print_line(&format!(
                "{} manages {subject}, so nothing was written. Commit these annotations:",
                manager.name()
            ));
            print_lines(&annotations_yaml(&self.edit.annotations, prefix));
            return Ok(Exit::Done);
        }
        if let Some(by) = managed.operated_by(&self.planner.context.kinds) {
            let message = Condition::Operated { by }.message(&Subject {
                object: &edited.scheduled.object,
                prefix,
                zone: self.planner.context.default_zone,
                now: Some(self.now),
            });
            print_warning(&message.to_string());
        }
        if edited.changes.is_empty() {
            print_line(&format!("{subject} unchanged"));
            return Ok(Exit::Done);
        }
        let text = annotations_text(&edited.changes, prefix);
        if self.dry_run {
            print_line(&format!("{subject} {text} (dry run)"));
            return Ok(Exit::Done);
        }
        if let Err(error) = edited.write(client, prefix).await {
            print_error(&format!("{subject}: not scheduled: {error}"));
            return Ok(if error.is_retriable() {
                Exit::Problems
            } else {
                Exit::CouldNotRun
            });
        }
        print_line(&format!("{subject} {text}"));
        if edited.runs_outside_hours(&self.planner.context, self.now) {
            let message = Message {
                text: "its hours have ended, and it runs until its next stop".to_owned(),
                help: Some(sync_help(Action::Stop, &observed.object, prefix)),
            };
            print_note(&message.to_string());
        }
        Ok(Exit::Done)
    }

    /// Shows the week as `dayshift plan` does.
    fn show(&self, plan: &Plan) -> Result<(), CommandError> {
        let shown = |zone| {
            let shown = self.days_shown(zone).unwrap_or(self.planner.period);
            (shown, self.now)
        };
        print_result(|out, style| Chart::new(style, terminal::width()).write(out, plan, shown))
    }

    /// Whole days in `zone`, beginning with today.
    fn days_shown(&self, zone: Zone) -> Result<Period, PeriodError> {
        let today = self.now.with_timezone(&zone).date_naive();
        Period::days(zone.instant(today.and_time(NaiveTime::MIN)), DAYS, zone)
    }
}

fn subject(kind: &Kind, name: &str) -> String {
    format!("{}.{}/{name}", kind.singular(), kind.group())
}

fn print_lines(lines: &[String]) {
    for line in lines {
        print_line(line);
    }
}
