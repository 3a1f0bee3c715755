//! Connections that are held, forwarded, refused or left by their client, with a pod on a loopback socket and
//! an API server that knows the pod.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use chrono::{DateTime, Utc};
use dayshift_cluster::clock::Clock;
use dayshift_schedule::Zone;
use dayshift_workload::{IgnoredPaths, Kind, Observed, WakeOnRequest};
use http::{Request as HttpRequest, Response};
use kube::{Client, client::Body};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex},
    net::{TcpListener, TcpStream},
    sync::{mpsc, watch},
    task::{JoinHandle, spawn, yield_now},
    time::{Duration, Instant, timeout},
};
use tower::service_fn;

use crate::{
    connection::{ConnectionContext, serve},
    limits::ConnectionLimits,
    pods::PodVerifier,
    routes::{Backend, Route, Routes, TargetState, WakeTarget},
    service::{PodName, ServiceName},
    telemetry::Telemetry,
    test_cluster::settings,
    wakes::{StartDurations, WakeRequest},
};

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
    scene.show(TargetState::Running, &[]);
    scene.show(TargetState::Running, &[echo().await]);
    let sent: Vec<u8> = (0..1_000_000_u32)
        .map(|number| (number % 251) as u8)
        .collect();
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
    scene.show(TargetState::Running, &[echo().await]);
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
        scene.show(TargetState::Running, &[address]);
        // It is paused a moment later: the connection ends without a pod.
        scene.show(TargetState::Off("it is paused"), &[address]);
        let mut got = Vec::new();
        let end = client.read_to_end(&mut got);
        // A pod that answers would keep the connection open for ever.
        let end = timeout(Duration::from_secs(20), end).await;
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
        scene.show(TargetState::Off("it is paused"), &[echo().await]);
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
    scene.show(TargetState::Off("it is paused"), &[]);
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
    scene.show(TargetState::Running, &[listener.local_addr().unwrap()]);
    let (mut client, _served) = scene.connect();
    let (mut accepted, _): (TcpStream, _) = listener.accept().await.unwrap();
    accepted.write_all(b"I speak first").await.unwrap();
    let mut got = [0; 13];
    client.read_exact(&mut got).await.unwrap();
    assert_eq!(&got, b"I speak first");
}

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
    scene.show(TargetState::Running, &[echo().await]);
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

/// An API server whose one pod is this object.
fn client(pod: Value, reads: Arc<AtomicUsize>) -> Client {
    let service = service_fn(move |request: HttpRequest<Body>| {
        reads.fetch_add(1, Ordering::Relaxed);
        assert_eq!(request.uri().path(), "/api/v1/namespaces/dev/pods/web-1");
        let answer = Response::new(Body::from(pod.to_string().into_bytes()));
        async { Ok::<_, Infallible>(answer) }
    });
    Client::new(service, "dev")
}

#[expect(clippy::needless_pass_by_value, reason = "as json! gives it")]
pub(crate) fn pod(ip: &str, labels: Value) -> Value {
    json!({"metadata": {"uid": "p", "labels": labels}, "status": {"podIPs": [{"ip": ip}]}})
}

pub(crate) fn web() -> ServiceName {
    ServiceName {
        namespace: "dev".into(),
        name: "web".into(),
    }
}

/// An activator with one Service and one workload.
pub(crate) struct Scene {
    pub(crate) shared: ConnectionContext,
    pub(crate) routes: watch::Sender<Arc<Routes>>,
    pub(crate) requests: mpsc::Receiver<WakeRequest>,
    /// How often the pod was read.
    pub(crate) reads: Arc<AtomicUsize>,
}

impl Scene {
    pub(crate) fn new(pod: Value) -> Self {
        let (routes_in, routes) = watch::channel(Arc::<Routes>::default());
        let (requests_in, requests) = mpsc::channel(100);
        let reads = Arc::<AtomicUsize>::default();
        let scene = Self {
            shared: ConnectionContext {
                routes,
                requests: requests_in,
                places: ConnectionLimits::new(100, 50),
                pods: PodVerifier::new(client(pod, Arc::clone(&reads))),
                took: StartDurations::default(),
                telemetry: Arc::default(),
                settings: Arc::new(settings()),
                clock: Clock::system(),
            },
            routes: routes_in,
            requests,
            reads,
        };
        scene.show(TargetState::Asleep, &[]);
        scene
    }

    pub(crate) fn show(&self, state: TargetState, ready: &[SocketAddr]) {
        let object = json!({
            "metadata": {"name": "web", "namespace": "dev", "uid": "u"}, "spec": {"replicas": 0},
        });
        let workload: dayshift_cluster::Workload = serde_json::from_value(object).unwrap();
        let observed: Observed = workload.observe(Kind::DEPLOYMENT, &settings().prefix);
        let target = WakeTarget {
            observed,
            wake: WakeOnRequest::parse("2h").unwrap(),
            ignored: IgnoredPaths::parse("/healthz").unwrap(),
            zone: Zone::UTC,
            state,
            since: DateTime::<Utc>::from_timestamp(0, 0),
            starts_until: None,
            needs: Vec::new(),
        };
        let backends = ready.iter().map(|address| Backend {
            address: *address,
            pod: PodName {
                namespace: "dev".into(),
                name: "web-1".into(),
                uid: "p".into(),
            },
        });
        let route = Route {
            ports: BTreeMap::from([("tcp".into(), 20000)]),
            targets: vec![Arc::new(target)],
            ready: BTreeMap::from([("tcp".into(), backends.collect())]),
            selector: BTreeMap::from([("app".to_owned(), "web".to_owned())]),
        };
        let routes = Routes::from([(web(), Arc::new(route))]);
        self.routes.send_replace(Arc::new(routes));
    }

    /// A client that has connected, and what serves it.
    pub(crate) fn connect(&self) -> (DuplexStream, JoinHandle<()>) {
        let (client, server) = duplex(1024);
        let from = SocketAddr::from(([10, 0, 0, 1], 1000));
        let place = self.shared.places.take(&web()).unwrap();
        let connection = serve(
            self.shared.clone(),
            web(),
            "tcp".into(),
            server,
            from,
            place,
        );
        (client, spawn(connection))
    }

    /// What a client reads that says this and then nothing more.
    pub(crate) async fn answer(&self, says: &str) -> String {
        let (mut client, served) = self.connect();
        client.write_all(says.as_bytes()).await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        drop(client);
        served.await.unwrap();
        answer
    }

    pub(crate) fn metric(&self, outcome: &str) -> u32 {
        metric(&self.shared.telemetry, outcome)
    }
}

fn metric(telemetry: &Telemetry, outcome: &str) -> u32 {
    let text = telemetry.render();
    let name = format!("dayshift_activator_connections_total{{outcome=\"{outcome}\"}} ");
    let line = text.lines().find_map(|line| line.strip_prefix(&name));
    line.map_or(0, |count| count.parse().unwrap())
}

/// A pod that sends back what it gets.
pub(crate) async fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            spawn(async move {
                let (mut from, mut to) = stream.split();
                tokio::io::copy(&mut from, &mut to).await.unwrap();
                to.shutdown().await.unwrap();
            });
        }
    });
    address
}
