//! A firewall that drops connections silently, or closes them.
//!
//! toxiproxy treats all connections alike, and closes those that it blocked. Here new connections work while
//! old ones hang permanently.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// Set for a dropped connection.
type Forgotten = Arc<AtomicBool>;

/// A port of 127.0.0.1 that leads to the API server.
pub(crate) struct BlackholeProxy {
    scheme: String,
    address: SocketAddr,
    connections: Arc<Mutex<Vec<(Forgotten, TcpStream)>>>,
}

impl BlackholeProxy {
    pub(crate) fn before(url: &str) -> Self {
        let (scheme, server) = url.split_once("://").unwrap();
        let server = server.to_owned();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::<Mutex<Vec<_>>>::default();
        thread::spawn({
            let connections = Arc::clone(&connections);
            move || {
                for client in listener.incoming().flatten() {
                    let forgotten = Forgotten::default();
                    let one = (Arc::clone(&forgotten), client.try_clone().unwrap());
                    connections.lock().unwrap().push(one);
                    if let Ok(server) = TcpStream::connect(&server) {
                        join(client, server, &forgotten);
                    }
                }
            }
        });
        Self {
            scheme: scheme.to_owned(),
            address,
            connections,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// Drops all data on the existing connections.
    pub(crate) fn forget(&self) {
        for (forgotten, _) in self.connections.lock().unwrap().drain(..) {
            forgotten.store(true, Ordering::Relaxed);
        }
    }

    /// Closes the existing connections, as a restarting server does; new ones work.
    pub(crate) fn close(&self) {
        for (_, client) in self.connections.lock().unwrap().drain(..) {
            let _ = client.shutdown(Shutdown::Both);
        }
    }
}

fn join(client: TcpStream, server: TcpStream, forgotten: &Forgotten) {
    let (to_client, to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    for (from, to) in [(client, to_server), (server, to_client)] {
        let forgotten = Arc::clone(forgotten);
        thread::spawn(move || carry(from, to, &forgotten));
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, forgotten: &AtomicBool) {
    let mut bytes = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        let carried = forgotten.load(Ordering::Relaxed) || to.write_all(&bytes[..count]).is_ok();
        if !carried {
            break;
        }
    }
    if forgotten.load(Ordering::Relaxed) {
        // The other side does not see the end of the connection either.
        std::mem::forget(to);
    } else {
        let _ = to.shutdown(Shutdown::Both);
    }
}
