//! HTTP/2 connections to the API server, with credentials and certificate authorities that can be
//! reloaded.
//!
//! kube's own client uses HTTP/1.1 with a connection for each request in flight. The API server closes
//! idle connections after 90 s, so each boundary would start with many TLS handshakes. Here up to 64
//! requests share a connection that stays open (`docs/production/performance.md`).
//!
//! An API server allows about 100 streams on a connection (`http2-max-streams-per-connection`), while
//! hyper's pool opens one connection to a host and queues all further requests. A watch occupies its
//! stream for minutes, so watches have their own connections. The exception is one watch on the first
//! connection of the other requests: if a connection has no open stream for 90 s, the server closes it,
//! even if it answers pings.

use std::{
    future::Future,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::future::BoxFuture;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Either, combinators::MapErr};
use hyper::body::Incoming;
use hyper_rustls::{FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder};
use hyper_timeout::TimeoutConnector;
use hyper_util::{
    client::legacy::{self, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use kube::{
    Client, Config, Error,
    client::{Body, ClientBuilder, ConfigExt as _},
};
use tower::{BoxError, ServiceBuilder, service_fn};

use crate::connect::{
    large_bodies::{LargeBodies, LimitedBody, SMALL},
    middleware::{causes, is_watch},
};

/// The longest time to open a connection, with its TLS handshake.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Reads a client's configuration again; `None` if it cannot be read.
pub(crate) type Reload = Box<dyn Fn() -> BoxFuture<'static, Option<Config>> + Send + Sync>;

/// Makes a client that uses HTTP/2, or HTTP/1.1 if the server has no HTTP/2. Its credentials and
/// certificate authorities are reloaded while it is in use. If it bounds its memory, it reads one large response
/// at a time.
pub(crate) fn client(config: Config, bounds_memory: bool, reload: Reload) -> Result<Client, Error> {
    let namespace = config.default_namespace.clone();
    let large = bounds_memory.then(LargeBodies::new);
    let current = Mutex::new(ClientGeneration::new(config, large)?);
    let reloading = Arc::new(ReloadingClient { reload, current });
    let service = service_fn(move |request: Request<Body>| {
        let reloading = Arc::clone(&reloading);
        async move { reloading.send(request).await }
    });
    Ok(Client::new(service, namespace))
}

/// A client whose configuration can change while dayshift runs.
struct ReloadingClient {
    reload: Reload,
    current: Mutex<ClientGeneration>,
}

/// A client with one version of the configuration.
#[derive(Clone)]
struct ClientGeneration {
    client: Client,
    config: Arc<Config>,
    /// `None` if kube's own client makes the connections.
    connections: Option<Arc<Connections>>,
    /// Set when the server has rejected the credentials.
    is_rejected: Arc<AtomicBool>,
}

impl ReloadingClient {
    async fn send(&self, request: Request<Body>) -> Result<Response<Body>, Error> {
        let generation = self.generation();
        let response = generation.client.send(request).await;
        match &response {
            Ok(response) if response.status() == StatusCode::UNAUTHORIZED => {
                generation.is_rejected.store(true, Ordering::Relaxed);
            }
            Err(error) if is_connect_error(error) => {
                self.reload_authorities(&generation.config).await;
            }
            _ => {}
        }
        response
    }

    /// Returns the client to use. kube reads a token file once a minute; if the server has rejected the
    /// token, it is read again before the next request.
    fn generation(&self) -> ClientGeneration {
        let mut current = self.lock();
        let is_in_file = current.config.auth_info.token_file.is_some();
        if is_in_file
            && current.is_rejected.load(Ordering::Relaxed)
            && let Ok(generation) = current.read_token_again()
        {
            *current = generation;
        }
        current.clone()
    }

    /// Reloads the certificate authorities after a connection failed: the server's certificate might be
    /// signed by a new one. They apply from the next request on.
    async fn reload_authorities(&self, failed: &Arc<Config>) {
        let Some(config) = (self.reload)().await else {
            return;
        };
        let mut current = self.lock();
        let is_current = Arc::ptr_eq(&current.config, failed);
        if is_current
            && config.root_cert != failed.root_cert
            && let Ok(generation) = ClientGeneration::new(config, current.large())
        {
            tracing::info!("the certificate authority of the API server was replaced");
            *current = generation;
        }
    }

    fn lock(&self) -> MutexGuard<'_, ClientGeneration> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientGeneration {
    fn new(mut config: Config, large: Option<LargeBodies>) -> Result<Self, Error> {
        config.connect_timeout = config
            .connect_timeout
            .map(|known| known.min(CONNECT_TIMEOUT));
        let connections =
            connector(&config)?.map(|connector| Arc::new(Connections::new(connector, large)));
        Self::with(Arc::new(config), connections)
    }

    fn large(&self) -> Option<LargeBodies> {
        self.connections.as_ref()?.large.clone()
    }

    /// Creates a generation with the same connections and the current token of the file.
    fn read_token_again(&self) -> Result<Self, Error> {
        Self::with(Arc::clone(&self.config), self.connections.clone())
    }

    fn with(config: Arc<Config>, connections: Option<Arc<Connections>>) -> Result<Self, Error> {
        let client = match connections.clone() {
            None => Client::try_from(Config::clone(&config))?,
            Some(connections) => {
                let service = ServiceBuilder::new()
                    .layer(config.base_uri_layer())
                    .option_layer(config.auth_layer()?)
                    .layer(config.extra_headers_layer()?)
                    .map_err(BoxError::from)
                    .service(service_fn(move |request| connections.send(request)));
                ClientBuilder::new(service, config.default_namespace.clone()).build()
            }
        };
        Ok(Self {
            client,
            config,
            connections,
            is_rejected: Arc::default(),
        })
    }
}

/// Makes the connector. `None` if kube's own client should make the connections: behind a proxy, and if
/// the server name is invalid, which kube reports.
fn connector(config: &Config) -> Result<Option<Connector>, Error> {
    if config.proxy_url.is_some() {
        return Ok(None);
    }
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    let mut tls = HttpsConnectorBuilder::new()
        .with_tls_config(config.rustls_client_config()?)
        .https_or_http();
    if let Some(name) = &config.tls_server_name {
        let Ok(name) = name.clone().try_into() else {
            return Ok(None);
        };
        tls = tls.with_server_name_resolver(FixedServerNameResolver::new(name));
    }
    let mut connector = TimeoutConnector::new(tls.enable_all_versions().wrap_connector(tcp));
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_read_timeout(config.read_timeout);
    connector.set_write_timeout(config.write_timeout);
    connector.set_reset_reader_on_write(config.reset_reader_on_write);
    Ok(Some(connector))
}

/// Whether the connection could not be opened, including its TLS handshake.
fn is_connect_error(error: &Error) -> bool {
    causes(error).any(|error| error.downcast_ref().is_some_and(legacy::Error::is_connect))
}

/// The number of requests that share a connection: less than the limit of any known server or proxy.
const MAX_STREAMS: usize = 64;

/// Pings silent connections, as client-go does (`http2.Transport.ReadIdleTimeout` and `PingTimeout`),
/// but sooner: if a firewall has dropped the connection, a due start should not wait 45 s.
const PING_AFTER: Duration = Duration::from_secs(5);
const PING_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a connection that was opened for a burst stays open without requests.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);

pub(crate) type Connector = TimeoutConnector<HttpsConnector<HttpConnector>>;

/// The connections to one server.
pub(crate) struct Connections {
    connector: Connector,
    watches: ConnectionPool,
    others: ConnectionPool,
    /// `None` if large responses are read at the same time.
    large: Option<LargeBodies>,
    /// The token of the watch that keeps the first connection of `others` open.
    keeper: Mutex<Weak<()>>,
}

impl Connections {
    fn new(connector: Connector, large: Option<LargeBodies>) -> Self {
        // A response that waits holds its window, and the windows of all must not use up that of the connection.
        let window = large.as_ref().map(|_| SMALL);
        Self {
            connector,
            watches: ConnectionPool::new(None, None),
            others: ConnectionPool::new(Some(IDLE_TIMEOUT), window),
            large,
            keeper: Mutex::default(),
        }
    }

    /// Sends a request on a connection with a free stream.
    pub(crate) fn send(
        &self,
        request: Request<Body>,
    ) -> impl Future<
        Output = Result<Response<Either<LimitedBody<LeasedBody>, LeasedBody>>, legacy::Error>,
    > + Send
    + use<> {
        let is_watch = is_watch(&request);
        let (pool, keeper) = match is_watch {
            true => match self.take_keeper() {
                Some(keeper) => (&self.others, Some(keeper)),
                None => (&self.watches, None),
            },
            false => (&self.others, None),
        };
        let PooledConnection { client, streams } = pool.with_stream(&self.connector);
        let large = self.large.clone().filter(|_| !is_watch);
        async move {
            let response = client.request(request).await?;
            let keep: KeepStream = Box::new(move |error| {
                let _until_the_body_is_dropped = (&streams, &keeper);
                error
            });
            Ok(response.map(|body| {
                let body = body.map_err(keep);
                match large {
                    Some(large) => Either::Left(large.limit(body)),
                    None => Either::Right(body),
                }
            }))
        }
    }

    /// Returns the token for the one watch that shares a connection with other requests; `None` if
    /// another watch holds it.
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

type KeepStream = Box<dyn Fn(hyper::Error) -> hyper::Error + Send>;

/// A response body that occupies its stream until it is dropped.
type LeasedBody = MapErr<Incoming, KeepStream>;

/// Connections with at most [`MAX_STREAMS`] requests in flight each.
struct ConnectionPool {
    open: Mutex<Vec<PooledConnection>>,
    /// When an idle connection is closed. The first one never is.
    idle_timeout: Option<Duration>,
    /// How many bytes of a response the server sends before they are read; `None` for the default.
    window: Option<u32>,
}

#[derive(Clone)]
struct PooledConnection {
    client: legacy::Client<Connector, Body>,
    /// Cloned by each request in flight.
    streams: Arc<()>,
}

impl ConnectionPool {
    fn new(idle_timeout: Option<Duration>, window: Option<u32>) -> Self {
        Self {
            open: Mutex::default(),
            idle_timeout,
            window,
        }
    }

    /// Returns a connection with a free stream. The stream is occupied until `streams` is dropped.
    fn with_stream(&self, connector: &Connector) -> PooledConnection {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let has_stream =
            |connection: &&PooledConnection| Arc::strong_count(&connection.streams) <= MAX_STREAMS;
        if let Some(connection) = open.iter().find(has_stream) {
            return connection.clone();
        }
        let idle_timeout = self.idle_timeout.filter(|_| !open.is_empty());
        let connection = PooledConnection {
            client: legacy::Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
                .pool_timer(TokioTimer::new())
                .pool_idle_timeout(idle_timeout)
                .http2_keep_alive_interval(PING_AFTER)
                .http2_keep_alive_timeout(PING_TIMEOUT)
                .http2_keep_alive_while_idle(true)
                .http2_initial_stream_window_size(self.window)
                .build(connector.clone()),
            streams: Arc::default(),
        };
        open.push(connection.clone());
        connection
    }
}
