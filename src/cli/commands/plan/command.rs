//! The command `dayshift plan`: its flags, and how its result is shown.

use std::{
    io::{self, BufWriter, Write},
    path::PathBuf,
};

use chrono::{DateTime, NaiveTime, Utc};
use clap::error::ErrorKind;
use dayshift_cluster::clock::Clock;
use dayshift_manifest::plan::{Period, Plan, Planner, StopSummary, WorkloadPlan};
use dayshift_schedule::Zone;
use dayshift_text::TerminalSafe;
use serde::Serialize;
use serde_json::Value;

use super::planned::{PlanError, Planned};
use crate::cli::{
    args::{
        connection::ConnectionArgs,
        files::FileArgs,
        price_args::PriceArgs,
        schedule_args::{InheritanceArgs, ScheduleArgs},
        target_names::files_and_names,
        targets::{TargetArgs, Targets},
        values::{selector::selector, time_flag::time_flag},
    },
    exit::{Exit, wrong_usage},
    output::{
        chart::Chart,
        findings::text::{has_errors, print_findings},
        messages::{note_nothing_scheduled, print_error},
        plan_summary::{SummaryDocument, write_summary},
        plan_table::{WriteError, write_requests, write_saved, write_table},
        terminal,
    },
};

/// Show when workloads will start and stop, from files or from the cluster
///
/// Files need no cluster; objects that are not workloads are skipped. Without files, the plan shows
/// the named workloads of the cluster, or all in the namespace of the context. Workloads
/// without a schedule are left out.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A time T is local time of --timezone, such as \"2026-11-23\" or \"2026-11-23 09:00\", or RFC 3339, \
such as 2026-11-23T09:00:00+09:00. The end of the period is exclusive. A chart shows whole days \
in the zone of each schedule: a local T is a time there, and now is today. It is as wide as the \
terminal, or as COLUMNS says.
Exit status: 0 done, 1 a file or a schedule has errors, 2 wrong usage, 3 a file or the cluster cannot be \
read.")]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(super) given: FileArgs,

    /// The beginning of the period [default: now]
    #[arg(long, value_name = "T")]
    from: Option<String>,

    /// The length of the period in days of the calendar of --timezone
    #[arg(
        long,
        value_name = "N",
        default_value = "7",
        value_parser = clap::value_parser!(u32).range(1..=36_600)
    )]
    days: u32,

    /// The end of the period, instead of --days
    #[arg(long, value_name = "T", conflicts_with = "days")]
    until: Option<String>,

    /// The output format
    #[arg(short, long, value_name = "FORMAT", default_value = "chart")]
    output: Output,

    #[command(flatten)]
    pub(super) price: PriceArgs,

    #[command(flatten)]
    pub(super) targets: TargetArgs,

    /// Only namespaces with these labels, such as `env in (dev,test)`; with -A
    #[arg(
        long,
        value_name = "SELECTOR",
        value_parser = selector,
        requires = "all_namespaces",
        help_heading = "Which workloads"
    )]
    namespace_selector: Option<String>,

    #[command(flatten)]
    pub(super) connection: ConnectionArgs,

    #[command(flatten)]
    schedules: ScheduleArgs,

    #[command(flatten)]
    inheritance: InheritanceArgs,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Output {
    /// A row for each day, running hours drawn solid
    Chart,
    /// A row for each start and stop
    Table,
    /// A row for each namespace of the cluster: what its next stop takes away, and what stands in
    /// the way
    Summary,
    /// The same for other programs
    SummaryJson,
    /// A stable format for other programs
    Json,
}

/// What other programs read.
#[derive(Serialize)]
struct Document<'p> {
    workloads: &'p [WorkloadPlan],
    unread: Vec<Value>,
}

