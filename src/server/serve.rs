//! The listening socket and the connections that are open.

use std::{collections::VecDeque, pin::pin, sync::Arc, time::Duration};

use http::Response;
use http_body_util::Full;
use hyper::{
    Request,
    body::{Bytes, Incoming},
};
use tokio::{
    net::TcpListener,
    task::{AbortHandle, spawn},
    time::sleep,
};

use super::{connection::serve_connection, probes::Probes, routes::probes};

/// The most connections at once. One more closes the oldest: so whoever hoards connections keeps
/// no probe from its answer.
const MAX_CONNECTIONS: usize = 64;
/// The pause after a connection could not be accepted, as when file descriptors have run out.
const RECOVERY: Duration = Duration::from_millis(100);

/// Answers `/healthz`, `/readyz` and `/metrics` over HTTP/1.1 until `shutdown` resolves; what is
/// open then is closed.
pub async fn serve(
    listener: TcpListener,
    of: Arc<impl Probes>,
    shutdown: impl Future<Output = ()>,
) {
    serve_with(listener, probes(of), shutdown).await;
}

/// Answers over HTTP/1.1 what `handler` answers, until `shutdown` resolves, and gives what it gives;
/// what is open then is closed. Who is slow delays nobody else. Each request has the peer's
/// `SocketAddr` as an extension.
pub async fn serve_with<H, F, T>(
    listener: TcpListener,
    handler: H,
    shutdown: impl Future<Output = T>,
) -> T
where
    H: Fn(Request<Incoming>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<Full<Bytes>>> + Send + 'static,
{
    let mut shutdown = pin!(shutdown);
    let mut open = Connections::default();
    loop {
        tokio::select! {
            ended = &mut shutdown => return ended,
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => {
                    let handler = handler.clone();
                    let answer = move |mut request: Request<Incoming>| {
                        request.extensions_mut().insert(peer);
                        handler(request)
                    };
                    open.admit(spawn(serve_connection(stream, answer)).abort_handle());
                }
                Err(error) => {
                    tracing::debug!(%error, "could not accept a connection");
                    sleep(RECOVERY).await;
                }
            },
        }
    }
}

/// The open connections, the oldest first. Dropped, they are closed.
#[derive(Default)]
struct Connections(VecDeque<AbortHandle>);

impl Connections {
    fn admit(&mut self, newest: AbortHandle) {
        self.0.retain(|connection| !connection.is_finished());
        if self.0.len() == MAX_CONNECTIONS
            && let Some(oldest) = self.0.pop_front()
        {
            oldest.abort();
        }
        self.0.push_back(newest);
    }
}

impl Drop for Connections {
    fn drop(&mut self) {
        for connection in &self.0 {
            connection.abort();
        }
    }
}
