//! `dayshift sandbox`: the controller on a cluster in memory, in simulated time.

use std::{
    io::{self, IsTerminal, Write},
    net::SocketAddr,
    path::PathBuf,
    sync::Arc,
};

use chrono::{DateTime, DurationRound, TimeDelta, Utc};
use dayshift_cluster::{Query, clock::Clock};
use dayshift_controller::{CalendarFeed, ScheduleFeed, Scope, Settings};
use dayshift_manifest::{ManifestWorkload, SourceFile, last_of_each, lint::Linter};
use dayshift_schedule::{ExcludedDates, Schedule, ScheduleRule, Times, Zone};
use dayshift_text::{printable, quote};
use dayshift_workload::{Inheritance, Kind, KindTable, ParseContext, Prefix, read};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::{
    cli::{
        args::{
            kinds::{KindArgs, KindFiles},
            log::LogArgs,
            schedules::{InheritanceArgs, ScheduleArgs},
            targets::FileArgs,
            values::{PriceArgs, loopback, parse_span, time_flag},
        },
        commands::dashboard::{announce, serve_pages},
        outcome::{CommandError, listen},
        output::{
            findings::{has_errors, print_findings},
            messages::{note_given_again, note_nothing_scheduled, print_error},
            sandbox::SandboxPage,
            terminal,
        },
        process::{Exit, Signals, block_on_paused_time, usage_error},
    },
    dashboard::{self, Dashboard},
    examples::EXAMPLES,
    sandbox::{
        RunningSimulation, Simulation, Speed, TimelineEvent, UserAction, UserChange,
        example_actions, is_fragment, missing_fields,
    },
};

/// Run the controller on a simulated cluster and in simulated time
///
/// No cluster is needed or changed. The same controller as in `dayshift run` starts and stops the
/// workloads of the files, or of the examples that come with dayshift, each at its exact time, and
/// every change is shown as it happens.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
All times are shown in --timezone or, without it, in the zone that the schedules have in common.
A time T is local time of --timezone, such as 2026-11-23 or \"2026-11-23 09:00\", or RFC 3339, \
such as 2026-11-23T09:00:00+09:00.
`kubectl get deploy -A -o yaml | dayshift sandbox -` simulates your own cluster.
Exit status: 0 done, 1 a file has errors or a schedule was rejected, 2 wrong usage, 3 a file cannot be read.")]
pub(crate) struct SandboxArgs {
    /// Files of YAML or JSON, directories of such files, or - for standard input [default: the examples]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    given: FileArgs,

    /// When the simulation begins [default: now; for the examples 2026-10-23 08:00, a Friday]
    #[arg(long, value_name = "T")]
    from: Option<String>,

    /// How much time is simulated, such as 12h, 7d or 365d
    #[arg(
        long = "for",
        value_name = "TIME",
        default_value = "7d",
        value_parser = parse_span
    )]
    span: TimeDelta,

    /// How many simulated seconds are shown in one second, or max [default: 86400, a day in a
    /// second, on a terminal, else max]
    #[arg(long, value_name = "FACTOR")]
    speed: Option<Speed>,

    /// A request to a Service of this workload at the next such time, as deploy/web@"Sat 22:00": it
    /// wakes workloads with wake-on-request, as dayshift activator does. Repeatable
    #[arg(long, value_name = "WORKLOAD@T")]
    request: Vec<String>,

    /// Serve the dashboard on this loopback address, such as 127.0.0.1:0. The time of --for is
    /// simulated at once; then the simulation continues in real time until Ctrl-C
    #[arg(long, value_name = "ADDRESS", value_parser = loopback)]
    dashboard: Option<SocketAddr>,

    #[command(flatten)]
    price: PriceArgs,

    #[command(flatten)]
    kinds: KindArgs,

    #[command(flatten)]
    schedules: ScheduleArgs,

    #[command(flatten)]
    inheritance: InheritanceArgs,

    #[command(flatten)]
    log: LogArgs,
}

