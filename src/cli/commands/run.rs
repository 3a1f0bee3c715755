//! `dayshift run`: the flags of the controller, and the process around it with its probes, metrics and
//! dashboard.

use std::{
    env,
    hash::{BuildHasher, RandomState},
    io,
    net::SocketAddr,
    num::NonZeroUsize,
    sync::Arc,
    thread,
};

use chrono::TimeDelta;
use dayshift_cluster::{
    Query,
    clock::Clock,
    connect::{Connection, compact, connect, connect_as_itself, with_retry_after},
};
use dayshift_controller::{
    CalendarFeed, CalendarPublisher, OwnPod, ScheduleFeed, SchedulePublisher, Scope, Settings,
    Telemetry,
};
use dayshift_schedule::Zone;
use dayshift_workload::{Inheritance, NamedSchedules, ParseContext};
use http::{HeaderName, Uri};
use kube::Client;
use tokio::{net::TcpListener, sync::oneshot};

use crate::{
    cli::{
        args::{
            connection::{ConnectionArgs, without_credentials},
            kinds::{KindArgs, KindFiles},
            log::LogArgs,
            schedules::{InheritanceArgs, ScheduleArgs},
            targets::ScopeArgs,
            values::{
                ClockSkew, catch_up, clock_skew, dashboard_listen, label_key, listen_address,
                namespace, selector, up_to_a_day,
            },
        },
        commands::dashboard::serve_pages,
        outcome::{CommandError, listen},
        process::{Exit, Shutdown, block_on, until_signal, usage_error},
        watched_files::{CalendarFile, CalendarWatch, NamedScheduleFile, ScheduleWatch},
    },
    dashboard::{self, Dashboard, Network, ProxySecret, TrustedProxy, UserHeaders, Users},
    server::serve,
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
    scope: RunScopeArgs,

    #[command(flatten)]
    timing: TimingArgs,

    #[command(flatten)]
    requests: RequestArgs,

    #[command(flatten)]
    own: ProcessArgs,

    #[command(flatten)]
    pub(crate) log: LogArgs,
}

#[derive(Debug, clap::Args)]
#[command(
    next_help_heading = "Which workloads",
    mut_arg("namespace", |arg| arg.help(
        "Only this namespace; repeatable, or a list with commas [default: all]"
    )),
    mut_arg("all_namespaces", |arg| arg.help(
        "All namespaces, which is the default; wins over -n"
    ))
)]
struct RunScopeArgs {
    #[command(flatten)]
    kinds: KindArgs,

    #[command(flatten)]
    named: ScopeArgs,

    /// Exclude this namespace; repeatable, or a list with commas
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = namespace
    )]
    exclude_namespace: Vec<String>,

    /// Only namespaces with these labels, such as `env in (dev,test)`
    #[arg(
        long,
        value_name = "SELECTOR",
        value_parser = selector
    )]
    namespace_selector: Option<String>,

    /// Watch EndpointSlices too, so that `dayshift/after` can name Services, such as `svc/db`
    #[arg(long)]
    services: bool,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Schedules")]
struct TimingArgs {
    #[command(flatten)]
    schedules: ScheduleArgs,

    #[command(flatten)]
    inheritance: InheritanceArgs,

    /// Skip a start or stop that was missed by more than this
    #[arg(
        long,
        value_name = "TIME",
        default_value = "72h",
        value_parser = catch_up
    )]
    catch_up: TimeDelta,

    /// Scale nothing while the clock differs from the API server's by more than this; 0 turns it
    /// off
    #[arg(
        long,
        value_name = "TIME",
        default_value = "30s",
        value_parser = clock_skew
    )]
    max_clock_skew: ClockSkew,

    /// Report the controller that reverts a count within this time after dayshift set it, with one
    /// read and one Event; 0 turns it off
    #[arg(
        long,
        value_name = "TIME",
        default_value = "15m",
        value_parser = up_to_a_day
    )]
    revert_window: TimeDelta,

    /// The maximum number of started workloads that are not ready yet; other starts wait, stops
    /// never wait; 0 is no limit
    #[arg(long, value_name = "COUNT", default_value = "0")]
    max_starting: u16,

    /// Send a stop notice, an Event `StopsSoon`, this long before each stop; 0 turns it off
    #[arg(
        long,
        value_name = "TIME",
        default_value = "0",
        value_parser = up_to_a_day
    )]
    notice: TimeDelta,

    /// Report a workload that is not ready this long after dayshift started it, with one read and one
    /// Event; 0 turns it off
    #[arg(
        long,
        value_name = "TIME",
        default_value = "10m",
        value_parser = up_to_a_day
    )]
    ready_within: TimeDelta,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Requests")]
struct RequestArgs {
    /// Log changes, and write nothing to the cluster
    #[arg(long)]
    dry_run: bool,

