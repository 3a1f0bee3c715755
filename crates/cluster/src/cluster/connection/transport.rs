//! HTTP/2 to the API server, on connections that are kept alive.
//!
//! kube's own client speaks HTTP/1.1, with a connection for each request in flight. The API
//! server closes those that are idle for 90 s, so that a boundary would begin with as many TLS
//! handshakes as requests. Here up to 64 of them share a connection that stays open
//! (`docs/performance.md`).

use std::{
    error::Error as StdError,
    iter::successors,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::future::BoxFuture;
use http::{Request, Response, StatusCode};
use hyper_rustls::{FixedServerNameResolver, HttpsConnectorBuilder};
use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy::{self, connect::HttpConnector};
use kube::{
    Client, Config, Error,
    client::{Body, ClientBuilder, ConfigExt as _},
};
use tower::{BoxError, ServiceBuilder, service_fn};

use super::connections::{Connections, Connector};

/// How long a new connection may take, its TLS handshake included.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Reads anew what a client is made from; `None` where it cannot be read.
pub(super) type Reload = Box<dyn Fn() -> BoxFuture<'static, Option<Config>> + Send + Sync>;

/// A client that speaks HTTP/2, or HTTP/1.1 with a server that does not. The credentials and the
/// authorities that it trusts may be replaced while it is in use.
pub(super) fn client(config: Config, reload: Reload) -> Result<Client, Error> {
    let namespace = config.default_namespace.clone();
    let current = Mutex::new(Signed::new(config)?);
    let renewed = Arc::new(Renewed { reload, current });
    let service = service_fn(move |request: Request<Body>| {
        let renewed = Arc::clone(&renewed);
        async move { renewed.send(request).await }
    });
    Ok(Client::new(service, namespace))
}

/// A client whose configuration may be replaced while dayshift runs.
struct Renewed {
    reload: Reload,
    current: Mutex<Signed>,
}

/// A client with the configuration as it once was.
#[derive(Clone)]
struct Signed {
    client: Client,
    config: Arc<Config>,
    /// None where kube's own client makes them.
    connections: Option<Arc<Connections>>,
    /// Set when the server has refused the credentials.
    refused: Arc<AtomicBool>,
}

impl Renewed {
    async fn send(&self, request: Request<Body>) -> Result<Response<Body>, Error> {
        let signed = self.signed();
        let answer = signed.client.send(request).await;
        match &answer {
            Ok(answer) if answer.status() == StatusCode::UNAUTHORIZED => {
                signed.refused.store(true, Ordering::Relaxed);
            }
            Err(error) if is_of_connecting(error) => self.trust_anew(&signed.config).await,
            _ => {}
        }
        answer
    }

    /// kube reads a token's file once a minute. One that the server has refused is read again
    /// for the next request.
    fn signed(&self) -> Signed {
        let mut current = self.lock();
        let is_in_file = current.config.auth_info.token_file.is_some();
        if is_in_file
            && current.refused.load(Ordering::Relaxed)
            && let Ok(signed) = current.read_token_again()
        {
            *current = signed;
        }
        current.clone()
    }

    /// Takes the certificate authorities as their file has them now: a server that shows a
    /// certificate of a new one cannot be connected to. The next request is the first to use them.
    async fn trust_anew(&self, failed: &Arc<Config>) {
        let Some(config) = (self.reload)().await else {
            return;
        };
        let mut current = self.lock();
        let is_current = Arc::ptr_eq(&current.config, failed);
        if is_current
            && config.root_cert != failed.root_cert
            && let Ok(signed) = Signed::new(config)
        {
            tracing::info!("the certificate authority of the API server was replaced");
            *current = signed;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Signed> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Signed {
    fn new(mut config: Config) -> Result<Self, Error> {
        config.connect_timeout = config
            .connect_timeout
            .map(|known| known.min(CONNECT_TIMEOUT));
        let connections = connector(&config)?.map(|it| Arc::new(Connections::new(it)));
        Self::with(Arc::new(config), connections)
    }

    /// The same connections with the token that the file holds now.
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
            refused: Arc::default(),
        })
    }
}

/// The connector; `None` where kube's own client makes the connections: behind a proxy, and with an
/// invalid server name, which it reports.
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

/// Whether no connection came about, the TLS handshake included.
fn is_of_connecting(error: &Error) -> bool {
    let first: &(dyn StdError + 'static) = error;
    successors(Some(first), |error| (*error).source())
        .any(|error| error.downcast_ref().is_some_and(legacy::Error::is_connect))
}
