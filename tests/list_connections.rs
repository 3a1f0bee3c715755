//! Lists are rare: the connection of the last one may be dead.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may stop where it stands"
)]

use std::time::Duration;

use dayshift::cluster::{Connection, connect};
use http::Request;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";

/// Answers once on each connection; then it is as if a firewall had forgotten it.
async fn answer_once(mut stream: TcpStream) {
    let mut bytes = [0; 4096];
    assert!(stream.read(&mut bytes).await.unwrap() > 0);
    stream.write_all(ANSWER).await.unwrap();
    while stream.read(&mut bytes).await.is_ok_and(|count| count > 0) {}
}

#[tokio::test]
async fn a_list_does_not_wait_for_a_connection_that_is_long_forgotten() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            tokio::spawn(answer_once(listener.accept().await.unwrap().0));
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("config");
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        "clusters": [{"name": "here", "cluster": {"server": url}}],
        "users": [{"name": "me", "user": {}}],
    });
    std::fs::write(&kubeconfig, config.to_string()).unwrap();
    let connection = Connection {
        kubeconfig: Some(kubeconfig),
        ..Connection::default()
    };
    let (client, _) = connect(&connection).await.unwrap();
    for pause in [0, 6] {
        // Time cannot be paused where there are sockets.
        sleep(Duration::from_secs(pause)).await;
        let list = Request::get("/apis/apps/v1/deployments").body(Vec::new());
        let answer = timeout(Duration::from_secs(5), client.request_text(list.unwrap())).await;
        assert_eq!(answer.expect("an answer in time").unwrap(), "{}");
    }
}