    /// The maximum number of starts and stops of one namespace in flight, 1 to 256. For all
    /// namespaces together, the limit is a quarter higher. The same number of slow requests, half
    /// as many adoptions, and 8 Events can be in flight in addition
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
struct ProcessArgs {
    /// The address of /healthz, /readyz and /metrics; port 0 takes a free port and logs it
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "0.0.0.0:8080",
        value_parser = listen_address
    )]
    listen: SocketAddr,

    /// Serve the pages of `dayshift dashboard` on this address, read-only; they show workloads to
    /// everyone, unless you set --user-header [default: none]
    #[arg(long, value_name = "ADDRESS", value_parser = dashboard_listen)]
    dashboard_listen: Option<SocketAddr>,

    #[command(flatten)]
    login: LoginArgs,

    /// Add the metric `dayshift_stopped`, which has a series for each workload with a schedule
    #[arg(long)]
    per_workload_metrics: bool,

    /// Add the metric `dayshift_overridden_workloads`, which counts the workloads that each user
    /// has woken, put to sleep or paused: for at most 200 users, and for all others together
    #[arg(long)]
    per_user_metrics: bool,

    /// Count savings by namespace: for at most 200 namespaces, and for all others together
    #[arg(long)]
    per_namespace_metrics: bool,

    /// Count savings by team instead, which is the value of this label of a Namespace: for at most
    /// 200 teams, and for all others together. The label of the series is `team`
    #[arg(long, value_name = "LABEL", value_parser = label_key, conflicts_with = "per_namespace_metrics")]
    metrics_by: Option<String>,

    /// The pod that dayshift runs in; the Deployment of that pod is never scaled
    #[arg(long, value_name = "NAME", requires = "pod_namespace")]
    pod_name: Option<String>,

    /// The namespace of that pod
    #[arg(long, value_name = "NAME", requires = "pod_name")]
    pod_namespace: Option<String>,
}

/// The validated form of [`RunArgs`].
pub(crate) struct Run {
    pub(crate) connection: Connection,
    pub(crate) listen: SocketAddr,
    pub(crate) dashboard: Option<SocketAddr>,
    /// Who can see the dashboard; `None` if it needs no login.
    pub(crate) login: Option<Login>,
    pub(crate) settings: Settings,
    pub(crate) calendars: (Vec<CalendarFile>, CalendarPublisher),
    pub(crate) schedules: (Option<NamedScheduleFile>, SchedulePublisher),
}

