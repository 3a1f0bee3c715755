//! Clients that leave while they are held.

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    task::yield_now,
    time::{Duration, Instant, timeout},
};

use crate::connections::test_scene::{Scene, echo, pod};
use crate::routes::NeededState;

#[tokio::test(start_paused = true)]
async fn ten_thousand_that_come_and_go_free_their_places_at_once() {
    let mut scene = Scene::new(Value::Null);
    let since = Instant::now();
    for _ in 0..200 {
        let mut crowd = Vec::new();
        for number in 0..50 {
            let (mut client, served) = scene.connect();
            let says = match number % 3 {
                0 => "\x16\x03\x01",
                1 => "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
                _ => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            };
            client.write_all(says.as_bytes()).await.unwrap();
            scene.requests.recv().await.unwrap();
            crowd.push((client, served));
        }
        for (client, served) in crowd {
            drop(client);
            served.await.unwrap();
        }
    }
    assert_eq!(
        (scene.metric("left"), scene.shared.places.taken()),
        (10_000, 0)
    );
    assert_eq!(since.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_client_without_a_word_that_leaves_while_it_is_held_frees_its_place() {
    let mut scene = Scene::new(Value::Null);
    let (client, served) = scene.connect();
    scene.requests.recv().await.unwrap();
    drop(client);
    let since = Instant::now();
    served.await.unwrap();
    assert_eq!((since.elapsed(), scene.metric("left")), (Duration::ZERO, 1));
}

#[tokio::test]
async fn a_client_that_ends_its_side_alone_is_held_on() {
    let mut scene = Scene::new(pod("127.0.0.1", json!({"app": "web"})));
    let (mut client, _served) = scene.connect();
    client.write_all(b"PING\r\n").await.unwrap();
    scene.requests.recv().await.unwrap();
    client.write_all(b"QUIT\r\n").await.unwrap();
    client.shutdown().await.unwrap();
    for _ in 0..10 {
        yield_now().await;
    }
    scene.show(NeededState::Running, &[echo().await]);
    let mut got = String::new();
    client.read_to_string(&mut got).await.unwrap();
    assert_eq!(got, "PING\r\nQUIT\r\n");
}

#[tokio::test(start_paused = true)]
async fn no_more_is_read_of_a_held_client_than_of_a_head() {
    let mut scene = Scene::new(Value::Null);
    let (mut client, _served) = scene.connect();
    let mut said = 0;
    let talk = async {
        loop {
            client.write_all(b"PING\r\n").await.unwrap();
            said += 6;
        }
    };
    assert!(timeout(Duration::from_secs(5), talk).await.is_err());
    scene.requests.recv().await.unwrap();
    // What the pipe itself holds comes on top.
    assert!((16 * 1024..18 * 1024).contains(&said), "{said}");
}
