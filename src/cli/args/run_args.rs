//! The flags of `dayshift run`, and what they come down to.

use std::{
    env,
    hash::{BuildHasher, RandomState},
    net::SocketAddr,
    num::NonZeroUsize,
};

use chrono::TimeDelta;
use clap::{builder::BoolishValueParser, error::ErrorKind};
use dayshift_cluster::connect::Connection;
use dayshift_controller::{CalendarFeed, CalendarPublisher, OwnPod, Scope, Settings};
use dayshift_workload::Inheritance;

use super::{
    connection::ConnectionArgs,
    kind_args::KindArgs,
    log::LogArgs,
    login_args::{Login, LoginArgs},
    schedule_args::{InheritanceArgs, ScheduleArgs},
};
use crate::cli::args::values::{
    calendar_file::CalendarFile,
    selector::{label_key, selector},
    value_parsers::{
        ClockSkew, catch_up, clock_skew, dashboard_listen, listen, namespace, notice, ready_within,
        revert_window,
    },
};

/// Watch the workloads of a cluster, and start and stop them at their times
///
/// dayshift runs until SIGTERM or Ctrl-C, then waits at most 10 seconds for requests in flight; a
/// second signal ends it immediately. Without an API server, or without permission, it keeps
/// retrying with backoff.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each flag can be set by a variable too: --max-in-flight is DAYSHIFT_MAX_IN_FLIGHT. Several values \
are separated by commas: DAYSHIFT_NAMESPACE=team-a,team-b. A flag wins over its variable.")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    connection: ConnectionArgs,

    #[command(flatten)]
    scope: ScopeArgs,

    #[command(flatten)]
    timing: TimingArgs,

    #[command(flatten)]
    requests: RequestArgs,

    #[command(flatten)]
    own: OwnArgs,

    #[command(flatten)]
    pub(crate) log: LogArgs,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Which workloads")]
struct ScopeArgs {
    #[command(flatten)]
    kinds: KindArgs,

    /// Only this namespace; repeatable, or a list with commas [default: all]
    #[arg(
        short,
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = namespace
    )]
    namespace: Vec<String>,

    /// All namespaces, which is the default; wins over -n
    #[arg(
        short = 'A',
        long,
        value_parser = BoolishValueParser::new()
    )]
    all_namespaces: bool,

    /// Exclude this namespace; repeatable, or a list with commas
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = namespace
    )]
    exclude_namespace: Vec<String>,

    /// A label selector, such as `team=web,tier!=db`
    #[arg(
        short = 'l',
        long,
        value_name = "SELECTOR",
        value_parser = selector
    )]
    selector: Option<String>,

    /// Only namespaces with these labels, such as `env in (dev,test)`
    #[arg(
        long,
        value_name = "SELECTOR",
        value_parser = selector
    )]
    namespace_selector: Option<String>,

    /// Watch EndpointSlices too, so that `dayshift/after` can name Services, such as `svc/db`
    #[arg(long, value_parser = BoolishValueParser::new())]
    services: bool,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Schedules")]
struct TimingArgs {
    #[command(flatten)]
    schedules: ScheduleArgs,

    #[command(flatten)]
    inheritance: InheritanceArgs,

    /// Skip a start or stop that was missed for longer than this
    #[arg(
        long,
        value_name = "TIME",
        default_value = "72h",
        value_parser = catch_up
    )]
    catch_up: TimeDelta,

    /// Do nothing while the clock differs from the API server's by more than this; 0 turns it off
    #[arg(
        long,
        value_name = "TIME",
        default_value = "30s",
        value_parser = clock_skew
    )]
    max_clock_skew: ClockSkew,

    /// Report who changes a count back within this time after dayshift set it, with one read and
    /// one Event; 0 turns it off
    #[arg(
        long,
        value_name = "TIME",
        default_value = "15m",
        value_parser = revert_window
    )]
    revert_window: TimeDelta,

    /// The most workloads that dayshift has started and that are not ready yet: other starts wait, and
    /// stops never do; 0 is no limit
    #[arg(long, value_name = "COUNT", default_value = "0")]
    max_starting: u16,

    /// Tell people of each stop this long before it, with an Event `StopsSoon`; 0 turns it off
    #[arg(
        long,
        value_name = "TIME",
        default_value = "0",
        value_parser = notice
    )]
    notice: TimeDelta,

    /// Report a workload that is not ready this long after dayshift started it, with one read and one
    /// Event; 0 turns it off
    #[arg(
        long,
        value_name = "TIME",
        default_value = "10m",
        value_parser = ready_within
    )]
    ready_within: TimeDelta,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Requests")]
struct RequestArgs {
    /// Show what would be done, and write nothing to the cluster
    #[arg(long, value_parser = BoolishValueParser::new())]
    dry_run: bool,

    /// How many starts and stops of one namespace may be in flight at once, 1 to 256. All
    /// namespaces together may have a quarter more, and besides as many slow requests, half as many
    /// adoptions, and 8 Events
    #[arg(
        long,
        value_name = "COUNT",
        default_value = "32",
        value_parser = clap::value_parser!(u16).range(1..=256)
    )]
    max_in_flight: u16,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Process")]
