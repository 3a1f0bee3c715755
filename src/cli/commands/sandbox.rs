//! `dayshift sandbox`: the scaler on a cluster in memory.

use std::{
    io::{self, IsTerminal, Write},
    net::SocketAddr,
    path::PathBuf,
};

use chrono::{DateTime, DurationRound, TimeDelta, Utc};
use serde_json::Value;
use tokio::net::TcpListener;

use super::dashboard::serve_played;
use crate::{
    cli::{
        args::{
            exclude::ExcludeArgs,
            kind_args::KindArgs,
            log::LogArgs,
            price_args::PriceArgs,
            schedule_args::{InheritanceArgs, ScheduleArgs},
            values::{
                time_flag::time_flag,
                value_parsers::{loopback, parse_span},
            },
        },
        exit::{Exit, wrong_usage},
        output::{
            messages::print_error,
            sandbox_page::{Page, Title},
            terminal,
        },
        runtime::block_on_paused_time,
        signals::Signals,
    },
    clock::Clock,
    cluster::Query,
    controller::{CalendarFeed, Scope, Settings},
    dashboard::{self, Dashboard},
    manifest::{EXAMPLES, Source, Workload},
    sandbox::{Simulation, Speed, example_actions, is_fragment, lacks},
    schedule::Zone,
    text::printable,
    workload::{Inheritance, Kind, ParsedInputs, Prefix, read},
};

/// Watch the controller at work on a cluster in memory, in simulated time
///
/// No cluster is needed or changed. The same controller as in `dayshift run` starts and stops the
/// workloads of the files, or of the examples that come with dayshift, each at its exact instant,
/// and every change is shown as it happens.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
All times are shown in --timezone or, without it, in the zone that the schedules have in common.
A time T is local time of --timezone, such as 2026-11-23 or \"2026-11-23 09:00\", or RFC 3339, \
such as 2026-11-23T09:00:00+09:00.
`kubectl get deploy -A -o yaml | dayshift sandbox -` simulates your own cluster.
Exit status: 0 done, 1 a schedule or a workload was refused, 2 wrong usage, 3 a file cannot be read.")]
pub(crate) struct SandboxArgs {
    /// Files of YAML or JSON, folders of such files, or - for standard input [default: the examples]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    exclude: ExcludeArgs,

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

    /// Serve the dashboard on this loopback address, such as 127.0.0.1:0. The time of --for is played
    /// at once; then simulated time goes on as real time does, until Ctrl-C
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

/// When the examples begin: on a Friday, two days before the clocks of Europe change.
const EXAMPLES_BEGIN: &str = "2026-10-23 08:00";

/// Why a simulation cannot begin or go on.
#[derive(Debug, thiserror::Error)]
enum SandboxError {
    #[error("there is no workload of a kind that dayshift scales in {0}")]
    Empty(String),
    #[error("none of the files can be read")]
    NothingRead,
    #[error("the API server accepts none of the workloads")]
    NoneTaken,
    #[error("cannot create signals or timers: {0}")]
    System(io::Error),
    #[error("cannot listen on {address}: {source}; give another --dashboard, such as 127.0.0.1:0")]
    Listen {
        address: SocketAddr,
        source: io::Error,
    },
    #[error("cannot write: {0}")]
    Write(#[source] io::Error),
}

/// A workload, the whole object, and the file that it comes from.
type Loaded = (String, Workload, Value);

/// Workloads and Namespaces.
type Read = (Vec<Loaded>, Vec<Value>);

impl SandboxArgs {
    pub(crate) fn run(self) -> Exit {
        let inheritance = self.inheritance.inheritance(self.schedules.timezone);
        let asked = self.from().and_then(|from| Ok((from, inheritance?)));
        let (from, inheritance) = match asked {
            Ok(asked) => asked,
            Err(error) => return wrong_usage(&error),
        };
        let (files, unread) = self.read();
        let outcome = files.and_then(|(workloads, namespaces)| {
            block_on_paused_time(self.simulate(&workloads, &namespaces, from, inheritance))
                .map_err(SandboxError::System)?
        });
        match outcome {
            Ok(_) if unread => Exit::CouldNotRun,
            Ok(exit) => exit,
            // Who reads only the beginning has what they want.
            Err(SandboxError::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                Exit::Done
            }
            Err(error) => {
                print_error(&error);
                Exit::CouldNotRun
            }
        }
    }