/// A Friday, two days before the end of daylight saving time in Europe.
const EXAMPLES_BEGIN: &str = "2026-10-23 08:00";

impl SandboxArgs {
    pub(crate) fn run(self, kind_files: &KindFiles) -> Result<Exit, CommandError> {
        self.schedules.warn_of_unreadable();
        self.inheritance
            .warn_of_mistakes(&self.schedules, kind_files);
        let inheritance = self.inheritance.inheritance();
        let from = self.from()?;
        let linter = Linter {
            from,
            context: self.inheritance.context(&self.schedules, kind_files),
            prefix: self.schedules.prefix.annotation_prefix.clone(),
            namespace: "default".to_owned(),
            kinds: self.kinds.kinds(kind_files),
            inheritance: inheritance.clone(),
            schedules: None,
        };
        let input = SandboxInput::read(
            &self.given.all(&self.files),
            &self.given,
            &linter,
            kind_files,
        );
        let so_far = match (input.is_incomplete, input.has_errors) {
            (true, _) => Exit::CouldNotRun,
            (false, true) => Exit::Problems,
            (false, false) => Exit::Done,
        };
        if input.workloads.is_empty() {
            if so_far == Exit::Done {
                note_nothing_scheduled();
            }
            return Ok(so_far);
        }
        let workloads = input.workloads.iter();
        let workloads: Vec<_> = workloads.map(|loaded| loaded.workload.clone()).collect();
        let context = &linter.context;
        let zone = self.zone_shown(&workloads, context);
        let requests = user_requests(&self.request, &workloads, &context.kinds, from, zone)?;
        let kinds = self.simulated_kinds(&input.workloads, &inheritance, kind_files);
        let simulated = self.simulate(&input, kinds, context, from, inheritance, requests);
        Ok(so_far.worse(block_on_paused_time(simulated)??))
    }

    /// Whether the built-in examples are simulated.
    fn is_of_examples(&self) -> bool {
        self.given.all(&self.files).is_empty()
    }

    fn from(&self) -> Result<DateTime<Utc>, clap::Error> {
        let text = match &self.from {
            Some(text) => text,
            None if self.is_of_examples() => EXAMPLES_BEGIN,
            None => {
                let now = Clock::system().now();
                return Ok(now.duration_trunc(TimeDelta::minutes(1)).unwrap_or(now));
            }
        };
        time_flag("from", text, self.schedules.zone())
    }

    /// The zone of all times in the output: `--timezone`, or else the zone that all schedules have
    /// in common, or else UTC.
    fn zone_shown(&self, workloads: &[ManifestWorkload], context: &ParseContext) -> Zone {
        if let Some(given) = self.schedules.given_zone() {
            return given;
        }
        let specs = workloads
            .iter()
            .filter_map(|workload| read(&workload.inputs, context).into_spec());
        let mut zones = specs.map(|spec| spec.schedule.zone());
        match zones.next() {
            Some(first) if zones.all(|zone| zone == first) => first,
            _ => self.schedules.zone(),
        }
    }

    /// The kinds to watch: those of `--kinds` and those in the files. With a default schedule only
    /// the former, because the default would apply to the others too.
    fn simulated_kinds(
        &self,
        workloads: &[LoadedWorkload],
        inheritance: &Inheritance,
        kind_files: &KindFiles,
    ) -> Vec<Kind> {
        let mut kinds = self.kinds.kinds(kind_files);
        if inheritance.default_schedule.is_some() {
            return kinds;
        }
        for LoadedWorkload { workload, .. } in workloads {
            if !kinds.contains(&workload.object.kind) {
                kinds.push(workload.object.kind.clone());
            }
        }
        kinds
    }

