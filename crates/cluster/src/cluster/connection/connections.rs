//! HTTP/2 connections, as many as the requests in flight need.
//!
//! An API server allows some 100 streams on a connection (`http2-max-streams-per-connection`), and
//! hyper's pool opens one HTTP/2 connection to a host and queues what does not fit. A watch keeps its
//! stream for minutes, so watches have connections that nothing else waits for. One watch is the exception:
//! it keeps the connection of the patches open. The server closes a connection on which no stream was open
//! for 90 s, pings or not, and the first patch of a boundary would begin with a TLS handshake.

use std::{
    future::Future,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use http::{Request, Response};
use http_body_util::{BodyExt as _, combinators::MapErr};
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_timeout::TimeoutConnector;
use hyper_util::{
    client::legacy::{self, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use kube::client::Body;

use super::instrument::is_watch;

/// How many requests share a connection: fewer than any server or proxy that is known allows.
const MAX_STREAMS: usize = 64;

/// A connection that says nothing is asked whether it still stands, as client-go does
/// (`http2.Transport.ReadIdleTimeout` and `PingTimeout`), but sooner: what is due is not to wait
/// 45 s for a connection that a firewall has forgotten.
const PING_AFTER: Duration = Duration::from_secs(5);
const PING_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a connection that only a burst needed stays open without a request.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);

pub(super) type Connector = TimeoutConnector<HttpsConnector<HttpConnector>>;

/// The connections to one server.
pub(super) struct Connections {
    connector: Connector,
    watches: Pool,
    others: Pool,
    /// Held by the watch that keeps the connection of the others open.
    keeper: Mutex<Weak<()>>,
}

impl Connections {
    pub(super) fn new(connector: Connector) -> Self {
        Self {
            connector,
            watches: Pool::new(None),
            others: Pool::new(Some(IDLE_TIMEOUT)),
            keeper: Mutex::default(),
        }
    }

    /// Sends a request on a connection that has a stream for it.
    pub(super) fn send(
        &self,
        request: Request<Body>,
    ) -> impl Future<Output = Result<Response<Leased>, legacy::Error>> + Send + use<> {
        let (pool, keeper) = match is_watch(&request) {
            true => match self.take_keeper() {
                Some(keeper) => (&self.others, Some(keeper)),
                None => (&self.watches, None),
            },
            false => (&self.others, None),
        };
        let Connection { client, streams } = pool.with_stream(&self.connector);
        async move {
            let answer = client.request(request).await?;
            let keep: Keep = Box::new(move |error| {
                let _until_the_body_is_dropped = (&streams, &keeper);
                error
            });
            Ok(answer.map(|body| body.map_err(keep)))
        }
    }

    /// What the one watch holds that shares the connection of the others; none while another does.
    fn take_keeper(&self) -> Option<Arc<()>> {
        let mut held = self.keeper.lock().unwrap_or_else(PoisonError::into_inner);
        if held.strong_count() > 0 {
            return None;
        }
        let keeper = Arc::default();
        *held = Arc::downgrade(&keeper);
        Some(keeper)
    }
}

type Keep = Box<dyn Fn(hyper::Error) -> hyper::Error + Send>;

/// The body of an answer, which has its stream for as long as it is kept.
pub(super) type Leased = MapErr<Incoming, Keep>;

/// Connections of which each has at most [`MAX_STREAMS`] requests in flight.
struct Pool {
    open: Mutex<Vec<Connection>>,
    /// When one is closed that is idle; the first one never is.
    idle_timeout: Option<Duration>,
}

#[derive(Clone)]
struct Connection {
    client: legacy::Client<Connector, Body>,
    /// Shared by each request in flight.
    streams: Arc<()>,
}

impl Pool {
    fn new(idle_timeout: Option<Duration>) -> Self {
        Self {
            open: Mutex::default(),
            idle_timeout,
        }
    }

    /// A connection that has a stream left; the stream is taken until `streams` is dropped.
    fn with_stream(&self, connector: &Connector) -> Connection {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let has_stream = |it: &&Connection| Arc::strong_count(&it.streams) <= MAX_STREAMS;
        if let Some(connection) = open.iter().find(has_stream) {
            return connection.clone();
        }
        let idle_timeout = self.idle_timeout.filter(|_| !open.is_empty());
        let connection = Connection {
            client: legacy::Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
                .pool_timer(TokioTimer::new())
                .pool_idle_timeout(idle_timeout)
                .http2_keep_alive_interval(PING_AFTER)
                .http2_keep_alive_timeout(PING_TIMEOUT)
                .http2_keep_alive_while_idle(true)
                .build(connector.clone()),
            streams: Arc::default(),
        };
        open.push(connection.clone());
        connection
    }
}
