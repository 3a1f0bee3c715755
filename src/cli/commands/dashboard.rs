//! `dayshift dashboard`: the page of a live cluster, and of one in memory.

use std::{
    convert::Infallible,
    io::{self, Write as _},
    net::SocketAddr,
    sync::Arc,
};

use dayshift_cluster::{Query, clock::Clock, read::FindError};
use dayshift_controller::{CalendarFeed, Telemetry};
use kube::Client;
use tokio::net::TcpListener;

use crate::{
    cli::{
        args::{
            connection::{ClusterError, ConnectionArgs, without_credentials},
            kind_args::KindArgs,
            price_args::PriceArgs,
            schedule_args::ScheduleArgs,
            targets::ScopeArgs,
            values::value_parsers::loopback,
        },
        calendar_watch::CalendarWatch,
        exit::Exit,
        output::messages::print_error,
        runtime::block_on,
        signals::Signals,
    },
    dashboard::{Dashboard, Settings},
    server::serve_with,
};

/// Show in a browser what is wrong, what comes next, and a week of every scheduled workload
///
/// The page is served on this machine alone, and reads the cluster with your kubeconfig and your
/// permissions. Nothing is installed in the cluster or exposed by it.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("namespace", |it| it.help(
        "Only this namespace; repeatable, or a list with commas [default: all namespaces]"
    )),
    after_help = "\
The URL is printed, with a key that nobody else on this machine has; Ctrl-C ends it.
No cluster at hand: dayshift sandbox --dashboard 127.0.0.1:0
Exit status: 0 ended, 2 wrong usage, 3 no cluster, no permission, or the address is taken."
)]
pub(crate) struct DashboardArgs {
    /// The loopback address to listen on; port 0 takes a free port
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:0",
        value_parser = loopback
    )]
    address: SocketAddr,

    #[command(flatten)]
    price: PriceArgs,

    #[command(flatten)]
    scope: ScopeArgs,

    #[command(flatten)]
    kinds: KindArgs,

    #[command(flatten)]
    connection: ConnectionArgs,

    #[command(flatten)]
    schedules: ScheduleArgs,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
enum DashboardError {
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    #[error("cannot listen on {address}: {source}; give another --address, such as 127.0.0.1:0")]
    Listen {
        address: SocketAddr,
        source: io::Error,
    },
    #[error("cannot create signals, timers or sockets: {0}")]
    System(#[from] io::Error),
}

impl DashboardArgs {
    pub(crate) fn run(self) -> Exit {
        self.schedules.warn_of_unreadable();
        let ended = block_on(self.serve()).unwrap_or_else(|error| Err(error.into()));
        match ended {
            Ok(()) => Exit::Done,
            Err(error) => {
                print_error(&error);
                Exit::CouldNotRun
            }
        }
    }

    async fn serve(self) -> Result<(), DashboardError> {
        let mut signals = Signals::listen()?;
        let address = self.address;
        let refused = |source| DashboardError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(refused)?;
        let bound = listener.local_addr()?;
        let connection = self.connection.clone();
        let (client, server) = connection
            .patient_client("dashboard")
            .await
            .map_err(ClusterError::from)?;
        let server = without_credentials(&server);
        let (publisher, feed) = CalendarFeed::open(self.schedules.context().calendars);
        let dashboard = self.dashboard(client, &server).with_calendars(feed);
        let clock = Clock::system();
        // Nobody asks this program for metrics.
        let telemetry = Telemetry::new(clock.now());
        let calendars = CalendarWatch::new(self.schedules.calendar);
        let calendars = calendars.run(&clock, &publisher, &telemetry);
        let dashboard = Arc::new(dashboard.for_one_user(bound.port())?);
        announce(&dashboard.url(bound))?;
        tokio::select! {
            _ = signals.next() => Ok(()),
            () = calendars => Ok(()),
            ended = serve_pages(listener, &dashboard) => match ended {
                Ok(never) => match never {},
                Err(error @ FindError::Unavailable(_)) => {
                    Err(ClusterError::Unavailable { error, server }.into())
                }
                Err(error) => Err(ClusterError::Find(error).into()),
            },
        }
    }

    fn dashboard(&self, client: Client, server: &str) -> Dashboard {
        let selector = self.scope.selector().map(str::to_owned);
        let query = Query::all(&self.kinds.kinds(), self.scope.namespaces(), selector);
        let settings = Settings {
            title: format!("{}, {server}", query.place()),
            query,
            prefix: self.schedules.prefix.annotation_prefix.clone(),
            context: self.schedules.context_of_others(),
            zone: self.schedules.given_zone(),
        };
        Dashboard::new(client, Clock::system(), settings).at_price(self.price.price.clone())
    }
}

/// Serves the pages for as long as what they show can be followed.
///
/// # Errors
/// What no new try can fix, such as a permission that is missing.
pub(super) async fn serve_pages(
    listener: TcpListener,
    dashboard: &Arc<Dashboard>,
) -> Result<Infallible, FindError> {
    let answers = {
        let dashboard = Arc::clone(dashboard);
        move |request| Arc::clone(&dashboard).answer(request)
    };
    serve_with(listener, answers, dashboard.follow()).await
}

/// Says where the page is.
pub(super) fn announce(url: &str) -> io::Result<()> {
    let mut out = io::stdout();
    match writeln!(out, "dashboard: {url}").and_then(|()| out.flush()) {
        // Who reads no more of it may have read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