    fn from(&self) -> Result<DateTime<Utc>, clap::Error> {
        let text = match &self.from {
            Some(text) => text,
            None if self.files.is_empty() => EXAMPLES_BEGIN,
            None => {
                let now = Clock::system().now();
                return Ok(now.duration_trunc(TimeDelta::minutes(1)).unwrap_or(now));
            }
        };
        time_flag("from", text, self.schedules.timezone)
    }

    /// The zone of all times that are shown: --timezone, but without it that of the schedules, if
    /// they have one in common.
    fn zone_shown(&self, workloads: &[Workload]) -> Zone {
        let (given, context) = (self.schedules.timezone, self.schedules.context());
        let mut zones = workloads.iter().filter_map(|workload| {
            let ParsedInputs::Scheduled(spec) = read(&workload.inputs, &context) else {
                return None;
            };
            Some(spec.schedule.zone())
        });
        match zones.next() {
            Some(first) if given == Zone::UTC && zones.all(|zone| zone == first) => first,
            _ => given,
        }
    }

    /// The workloads and the Namespaces of the files, or of the examples; and whether anything
    /// could not be read, which is reported.
    fn read(&self) -> (Result<Read, SandboxError>, bool) {
        let opened = self.exclude.open(&self.files);
        let mut unread = !opened.errors.is_empty();
        opened.errors.iter().for_each(print_error);
        let mut sources = opened.sources;
        if self.files.is_empty() {
            let ours = Prefix::default().full("");
            let prefix = self.schedules.annotation_prefix.full("");
            let examples =
                EXAMPLES.map(|(name, text)| Source::new(name, text.replace(&ours, &prefix)));
            sources.extend(examples);
        }
        let (mut found, mut namespaces) = (Vec::new(), Vec::new());
        for source in &sources {
            let prefix = &self.schedules.annotation_prefix;
            namespaces.extend(source.namespaces(prefix));
            let (manifests, errors) = source.manifests(prefix, "default");
            unread |= !errors.is_empty();
            errors.iter().for_each(print_error);
            found.extend(
                manifests
                    .into_iter()
                    .map(|(workload, manifest)| (source.name().to_owned(), workload, manifest)),
            );
        }
        let found = match (found.is_empty(), unread) {
            (false, _) => Ok((found, namespaces)),
            (true, true) => Err(SandboxError::NothingRead),
            (true, false) => {
                let names: Vec<_> = sources.iter().map(Source::name).collect();
                Err(SandboxError::Empty(names.join(", ")))
            }
        };
        (found, unread)
    }

    /// The kinds of `--kinds`, and those of the files, unless a default schedule would take in
    /// what nobody means.
    fn kinds_of(&self, workloads: &[Loaded], inheritance: &Inheritance) -> Vec<Kind> {
        let mut kinds = self.kinds.kinds();
        if inheritance.default_schedule.is_some() {
            return kinds;
        }
        for (_, workload, _) in workloads {
            if !kinds.contains(&workload.object.kind) {
                kinds.push(workload.object.kind);
            }
        }
        kinds
    }

    async fn listener(&self) -> Result<Option<TcpListener>, SandboxError> {
        let Some(address) = self.dashboard else {
            return Ok(None);
        };
        let listener = TcpListener::bind(address).await;
        let refused = |source| SandboxError::Listen { address, source };
        listener.map(Some).map_err(refused)
    }

