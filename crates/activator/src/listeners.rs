//! The listening sockets for Service ports.

use std::{
    collections::BTreeMap,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use tokio::{
    net::{TcpListener, TcpSocket},
    task::{AbortHandle, spawn},
    time::sleep,
};
use tracing::instrument::WithSubscriber as _;

use crate::{
    connection::{ConnectionContext, serve},
    routes::Routes,
    service::ServiceName,
    telemetry::ConnectionOutcome,
};

/// The maximum number of connections that wait to be accepted.
const BACKLOG: u32 = 1024;

/// The pause after a failed accept, for example because file descriptors have run out.
const RECOVERY: Duration = Duration::from_millis(100);

/// The listening sockets by port number.
#[derive(Default)]
pub(crate) struct Listeners {
    open: BTreeMap<u16, OpenListener>,
}

struct OpenListener {
    service: ServiceName,
    port: Box<str>,
    task: AbortHandle,
}

impl Drop for OpenListener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Listeners {
    /// Opens the ports of these routes and closes all others. Open connections continue. Returns the number
    /// of ports that could not be opened.
    pub(crate) fn follow(&mut self, routes: &Routes, shared: &ConnectionContext) -> usize {
        let wanted = |number: u16, open: &OpenListener| {
            let route = routes.get(&open.service);
            route.is_some_and(|route| route.ports.get(&open.port) == Some(&number))
        };
        self.open.retain(|number, open| wanted(*number, open));
        let mut failures = 0;
        for (service, route) in routes {
            for (port, number) in &route.ports {
                if self.open.contains_key(number) {
                    continue;
                }
                match listen(shared.settings.bind, *number) {
                    Ok(listener) => {
                        let task = accept(listener, shared.clone(), service.clone(), port.clone());
                        let open = OpenListener {
                            service: service.clone(),
                            port: port.clone(),
                            task: spawn(task.with_current_subscriber()).abort_handle(),
                        };
                        self.open.insert(*number, open);
                    }
                    Err(error) => {
                        failures += 1;
                        if let Some(suppressed) = shared.logs.allow(&service.namespace) {
                            tracing::warn!(%service, port = number, %error, suppressed, "cannot listen");
                        }
                    }
                }
            }
        }
        failures
    }

    pub(crate) fn count(&self) -> usize {
        self.open.len()
    }
}

/// Listens on this address, or on all IPv6 and IPv4 addresses.
fn listen(bind: Option<IpAddr>, port: u16) -> io::Result<TcpListener> {
    let all = [
        IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        IpAddr::V4(Ipv4Addr::UNSPECIFIED),
    ];
    let on = |address: IpAddr| {
        let socket = match address {
            IpAddr::V4(_) => TcpSocket::new_v4()?,
            IpAddr::V6(_) => TcpSocket::new_v6()?,
        };
        socket.set_reuseaddr(true)?;
        // Keepalive detects clients that disappear. Accepted sockets inherit it.
        socket.set_keepalive(true)?;
        socket.bind(SocketAddr::new(address, port))?;
        socket.listen(BACKLOG)
    };
    match bind {
        Some(address) => on(address),
        // If the host has no IPv6, listen on IPv4.
        None => on(all[0]).or_else(|_| on(all[1])),
    }
}

async fn accept(
    listener: TcpListener,
    shared: ConnectionContext,
    service: ServiceName,
    port: Box<str>,
) {
    loop {
        match listener.accept().await {
            Ok((stream, from)) => match shared.limits.take(&service, from.ip()) {
                Some(place) => {
                    let _ = stream.set_nodelay(true);
                    let (service, port) = (service.clone(), port.clone());
                    let connection = serve(shared.clone(), service, port, stream, from, place);
                    spawn(connection.with_current_subscriber());
                }
                None => {
                    shared.telemetry.ended(ConnectionOutcome::Full);
                    drop(stream);
                }
            },
            Err(error) => {
                tracing::debug!(%service, %error, "could not accept a connection");
                sleep(RECOVERY).await;
            }
        }
    }
}
