//! `dayshift plan`: when workloads start and stop, from files or from the cluster.

use std::{collections::BTreeMap, io::Write as _, path::PathBuf};

use chrono::{DateTime, NaiveTime, Utc};
use dayshift_cluster::{
    clock::Clock,
    read::{NamespaceDefaults, selected_namespaces},
};
use dayshift_manifest::{
    Contents, ManifestWorkload, OpenError, SourceFile, last_of_each,
    lint::{LintFinding, Linter, refusals},
    plan::{
        CountedWith, OperatorResource, OtherManagers, Period, Plan, PlanCalendar, Planner,
        StopSummary,
    },
};
use dayshift_operations::{
    LiveView,
    status::{
        DependencyChecks, StatusContext, Unreadable, WorkloadStatus, owners, scheduled_owner,
    },
    suggest_workload,
};
use dayshift_schedule::Zone;
use dayshift_workload::{
    Inheritance, Origin, Replicas, RequestCoverage, ServiceSpec, WorkloadRef,
    events::{Condition, Subject},
};
use kube::Client;

use crate::cli::{
    args::{
        connection::ConnectionArgs,
        kinds::KindFiles,
        schedules::{InheritanceArgs, ScheduleArgs},
        targets::{FileArgs, TargetArgs, Targets, files_and_names},
        values::{PriceArgs, selector, time_flag},
    },
    outcome::{CommandError, print_result},
    output::{
        chart::Chart,
        documents::{ApiVersion, PlanDocument, SummaryDocument, Unread, write_document},
        findings::{has_errors, print_findings},
        messages::{
            missing_namespaces_text, note_given_again, note_nothing_scheduled, note_unreadable,
            print_beside, print_error, print_note, with_hint,
        },
        plan::{write_plan_table, write_requests, write_saved, write_summary},
        status::Notes,
        terminal::{self, Style},
    },
    process::{Exit, usage_error},
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
in the time zone of each schedule, beginning with today by default; a local T is in that zone. It \
is as wide as the terminal, or as DAYSHIFT_COLUMNS.
Exit status: 0 done, 1 a file or a schedule has errors, 2 wrong usage, 3 a file or the cluster cannot be \
read.")]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    given: FileArgs,

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
    output: PlanFormat,

    #[command(flatten)]
    price: PriceArgs,

    #[command(flatten)]
    targets: TargetArgs,

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
    connection: ConnectionArgs,

    #[command(flatten)]
    schedules: ScheduleArgs,

    #[command(flatten)]
    inheritance: InheritanceArgs,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum PlanFormat {
    /// A row for each day, running hours drawn solid
    Chart,
    /// A row for each start and stop
    Table,
    /// A row for each namespace of the cluster: the replicas that its next stop saves, and
    /// the blockers
    Summary,
    /// The same for other programs
    SummaryJson,
    /// A stable format for other programs
    Json,
    /// iCalendar: starts, stops and excluded dates for calendar programs
    Ics,
}

impl PlanArgs {
    pub(crate) fn run(mut self, kind_files: &KindFiles) -> Result<Exit, CommandError> {
        self.schedules.warn_of_unreadable();
        self.inheritance
            .warn_of_mistakes(&self.schedules, kind_files);
        let (paths, names) = files_and_names(&self.targets.workloads, kind_files);
        let files = self.given.all(&paths);
        self.targets.workloads = names;
        let now = Clock::system().now();
        let period = self.period(now, self.schedules.zone())?;
        let targets = self.targets(&files, kind_files)?;
        let inheritance = self.inheritance.inheritance();
        let planner = Planner {
            period,
            // The controller may have a file of schedules for live workloads.
            context: match (targets.is_some(), self.inheritance.schedule_file()) {
                (true, None) => self.schedules.context(kind_files),
                _ => self.inheritance.context(&self.schedules, kind_files),
            },
            prefix: self.schedules.prefix.annotation_prefix.clone(),
        };
        let Planned {
            plan,
            findings,
            sources,
            errors,
            summary,
        } = match &targets {
            None => self.plan_files(&planner, &files, kind_files, inheritance),
            Some(targets) => self.plan_cluster(&planner, targets, inheritance, now)?,
        };
        for error in &errors {
            print_error(&error);
        }
        print_findings(&findings, &sources);
        let is_file = |error: &PlanError| matches!(error, PlanError::Open(_));
        if plan.workloads.is_empty() && errors.iter().any(is_file) {
            return Ok(Exit::CouldNotRun);
        }
        if plan.workloads.is_empty() && errors.is_empty() && findings.is_empty() {
            note_nothing_scheduled();
        }
        self.show(&plan, &errors, &summary, now, period)?;
        Ok(if !errors.is_empty() {
            Exit::CouldNotRun
        } else if has_errors(&findings) || plan.has_problems() {
            Exit::Problems
        } else {
            Exit::Done
        })
    }

    /// The selected live workloads, or `None` if files are given.
    fn targets(
        &self,
        files: &[PathBuf],
        kind_files: &KindFiles,
    ) -> Result<Option<Targets>, clap::Error> {
        let targets = self.targets.targets(kind_files)?;
        if files.is_empty() {
            return Ok(Some(targets));
        }
        let message = if self.is_summary() {
            "a summary is of live workloads: leave the files out"
        } else if self.targets.scope.namespace.len() > 1 {
            "give one -n: it is the namespace of objects in files without one"
        } else if targets.are_chosen() || self.targets.scope.is_wide() {
            "give either files or live workloads: FILE…, or for example deploy/web, --selector or \
             --all-namespaces"
        } else {
            return Ok(None);
        };
        Err(usage_error(message))
    }

    const fn is_summary(&self) -> bool {
        matches!(self.output, PlanFormat::Summary | PlanFormat::SummaryJson)
    }

    fn namespace_selector(&self) -> Option<&str> {
        self.namespace_selector
            .as_deref()
            .filter(|selector| !selector.is_empty())
    }

    /// The requested period in `zone`.
    fn period(&self, now: DateTime<Utc>, zone: Zone) -> Result<Period, clap::Error> {
        let from = self
            .from
            .as_deref()
            .map_or(Ok(now), |text| time_flag("from", text, zone))?;
        let period = match &self.until {
            Some(until) => Period::new(from, time_flag("until", until, zone)?),
            None => Period::days(from, self.days, zone),
        };
        period.map_err(usage_error)
    }

    fn show(
        &self,
        plan: &Plan,
        errors: &[PlanError],
        summary: &StopSummary,
        now: DateTime<Utc>,
        period: Period,
    ) -> Result<(), CommandError> {
        let unread = errors.iter().filter_map(PlanError::unread).collect();
        let shown = |zone| {
            let shown = self.days_shown(now, zone).unwrap_or(period);
            // It is unknown which overrides were active before now.
            let since = self.from.as_ref().map_or(now, |_| shown.from());
            (shown, since)
        };
        print_result(|out, style| match self.output {
            PlanFormat::Json => {
                let document = PlanDocument {
                    api_version: ApiVersion::V1,
                    workloads: &plan.workloads,
                    unread,
                };
                write_document(out, &document)
            }
            PlanFormat::SummaryJson => write_document(out, &SummaryDocument::new(summary, unread)),
            PlanFormat::Ics => {
                let mut calendar = PlanCalendar::new(period);
                for plan in &plan.workloads {
                    calendar.add(plan);
                }
                write!(out, "{}", calendar.file("dayshift", now))
            }
            PlanFormat::Table | PlanFormat::Summary if plan.workloads.is_empty() => Ok(()),
            PlanFormat::Table => {
                write_plan_table(out, plan, style)?;
                write_requests(out, plan, style)?;
                write_saved(out, plan, shown)
            }
            PlanFormat::Summary => {
                let prefix = &self.schedules.prefix.annotation_prefix;
                write_summary(out, summary, style, prefix, now)?;
                write_saved(out, plan, shown)
            }
            PlanFormat::Chart => {
                Chart::new(style, terminal::width()).write(out, plan, shown)?;
                write_requests(out, plan, style)
            }
        })
    }

    /// The period of a chart: whole days in `zone`, beginning with today.
    fn days_shown(&self, now: DateTime<Utc>, zone: Zone) -> Result<Period, clap::Error> {
        let today = now.with_timezone(&zone).date_naive();
        self.period(zone.instant(today.and_time(NaiveTime::MIN)), zone)
    }
}

/// Why a file or workload is not in the plan.
#[derive(Debug, thiserror::Error)]
enum PlanError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("{0}")]
    Missing(String),
    #[error("{0}")]
    Unreadable(Unreadable),
}

