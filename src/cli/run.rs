//! `dayshift run`: the scaler itself.

use std::{
    env,
    hash::{BuildHasher, RandomState},
    io,
    net::SocketAddr,
    num::NonZeroUsize,
    pin::pin,
    sync::Arc,
};

use chrono::TimeDelta;
use clap::{builder::BoolishValueParser, error::ErrorKind};
use http::Uri;
use tokio::{net::TcpListener, runtime, sync::oneshot};

use super::{
    connection::ConnectionArgs,
    exit::{Exit, wrong_usage},
    log::LogArgs,
    selector::selector,
    signals::Signals,
    values::{ClockSkew, catch_up, clock_skew, listen, namespace},
};
use crate::{
    clock::Clock,
    cluster::{ConnectError, Connection, connect},
    controller::{self, OwnPod, Scope, Settings, Telemetry},
    schedule::Zone,
    server,
    workload::Prefix,
};

/// Watch the Deployments of a cluster, and start and stop them at their times
///
/// It runs until SIGTERM or Ctrl-C, then lets the requests under way end, for at most 10 seconds;
/// a second signal ends it at once. Without an API server, or without permission, it keeps trying.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each flag can be set by a variable too: --max-in-flight is DAYSHIFT_MAX_IN_FLIGHT. Several values
are separated by commas: DAYSHIFT_NAMESPACE=team-a,team-b. A flag wins over its variable.")]
pub(super) struct RunArgs {
    #[command(flatten)]
    connection: ConnectionArgs,

    #[command(flatten)]
    scope: ScopeArgs,

    #[command(flatten)]
    schedules: ScheduleArgs,

    #[command(flatten)]
    requests: RequestArgs,

    #[command(flatten)]
    own: OwnArgs,

    #[command(flatten)]
    log: LogArgs,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Which Deployments")]
struct ScopeArgs {
    /// Only those in this namespace; several times or with commas for several [default: all]
    #[arg(
        short,
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = namespace,
        env = "DAYSHIFT_NAMESPACE"
    )]
    namespace: Vec<String>,

    /// Those in all namespaces, which is the default
    #[arg(
        short = 'A',
        long,
        value_parser = BoolishValueParser::new(),
        env = "DAYSHIFT_ALL_NAMESPACES"
    )]
    all_namespaces: bool,

    /// But none in this namespace; several times or with commas for several
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = namespace,
        env = "DAYSHIFT_EXCLUDE_NAMESPACE"
    )]
    exclude_namespace: Vec<String>,

    /// Only those that this label selector matches, such as `team=web,tier!=db`
    #[arg(
        short = 'l',
        long,
        value_name = "SELECTOR",
        value_parser = selector,
        env = "DAYSHIFT_SELECTOR"
    )]
    selector: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Schedules")]
struct ScheduleArgs {
    /// The IANA time zone of Deployments that name none
    #[arg(
        long,
        value_name = "ZONE",
        default_value = "UTC",
        value_parser = Zone::parse,
        env = "DAYSHIFT_TIMEZONE"
    )]
    timezone: Zone,

    /// What stands before the slash in annotations and labels
    #[arg(
        long,
        value_name = "PREFIX",
        default_value = "dayshift",
        value_parser = Prefix::parse,
        env = "DAYSHIFT_ANNOTATION_PREFIX"
    )]
    annotation_prefix: Prefix,

    /// A start or stop that was missed for longer than this is left out
    #[arg(
        long,
        value_name = "TIME",
        default_value = "72h",
        value_parser = catch_up,
        env = "DAYSHIFT_CATCH_UP"
    )]
    catch_up: TimeDelta,

    /// Nothing is done while the clock is further than this from the API server's; 0: do not look
    #[arg(
        long,
        value_name = "TIME",
        default_value = "30s",
        value_parser = clock_skew,
        env = "DAYSHIFT_MAX_CLOCK_SKEW"
    )]
    max_clock_skew: ClockSkew,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Requests")]
struct RequestArgs {
    /// Say what would be done, and write nothing to the cluster
    #[arg(long, value_parser = BoolishValueParser::new(), env = "DAYSHIFT_DRY_RUN")]
    dry_run: bool,

    /// How many requests may be under way at once, 1 to 256
    #[arg(
        long,
        value_name = "COUNT",
        default_value = "32",
        value_parser = clap::value_parser!(u16).range(1..=256),
        env = "DAYSHIFT_MAX_IN_FLIGHT"
    )]
    max_in_flight: u16,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "The program itself")]
struct OwnArgs {
    /// Where /healthz, /readyz and /metrics are served; port 0 is a free one, which the log names
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "0.0.0.0:8080",
        value_parser = listen,
        env = "DAYSHIFT_LISTEN"
    )]
    listen: SocketAddr,

    /// The pod it runs in: the Deployment that made the pod is never scaled
    #[arg(
        long,
        value_name = "NAME",
        requires = "pod_namespace",
        env = "DAYSHIFT_POD_NAME"
    )]
    pod_name: Option<String>,

    /// The namespace of that pod
    #[arg(
        long,
        value_name = "NAME",
        requires = "pod_name",
        env = "DAYSHIFT_POD_NAMESPACE"
    )]
    pod_namespace: Option<String>,
}

/// Why `dayshift run` could not begin.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("cannot listen on {address}: {source}; give another --listen, such as 0.0.0.0:0")]
    Listen {
        address: SocketAddr,
        source: io::Error,
    },
    #[error("cannot ask the system for signals, timers or sockets: {0}")]
    System(#[from] io::Error),
}

