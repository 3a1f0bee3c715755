//! `dayshift plan`: what the schedules in files and in a cluster will do.

use std::{
    io::{self, BufWriter, IsTerminal, Write},
    path::PathBuf,
};

use chrono::{DateTime, NaiveTime, Utc};
use clap::error::ErrorKind;

use crate::{
    cli::{
        args::{
            connection::ConnectionArgs,
            exclude::ExcludeArgs,
            price_args::PriceArgs,
            schedule_args::{InheritanceArgs, ScheduleArgs},
            target_names::looks_like_a_path,
            targets::{TargetArgs, Targets},
            values::time_flag::time_flag,
        },
        exit::{Exit, wrong_usage},
        output::{
            chart::Chart,
            findings::text::{has_errors, print_findings},
            messages::{note_unreadable, print_error, print_note},
            plan_table::{WriteError, write_saved, write_table},
            terminal,
        },
        runtime::block_on,
    },
    clock::Clock,
    cluster::{
        ConnectError, FindError, Missing, NamespaceDefaults, Workload, find, missing_namespaces,
        no_namespaces,
    },
    lint::{Finding, Linter, refusals},
    manifest::{self, OpenError, Source},
    plan::{Period, Plan, Planner},
    schedule::Zone,
    status::Unreadable,
    text::{TerminalSafe, quote},
    workload::{Inheritance, Origin, Replicas},
};

/// Show when workloads will start and stop, from files or from the cluster
///
/// Files need no cluster; objects that are no workloads are skipped. Without files, the plan shows
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
    /// A file of YAML or JSON, a folder of such files, or - for standard input; repeatable
    #[arg(short, long, value_name = "FILE")]
    file: Vec<PathBuf>,

    #[command(flatten)]
    exclude: ExcludeArgs,

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

    /// The output format [default: chart on a terminal, else json]
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<Output>,

    #[command(flatten)]
    price: PriceArgs,

    #[command(flatten)]
    targets: TargetArgs,

    #[command(flatten)]
    connection: ConnectionArgs,

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
    /// A stable format for other programs
    Json,
}