impl PlanError {
    /// The entry in the JSON field `unread`, if this is about something unreadable.
    fn unread(&self) -> Option<Unread> {
        match self {
            Self::Open(error) => Some(error.into()),
            Self::Unreadable(resource) => Some(resource.into()),
            Self::Missing(_) => None,
        }
    }
}

/// A plan, its findings, and the files and resources that could not be read.
#[derive(Default)]
struct Planned {
    plan: Plan,
    findings: Vec<LintFinding>,
    sources: Vec<SourceFile>,
    errors: Vec<PlanError>,
    summary: StopSummary,
}

impl PlanArgs {
    /// Plans the workloads in files.
    fn plan_files(
        &self,
        planner: &Planner,
        files: &[PathBuf],
        kind_files: &KindFiles,
        inheritance: Inheritance,
    ) -> Planned {
        let opened = self.given.open(files);
        let namespace = self.targets.scope.namespace.first();
        // The default schedule applies only to the kinds that the controller watches.
        let kinds = self.targets.kinds.kinds(kind_files);
        let linter = Linter {
            from: planner.period.from(),
            context: planner.context.clone(),
            prefix: planner.prefix.clone(),
            namespace: namespace.cloned().unwrap_or("default".to_owned()),
            kinds: kinds.clone(),
            inheritance,
            schedules: None,
        };
        let contents = linter.read(&opened.sources);
        let is_planned = |workload: &ManifestWorkload| {
            let is_looked_at = kinds.contains(&workload.object.kind);
            // A kind with an invalid definition is skipped, because its problem is reported
            // already.
            !workload.is_filled_in()
                && !kind_files.is_rejected(&workload.object.kind)
                && (is_looked_at || workload.inputs.schedule_origin() != Some(Origin::Controller))
        };
        let named = opened.sources.iter().zip(&contents);
        let found = named.flat_map(|(source, contents)| {
            let workloads = contents.workloads.iter();
            workloads.map(move |workload| (source, workload))
        });
        let found = found.filter(|(_, workload)| is_planned(workload)).collect();
        let (last, before) = last_of_each(found, |(_, workload)| &workload.object);
        for (source, workload) in before {
            note_given_again(source.name(), workload);
        }
        let mut findings = linter.obstacles(&opened.sources, &contents);
        findings.extend(linter.check_skipped(&opened.skipped));
        let services = services(&contents);
        let counted_with = |workload: &ManifestWorkload| {
            let owner = workload.operated_by.as_ref();
            match owner.is_some_and(|owner| is_counted(owner, &last)) {
                true => CountedWith::Owner,
                false => CountedWith::Itself,
            }
        };
        let planned = last.iter().filter_map(|&(_, workload)| {
            let plan = planner.plan(&workload.object, &workload.inputs, &workload.problems)?;
            let mut plan = plan.running_with(workload.replicas.unwrap_or(Replicas::ONE));
            plan.footprint = workload.footprint;
            plan.counted = counted_with(workload);
            plan.price.clone_from(&self.price.price);
            plan.on_request = on_request(workload, &services);
            Some(plan)
        });
        let plan = Plan {
            workloads: planned.collect(),
        };
        Planned {
            plan,
            findings,
            sources: opened.sources,
            errors: opened.errors.into_iter().map(PlanError::from).collect(),
            summary: StopSummary::default(),
        }
    }

