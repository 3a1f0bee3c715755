//! The ports on which connections to Services are taken.

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

/// How many connections wait to be accepted.
const BACKLOG: u32 = 1024;

/// The pause after a connection could not be accepted, as when file descriptors have run out.
const RECOVERY: Duration = Duration::from_millis(100);

/// The open ports.
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
    /// Listens on the ports of these Services, and on no other. Connections that are open go on. Whether
    /// all of them are open.
    pub(crate) fn follow(&mut self, routes: &Routes, shared: &ConnectionContext) -> bool {
        let wanted = |number: u16, open: &OpenListener| {
            let route = routes.get(&open.service);
            route.is_some_and(|route| route.ports.get(&open.port) == Some(&number))
        };
        self.open.retain(|number, open| wanted(*number, open));
        let mut are_all_open = true;
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
                        tracing::warn!(%service, port = number, %error, "cannot listen");
                        are_all_open = false;
                    }
                }
            }
        }
        are_all_open
    }
}

/// Listens on a port: of every address where none is given, also those of IPv4.
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
        // A client that is gone without a word is noticed. What is accepted inherits it.
        socket.set_keepalive(true)?;
        socket.bind(SocketAddr::new(address, port))?;
        socket.listen(BACKLOG)
    };
    match bind {
        Some(address) => on(address),
        // A machine may have no IPv6.
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
            Ok((stream, from)) => match shared.places.take(&service) {
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