    /// The settings of the controller.
    fn settings(
        &self,
        kinds: Vec<Kind>,
        context: &ParseContext,
        inheritance: Inheritance,
    ) -> Settings {
        Settings {
            kinds: Arc::clone(&context.kinds),
            default_zone: self.schedules.zone(),
            tzdata: self.schedules.tzdata(),
            calendars: CalendarFeed::fixed(context.calendars.clone()),
            prefix: self.schedules.prefix.annotation_prefix.clone(),
            default_schedule: inheritance.default_schedule,
            schedules: ScheduleFeed::fixed(inheritance.schedules),
            instance: "sandbox".to_owned(),
            scope: Scope {
                kinds,
                namespace_defaults: inheritance.from_namespaces,
                team_defaults: inheritance.from_teams,
                ..Scope::default()
            },
            ..Settings::default()
        }
    }

    fn dashboard_settings(&self, kinds: &[Kind], context: &ParseContext) -> dashboard::Settings {
        dashboard::Settings {
            query: Query::all(kinds, &[], None),
            prefix: self.schedules.prefix.annotation_prefix.clone(),
            context: context.clone(),
            zone: self.schedules.given_zone(),
            title: "sandbox: a cluster in memory, in simulated time".to_owned(),
            controller: Some("sandbox".to_owned()),
        }
    }

    /// The simulated actions of users. Only the examples have any.
    fn user_actions(
        &self,
        workloads: &[ManifestWorkload],
        context: &ParseContext,
        from: DateTime<Utc>,
    ) -> Vec<UserAction> {
        if !self.is_of_examples() {
            return Vec::new();
        }
        let prefix = &self.schedules.prefix.annotation_prefix;
        example_actions(workloads, from, prefix, context)
    }

    async fn simulate(
        &self,
        input: &SandboxInput,
        kinds: Vec<Kind>,
        context: &ParseContext,
        from: DateTime<Utc>,
        inheritance: Inheritance,
        requests: Vec<UserAction>,
    ) -> Result<Exit, CommandError> {
        let clock = Clock::simulated(from);
        self.log.start_on(clock.clone());
        let listener = match self.dashboard {
            Some(address) => Some(listen(address, "--dashboard, such as 127.0.0.1:0").await?),
            None => None,
        };
        let dashboard = self.dashboard_settings(&kinds, context);
        let mut simulation =
            Simulation::new(clock.clone(), self.settings(kinds, context, inheritance));
        let taken = input.load_into(&mut simulation);
        if taken.is_empty() {
            // The errors are reported already.
            return Ok(Exit::Problems);
        }
        let mut actions = self.user_actions(&taken, context, from);
        actions.extend(requests);
        let mut out = io::stdout();
        let names = taken.iter().map(|workload| workload.object.full_name());
        let names: Vec<_> = names.collect();
        let page = SandboxPage::new(
            terminal::style(&out),
            self.zone_shown(&taken, context),
            names.iter().map(String::as_str),
        );
        let is_watched = out.is_terminal() && listener.is_none();
        let speed = self.speed.unwrap_or(if is_watched {
            Speed::DAY_A_SECOND
        } else {
            Speed::Max
        });
        let until = from + self.span;
        let title = page.title(taken.len(), (from, until), speed);
        write!(out, "{title}").map_err(CommandError::Write)?;
        let mut signals = Signals::listen()?;
        let mut tell = |told: &_| writeln!(out, "{}", page.line(told));
        let stop = async {
            signals.next().await;
        };
        let mut played = simulation
            .play(until, actions, speed, &mut tell, stop)
            .await
            .map_err(CommandError::Write)?;
        let price = &self.price.price;
        let summary_text = page.summary(&played.summary(), price.as_deref());
        write!(io::stdout(), "\n{summary_text}").map_err(CommandError::Write)?;
        if let Some(listener) = listener.filter(|_| !played.is_stopped()) {
            let dashboard =
                Dashboard::new(played.client(), clock, dashboard).at_price(price.clone());
            let stop = async {
                signals.next().await;
            };
            serve_in_real_time(&mut played, listener, dashboard, &mut tell, stop)
                .await
                .map_err(CommandError::Write)?;
        }
        let summary = played.finish().await;
        let is_all_taken = taken.len() == input.workloads.len();
        Ok(if summary.rejections == 0 && is_all_taken {
            Exit::Done
        } else {
            Exit::Problems
        })
    }
}