    /// Plans live workloads, and notes those whose current count differs from the plan.
    fn plan_cluster(
        &self,
        planner: &Planner,
        targets: &Targets,
        inheritance: Inheritance,
        now: DateTime<Utc>,
    ) -> Result<Planned, CommandError> {
        let is_summary = self.is_summary();
        let connection = self.connection.clone();
        let (live, errors) = connection.on_cluster("plan", async |client| {
            self.read_live(&client, planner, targets, inheritance).await
        })?;
        let mut planned = Planned::default();
        let mut notes = Notes::new(&planner.prefix, now);
        let context = StatusContext {
            live: &live,
            parse_context: &planner.context,
            checks: &DependencyChecks::default(),
            now,
        };
        for (kind, managed) in live.workloads() {
            let workload = live.observe_workload(kind, managed);
            let owner = scheduled_owner(&workload, managed, &context);
            let mut plan = planner.plan_live(&workload);
            if let Some(plan) = &mut plan {
                plan.counted = owner.as_ref().map_or(CountedWith::Itself, |owner| owner.1);
                plan.price.clone_from(&self.price.price);
            }
            if is_summary {
                let operated_by = || managed.operated_by(&planner.context.kinds);
                let managers = OtherManagers {
                    owners: owners(&workload.object, managed, live.autoscalers()),
                    operator: match owner {
                        Some((_, counted)) => Some(OperatorResource::Scheduled(counted)),
                        None => operated_by().map(OperatorResource::Unscheduled),
                    },
                };
                planned.summary.add(&workload, plan.as_ref(), managers);
                planned.plan.workloads.extend(plan);
                continue;
            }
            let Some(plan) = plan else {
                if workload.phase().is_some() {
                    let no_schedule = Condition::NoSchedule {
                        saved: None,
                        overdue: None,
                    };
                    let condition = owner.map_or(no_schedule, |(condition, _)| condition);
                    let message = condition.message(&Subject {
                        object: &workload.object,
                        prefix: &planner.prefix,
                        zone: planner.context.default_zone,
                        now: Some(now),
                    });
                    print_note(&format!("{}: {message}", workload.object));
                }
                continue;
            };
            if !plan.problems().is_empty() {
                let found = refusals(&workload, &planner.context, &planner.prefix);
                for finding in found {
                    // The findings of a Namespace are shown once.
                    let object = finding.object.as_ref();
                    let is_own = object.is_some_and(|object| *object.kind != *"Namespace");
                    if is_own || !planned.findings.contains(&finding) {
                        planned.findings.push(finding);
                    }
                }
            }
            let (prefix, zone) = (&planner.prefix, planner.context.default_zone);
            let parsed = workload.read(&planner.context);
            let status = WorkloadStatus::from_parsed(&workload, &parsed, None, prefix, zone, now);
            if let Some(status) = status.filter(|_| planner.period.contains(now)) {
                notes.add_notes(&status, Condition::explains_count);
            }
            planned.plan.workloads.push(plan);
        }
        for line in notes.lines(Style::default(), None) {
            print_beside(&line);
        }
        if planned.plan.workloads.is_empty() {
            note_unreadable(live.defaults());
        }
        planned.errors = errors;
        Ok(planned)
    }

