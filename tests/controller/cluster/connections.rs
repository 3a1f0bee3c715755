//! How requests share connections, observed by an HTTP/2 server.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may stop where it stands"
)]

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
    time::Duration,
};

use dayshift_cluster::connect::{Connection, connect};
use http_body_util::{BodyExt as _, Either, Full, StreamBody};
use hyper::{
    Request, Response,
    body::{Bytes, Frame, Incoming},
    server::conn::http2,
    service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use kube::{Client, client::Body};
use serde_json::json;
use tokio::{net::TcpListener, sync::Notify, time::timeout};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ServerConfig, pki_types::PrivateKeyDer},
};

/// The maximum number of concurrent streams that kube-apiserver allows on a connection.
const ALLOWED: u32 = 100;

/// The size of the response to `/large`.
const LARGE: usize = 1 << 20;

type Events = futures::stream::Pending<Result<Frame<Bytes>, Infallible>>;

/// The number of requests on each connection: watches and others.
#[derive(Default)]
struct RequestCounts(Mutex<Vec<[usize; 2]>>);

/// Accepts each watch and sends no event; answers all other requests once `go` is notified.
async fn serve(listener: TcpListener, tls: TlsAcceptor, seen: Arc<RequestCounts>, go: Arc<Notify>) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let stream = tls.accept(stream).await.unwrap();
        let at = {
            let mut seen = seen.0.lock().unwrap();
            seen.push([0, 0]);
            seen.len() - 1
        };
        let (seen, go) = (Arc::clone(&seen), Arc::clone(&go));
        let answer = service_fn(move |request: Request<Incoming>| {
            let is_watch = request.uri().query() == Some("watch=true");
            seen.0.lock().unwrap()[at][usize::from(is_watch)] += 1;
            let go = Arc::clone(&go);
            async move {
                let body = if is_watch {
                    let events: Events = futures::stream::pending();
                    Either::Left(StreamBody::new(events))
                } else {
                    if request.uri().path() == "/held" {
                        go.notified().await;
                    }
                    let is_large = request.uri().path() == "/large";
                    let size = if is_large { LARGE } else { 0 };
                    Either::Right(Full::<Bytes>::from(vec![b'x'; size]))
                };
                Ok::<_, Infallible>(Response::new(body))
            }
        });
        let connection = http2::Builder::new(TokioExecutor::new())
            .max_concurrent_streams(ALLOWED)
            .serve_connection(TokioIo::new(stream), answer);
        tokio::spawn(connection);
    }
}

async fn client(seen: Arc<RequestCounts>, go: Arc<Notify>) -> Client {
    client_of(Connection::default(), seen, go).await
}

async fn client_of(like: Connection, seen: Arc<RequestCounts>, go: Arc<Notify>) -> Client {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let (kubeconfig, ca) = (
        directory.path().join("config"),
        directory.path().join("ca.crt"),
    );
    std::fs::write(&ca, made.cert.pem()).unwrap();
    let text = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        "clusters": [{"name": "here", "cluster": {"server": url, "certificate-authority": ca}}],
        "users": [{"name": "me", "user": {"token": "secret"}}],
    });
    std::fs::write(&kubeconfig, text.to_string()).unwrap();
    let connection = Connection {
        kubeconfig: Some(kubeconfig),
        ..like
    };
    let tls = TlsAcceptor::from(Arc::new(config));
    tokio::spawn(serve(listener, tls, seen, go));
    connect(&connection).await.unwrap().0
}

async fn ask(client: &Client, path: &str) -> Response<Body> {
    let request = Request::get(path).body(Body::empty()).unwrap();
    let answer = timeout(Duration::from_secs(20), client.send(request)).await;
    answer.expect("the request waits for a stream").unwrap()
}

const WATCH: &str = "/apis/apps/v1/deployments?watch=true";

/// A server closes a connection without open streams; the first patch at a boundary would have to
/// open a new one.
#[tokio::test]
async fn one_watch_keeps_the_connection_for_patches_open() {
    let (seen, go) = (Arc::<RequestCounts>::default(), Arc::default());
    let client = client(Arc::clone(&seen), go).await;
    let watches = [ask(&client, WATCH).await, ask(&client, WATCH).await];
    ask(&client, "/patch").await;
    assert_eq!(*seen.0.lock().unwrap(), [[1, 1], [0, 1]]);
    // The reopened watch replaces the one that ended.
    drop(watches);
    let _again = ask(&client, WATCH).await;
    ask(&client, "/patch").await;
    assert_eq!(*seen.0.lock().unwrap(), [[2, 2], [0, 1]]);
}

#[tokio::test]
async fn enough_connections_are_open_for_all_requests() {
    let (seen, go) = (Arc::<RequestCounts>::default(), Arc::<Notify>::default());
    let client = client(Arc::clone(&seen), Arc::clone(&go)).await;
    let mut watches = Vec::new();
    for _ in 0..300 {
        watches.push(ask(&client, WATCH).await);
    }
    let held: Vec<_> = (0..256)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { ask(&client, "/held").await.status() })
        })
        .collect();
    let all_have_come = async {
        while seen.0.lock().unwrap().iter().map(|it| it[0]).sum::<usize>() < 256 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(20), all_have_come)
        .await
        .expect("some requests wait for a stream");
    ask(&client, "/patch").await;
    for connection in &*seen.0.lock().unwrap() {
        let streams = connection.iter().sum::<usize>();
        assert!(streams <= ALLOWED as usize, "{connection:?}");
    }
    go.notify_waiters();
    for held in held {
        assert_eq!(held.await.unwrap(), 200);
    }
}

#[tokio::test]
async fn client_with_bounded_memory_reads_one_large_response_at_a_time() {
    let like = Connection {
        bounds_memory: true,
        ..Connection::default()
    };
    let client = client_of(like, Arc::default(), Arc::default()).await;
    let mut first = ask(&client, "/large").await.into_body();
    let mut read = 0;
    while read <= 64 << 10 {
        let frame = first.frame().await.unwrap().unwrap();
        read += frame.data_ref().map_or(0, Bytes::len);
    }
    let second = tokio::spawn({
        let client = client.clone();
        async move {
            let body = ask(&client, "/large").await.into_body();
            body.collect().await.unwrap().to_bytes().len()
        }
    });
    for _ in 0..200 {
        ask(&client, "/patch").await;
    }
    assert!(!second.is_finished(), "both are read at the same time");
    drop(first);
    assert_eq!(second.await.unwrap(), LARGE);
}
