//! The pages of a running `dayshift run`.

use std::{io, net::SocketAddr, sync::Arc, thread};

use dayshift_cluster::{
    Query,
    clock::Clock,
    connect::{Connection, connect_as_itself, with_retry_after},
};
use dayshift_controller::{Settings, Telemetry};
use dayshift_schedule::Zone;
use kube::Client;
use tokio::net::TcpListener;

use crate::{
    cli::{args::login_args::Login, commands::dashboard::serve_pages, runtime::block_on},
    dashboard::{self, Dashboard, Users},
};

/// Serves the pages until the process ends, on a thread of their own: however long one takes, the
/// controller does not wait for it.
///
/// # Errors
/// Where the address cannot be listened on, or there is no thread to be had.
pub(super) fn serve(
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
        query: Query::all(&scope.kinds, &[], scope.selector.clone()),
        prefix: settings.prefix.clone(),
        context: settings.parse_context(),
        zone: Some(settings.default_zone).filter(|it| *it != Zone::UTC),
        // The controller says what each inherits.
        title: match &login {
            None => format!("{place}, as {} knows it", settings.instance),
            // Not everybody may know which namespaces there are.
            Some(_) => format!("as {} knows it", settings.instance),
        },
    };
    let is_acting = !settings.dry_run;
    let telemetry = Arc::clone(telemetry);
    let dashboard = Dashboard::of_controller(telemetry, calendars, Clock::system(), looked_at);
    let serve = async move || {
        let listener = TcpListener::from_std(listener)?;
        let dashboard = Arc::new(match login {
            Some((login, connection)) => {
                let client = client(connection).await?;
                let users = Users::new(login.headers, login.proxies, client);
                dashboard.for_users(users, is_acting)
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

/// A client of its own for what users of the dashboard ask and do: the controller's is busy with its
/// own requests, on another thread.
async fn client(connection: Connection) -> io::Result<Client> {
    let connection = Connection {
        purpose: "dashboard",
        ..connection
    };
    let (client, _) = connect_as_itself(&connection)
        .await
        .map_err(io::Error::other)?;
    Ok(with_retry_after(client, |_| {}))
}