/// What [`RunArgs`] come down to.
struct Run {
    connection: Connection,
    listen: SocketAddr,
    settings: Settings,
}

impl RunArgs {
    pub(super) fn run(self) -> Exit {
        self.log.start();
        let run = match Run::try_from(self) {
            Ok(run) => run,
            Err(error) => return wrong_usage(&error),
        };
        let ended = runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(StartError::from)
            .and_then(|runtime| {
                let ended = runtime.block_on(run.until_signal());
                // A name that is being looked up is nobody's reason to wait.
                runtime.shutdown_background();
                ended
            });
        ended.unwrap_or_else(|error| {
            tracing::error!("{error}");
            Exit::CouldNotRun
        })
    }
}

impl TryFrom<RunArgs> for Run {
    type Error = clap::Error;

    fn try_from(args: RunArgs) -> Result<Self, clap::Error> {
        if args.scope.all_namespaces && !args.scope.namespace.is_empty() {
            return Err(clap::Error::raw(
                ErrorKind::ArgumentConflict,
                "--all-namespaces and --namespace (or their variables) are both given; \
                 leave one of them out\n",
            ));
        }
        let own_pod = match (args.own.pod_namespace, args.own.pod_name) {
            (Some(namespace), Some(name)) if !namespace.is_empty() && !name.is_empty() => {
                Some(OwnPod { namespace, name })
            }
            _ => None,
        };
        let instance = match &own_pod {
            Some(pod) => pod.name.clone(),
            None => env::var("HOSTNAME").unwrap_or_else(|_| "dayshift".to_owned()),
        };
        Ok(Self {
            connection: args.connection.connection(),
            listen: args.own.listen,
            settings: Settings {
                default_zone: args.schedules.timezone,
                prefix: args.schedules.annotation_prefix,
                scope: Scope {
                    namespaces: args.scope.namespace,
                    excluded_namespaces: args.scope.exclude_namespace,
                    selector: args.scope.selector.filter(|selector| !selector.is_empty()),
                },
                catch_up: args.schedules.catch_up,
                max_clock_skew: args.schedules.max_clock_skew.0,
                max_in_flight: NonZeroUsize::new(args.requests.max_in_flight.into())
                    .unwrap_or(NonZeroUsize::MIN),
                dry_run: args.requests.dry_run,
                own_pod,
                instance,
                seed: RandomState::new().hash_one("jitter"),
            },
        })
    }
}

impl Run {
    /// Until a signal asks for the end and the end is reached, or a second one does.
    async fn until_signal(self) -> Result<Exit, StartError> {
        let mut signals = Signals::listen()?;
        let telemetry = Arc::new(Telemetry::new(Clock::system().now()));
        let (end, ended) = oneshot::channel::<()>();
        let mut work = pin!(self.work(Arc::clone(&telemetry), async { drop(ended.await) }));
        let first = tokio::select! {
            ended = &mut work => return ended.map(|()| Exit::Done),
            signal = signals.next() => signal,
        };
        telemetry.shutting_down();
        tracing::info!("{} received", first.name());
        drop(end);
        tokio::select! {
            ended = work => ended.map(|()| Exit::Done),
            again = signals.next() => {
                tracing::warn!("{} received again, ending at once", again.name());
                Ok(again.exit())
            }
        }
    }

    /// The controller, and beside it, for as long as it works, the probes and metrics.
    async fn work(
        self,
        telemetry: Arc<Telemetry>,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), StartError> {
        let listener =
            TcpListener::bind(self.listen)
                .await
                .map_err(|source| StartError::Listen {
                    address: self.listen,
                    source,
                })?;
        let (client, server) = connect(&self.connection).await?;
        self.announce(listener.local_addr()?, &server);
        let controller = controller::run(
            client,
            Clock::system(),
            self.settings,
            telemetry.clone(),
            shutdown,
        );
        let (end, ended) = oneshot::channel::<()>();
        let probes = server::serve(listener, telemetry, async { drop(ended.await) });
        tokio::join!(probes, async {
            controller.await;
            drop(end);
        });
        Ok(())
    }

    fn announce(&self, listen: SocketAddr, server: &Uri) {
        let scope = &self.settings.scope;
        tracing::info!(
            tzdata = chrono_tz::IANA_TZDB_VERSION,
            timezone = self.settings.default_zone.name(),
            server = without_credentials(server),
            namespaces = if scope.namespaces.is_empty() {
                "all".to_owned()
            } else {
                scope.namespaces.join(",")
            },
            excluded = scope.excluded_namespaces.join(","),
            selector = scope.selector.as_deref().unwrap_or_default(),
            dry_run = self.settings.dry_run,
            %listen,
            "dayshift {} begins",
            env!("CARGO_PKG_VERSION"),
        );
    }
}

/// Scheme, host and port alone: a user's name and password, or a token in a query, stay unsaid.
fn without_credentials(server: &Uri) -> String {
    let port = server
        .port()
        .map(|port| format!(":{port}"))
        .unwrap_or_default();
    format!(
        "{}://{}{port}",
        server.scheme_str().unwrap_or("http"),
        server.host().unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_address_is_told_without_credentials() {
        for (full, told) in [
            ("https://10.0.0.1:6443/", "https://10.0.0.1:6443"),
            (
                "https://me:secret@[::1]:6443/api?token=secret",
                "https://[::1]:6443",
            ),
            ("http://example.com", "http://example.com"),
        ] {
            assert_eq!(without_credentials(&full.parse().unwrap()), told);
        }
    }
}