struct OwnArgs {
    /// The address of /healthz, /readyz and /metrics; port 0 takes a free port and logs it
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "0.0.0.0:8080",
        value_parser = listen
    )]
    listen: SocketAddr,

    /// Serve the pages of `dayshift dashboard` on this address, read-only; they name workloads, and
    /// ask for no login without --user-header [default: none]
    #[arg(long, value_name = "ADDRESS", value_parser = dashboard_listen)]
    dashboard_listen: Option<SocketAddr>,

    #[command(flatten)]
    login: LoginArgs,

    /// Add the metric `dayshift_stopped`, which has a series for each workload with a schedule
    #[arg(long, value_parser = BoolishValueParser::new())]
    per_workload_metrics: bool,

    /// Add the metric `dayshift_overridden_workloads`, which counts the workloads that each user has woken,
    /// put to sleep or paused: of 200 users at most, and of all others together
    #[arg(long, value_parser = BoolishValueParser::new())]
    per_user_metrics: bool,

    /// Count what is saved in each namespace: in 200 at most, and in all others together
    #[arg(long, value_parser = BoolishValueParser::new())]
    per_namespace_metrics: bool,

    /// Count what is saved by team instead, as this label of Namespaces names it: the 200 teams that
    /// have saved most, and all others together. The label of the series is `team`
    #[arg(long, value_name = "LABEL", value_parser = label_key, conflicts_with = "per_namespace_metrics")]
    metrics_by: Option<String>,

    /// The pod that dayshift runs in; the Deployment of that pod is never scaled
    #[arg(long, value_name = "NAME", requires = "pod_namespace")]
    pod_name: Option<String>,

    /// The namespace of that pod
    #[arg(long, value_name = "NAME", requires = "pod_name")]
    pod_namespace: Option<String>,
}

impl ScopeArgs {
    /// The namespaces; none are all. As in kubectl, `-A` wins over `-n`.
    fn namespaces(&self) -> Vec<String> {
        if self.all_namespaces {
            return Vec::new();
        }
        self.namespace.clone()
    }
}

/// What [`RunArgs`] mean.
pub(crate) struct Run {
    pub(crate) connection: Connection,
    pub(crate) listen: SocketAddr,
    pub(crate) dashboard: Option<SocketAddr>,
    /// Who may see the dashboard; everybody where there is no login.
    pub(crate) login: Option<Login>,
    pub(crate) settings: Settings,
    pub(crate) calendars: (Vec<CalendarFile>, CalendarPublisher),
}

impl TryFrom<RunArgs> for Run {
    type Error = clap::Error;

    fn try_from(args: RunArgs) -> Result<Self, clap::Error> {
        let namespaces = args.scope.namespaces();
        let inheritance = args.inheritance()?;
        let reads_namespaces =
            inheritance.from_namespaces || args.scope.namespace_selector.is_some();
        if args.own.metrics_by.is_some() && !reads_namespaces {
            return Err(clap::Error::raw(
                ErrorKind::ArgumentConflict,
                "--metrics-by reads Namespaces, which --namespace-defaults=false turns off\n",
            ));
        }
        let own_pod = match (args.own.pod_namespace, args.own.pod_name) {
            (Some(namespace), Some(name)) if !namespace.is_empty() && !name.is_empty() => {
                Some(OwnPod { namespace, name })
            }
            _ => None,
        };
        let known = args.timing.schedules.context().calendars;
        let default_zone = args.timing.schedules.zone();
        let (publisher, calendars) = CalendarFeed::open(known);
        Ok(Self {
            calendars: (args.timing.schedules.calendar, publisher),
            connection: args.connection.connection("run"),
            listen: args.own.listen,
            dashboard: args.own.dashboard_listen,
            login: args.own.login.login(),
            settings: Settings {
                default_zone,
                calendars,
                prefix: args.timing.schedules.prefix.annotation_prefix,
                default_schedule: inheritance.default_schedule,
                scope: Scope {
                    kinds: args.scope.kinds.kinds(),
                    namespaces,
                    excluded_namespaces: args.scope.exclude_namespace,
                    selector: args.scope.selector.filter(|selector| !selector.is_empty()),
                    namespace_selector: args
                        .scope
                        .namespace_selector
                        .filter(|selector| !selector.is_empty()),
                    team_label: args.own.metrics_by,
                    namespace_defaults: inheritance.from_namespaces,
                    services: args.scope.services,
                },
                catch_up: args.timing.catch_up,
                max_clock_skew: args.timing.max_clock_skew.0,
                max_in_flight: NonZeroUsize::new(args.requests.max_in_flight.into())
                    .unwrap_or(NonZeroUsize::MIN),
                max_starting: NonZeroUsize::new(args.timing.max_starting.into()),
                revert_window: args.timing.revert_window.to_std().unwrap_or_default(),
                notice: args.timing.notice,
                ready_within: args.timing.ready_within,
                per_workload_metrics: args.own.per_workload_metrics,
                per_user_metrics: args.own.per_user_metrics,
                per_namespace_metrics: args.own.per_namespace_metrics,
                dry_run: args.requests.dry_run,
                instance: instance(own_pod.as_ref(), "dayshift"),
                own_pod,
                seed: RandomState::new().hash_one("jitter"),
            },
        })
    }
}

impl RunArgs {
    /// From what objects inherit. A default schedule needs to be told where it holds.
    fn inheritance(&self) -> Result<Inheritance, clap::Error> {
        let (scope, timing) = (&self.scope, &self.timing);
        let inheritance = timing.inheritance.inheritance();
        let is_everywhere = scope.namespaces().is_empty() && scope.namespace_selector.is_none();
        if inheritance.default_schedule.is_some() && is_everywhere {
            return Err(clap::Error::raw(
                ErrorKind::MissingRequiredArgument,
                "--default-hours, --default-start and --default-stop apply to everything that has \
                    no schedule: limit them with --namespace or --namespace-selector\n",
            ));
        }
        Ok(inheritance)
    }
}

/// Who is named as the sender of Events: the own pod, or its host.
pub(super) fn instance(own_pod: Option<&OwnPod>, otherwise: &str) -> String {
    let name = match own_pod {
        Some(pod) => pod.name.clone(),
        None => env::var("HOSTNAME").unwrap_or_else(|_| otherwise.to_owned()),
    };
    // What the API server takes in an Event.
    name.chars().take(128).collect()
}