/// The workloads, the Namespaces and the defaults of teams to simulate.
pub(crate) struct SandboxInput {
    pub(crate) workloads: Vec<LoadedWorkload>,
    namespaces: Vec<Value>,
    team_defaults: Vec<Value>,
    /// Whether a file could not be read.
    pub(crate) is_incomplete: bool,
    /// Whether a finding is an error.
    pub(crate) has_errors: bool,
}

/// A workload in a file.
pub(crate) struct LoadedWorkload {
    pub(crate) workload: ManifestWorkload,
    file: String,
    manifest: Value,
}

impl SandboxInput {
    /// Reads the files, or the examples if there are none, and prints findings.
    pub(crate) fn read(
        files: &[PathBuf],
        given: &FileArgs,
        linter: &Linter,
        kind_files: &KindFiles,
    ) -> Self {
        let prefix = &linter.prefix;
        let opened = given.open(files);
        opened.errors.iter().for_each(print_error);
        let mut input = Self {
            workloads: Vec::new(),
            namespaces: Vec::new(),
            team_defaults: Vec::new(),
            is_incomplete: !opened.errors.is_empty(),
            has_errors: false,
        };
        let mut sources = opened.sources;
        if files.is_empty() {
            sources.extend(examples(prefix));
        }
        let findings = linter.obstacles(&sources, &linter.read(&sources));
        print_findings(&findings, &sources);
        input.has_errors = has_errors(&findings);
        let mut workloads = Vec::new();
        for source in &sources {
            let read = source.manifests(prefix, &linter.namespace, &linter.context.kinds);
            input.namespaces.extend(read.namespaces);
            if linter.inheritance.from_teams {
                input.team_defaults.extend(read.team_defaults);
            }
            let loaded = read.workloads.into_iter();
            workloads.extend(loaded.map(|(workload, manifest)| LoadedWorkload {
                workload,
                file: source.name().to_owned(),
                manifest,
            }));
        }
        workloads.retain(|loaded| {
            !loaded.workload.is_filled_in() && !kind_files.is_rejected(&loaded.workload.object.kind)
        });
        let (last, before) = last_of_each(workloads, |loaded| &loaded.workload.object);
        for LoadedWorkload { workload, file, .. } in &before {
            note_given_again(file, workload);
        }
        input.workloads = last;
        input
    }

    /// Creates the objects in memory, and returns the workloads that the API server accepted.
    /// Rejected objects are reported.
    pub(crate) fn load_into(&self, simulation: &mut Simulation) -> Vec<ManifestWorkload> {
        for team in &self.team_defaults {
            if let Err(status) = simulation.load_team_defaults(team) {
                print_error(&status.message);
            }
        }
        for namespace in &self.namespaces {
            if let Err(status) = simulation.load_namespace(namespace) {
                print_error(&status.message);
            }
        }
        let mut taken = Vec::new();
        for loaded in &self.workloads {
            match simulation.load(&loaded.manifest) {
                Ok(()) => {
                    if is_fragment(&loaded.manifest) {
                        report_completion(&loaded.workload);
                    }
                    taken.push(loaded.workload.clone());
                }
                // The errors in its annotations are reported already.
                Err(_) if !loaded.workload.problems.is_empty() => {}
                Err(status) => loaded.report_refusal(&status.message),
            }
        }
        taken
    }
}

/// The examples with annotations of this prefix.
fn examples(prefix: &Prefix) -> impl Iterator<Item = SourceFile> {
    let (ours, theirs) = (Prefix::default().full(""), prefix.full(""));
    let examples = EXAMPLES.into_iter();
    examples.map(move |(name, text)| SourceFile::new(name, text.replace(&ours, &theirs)))
}

/// Notes the fields that a cluster requires and that the manifest lacks.
fn report_completion(workload: &ManifestWorkload) {
    let object = printable(&workload.object.full_name());
    let lacks = missing_fields(workload.object.kind.name());
    // Errors are ignored, because there is no reader.
    let _ = writeln!(
        io::stderr(),
        "note: {object} has {lacks}, which a cluster requires; the sandbox adds it"
    );
}

