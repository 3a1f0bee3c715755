//! A certificate authority that is replaced while dayshift runs, as in a rotation of the cluster's
//! authority.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may stop where it stands"
)]

use std::{convert::Infallible, path::Path, sync::Arc};

use dayshift_cluster::connect::{Connection, connect};
use http_body_util::Full;
use hyper::{
    Request, Response,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use kube::Client;
use serde_json::json;
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ServerConfig, pki_types::PrivateKeyDer},
};

/// A server's certificate, and the authority that its clients trust.
struct Identity {
    tls: TlsAcceptor,
    ca: String,
}

fn identity() -> Identity {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    Identity {
        tls: TlsAcceptor::from(Arc::new(config)),
        ca: made.cert.pem(),
    }
}

/// Answers one request on each connection with 200, so that the next request needs a new
/// connection.
async fn serve(listener: Arc<TcpListener>, tls: TlsAcceptor) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let Ok(stream) = tls.accept(stream).await else {
            continue; // The client does not trust the certificate.
        };
        let answer = service_fn(|_: Request<Incoming>| async {
            Ok::<_, Infallible>(Response::new(Full::<Bytes>::default()))
        });
        let connection = http1::Builder::new()
            .keep_alive(false)
            .serve_connection(TokioIo::new(stream), answer);
        tokio::spawn(connection);
    }
}

/// The status code, or `None` if the client did not trust the server.
async fn ask(client: &Client) -> Option<u16> {
    let request = Request::get("/readyz").body(kube::client::Body::empty());
    let answer = client.send(request.unwrap()).await.ok()?;
    Some(answer.status().as_u16())
}

fn write_kubeconfig(path: &Path, url: &str, ca: &Path) {
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        "clusters": [{"name": "here", "cluster": {"server": url, "certificate-authority": ca}}],
        "users": [{"name": "me", "user": {"token": "secret"}}],
    });
    std::fs::write(path, config.to_string()).unwrap();
}

#[tokio::test]
async fn trusts_a_replaced_certificate_authority_after_one_failed_request() {
    let listener = Arc::new(TcpListener::bind("127.0.0.1:0").await.unwrap());
    let url = format!("https://{}", listener.local_addr().unwrap());
    let restart = |it: &Identity| -> JoinHandle<()> {
        tokio::spawn(serve(Arc::clone(&listener), it.tls.clone()))
    };
    let directory = tempfile::tempdir().unwrap();
    let (kubeconfig, ca) = (
        directory.path().join("config"),
        directory.path().join("ca.crt"),
    );
    let (old, new, stranger) = (identity(), identity(), identity());
    std::fs::write(&ca, &old.ca).unwrap();
    write_kubeconfig(&kubeconfig, &url, &ca);
    let connection = Connection {
        kubeconfig: Some(kubeconfig),
        ..Connection::default()
    };
    let (client, _) = connect(&connection).await.unwrap();
    let server = restart(&old);
    assert_eq!(ask(&client).await, Some(200));

    server.abort();
    let server = restart(&stranger);
    for _ in 0..3 {
        assert_eq!(ask(&client).await, None, "its authority is unknown");
    }

    server.abort();
    let server = restart(&new);
    assert_eq!(ask(&client).await, None, "the file is still the old one");
    std::fs::write(&ca, &new.ca).unwrap();
    assert_eq!(
        ask(&client).await,
        None,
        "the failed request triggers the reload"
    );
    assert_eq!(ask(&client).await, Some(200));

    // From now on the old certificate is not trusted.
    server.abort();
    restart(&old);
    assert_eq!(ask(&client).await, None);
}