impl Run {
    /// # Errors
    /// If flags conflict with each other.
    fn new(args: RunArgs, files: &KindFiles) -> Result<Self, clap::Error> {
        let inheritance = args.inheritance()?;
        let reads_namespaces =
            inheritance.from_namespaces || args.scope.namespace_selector.is_some();
        if args.own.metrics_by.is_some() && !reads_namespaces {
            return Err(usage_error(
                "--metrics-by reads Namespaces, which --namespace-defaults=false turns off",
            ));
        }
        let own_pod = match (args.own.pod_namespace, args.own.pod_name) {
            (Some(namespace), Some(name)) if !namespace.is_empty() && !name.is_empty() => {
                Some(OwnPod { namespace, name })
            }
            _ => None,
        };
        let namespace_selector = args.scope.namespace_selector;
        let known = args.timing.schedules.calendars();
        let default_zone = args.timing.schedules.zone();
        let tzdata = args.timing.schedules.tzdata();
        let (publisher, calendars) = CalendarFeed::open(known);
        let (schedule_publisher, schedules) = ScheduleFeed::open(inheritance.schedules);
        let schedule_file = args.timing.inheritance.schedule_file().cloned();
        Ok(Self {
            calendars: (args.timing.schedules.calendar, publisher),
            schedules: (schedule_file, schedule_publisher),
            connection: args.connection.connection("run"),
            listen: args.own.listen,
            dashboard: args.own.dashboard_listen,
            login: args.own.login.login()?,
            settings: Settings {
                kinds: Arc::clone(&files.table),
                default_zone,
                tzdata,
                calendars,
                schedules,
                prefix: args.timing.schedules.prefix.annotation_prefix,
                default_schedule: inheritance.default_schedule,
                scope: Scope {
                    kinds: args.scope.kinds.kinds(files),
                    namespaces: args.scope.named.namespaces().to_vec(),
                    excluded_namespaces: args.scope.exclude_namespace,
                    selector: args.scope.named.selector().map(str::to_owned),
                    namespace_selector: namespace_selector.filter(|text| !text.is_empty()),
                    team_label: args.own.metrics_by,
                    namespace_defaults: inheritance.from_namespaces,
                    team_defaults: inheritance.from_teams,
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
    /// The defaults that workloads inherit. A default schedule must be limited to some namespaces.
    fn inheritance(&self) -> Result<Inheritance, clap::Error> {
        let (scope, timing) = (&self.scope, &self.timing);
        let inheritance = timing.inheritance.inheritance();
        let is_everywhere =
            scope.named.namespaces().is_empty() && scope.namespace_selector.is_none();
        if inheritance.default_schedule.is_some() && is_everywhere {
            return Err(usage_error(
                "--default-hours, --default-start, --default-stop and --default-schedule apply to \
                    everything that has no schedule: limit them with --namespace or --namespace-selector",
            ));
        }
        Ok(inheritance)
    }
}

/// The sender of Events: the pod, or else the host.
pub(crate) fn instance(own_pod: Option<&OwnPod>, otherwise: &str) -> String {
    let name = match own_pod {
        Some(pod) => pod.name.clone(),
        None => env::var("HOSTNAME").unwrap_or_else(|_| otherwise.to_owned()),
    };
    // The API server accepts at most 128 characters.
    name.chars().take(128).collect()
}

/// The watched namespaces in the log.
pub(crate) fn namespaces_text(namespaces: &[String]) -> String {
    match namespaces {
        [] => "all".to_owned(),
        names => names.join(","),
    }
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("proxy").args(["trusted_proxy", "proxy_secret_file"]).multiple(true))]
pub(crate) struct LoginArgs {
    /// The header in which an authenticating proxy names the user, such as X-Forwarded-User. Each
    /// user sees and changes only the workloads that the API server allows; dayshift needs the
    /// permission to impersonate users
    #[arg(
        long,
        value_name = "HEADER",
        requires_all = ["dashboard_listen", "proxy"],
        conflicts_with = "user"
    )]
    user_header: Option<HeaderName>,

    /// The header in which the proxy lists the groups of a user, separated by commas, such as
    /// X-Forwarded-Groups
    #[arg(long, value_name = "HEADER", requires = "user_header")]
    group_header: Option<HeaderName>,

    /// The address of the proxy: 127.0.0.1 for a container of the same pod; or, with
    /// --proxy-secret-file, others and networks of at most 256 addresses; repeatable, or a list
    /// with commas. Requests from other addresses are rejected
    #[arg(
        long,
        value_name = "ADDRESS",
        value_delimiter = ',',
        requires = "user_header"
    )]
    trusted_proxy: Vec<Network>,

    /// The file with a secret that the proxy sends in the header X-Dayshift-Proxy-Secret. Requests
    /// without it are rejected
    #[arg(
        long,
        value_name = "FILE",
        value_parser = |path: &str| ProxySecret::from_file(path),
        requires = "user_header"
    )]
    proxy_secret_file: Option<ProxySecret>,
}

/// The authenticating proxy and its headers.
#[derive(Clone, Debug)]
pub(crate) struct Login {
    pub(crate) headers: UserHeaders,
    pub(crate) proxy: TrustedProxy,
}

impl LoginArgs {
    /// `None` if the dashboard needs no login.
    ///
    /// # Errors
    /// If other pods could send requests that the proxy seems to have sent.
    pub(crate) fn login(self) -> Result<Option<Login>, clap::Error> {
        let Some(user) = self.user_header else {
            return Ok(None);
        };
        let proxy = TrustedProxy::new(self.trusted_proxy, self.proxy_secret_file);
        Ok(Some(Login {
            headers: UserHeaders {
                user,
                groups: self.group_header,
            },
            proxy: proxy.map_err(usage_error)?,
        }))
    }
}

impl RunArgs {
    pub(crate) fn run(
        self,
        about_zones: Option<&str>,
        kind_files: &KindFiles,
    ) -> Result<Exit, CommandError> {
        self.log.start();
        if let Some(about) = about_zones {
            tracing::warn!("{about}");
        }
        for problem in &kind_files.problems {
            tracing::error!("{problem}; nothing of this kind is scaled");
        }
        let run = Run::new(self, kind_files)?;
        let telemetry = Arc::new(Telemetry::with_tzdata(
            Clock::system().now(),
            &run.settings.tzdata,
        ));
        let ending = Arc::clone(&telemetry);
        Ok(until_signal(
            |shutdown| run.work(telemetry, shutdown),
            || ending.shutting_down(),
        ))
    }
}