impl LoadedWorkload {
    /// Reports the response of the API server, with the position of the workload in its file.
    fn report_refusal(&self, why: &str) {
        let (file, workload) = (&self.file, &self.workload);
        let ManifestWorkload { object, place, .. } = workload;
        let (line, column) = (place.line, place.column);
        print_error(&format!("{file}:{line}:{column}: {object}: {why}"));
    }
}

const REQUEST_EXAMPLE: &str =
    "write for example `deploy/web@Sat 22:00`, or `dev/deploy/web@Sat 22:00`";

/// Parses `--request`. Each request happens at its first time after `from` in `zone`.
///
/// # Errors
/// If a text does not name exactly one workload of the files, or if its time is over.
pub(crate) fn user_requests(
    texts: &[String],
    workloads: &[ManifestWorkload],
    kinds: &KindTable,
    from: DateTime<Utc>,
    zone: Zone,
) -> Result<Vec<UserAction>, clap::Error> {
    let one = |text: &String| {
        parse_request(text, workloads, kinds, from, zone).map_err(|why| {
            let text = quote(text);
            usage_error(format!(
                "invalid value '{text}' for '--request <WORKLOAD@T>': {why}"
            ))
        })
    };
    texts.iter().map(one).collect()
}

fn parse_request(
    text: &str,
    workloads: &[ManifestWorkload],
    kinds: &KindTable,
    from: DateTime<Utc>,
    zone: Zone,
) -> Result<UserAction, String> {
    let (object, time) = text.split_once('@').ok_or(REQUEST_EXAMPLE)?;
    let parts: Vec<_> = object.trim().split('/').collect();
    let (namespace, kind, name) = match *parts {
        [kind, name] => (None, kind, name),
        [namespace, kind, name] => (Some(namespace), kind, name),
        _ => return Err(REQUEST_EXAMPLE.to_owned()),
    };
    let kind = kinds.from_argument(kind).ok_or(REQUEST_EXAMPLE)?;
    let is_meant = |workload: &&ManifestWorkload| {
        let object = &workload.object;
        let is_there = namespace.is_none_or(|namespace| *object.namespace == *namespace);
        is_there && object.kind == kind && *object.name == *name
    };
    let mut meant = workloads.iter().filter(is_meant);
    let object = &meant.next().ok_or("no such workload is simulated")?.object;
    if let Some(other) = meant.next() {
        let namespaces = (&object.namespace, &other.object.namespace);
        let (one, two) = namespaces;
        return Err(format!(
            "it is in several namespaces: write `{one}/{text}` or `{two}/{text}`"
        ));
    }
    let times = Times::parse(time).map_err(|error| error.to_string())?;
    let rule = ScheduleRule::start_and_stop(Some(times), None);
    let times = Schedule::new(rule, ExcludedDates::default(), zone);
    let next = times.next_after(from, TimeDelta::zero());
    Ok(UserAction {
        at: next.ok_or("that time is before the simulation begins")?.at,
        kind,
        namespace: object.namespace.to_string(),
        name: object.name.to_string(),
        change: UserChange::Request,
    })
}

/// Serves the dashboard while simulated time passes as fast as real time, until `stop`.
pub(crate) async fn serve_in_real_time(
    played: &mut RunningSimulation,
    listener: TcpListener,
    dashboard: Dashboard,
    tell: impl FnMut(&TimelineEvent) -> io::Result<()>,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let address = listener.local_addr()?;
    let counted = dashboard.counted_by(played.telemetry());
    let dashboard = Arc::new(counted.for_one_user(address.port())?);
    writeln!(
        io::stdout(),
        "\nThe simulation continues in real time. Press Ctrl-C to end."
    )?;
    announce(&dashboard.url(address))?;
    tokio::select! {
        ended = played.run_in_real_time(tell, stop) => ended,
        // Watching the in-memory API does not fail.
        _ = serve_pages(listener, &dashboard) => Ok(()),
    }
}
