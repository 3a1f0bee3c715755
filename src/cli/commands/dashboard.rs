//! `dayshift dashboard`: serves the dashboard of a cluster on a loopback address.

use std::{
    convert::Infallible,
    io::{self, Write as _},
    net::SocketAddr,
    process::{Command, Stdio},
    sync::Arc,
    thread,
};

use dayshift_cluster::{Query, clock::Clock, read::FindError};
use dayshift_controller::{CalendarFeed, Telemetry};
use kube::Client;
use tokio::net::TcpListener;

use crate::{
    cli::{
        args::{
            connection::{ConnectionArgs, without_credentials},
            kinds::{KindArgs, KindFiles},
            schedules::ScheduleArgs,
            targets::ScopeArgs,
            values::{PriceArgs, loopback},
        },
        outcome::{CommandError, listen},
        output::messages::print_note,
        process::{Exit, Signals, block_on},
        watched_files::CalendarWatch,
    },
    dashboard::{Dashboard, Settings},
    server::serve_with,
};

/// Show the problems, the next changes, and a week of every scheduled workload in a browser
///
/// The page is served on this machine only. It reads the cluster with your kubeconfig and your
/// permissions. Nothing is installed in the cluster or exposed by it.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("namespace", |arg| arg.help(
        "Only this namespace; repeatable, or a list with commas [default: all namespaces]"
    )),
    after_help = "\
The command prints a URL that contains a secret key; Ctrl-C ends it.
Without a cluster: dayshift sandbox --dashboard 127.0.0.1:0
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

    /// Open the page in the browser of this machine
    #[arg(long)]
    open: bool,

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

impl DashboardArgs {
    pub(crate) fn run(self, kind_files: &KindFiles) -> Result<Exit, CommandError> {
        self.schedules.warn_of_unreadable();
        block_on(self.serve(kind_files))?
    }

    async fn serve(self, kind_files: &KindFiles) -> Result<Exit, CommandError> {
        let mut signals = Signals::listen()?;
        let listener = listen(self.address, "--address, such as 127.0.0.1:0").await?;
        let bound = listener.local_addr()?;
        let connection = self.connection.clone();
        let context = connection.clone().connection("dashboard");
        let context = context.context_name();
        let (client, server) = connection.patient_client("dashboard").await?;
        let server = without_credentials(&server);
        let (publisher, feed) = CalendarFeed::open(self.schedules.calendars());
        let dashboard = self
            .dashboard(client, context.as_deref().unwrap_or(&server), kind_files)
            .with_calendars(feed);
        let clock = Clock::system();
        // `Telemetry` is required, but this command serves no metrics.
        let telemetry = Telemetry::new(clock.now());
        let calendars = CalendarWatch::new(self.schedules.calendar);
        let calendars = calendars.run(&clock, &publisher, &telemetry);
        let dashboard = Arc::new(dashboard.for_one_user(bound.port())?);
        announce(&dashboard.url(bound))?;
        if self.open {
            open_in_browser(dashboard.url_once(bound)?);
        }
        tokio::select! {
            _ = signals.next() => Ok(Exit::Done),
            () = calendars => Ok(Exit::Done),
            ended = serve_pages(listener, &dashboard) => match ended {
                Ok(never) => match never {},
                Err(error) => Err(CommandError::from(error).with_server(&server)),
            },
        }
    }

    fn dashboard(&self, client: Client, context: &str, kind_files: &KindFiles) -> Dashboard {
        let selector = self.scope.selector().map(str::to_owned);
        let query = Query::all(
            &self.kinds.kinds(kind_files),
            self.scope.namespaces(),
            selector,
        );
        let query = query.reading(&self.schedules.prefix.annotation_prefix);
        let settings = Settings {
            title: format!("{}, {context}", query.place()),
            controller: None,
            query,
            prefix: self.schedules.prefix.annotation_prefix.clone(),
            context: self.schedules.context_of_others(kind_files),
            zone: self.schedules.given_zone(),
        };
        Dashboard::new(client, Clock::system(), settings).at_price(self.price.price.clone())
    }
}

/// Serves the dashboard until the cluster can no longer be followed.
///
/// # Errors
/// If a retry would not help, for example because a permission is missing.
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

/// The program that opens a URL in a browser, with its first arguments.
const OPENER: &[&str] = if cfg!(target_os = "macos") {
    &["open"]
} else if cfg!(windows) {
    &["rundll32.exe", "url.dll,FileProtocolHandler"]
} else {
    &["xdg-open"]
};

/// Opens a URL in a browser. A failure is noted, because the URL was printed too.
fn open_in_browser(url: String) {
    let [program, arguments @ ..] = OPENER else {
        return;
    };
    let mut command = Command::new(program);
    command.args(arguments).arg(url);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    match command.spawn() {
        Ok(mut opening) => {
            // Some of these programs run as long as the browser.
            thread::spawn(move || opening.wait());
        }
        Err(error) => print_note(&format!(
            "{program} cannot open a browser: {error}; open the URL yourself"
        )),
    }
}

/// Prints the URL of the dashboard.
pub(super) fn announce(url: &str) -> io::Result<()> {
    let mut out = io::stdout();
    match writeln!(out, "dashboard: {url}").and_then(|()| out.flush()) {
        // A closed pipe is not an error: the reader may already have the URL.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
