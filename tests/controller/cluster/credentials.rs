//! A token that is replaced while dayshift runs, as the kubelet does.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may stop where it stands"
)]

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
};

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
use tokio::net::TcpListener;

/// The only token that the server accepts at this time.
type Valid = Arc<Mutex<&'static str>>;

async fn serve(listener: TcpListener, valid: Valid) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let valid = Arc::clone(&valid);
        let answer = service_fn(move |request: Request<Incoming>| {
            let expected = format!("Bearer {}", *valid.lock().unwrap());
            let shown = request.headers()["authorization"].to_str().unwrap();
            let agent = concat!("dayshift/", env!("CARGO_PKG_VERSION"), " (status)");
            assert_eq!(request.headers()["user-agent"], agent);
            let code = if shown == expected { 200 } else { 401 };
            let answer = Response::builder().status(code);
            async move { Ok::<_, Infallible>(answer.body(Full::<Bytes>::default()).unwrap()) }
        });
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
        tokio::spawn(connection);
    }
}

async fn ask(client: &Client, path: &str) -> u16 {
    let request = Request::get(path)
        .body(kube::client::Body::empty())
        .unwrap();
    client.send(request).await.unwrap().status().as_u16()
}

#[tokio::test]
async fn reads_the_token_file_again_after_a_401() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let valid = Valid::new(Mutex::new("first"));
    tokio::spawn(serve(listener, Arc::clone(&valid)));
    let directory = tempfile::tempdir().unwrap();
    let (kubeconfig, token) = (
        directory.path().join("config"),
        directory.path().join("token"),
    );
    std::fs::write(&token, "first").unwrap();
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        "clusters": [{"name": "here", "cluster": {"server": url}}],
        "users": [{"name": "me", "user": {"tokenFile": token}}],
    });
    std::fs::write(&kubeconfig, config.to_string()).unwrap();
    let connection = Connection {
        kubeconfig: Some(kubeconfig),
        purpose: "status",
        ..Connection::default()
    };
    let (client, _) = connect(&connection).await.unwrap();

    // A list uses another connection than all other requests.
    let list = "/apis/apps/v1/deployments";
    let watch = "/apis/apps/v1/deployments?watch=true";
    assert_eq!(
        (ask(&client, list).await, ask(&client, watch).await),
        (200, 200)
    );
    for (refused, other) in [(watch, list), (list, watch)] {
        let next = if refused == watch { "second" } else { "third" };
        *valid.lock().unwrap() = next;
        assert_eq!(ask(&client, refused).await, 401);
        std::fs::write(&token, next).unwrap();
        assert_eq!(
            ask(&client, refused).await,
            200,
            "the next request uses the new token"
        );
        assert_eq!(ask(&client, other).await, 200);
    }
}