    /// Reads live workloads, and returns them with the errors about those that are unreadable or missing.
    async fn read_live(
        &self,
        client: &Client,
        planner: &Planner,
        targets: &Targets,
        inheritance: Inheritance,
    ) -> Result<(LiveView, Vec<PlanError>), CommandError> {
        let query = targets.query(client.default_namespace());
        let defaults = NamespaceDefaults::new(inheritance);
        let mut live = LiveView::read(client, query, &planner.prefix, defaults).await?;
        if self.is_summary() {
            live.read_autoscalers(client).await;
        }
        if let Some(selector) = self.namespace_selector() {
            let selected = selected_namespaces(client, selector).await;
            let selected = selected.map_err(|error| {
                let what = "cannot list the Namespaces of --namespace-selector";
                CommandError::Namespaces(format!("{what}: {error}"))
            })?;
            live.retain(|workload| selected.contains(workload.namespace()));
        }
        let missing = live.missing_namespaces(client).await;
        if !missing.is_empty() {
            let text = missing_namespaces_text(client, &missing, &planner.context.kinds).await;
            return Err(CommandError::Namespaces(text));
        }
        let parts = live.unreadable_parts();
        let unreadable = Unreadable::workloads(live.query(), &parts, "left out");
        let mut errors: Vec<_> = unreadable.into_iter().map(PlanError::Unreadable).collect();
        for workload in &live.missing() {
            let hint = suggest_workload(client, workload).await;
            errors.push(PlanError::Missing(with_hint(workload, hint)));
        }
        Ok((live, errors))
    }
}

/// Whether the resource that owns a workload is planned too, with a known size.
fn is_counted(owner: &WorkloadRef, planned: &[(&SourceFile, &ManifestWorkload)]) -> bool {
    planned.iter().any(|(_, workload)| {
        let WorkloadRef {
            kind,
            namespace,
            name,
            uid: _,
        } = &workload.object;
        (kind, namespace, name) == (&owner.kind, &owner.namespace, &owner.name)
            && workload.inputs.is_scheduled()
            && workload.footprint.replicas > 0
    })
}

/// The Services of all files by namespace and name. If two have the same name, the last one is
/// used.
type Services<'c> = BTreeMap<&'c str, BTreeMap<&'c str, &'c ServiceSpec>>;

fn services(contents: &[Contents]) -> Services<'_> {
    let mut all = Services::new();
    for service in contents.iter().flat_map(|contents| &contents.services) {
        all.entry(&service.namespace)
            .or_default()
            .insert(&service.name, &service.spec);
    }
    all
}

/// The Services that can wake a workload with `wake-on-request`, if the files contain Services of
/// its namespace.
fn on_request(workload: &ManifestWorkload, services: &Services<'_>) -> Option<RequestCoverage> {
    let services = services.get(&*workload.object.namespace)?;
    let services = services.iter().map(|(name, spec)| (*name, *spec));
    RequestCoverage::new(&workload.inputs, &workload.pod_labels, services)
}