/// What keeps something from being planned.
#[derive(Debug, thiserror::Error)]
enum PlanError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error(transparent)]
    Find(#[from] FindError),
    #[error(transparent)]
    Missing(#[from] Missing),
    #[error("{0}")]
    Unreadable(Unreadable),
    #[error("{}", no_namespaces(.0))]
    NoNamespaces(Vec<String>),
    #[error("cannot create timers or sockets: {0}")]
    System(io::Error),
}

/// A plan, what is wrong with what was to be planned, and what kept any of it from being read.
#[derive(Default)]
struct Planned {
    plan: Plan,
    findings: Vec<Finding>,
    sources: Vec<Source>,
    errors: Vec<PlanError>,
}

impl PlanArgs {
    pub(crate) fn run(self) -> Exit {
        self.schedules.warn_of_unreadable();
        let now = Clock::system().now();
        let asked = self.period(now, self.schedules.zone());
        let inheritance = self.inheritance.inheritance();
        let asked = asked.and_then(|period| {
            let (targets, inheritance) = (self.targets()?, inheritance);
            if targets.is_some() && inheritance.default_schedule.is_some() {
                let message = "--default-hours and the like are for files; live workloads say \
                               themselves what they inherit\n";
                return Err(clap::Error::raw(ErrorKind::ArgumentConflict, message));
            }
            Ok((period, targets, inheritance))
        });
        let (period, targets, inheritance) = match asked {
            Ok(asked) => asked,
            Err(error) => return wrong_usage(&error),
        };
        let planner = Planner {
            period,
            context: self.schedules.context(),
            prefix: self.schedules.annotation_prefix.clone(),
        };
        let Planned {
            plan,
            findings,
            sources,
            errors,
        } = match &targets {
            None => self.of_files(&planner, inheritance),
            Some(targets) => self.of_cluster(&planner, targets),
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
            | PlanError::System(_) => false,
        };
        if !errors.iter().all(keeps_others) {
            return Exit::CouldNotRun;
        }
        if plan.workloads.is_empty() && errors.is_empty() && findings.is_empty() {
            // Where nobody reads, nobody misses it.
            let _ = writeln!(io::stderr(), "No workload with a schedule found.");
        }
        match self.show(&plan, now, period) {
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
        } else if has_errors(&findings) {
            Exit::Problems
        } else {
            Exit::Done
        }
    }

    /// The selected live workloads; `None` where files are given.
    fn targets(&self) -> Result<Option<Targets>, clap::Error> {
        let mut named = self.targets.workloads.iter();
        if let Some(file) = named.find(|it| looks_like_a_path(it)) {
            let file = quote(file);
            let message = format!("`{file}` is a file: write `dayshift plan -f {file}`\n");
            return Err(clap::Error::raw(ErrorKind::UnknownArgument, message));
        }
        let targets = self.targets.targets()?;
        if self.file.is_empty() {
            return Ok(Some(targets));
        }
        let message = if self.targets.namespace.len() > 1 {
            "-n is the namespace of objects in files without one: give one\n"
        } else if targets.are_chosen() || self.targets.all_namespaces {
            "give either files or live workloads: -f FILE, or for example deploy/web, --selector \
             or --all-namespaces\n"
        } else {
            return Ok(None);
        };
        Err(clap::Error::raw(ErrorKind::ArgumentConflict, message))
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

    /// The plan of all files.
    fn of_files(&self, planner: &Planner, inheritance: Inheritance) -> Planned {
        let opened = self.exclude.open(&self.file);
        // A scaler gives its default to the kinds that it looks at.
        let kinds = self.targets.kinds.kinds();
        let linter = Linter {
            from: planner.period.from(),
            context: planner.context.clone(),
            prefix: planner.prefix.clone(),
            namespace: self
                .targets
                .namespace
                .first()
                .cloned()
                .unwrap_or("default".to_owned()),
            kinds: kinds.clone(),
            inheritance,
        };
        let contents = linter.read(&opened.sources);
        let is_looked_at = |it: &&manifest::Workload| {
            it.inputs.schedule_origin() != Some(Origin::Scaler) || kinds.contains(&it.object.kind)
        };
        let found = contents.iter().flat_map(|it| &it.workloads);
        let found = found.filter(is_looked_at);
        let planned = found.filter_map(|it| {
            let plan = planner.plan(&it.object, &it.inputs, &it.problems)?;
            let plan = plan.running_with(it.replicas.unwrap_or(Replicas::ONE));
            Some(
                plan.requesting(it.requests)
                    .at_price(self.price.price.clone()),
            )
        });
        let plan = Plan {
            workloads: planned.collect(),
        };
        Planned {
            plan,
            findings: linter.obstacles(&contents),
            sources: opened.sources,
            errors: opened.errors.into_iter().map(PlanError::from).collect(),
        }
    }

    /// The plan of live workloads.
    fn of_cluster(&self, planner: &Planner, targets: &Targets) -> Planned {
        let found = async {
            let (client, _) = self.connection.clone().patient_client("plan").await?;
            let query = targets.query(client.default_namespace());
            let (found, defaults) = tokio::join!(
                find::<Workload>(&client, &query),
                NamespaceDefaults::find(&client, &query, &planner.prefix)
            );
            let (found, refused) = found?;
            let is_found = |at: &str| found.workloads.iter().any(|(_, it)| it.namespace() == at);
            let missing = missing_namespaces(&client, &query, is_found).await;
            if !missing.is_empty() {
                return Err(PlanError::NoNamespaces(missing));
            }
            let unreadable = Unreadable::workloads(&query, &refused, "left out");
            Ok::<_, PlanError>((found, unreadable, defaults))
        };
        let (found, unreadable, defaults) =
            match block_on(found).unwrap_or_else(|error| Err(PlanError::System(error))) {
                Ok(found) => found,
                Err(error) => {
                    return Planned {
                        errors: vec![error],
                        ..Planned::default()
                    };
                }
            };
        let price = &self.price.price;
        let mut planned = Planned::default();
        for (kind, it) in &found.workloads {
            let it = defaults.applied(it.observe(*kind, &planner.prefix));
            let Some(plan) = planner.plan_live(&it) else {
                if it.phase().is_some() {
                    print_note(&format!(
                        "{}: its labels say that it is scheduled, and the schedule does not stand on it",
                        it.object
                    ));
                }
                continue;
            };
            if !plan.problems().is_empty() {
                let found = refusals(&it.object, &it.inputs, &planner.context, &planner.prefix);
                for finding in found {
                    // What a Namespace has is said once.
                    let is_own = finding
                        .object
                        .as_ref()
                        .is_some_and(|it| *it.kind != *"Namespace");
                    if is_own || !planned.findings.contains(&finding) {
                        planned.findings.push(finding);
                    }
                }
            }
            planned.plan.workloads.push(plan.at_price(price.clone()));
        }
        if planned.plan.workloads.is_empty() {
            note_unreadable(&defaults);
        }
        let unreadable = unreadable.into_iter().map(PlanError::Unreadable);
        let missing = found.missing.into_iter().map(PlanError::Missing);
        planned.errors = unreadable.chain(missing).collect();
        planned
    }

    fn show(&self, plan: &Plan, now: DateTime<Utc>, period: Period) -> Result<(), WriteError> {
        let stdout = io::stdout();
        let style = terminal::style(&stdout);
        let output = self.output.unwrap_or(if stdout.is_terminal() {
            Output::Chart
        } else {
            Output::Json
        });
        let mut out = BufWriter::new(stdout.lock());
        match output {
            Output::Json => {
                serde_json::to_writer_pretty(TerminalSafe(&mut out), plan)
                    .map_err(io::Error::from)?;
                writeln!(out)?;
            }
            Output::Table => {
                if !plan.workloads.is_empty() {
                    write_table(&mut out, plan, style)?;
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
