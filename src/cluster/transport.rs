//! One HTTP/2 connection to the API server, kept alive.
//!
//! kube's own client speaks HTTP/1.1, with a connection for each request in flight. The API
//! server closes those that are idle for 90 s, so that a boundary would begin with as many TLS
//! handshakes as requests. Here they share the connection that the watch keeps open
//! (`docs/performance.md`).

use std::time::Duration;

use hyper_rustls::{FixedServerNameResolver, HttpsConnectorBuilder};
use hyper_timeout::TimeoutConnector;
use hyper_util::{
    client::legacy::{self, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use kube::{
    Client, Config, Error,
    client::{Body, ClientBuilder, ConfigExt as _},
};
use tower::{BoxError, ServiceBuilder};

/// A connection that says nothing is asked whether it still stands, as client-go does
/// (`http2.Transport.ReadIdleTimeout` and `PingTimeout`).
const PING_AFTER: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(15);

/// A client that speaks HTTP/2, or HTTP/1.1 with a server that does not.
pub(super) fn client(config: Config) -> Result<Client, Error> {
    if config.proxy_url.is_some() {
        return Client::try_from(config);
    }
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

    let connections = legacy::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_idle_timeout(None)
        .http2_keep_alive_interval(PING_AFTER)
        .http2_keep_alive_timeout(PING_TIMEOUT)
        .http2_keep_alive_while_idle(true)
        .build::<_, Body>(connector);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .service(connections);
    let namespace = config.default_namespace.clone();
    Ok(ClientBuilder::new(service, namespace).build())
}
