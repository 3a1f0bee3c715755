//! Connections: what is held, handed on, and refused.

use std::sync::{Arc, atomic::Ordering};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::spawn,
    time::{Duration, Instant},
};

use crate::connections::test_scene::{Scene, echo, pod};
use crate::routes::NeededState;

#[tokio::test]
async fn a_held_connection_is_handed_on_byte_for_byte_with_its_half_close() {
    let mut scene = Scene::new(pod("127.0.0.1", json!({"app": "web"})));
    let (client, served) = scene.connect();
    let (mut from, mut to) = tokio::io::split(client);
    to.write_all(b"\x00\x00\x00\x08\x04\xd2\x16\x2f")
        .await
        .unwrap();
    let request = scene.requests.recv().await.unwrap();
    assert_eq!(
        request.words(),
        "A connection from 10.0.0.1 to Service web, port tcp,"
    );
    scene.show(NeededState::Running, &[]);
    scene.show(NeededState::Running, &[echo().await]);
    let sent: Vec<u8> = (0..1_000_000_u32).map(|it| (it % 251) as u8).collect();
    let said = sent.clone();
    spawn(async move {
        to.write_all(&said).await.unwrap();
        to.shutdown().await.unwrap();
    });
    let mut got = Vec::new();
    from.read_to_end(&mut got).await.unwrap();
    assert_eq!(&got[..8], b"\x00\x00\x00\x08\x04\xd2\x16\x2f");
    assert!(got[8..] == sent, "{} bytes", got.len());
    served.await.unwrap();
    assert_eq!(
        (scene.metric("handed_on"), scene.shared.places.taken()),
        (1, 0)
    );
}

#[tokio::test]
async fn the_head_of_a_held_request_reaches_the_pod_whole() {
    let mut scene = Scene::new(pod("127.0.0.1", json!({"app": "web"})));
    let (mut client, _served) = scene.connect();
    let head = "GET /a?b=c HTTP/1.1\r\nHost: dev.example.com\r\nUser-Agent: curl/8\r\n\r\n";
    client.write_all(head.as_bytes()).await.unwrap();
    let request = scene.requests.recv().await.unwrap();
    assert_eq!(
        request.words(),
        "A request from 10.0.0.1 for dev.example.com/a to Service web, port tcp,"
    );
    scene.show(NeededState::Running, &[echo().await]);
    let mut got = vec![0; head.len()];
    client.read_exact(&mut got).await.unwrap();
    assert_eq!(got, head.as_bytes());
}

#[tokio::test]
async fn nothing_goes_to_an_address_that_is_of_no_pod_of_the_service() {
    let address = echo().await;
    for (why, pod) in [
        ("another address", pod("10.0.0.7", json!({"app": "web"}))),
        ("other labels", pod("127.0.0.1", json!({"app": "db"}))),
        ("the host's network", {
            let mut pod = pod("127.0.0.1", json!({"app": "web"}));
            pod["spec"] = json!({"hostNetwork": true});
            pod
        }),
        ("another pod", {
            let mut pod = pod("127.0.0.1", json!({"app": "web"}));
            pod["metadata"]["uid"] = json!("q");
            pod
        }),
    ] {
        let mut scene = Scene::new(pod);
        let (mut client, served) = scene.connect();
        client.write_all(b"\x16\x03\x01").await.unwrap();
        scene.requests.recv().await.unwrap();
        scene.show(NeededState::Running, &[address]);
        // It is paused a moment later: the connection ends without a pod.
        scene.show(NeededState::Off("it is paused"), &[address]);
        let mut got = Vec::new();
        let end = client.read_to_end(&mut got);
        // A pod that answers would keep the connection open for ever.
        let end = tokio::time::timeout(Duration::from_secs(20), end).await;
        assert!(end.is_ok(), "{why}: handed to a pod");
        assert!(got.is_empty(), "{why}");
        served.await.unwrap();
        assert_eq!(scene.metric("refused"), 1, "{why}");
    }
}

