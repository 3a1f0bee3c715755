//! HTTP/2 to the API server, on connections that are kept alive.
//!
//! kube's own client speaks HTTP/1.1, with a connection for each request in flight. The API
//! server closes those that are idle for 90 s, so that a boundary would begin with as many TLS
//! handshakes as requests. Here up to 64 of them share a connection that stays open
//! (`docs/performance.md`).

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use http::{Request, Response, StatusCode};
use hyper_rustls::{FixedServerNameResolver, HttpsConnectorBuilder};
use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use kube::{
    Client, Config, Error,
    client::{Body, ClientBuilder, ConfigExt as _},
};
use tower::{BoxError, ServiceBuilder, service_fn};

use super::connections::Connections;

/// How long a new connection may take, its TLS handshake included.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A client that speaks HTTP/2, or HTTP/1.1 with a server that does not.
pub(in crate::cluster) fn client(mut config: Config) -> Result<Client, Error> {
    if config.proxy_url.is_some() {
        return Client::try_from(config);
    }
    config.connect_timeout = config
        .connect_timeout
        .map(|known| known.min(CONNECT_TIMEOUT));
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    let mut tls = HttpsConnectorBuilder::new()
        .with_tls_config(config.rustls_client_config()?)
        .https_or_http();
    if let Some(name) = &config.tls_server_name {
        let Ok(name) = name.clone().try_into() else {
            return Client::try_from(config); // which says what is wrong with it
        };
        tls = tls.with_server_name_resolver(FixedServerNameResolver::new(name));
    }
    let mut connector = TimeoutConnector::new(tls.enable_all_versions().wrap_connector(tcp));
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_read_timeout(config.read_timeout);
    connector.set_write_timeout(config.write_timeout);
    connector.set_reset_reader_on_write(config.reset_reader_on_write);

    let connections = Arc::new(Connections::new(connector));
    let namespace = config.default_namespace.clone();
    let signed = Arc::new(Renewed::new(config, connections)?);
    let service = service_fn(move |request: Request<Body>| {
        let signed = Arc::clone(&signed);
        async move { signed.send(request).await }
    });
    Ok(Client::new(service, namespace))
}

/// A client that shows a token which may be replaced while dayshift runs.
struct Renewed {
    config: Config,
    connections: Arc<Connections>,
    current: Mutex<Signed>,
}

/// A client with the credentials as they once were.
#[derive(Clone)]
struct Signed {
    client: Client,
    /// Set when the server has refused them.
    refused: Arc<AtomicBool>,
}

impl Renewed {
    fn new(config: Config, connections: Arc<Connections>) -> Result<Self, Error> {
        let current = Mutex::new(Signed::new(&config, &connections)?);
        Ok(Self {
            config,
            connections,
            current,
        })
    }

    async fn send(&self, request: Request<Body>) -> Result<Response<Body>, Error> {
        let Signed { client, refused } = self.signed();
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
            && let Ok(signed) = Signed::new(&self.config, &self.connections)
        {
            *current = signed;
        }
        current.clone()
    }
}

impl Signed {
    fn new(config: &Config, connections: &Arc<Connections>) -> Result<Self, Error> {
        let connections = Arc::clone(connections);
        let service = ServiceBuilder::new()
            .layer(config.base_uri_layer())
            .option_layer(config.auth_layer()?)
            .layer(config.extra_headers_layer()?)
            .map_err(BoxError::from)
            .service(service_fn(move |request| connections.send(request)));
        let namespace = config.default_namespace.clone();
        Ok(Self {
            client: ClientBuilder::new(service, namespace).build(),
            refused: Arc::default(),
        })
    }
}
