//! `dayshift sandbox`: the scaler on a cluster in memory.

use std::{
    io::{self, IsTerminal, Write},
    net::SocketAddr,
    path::PathBuf,
};

use chrono::{DateTime, DurationRound, TimeDelta, Utc};
use dayshift_cluster::{Query, clock::Clock};
use dayshift_controller::{CalendarFeed, Scope, Settings};
use dayshift_manifest::{ManifestWorkload, lint::Linter};
use dayshift_schedule::Zone;
use dayshift_workload::{Inheritance, Kind, ParsedInputs, read};
use tokio::net::TcpListener;

use super::{
    error::SandboxError,
    input::{Input, Loaded},
    pages::serve_played,
    requests::requests,
};
use crate::{
    cli::{
        args::{
            files::FileArgs,
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
            messages::{note_nothing_scheduled, print_error},
            sandbox_page::{Page, Title},
            terminal,
        },
        runtime::block_on_paused_time,
        signals::Signals,
    },
    dashboard::{self, Dashboard},
    sandbox::{Simulation, Speed, UserAction, example_actions},
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
Exit status: 0 done, 1 a file has errors or a workload was refused, 2 wrong usage, 3 a file cannot be read.")]
pub(crate) struct SandboxArgs {
    /// Files of YAML or JSON, folders of such files, or - for standard input [default: the examples]
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
    /// wakes what has wake-on-request, as dayshift activator does. Repeatable
    #[arg(long, value_name = "WORKLOAD@T")]
    request: Vec<String>,

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

impl SandboxArgs {
    pub(crate) fn run(self) -> Exit {
        self.schedules.warn_of_unreadable();
        let inheritance = self.inheritance.inheritance();
        let from = match self.from() {
            Ok(from) => from,
            Err(error) => return wrong_usage(&error),
        };
        let linter = Linter {
            from,
            context: self.schedules.context(),
            prefix: self.schedules.prefix.annotation_prefix.clone(),
            namespace: "default".to_owned(),
            kinds: self.kinds.kinds(),
            inheritance: inheritance.clone(),
        };
        let input = Input::read(&self.given.all(&self.files), &self.given, &linter);
        let so_far = match (input.is_incomplete, input.has_errors) {
            (true, _) => Exit::CouldNotRun,
            (false, true) => Exit::Problems,
            (false, false) => Exit::Done,
        };
        if input.workloads.is_empty() {
            if so_far == Exit::Done {
                note_nothing_scheduled();
            }
            return so_far;
        }
        let workloads: Vec<_> = input
            .workloads
            .iter()
            .map(|it| it.workload.clone())
            .collect();
        let zone = self.zone_shown(&workloads);
        let requests = match requests(&self.request, &workloads, from, zone) {
            Ok(requests) => requests,
            Err(error) => return wrong_usage(&error),
        };
        let simulated = block_on_paused_time(self.simulate(&input, from, inheritance, requests));
        match simulated.map_err(SandboxError::System).flatten() {
            Ok(exit) => so_far.worse(exit),
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

    /// Whether no files are given.
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

    /// The zone of all times that are shown: --timezone, but without it that of the schedules, if
    /// they have one in common.
    fn zone_shown(&self, workloads: &[ManifestWorkload]) -> Zone {
        if let Some(given) = self.schedules.given_zone() {
            return given;
        }
        let context = self.schedules.context();
        let mut zones = workloads.iter().filter_map(|workload| {
            let ParsedInputs::Scheduled(spec) = read(&workload.inputs, &context) else {
                return None;
            };
            Some(spec.schedule.zone())
        });
        match zones.next() {
            Some(first) if zones.all(|zone| zone == first) => first,
            _ => self.schedules.zone(),
        }
    }

    /// The kinds of `--kinds`, and those of the files, unless a default schedule would take in
    /// what nobody means.
    fn kinds_of(&self, workloads: &[Loaded], inheritance: &Inheritance) -> Vec<Kind> {
        let mut kinds = self.kinds.kinds();
        if inheritance.default_schedule.is_some() {
            return kinds;
        }
        for Loaded { workload, .. } in workloads {
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

    /// What the scaler is told.
    fn settings(&self, kinds: Vec<Kind>, inheritance: Inheritance) -> Settings {
        Settings {
            default_zone: self.schedules.zone(),
            calendars: CalendarFeed::fixed(self.schedules.context().calendars),
            prefix: self.schedules.prefix.annotation_prefix.clone(),
            default_schedule: inheritance.default_schedule,
            instance: "sandbox".to_owned(),
            scope: Scope {
                kinds,
                namespace_defaults: inheritance.from_namespaces,
                ..Scope::default()
            },
            ..Settings::default()
        }
    }

    /// What the dashboard is told.
    fn dashboard_settings(&self, kinds: &[Kind]) -> dashboard::Settings {
        dashboard::Settings {
            query: Query::all(kinds, &[], None),
            prefix: self.schedules.prefix.annotation_prefix.clone(),
            context: self.schedules.context(),
            zone: self.schedules.given_zone(),
            title: "sandbox: a cluster in memory, in simulated time".to_owned(),
        }
    }

    /// What people do meanwhile: something with the examples, and nothing with other files.
    fn user_actions(&self, workloads: &[ManifestWorkload], from: DateTime<Utc>) -> Vec<UserAction> {
        if !self.is_of_examples() {
            return Vec::new();
        }
        let prefix = &self.schedules.prefix.annotation_prefix;
        example_actions(workloads, from, prefix, &self.schedules.context())
    }

    async fn simulate(
        &self,
        input: &Input,
        from: DateTime<Utc>,
        inheritance: Inheritance,
        requests: Vec<UserAction>,
    ) -> Result<Exit, SandboxError> {
        let clock = Clock::simulated(from);
        self.log.start_on(clock.clone());
        let listener = self.listener().await?;
        let kinds = self.kinds_of(&input.workloads, &inheritance);
        let dashboard = self.dashboard_settings(&kinds);
        let mut simulation = Simulation::new(clock.clone(), self.settings(kinds, inheritance));
        let taken = input.load_into(&mut simulation);
        if taken.is_empty() {
            // What is wrong has been said.
            return Ok(Exit::Problems);
        }
        let mut actions = self.user_actions(&taken, from);
        actions.extend(requests);
        let mut out = io::stdout();
        let names: Vec<_> = taken.iter().map(|it| it.object.full_name()).collect();
        let page = Page::new(
            terminal::style(&out),
            self.zone_shown(&taken),
            names.iter().map(String::as_str),
        );
        let is_watched = out.is_terminal() && listener.is_none();
        let speed = self.speed.unwrap_or(if is_watched {
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
        let price = &self.price.price;
        let summary_text = page.summary(&played.summary(), price.as_deref());
        write!(io::stdout(), "\n{summary_text}").map_err(SandboxError::Write)?;
        if let Some(listener) = listener.filter(|_| !played.is_stopped()) {
            let dashboard =
                Dashboard::new(played.client(), clock, dashboard).at_price(price.clone());
            let stop = async {
                signals.next().await;
            };
            serve_played(&mut played, listener, dashboard, &mut tell, stop)
                .await
                .map_err(SandboxError::Write)?;
        }
        let summary = played.finish().await;
        let is_all_taken = taken.len() == input.workloads.len();
        Ok(if summary.refusals == 0 && is_all_taken {
            Exit::Done
        } else {
            Exit::Problems
        })
    }
}
