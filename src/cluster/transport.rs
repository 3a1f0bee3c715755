//! One HTTP/2 connection to the API server, kept alive, and HTTP/1.1 for what is large.
//!
//! kube's own client speaks HTTP/1.1, with a connection for each request in flight. The API
//! server closes those that are idle for 90 s, so that a boundary would begin with as many TLS
//! handshakes as requests. Here writes share the connection that the watch keeps open. Lists
//! have a connection of their own, so that neither waits for the other (`docs/performance.md`).

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use http::{Method, Request, Response, StatusCode};
use hyper_rustls::{
    FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder, builderstates::WantsProtocols1,
};
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

/// A connection that says nothing is asked whether it still stands, as client-go does
/// (`http2.Transport.ReadIdleTimeout` and `PingTimeout`), but sooner: what is due is not to wait
/// 45 s for a connection that a firewall has forgotten.
const PING_AFTER: Duration = Duration::from_secs(5);
const PING_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a new connection may take, its TLS handshake included.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a connection for lists is kept: the pages of one list share it, and none is used again
/// that a firewall may have forgotten meanwhile.
const LIST_CONNECTION_LIFE: Duration = Duration::from_secs(5);

/// A client that speaks HTTP/2, or HTTP/1.1 with a server that does not.
pub(super) fn client(mut config: Config) -> Result<Client, Error> {
    if config.proxy_url.is_some() {
        return Client::try_from(config);
    }
    config.connect_timeout = config
        .connect_timeout
        .map(|known| known.min(CONNECT_TIMEOUT));
    let (Some(any), Some(http1)) = (
        connector(&config, |tls| {
            tls.enable_all_versions().wrap_connector(tcp())
        })?,
        connector(&config, |tls| tls.enable_http1().wrap_connector(tcp()))?,
    ) else {
        return Client::try_from(config); // which says what is wrong with the server's name
    };
    let kept_alive = legacy::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_idle_timeout(None)
        .http2_keep_alive_interval(PING_AFTER)
        .http2_keep_alive_timeout(PING_TIMEOUT)
        .http2_keep_alive_while_idle(true)
        .build(any);
    let for_lists = legacy::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(LIST_CONNECTION_LIFE)
        .build(http1);
    let namespace = config.default_namespace.clone();
    let ways = Arc::new(Ways::new(config, kept_alive, for_lists)?);
    let by_size = service_fn(move |request: Request<Body>| {
        let ways = Arc::clone(&ways);
        async move { ways.send(request).await }
    });
    Ok(Client::new(by_size, namespace))
}

type Tls = HttpsConnectorBuilder<WantsProtocols1>;
type Https = HttpsConnector<HttpConnector>;
type Connections = legacy::Client<TimeoutConnector<Https>, Body>;

/// None where the server is to show a name that is none.
fn connector(
    config: &Config,
    finish: impl FnOnce(Tls) -> Https,
) -> Result<Option<TimeoutConnector<Https>>, Error> {
    let mut tls = HttpsConnectorBuilder::new()
        .with_tls_config(config.rustls_client_config()?)
        .https_or_http();
    if let Some(name) = &config.tls_server_name {
        let Ok(name) = name.clone().try_into() else {
            return Ok(None);
        };
        tls = tls.with_server_name_resolver(FixedServerNameResolver::new(name));
    }
    let mut connector = TimeoutConnector::new(finish(tls));
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_read_timeout(config.read_timeout);
    connector.set_write_timeout(config.write_timeout);
    connector.set_reset_reader_on_write(config.reset_reader_on_write);
    Ok(Some(connector))
}

fn tcp() -> HttpConnector {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp
}

/// The two ways to the server. Both show a token that may be replaced while dayshift runs.
struct Ways {
    config: Config,
    kept_alive: Connections,
    for_lists: Connections,
    current: Mutex<Signed>,
}

/// The ways with the credentials as they once were.
#[derive(Clone)]
struct Signed {
    kept_alive: Client,
    for_lists: Client,
    /// Set when the server has refused them.
    refused: Arc<AtomicBool>,
}

impl Ways {
    fn new(config: Config, kept_alive: Connections, for_lists: Connections) -> Result<Self, Error> {
        let current = Mutex::new(Signed::new(&config, &kept_alive, &for_lists)?);
        Ok(Self {
            config,
            kept_alive,
            for_lists,
            current,
        })
    }

    async fn send(&self, request: Request<Body>) -> Result<Response<Body>, Error> {
        let Signed {
            kept_alive,
            for_lists,
            refused,
        } = self.signed();
        let client = if is_list(&request) {
            for_lists
        } else {
            kept_alive
        };
        let answer = client.send(request).await;
        if let Ok(answer) = &answer
            && answer.status() == StatusCode::UNAUTHORIZED
        {
            refused.store(true, Ordering::Relaxed);
        }
        answer
    }

    /// kube reads a token's file once a minute. One that the server has refused is read again
    /// for the next request.
    fn signed(&self) -> Signed {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let is_in_file = self.config.auth_info.token_file.is_some();
        if is_in_file
            && current.refused.load(Ordering::Relaxed)
            && let Ok(signed) = Signed::new(&self.config, &self.kept_alive, &self.for_lists)
        {
            *current = signed;
        }
        current.clone()
    }
}

impl Signed {
    /// Reads the token anew.
    fn new(
        config: &Config,
        kept_alive: &Connections,
        for_lists: &Connections,
    ) -> Result<Self, Error> {
        Ok(Self {
            kept_alive: sign(config, kept_alive)?,
            for_lists: sign(config, for_lists)?,
            refused: Arc::default(),
        })
    }
}

fn sign(config: &Config, connections: &Connections) -> Result<Client, Error> {
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .service(connections.clone());
    Ok(ClientBuilder::new(service, config.default_namespace.clone()).build())
}

fn is_list(request: &Request<Body>) -> bool {
    let is_watch = request
        .uri()
        .query()
        .is_some_and(|query| query.contains("watch=true"));
    request.method() == Method::GET && !is_watch
}