impl PlanArgs {
    pub(crate) fn run(mut self) -> Exit {
        self.schedules.warn_of_unreadable();
        let (paths, names) = files_and_names(&self.targets.workloads);
        let files = self.given.all(&paths);
        self.targets.workloads = names;
        let now = Clock::system().now();
        let asked = self.period(now, self.schedules.zone());
        let inheritance = self.inheritance.inheritance();
        let asked = asked.and_then(|period| Ok((period, self.targets(&files)?, inheritance)));
        let (period, targets, inheritance) = match asked {
            Ok(asked) => asked,
            Err(error) => return wrong_usage(&error),
        };
        let planner = Planner {
            period,
            context: self.schedules.context(),
            prefix: self.schedules.prefix.annotation_prefix.clone(),
        };
        let Planned {
            plan,
            findings,
            sources,
            errors,
            summary,
        } = match &targets {
            None => self.of_files(&planner, &files, inheritance),
            Some(targets) => self.of_cluster(&planner, targets, inheritance, now),
        };
        for error in &errors {
            print_error(&error);
        }
        print_findings(&findings, &sources);
        let keeps_others = |it: &PlanError| match it {
            PlanError::Missing(_) | PlanError::Unreadable(_) => true,
            PlanError::Open(_) => !plan.workloads.is_empty(),
            PlanError::Connect(_)
            | PlanError::Find(_)
            | PlanError::NoNamespaces(_)
            | PlanError::Namespaces(_)
            | PlanError::System(_) => false,
        };
        if !errors.iter().all(keeps_others) {
            return Exit::CouldNotRun;
        }
        if plan.workloads.is_empty() && errors.is_empty() && findings.is_empty() {
            note_nothing_scheduled();
        }
        match self.show(&plan, &errors, &summary, now, period) {
            // Who reads only the beginning has what they want.
            Err(WriteError::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => {}
            Err(error) => {
                print_error(&error);
                return Exit::CouldNotRun;
            }
            Ok(()) => {}
        }
        if !errors.is_empty() {
            Exit::CouldNotRun
        } else if has_errors(&findings) || plan.has_problems() {
            Exit::Problems
        } else {
            Exit::Done
        }
    }

    /// The selected live workloads; `None` where files are given.
    fn targets(&self, files: &[PathBuf]) -> Result<Option<Targets>, clap::Error> {
        let targets = self.targets.targets()?;
        if files.is_empty() {
            return Ok(Some(targets));
        }
        let message = if self.is_summary() {
            "a summary is of live workloads: leave the files out\n"
        } else if self.targets.scope.namespace.len() > 1 {
            "give one -n: it is the namespace of objects in files without one\n"
        } else if targets.are_chosen() || self.targets.scope.is_wide() {
            "give either files or live workloads: FILE…, or for example deploy/web, --selector or \
             --all-namespaces\n"
        } else {
            return Ok(None);
        };
        Err(clap::Error::raw(ErrorKind::ArgumentConflict, message))
    }

    /// Whether a summary is asked for.
    pub(super) const fn is_summary(&self) -> bool {
        matches!(self.output, Output::Summary | Output::SummaryJson)
    }

    /// Which namespaces are meant of all, by their labels.
    pub(super) fn namespace_selector(&self) -> Option<&str> {
        self.namespace_selector
            .as_deref()
            .filter(|it| !it.is_empty())
    }

    /// The time that is asked for, on the clocks of a zone.
    fn period(&self, now: DateTime<Utc>, zone: Zone) -> Result<Period, clap::Error> {
        let usage = |message| clap::Error::raw(ErrorKind::ValueValidation, format!("{message}\n"));
        let from = self
            .from
            .as_deref()
            .map_or(Ok(now), |text| time_flag("from", text, zone))?;
        let period = match &self.until {
            Some(until) => Period::new(from, time_flag("until", until, zone)?),
            None => Period::days(from, self.days, zone),
        };
        period.map_err(|error| usage(error.to_string()))
    }

    fn show(
        &self,
        plan: &Plan,
        errors: &[PlanError],
        summary: &StopSummary,
        now: DateTime<Utc>,
        period: Period,
    ) -> Result<(), WriteError> {
        let stdout = io::stdout();
        let style = terminal::style(&stdout);
        let mut out = BufWriter::new(stdout.lock());
        let unread = errors.iter().filter_map(PlanError::unread).collect();
        match self.output {
            Output::Json => {
                let workloads = &plan.workloads;
                write_json(&mut out, &Document { workloads, unread })?;
            }
            Output::SummaryJson => {
                write_json(&mut out, &SummaryDocument::of(summary, unread))?;
            }
            Output::Table => {
                if !plan.workloads.is_empty() {
                    write_table(&mut out, plan, style)?;
                    write_requests(&mut out, plan, style)?;
                    write_saved(&mut out, plan)?;
                }
            }
            Output::Summary => {
                if !plan.workloads.is_empty() {
                    let prefix = &self.schedules.prefix.annotation_prefix;
                    write_summary(&mut out, summary, style, prefix, now)?;
                    write_saved(&mut out, plan)?;
                }
            }
            Output::Chart => {
                let chart = Chart::new(style, terminal::width());
                chart.write(&mut out, plan, |zone| {
                    let shown = self.days_shown(now, zone).unwrap_or(period);
                    // Before now nobody knows of any.
                    let since = self.from.as_ref().map_or(now, |_| shown.from());
                    (shown, since)
                })?;
                write_requests(&mut out, plan, style)?;
            }
        }
        out.flush()?;
        Ok(())
    }

    /// The time that a chart shows: the same by the clocks of `zone`, and today from midnight on.
    fn days_shown(&self, now: DateTime<Utc>, zone: Zone) -> Result<Period, clap::Error> {
        let today = now.with_timezone(&zone).date_naive();
        self.period(zone.instant(today.and_time(NaiveTime::MIN)), zone)
    }
}

fn write_json(out: &mut impl Write, document: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(TerminalSafe(&mut *out), document)?;
    writeln!(out)
}