    async fn simulate(
        &self,
        workloads: &[Loaded],
        namespaces: &[Value],
        from: DateTime<Utc>,
        inheritance: Inheritance,
    ) -> Result<Exit, SandboxError> {
        let clock = Clock::simulated(from);
        self.log.start_on(clock.clone());
        let listener = self.listener().await?;
        let kinds = self.kinds_of(workloads, &inheritance);
        let looked_at = dashboard::Settings {
            query: Query::All {
                kinds: kinds.clone(),
                namespace: None,
                selector: None,
            },
            prefix: self.schedules.annotation_prefix.clone(),
            context: self.schedules.context(),
            inheritance: inheritance.clone(),
            title: "sandbox: a cluster in memory, in simulated time".to_owned(),
        };
        let settings = Settings {
            default_zone: self.schedules.timezone,
            calendars: CalendarFeed::fixed(self.schedules.context().calendars),
            prefix: self.schedules.annotation_prefix.clone(),
            default_schedule: inheritance.default_schedule,
            instance: "sandbox".to_owned(),
            scope: Scope {
                kinds,
                namespace_defaults: inheritance.from_namespaces,
                ..Scope::default()
            },
            ..Settings::default()
        };
        let mut simulation = Simulation::new(clock.clone(), settings);
        let mut taken = Vec::new();
        for namespace in namespaces {
            if let Err(status) = simulation.load_namespace(namespace) {
                print_error(&status.message);
            }
        }
        for (file, workload, manifest) in workloads {
            match simulation.load(manifest) {
                Ok(()) => {
                    if is_fragment(manifest) {
                        made_up(workload);
                    }
                    taken.push(workload.clone());
                }
                Err(status) => refused(file, workload, &status.message),
            }
        }
        if taken.is_empty() {
            return Err(SandboxError::NoneTaken);
        }
        let actions = if self.files.is_empty() {
            example_actions(
                &taken,
                from,
                &self.schedules.annotation_prefix,
                &self.schedules.context(),
            )
        } else {
            Vec::new()
        };
        let mut out = io::stdout();
        let names: Vec<_> = taken.iter().map(|it| it.object.full_name()).collect();
        let page = Page::new(
            terminal::style(&out),
            self.zone_shown(&taken),
            names.iter().map(String::as_str),
        );
        let speed = self
            .speed
            .unwrap_or(if out.is_terminal() && listener.is_none() {
                Speed::DAY_A_SECOND
            } else {
                Speed::Max
            });
        let until = from + self.span;
        let title = page.title(&Title {
            workloads: taken.len(),
            from,
            until,
            speed,
        });
        write!(out, "{title}").map_err(SandboxError::Write)?;
        let mut signals = Signals::listen().map_err(SandboxError::System)?;
        let mut tell = |told: &_| writeln!(out, "{}", page.line(told));
        let stop = async {
            signals.next().await;
        };
        let mut played = simulation
            .play(until, actions, speed, &mut tell, stop)
            .await
            .map_err(SandboxError::Write)?;
        let summary_text = page.summary(&played.summary(), self.price.price.as_deref());
        write!(io::stdout(), "\n{summary_text}").map_err(SandboxError::Write)?;
        if let Some(listener) = listener.filter(|_| !played.is_stopped()) {
            let dashboard = Dashboard::new(played.client(), clock, looked_at)
                .at_price(self.price.price.clone());
            let stop = async {
                signals.next().await;
            };
            serve_played(&mut played, listener, dashboard, from, &mut tell, stop)
                .await
                .map_err(SandboxError::Write)?;
        }
        let summary = played.finish().await;
        Ok(if summary.refusals > 0 || taken.len() < workloads.len() {
            Exit::Problems
        } else {
            Exit::Done
        })
    }
}

/// Says that a manifest is good enough here, and what a cluster wants besides.
fn made_up(workload: &Workload) {
    let object = printable(&workload.object.full_name());
    let lacks = lacks(workload.object.kind.name());
    // Where nobody reads, nobody misses it.
    let _ = writeln!(
        io::stderr(),
        "note: {object} has {lacks}, which a cluster wants; the sandbox makes it up"
    );
}

/// Says where in its file a workload is not what the API server takes, or what it says.
fn refused(file: &str, workload: &Workload, why: &str) {
    let Workload { object, place, .. } = workload;
    if workload.problems.is_empty() {
        let (line, column) = (place.line, place.column);
        print_error(&format!("{file}:{line}:{column}: {object}: {why}"));
    }
    for problem in &workload.problems {
        let annotation = workload
            .annotations
            .iter()
            .find(|annotation| annotation.name == problem.annotation);
        let place = annotation.map_or(place, |annotation| &annotation.value);
        let (line, column, name) = (place.line, place.column, &problem.annotation);
        print_error(&format!(
            "{file}:{line}:{column}: {object}: {name}: {}",
            problem.message
        ));
    }
}