impl Run {
    /// Runs the controller, with probes and metrics until it has finished.
    async fn work(self, telemetry: Arc<Telemetry>, shutdown: Shutdown) -> Result<(), CommandError> {
        let listener = listen(self.listen, "--listen, such as 0.0.0.0:0").await?;
        if let Some(address) = self.dashboard {
            let refused = |source| CommandError::Listen {
                address,
                source,
                flag: "--dashboard-listen, such as 127.0.0.1:8081",
            };
            let login = self.login.clone();
            let login = login.map(|login| (login, self.connection.clone()));
            serve_dashboard(address, login, &telemetry, &self.settings).map_err(refused)?;
        }
        let (client, server) = connect(&self.connection).await?;
        self.announce(listener.local_addr()?, &server);
        let (files, publisher) = self.calendars;
        let (schedule_file, schedule_publisher) = self.schedules;
        let context = self.settings.parse_context();
        let clock = Clock::system();
        let controller = dayshift_controller::run(
            compact(client),
            clock.clone(),
            self.settings,
            telemetry.clone(),
            shutdown,
        );
        let watch = CalendarWatch::new(files);
        let calendars = watch.run(&clock, &publisher, &telemetry);
        let watch = ScheduleWatch::new(schedule_file, context);
        let schedules = watch.run(&clock, &schedule_publisher, &telemetry);
        let controller = async {
            tokio::select! {
                () = controller => {}
                () = calendars => {}
                () = schedules => {}
            }
        };
        let (end, ended) = oneshot::channel::<()>();
        let probes = serve(listener, telemetry.clone(), async { drop(ended.await) });
        tokio::join!(probes, async {
            controller.await;
            drop(end);
        });
        Ok(())
    }

    fn announce(&self, listen: SocketAddr, server: &Uri) {
        let scope = &self.settings.scope;
        tracing::info!(
            tzdata = self.settings.tzdata.version(),
            zoneinfo = self.settings.tzdata.source(),
            timezone = self.settings.default_zone.name(),
            server = without_credentials(server),
            namespaces = namespaces_text(&scope.namespaces),
            excluded = scope.excluded_namespaces.join(","),
            selector = scope.selector.as_deref().unwrap_or_default(),
            dry_run = self.settings.dry_run,
            %listen,
            "dayshift {} begins",
            env!("CARGO_PKG_VERSION"),
        );
    }
}

/// Serves the dashboard on its own thread until the process ends, so that a slow page does not
/// delay the controller.
///
/// # Errors
/// If the address is in use, or if no thread can be started.
pub(super) fn serve_dashboard(
    address: SocketAddr,
    login: Option<(Login, Connection)>,
    telemetry: &Arc<Telemetry>,
    settings: &Settings,
) -> io::Result<SocketAddr> {
    let listener = std::net::TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    let bound = listener.local_addr()?;
    let (scope, calendars) = (&settings.scope, settings.calendars.clone());
    let place = match &*scope.namespaces {
        [] => "all namespaces".to_owned(),
        names => format!("namespace {}", names.join(", ")),
    };
    let looked_at = dashboard::Settings {
        query: Query::all(&scope.kinds, &[], scope.selector.clone()).reading(&settings.prefix),
        prefix: settings.prefix.clone(),
        context: ParseContext {
            // The controller has found the schedules that its objects name.
            schedules: NamedSchedules::default().accepting_any(),
            ..settings.parse_context()
        },
        zone: Some(settings.default_zone).filter(|zone| *zone != Zone::UTC),
        // The controller determines the inherited schedules.
        title: match &login {
            None => place,
            // Some users are not permitted to list namespaces.
            Some(_) => "your namespaces".to_owned(),
        },
        controller: Some(settings.instance.clone()),
    };
    let dry_run = settings.dry_run;
    let telemetry = Arc::clone(telemetry);
    let dashboard = Dashboard::for_controller(telemetry, calendars, Clock::system(), looked_at);
    let serve = async move || {
        let listener = TcpListener::from_std(listener)?;
        let dashboard = Arc::new(match login {
            Some((login, connection)) => {
                let client = dashboard_client(connection).await?;
                let users = Users::new(login.headers, login.proxy, client);
                let dashboard = dashboard.for_users(users);
                if dry_run {
                    dashboard.without_actions()
                } else {
                    dashboard
                }
            }
            None if address.ip().is_loopback() => dashboard.behind_loopback(),
            None => dashboard,
        });
        serve_pages(listener, &dashboard)
            .await
            .map_err(io::Error::other)
    };
    let on_thread = move || {
        let Err(error) = block_on(serve()).flatten();
        tracing::error!(%error, "the dashboard cannot be served");
    };
    thread::Builder::new()
        .name("dashboard".to_owned())
        .spawn(on_thread)?;
    tracing::info!(listen = %bound, "the dashboard is served");
    Ok(bound)
}

/// A separate client for the requests of dashboard users. The controller's client is used on
/// another thread.
async fn dashboard_client(connection: Connection) -> io::Result<Client> {
    let connection = Connection {
        purpose: "dashboard",
        ..connection
    };
    let (client, _) = connect_as_itself(&connection)
        .await
        .map_err(io::Error::other)?;
    Ok(with_retry_after(client, |_| {}))
}