#[tokio::test]
async fn a_crowd_that_waits_reads_the_pod_once() {
    for (pod, is_served) in [
        (pod("127.0.0.1", json!({"app": "web"})), true),
        (pod("10.0.0.7", json!({"app": "web"})), false),
    ] {
        let mut scene = Scene::new(pod);
        let mut crowd = Vec::new();
        for _ in 0..40 {
            let (mut client, served) = scene.connect();
            client.write_all(b"PING\r\n").await.unwrap();
            scene.requests.recv().await.unwrap();
            crowd.push((client, served));
        }
        // Nobody waits for a pod that is wrong.
        scene.show(NeededState::Off("it is paused"), &[echo().await]);
        for (mut client, served) in crowd {
            client.shutdown().await.unwrap();
            let mut got = Vec::new();
            client.read_to_end(&mut got).await.unwrap();
            assert_eq!(got == b"PING\r\n", is_served);
            served.await.unwrap();
        }
        assert_eq!(scene.reads.load(Ordering::Relaxed), 1, "{is_served}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_browser_gets_a_page_and_wakes() {
    let mut scene = Scene::new(Value::Null);
    let page = scene
        .answer("GET / HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n")
        .await;
    assert!(page.contains("web is starting"), "{page}");
    assert!(scene.requests.try_recv().is_ok());
    assert_eq!(scene.metric("page"), 1);
}

#[tokio::test(start_paused = true)]
async fn probes_and_ignored_paths_wake_nothing() {
    let mut scene = Scene::new(Value::Null);
    for head in [
        "GET / HTTP/1.1\r\nHost: a\r\nUser-Agent: kube-probe/1.36\r\n\r\n",
        "GET /healthz?full=1 HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n",
    ] {
        let answer = scene.answer(head).await;
        assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    }
    let (client, served) = scene.connect();
    drop(client);
    served.await.unwrap();
    assert!(scene.requests.try_recv().is_err());
    assert_eq!((scene.metric("ignored"), scene.metric("silent")), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_waits_for_the_server_to_speak_first_wakes_after_a_second() {
    let mut scene = Scene::new(Value::Null);
    let since = Instant::now();
    let (_client, _served) = scene.connect();
    scene.requests.recv().await.unwrap();
    assert_eq!(since.elapsed().as_secs(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_wake_that_never_becomes_ready_ends_after_the_hold() {
    let scene = Scene::new(Value::Null);
    let since = Instant::now();
    let answer = scene.answer("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert!(
        answer.contains("dev/web did not become ready in time"),
        "{answer}"
    );
    assert_eq!(since.elapsed(), Duration::from_secs(60));
    assert_eq!(
        (scene.metric("timed_out"), scene.shared.places.taken()),
        (1, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_woken_is_told_why() {
    let mut scene = Scene::new(Value::Null);
    scene.show(NeededState::Off("it is paused"), &[]);
    let answer = scene.answer("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert!(
        answer.ends_with("dev/web is stopped: it is paused\n"),
        "{answer}"
    );
    assert_eq!(scene.answer("\x16\x03\x01").await, "");
    assert!(scene.requests.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_service_that_is_gone_ends_what_waits_for_it() {
    let mut scene = Scene::new(Value::Null);
    let (mut client, served) = scene.connect();
    client.write_all(b"\x16\x03\x01").await.unwrap();
    scene.requests.recv().await.unwrap();
    scene.routes.send_replace(Arc::default());
    assert_eq!(client.read(&mut [0; 10]).await.unwrap(), 0);
    served.await.unwrap();
}

#[tokio::test]
async fn where_a_pod_is_ready_nothing_is_read_first() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let scene = Scene::new(pod("127.0.0.1", json!({"app": "web"})));
    scene.show(NeededState::Running, &[listener.local_addr().unwrap()]);
    let (mut client, _served) = scene.connect();
    let (mut accepted, _): (TcpStream, _) = listener.accept().await.unwrap();
    accepted.write_all(b"I speak first").await.unwrap();
    let mut got = [0; 13];
    client.read_exact(&mut got).await.unwrap();
    assert_eq!(&got, b"I speak first");
}
