//! Connections that are held, forwarded or refused, with a pod on a loopback socket.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::{clock::Clock, decode::StartFailure, log_limit::LogLimit};
use dayshift_schedule::Zone;
use dayshift_workload::{AnsweredPaths, IgnoredPaths, Kind, Observed, WakeOnRequest};
use http::{Request as HttpRequest, Response};
use kube::{Client, client::Body};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex},
    net::{TcpListener, TcpStream},
    sync::{mpsc, watch},
    task::{JoinHandle, spawn, yield_now},
    time::{Duration, Instant, advance, timeout},
};
use tower::service_fn;

use crate::{
    connection::{ConnectionContext, serve},
    limits::ConnectionLimits,
    listeners::Listeners,
    memory_budget::HeadMemory,
    pods::PodVerifier,
    routes::{ReadyPods, ReadySince, Route, Routes},
    service::{PodName, ServiceName},
    start_times::StartTimes,
    target::{KnownEffect, RequestRules, TargetState, WakeTarget},
    telemetry::Telemetry,
    test_cluster::settings,
    wakes::WakeRequest,
};

#[tokio::test]
async fn held_connection_is_forwarded_with_its_half_close() {
    let mut fixture = Fixture::new(pod("127.0.0.1", json!({"app": "web"})));
    let (client, served) = fixture.connect();
    let (mut from, mut to) = tokio::io::split(client);
    to.write_all(b"\x00\x00\x00\x08\x04\xd2\x16\x2f")
        .await
        .unwrap();
    let request = fixture.requests.recv().await.unwrap();
    assert_eq!(
        request.words(),
        "A connection from 10.0.0.1 to Service web, port tcp,"
    );
    fixture.show(TargetState::Running, &[]);
    fixture.show(TargetState::Running, &[echo().await]);
    let sent: Vec<u8> = (0..1_000_000_u32)
        .map(|number| (number % 251) as u8)
        .collect();
    let input = sent.clone();
    spawn(async move {
        to.write_all(&input).await.unwrap();
        to.shutdown().await.unwrap();
    });
    let mut got = Vec::new();
    from.read_to_end(&mut got).await.unwrap();
    assert_eq!(&got[..8], b"\x00\x00\x00\x08\x04\xd2\x16\x2f");
    assert!(got[8..] == sent, "{} bytes", got.len());
    served.await.unwrap();
    assert_eq!(
        (fixture.metric("handed_on"), fixture.shared.limits.open()),
        (1, 0)
    );
}

#[tokio::test]
async fn held_request_reaches_the_pod_unchanged() {
    let mut fixture = Fixture::new(pod("127.0.0.1", json!({"app": "web"})));
    let (mut client, _served) = fixture.connect();
    let head = "GET /a?b=c HTTP/1.1\r\nHost: dev.example.com\r\nUser-Agent: curl/8\r\n\r\n";
    client.write_all(head.as_bytes()).await.unwrap();
    let request = fixture.requests.recv().await.unwrap();
    assert_eq!(
        request.words(),
        "A request from 10.0.0.1 to Service web, port tcp,"
    );
    fixture.show(TargetState::Running, &[echo().await]);
    let mut got = vec![0; head.len()];
    client.read_exact(&mut got).await.unwrap();
    assert_eq!(got, head.as_bytes());
}

#[tokio::test]
async fn address_that_belongs_to_no_selected_pod_gets_no_connection() {
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
        let mut fixture = Fixture::new(pod);
        let (mut client, served) = fixture.connect();
        client.write_all(b"\x16\x03\x01").await.unwrap();
        fixture.requests.recv().await.unwrap();
        fixture.show(TargetState::Running, &[address]);
        // Then it is paused, so the connection ends without a pod.
        fixture.show(TargetState::Off("it is paused"), &[address]);
        let mut got = Vec::new();
        let end = client.read_to_end(&mut got);
        // A pod that accepts the connection would keep it open.
        let end = timeout(Duration::from_secs(20), end).await;
        assert!(end.is_ok(), "{why}: forwarded to a pod");
        assert!(got.is_empty(), "{why}");
        served.await.unwrap();
        assert_eq!(fixture.metric("refused"), 1, "{why}");
    }
}

#[tokio::test]
async fn held_connection_of_the_busiest_source_gives_its_place_to_another_client() {
    let mut fixture = Fixture::new(pod("127.0.0.1", json!({"app": "web"})));
    let attack: Vec<_> = (1..=50)
        .map(|number| fixture.connect_from([10, 0, 0, number]))
        .collect();
    let (mut client, _served) = fixture.connect_from([10, 0, 1, 1]);
    client.write_all(b"PING\r\n").await.unwrap();
    fixture.requests.recv().await.unwrap();
    let mut ended = Vec::new();
    for (number, (mut attacker, served)) in attack.into_iter().enumerate() {
        let mut answer = Vec::new();
        let end = timeout(Duration::from_millis(10), attacker.read_to_end(&mut answer));
        match end.await {
            Ok(_) => ended.push(number),
            Err(_) => served.abort(),
        }
    }
    assert_eq!(ended, [49]);
    assert_eq!(fixture.metric("full"), 1);
    fixture.show(TargetState::Running, &[echo().await]);
    let mut got = [0; 6];
    client.read_exact(&mut got).await.unwrap();
    assert_eq!(&got, b"PING\r\n");
}

#[tokio::test(start_paused = true)]
async fn port_of_a_service_is_refused_when_a_pod_has_been_ready_for_30_seconds() {
    let mut fixture = Fixture::new(pod("127.0.0.1", json!({"app": "web"})));
    let pod = SocketAddr::from(([127, 0, 0, 1], 9));
    fixture.show(TargetState::Running, &[pod]);
    let routes = Arc::clone(&fixture.shared.routes.borrow());
    let is_served = || {
        fixture.shared.ready_since.note(&routes);
        fixture.shared.ready_since.is_served(&web(), "tcp")
    };
    assert!(is_served());
    advance(Duration::from_secs(29)).await;
    assert!(is_served());
    advance(Duration::from_secs(1)).await;
    assert!(!is_served());
    let answer = fixture.answer("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!((&*answer, fixture.metric("refused")), ("", 1));
    assert!(fixture.requests.try_recv().is_err(), "it is woken");
}

/// While use is observed, proxies send a share of the connections here although pods are ready.
#[tokio::test(start_paused = true)]
async fn port_of_a_service_is_served_while_its_use_is_observed() {
    let fixture = Fixture::new(pod("127.0.0.1", json!({"app": "web"})));
    let pod = SocketAddr::from(([127, 0, 0, 1], 9));
    let is_served = |observes_use| {
        fixture.show_awake(&[pod], observes_use);
        let routes = Arc::clone(&fixture.shared.routes.borrow());
        fixture.shared.ready_since.note(&routes);
        fixture.shared.ready_since.is_served(&web(), "tcp")
    };
    assert!(is_served(false));
    advance(Duration::from_secs(30)).await;
    assert!(!is_served(false), "the pod has been ready for long");
    assert!(is_served(true));
    advance(Duration::from_secs(3600)).await;
    assert!(is_served(true));
    assert!(is_served(false), "proxies need time");
    advance(Duration::from_secs(30)).await;
    assert!(!is_served(false));
}

#[tokio::test]
async fn request_to_a_ready_pod_is_reported_only_while_use_is_observed() {
    let mut fixture = Fixture::new(pod("127.0.0.1", json!({"app": "web"})));
    let address = echo().await;
    fixture.show_awake(&[address], true);
    let (mut client, _served) = fixture.connect();
    let exchange = async |client: &mut DuplexStream, text: &str| {
        client.write_all(text.as_bytes()).await.unwrap();
        let mut got = vec![0; text.len()];
        client.read_exact(&mut got).await.unwrap();
        assert_eq!(got, text.as_bytes());
    };
    let request = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n");
    exchange(&mut client, &request("/cart")).await;
    let reported = fixture.requests.try_recv().unwrap();
    assert_eq!(reported.head.unwrap().path, "/cart");
    // Each request of a connection counts, but no probe, heartbeat or ignored path.
    for path in ["/healthz", "/ping"] {
        exchange(&mut client, &request(path)).await;
        assert!(fixture.requests.try_recv().is_err(), "{path}");
    }
    let probe = "GET / HTTP/1.1\r\nHost: a\r\nUser-Agent: kube-probe/1.36\r\n\r\n";
    exchange(&mut client, probe).await;
    assert!(fixture.requests.try_recv().is_err(), "a probe");
    exchange(&mut client, &request("/")).await;
    assert!(fixture.requests.try_recv().is_ok());
    exchange(&mut client, "\x17\x03\x03").await;
    assert_eq!(fixture.requests.try_recv().unwrap().head, None);
    fixture.show_awake(&[address], false);
    exchange(&mut client, &request("/later")).await;
    assert!(
        fixture.requests.try_recv().is_err(),
        "it is prolonged already"
    );
    fixture.show_awake(&[address], true);
    exchange(&mut client, &request("/much-later")).await;
    assert!(fixture.requests.try_recv().is_ok());
}

#[tokio::test]
async fn connection_without_data_is_no_use() {
    let mut fixture = Fixture::new(pod("127.0.0.1", json!({"app": "web"})));
    fixture.show_awake(&[echo().await], true);
    let (client, served) = fixture.connect();
    drop(client);
    served.await.unwrap();
    assert!(fixture.requests.try_recv().is_err());
    assert_eq!(fixture.metric("handed_on"), 1);
}

#[tokio::test]
async fn forwarded_request_prolongs_no_wake_without_while_used() {
    let mut fixture = Fixture::new(pod("127.0.0.1", json!({"app": "web"})));
    fixture.show_with(TargetState::Running, &[echo().await], "30m", true);
    let head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    let (mut client, _served) = fixture.connect();
    client.write_all(head.as_bytes()).await.unwrap();
    let mut got = vec![0; head.len()];
    client.read_exact(&mut got).await.unwrap();
    assert!(fixture.requests.try_recv().is_err());
}

/// The form on the waiting page, as a browser sends it with these headers.
fn form(headers: &str) -> String {
    format!("POST /cart/dayshift-keep-awake HTTP/1.1\r\nHost: dev.example.com\r\n{headers}\r\n\r\n")
}

const FROM_PAGE: &str = "Accept: text/html\r\nOrigin: https://dev.example.com\r\n\
                         Referer: https://dev.example.com/cart?a=b\r\nContent-Length: 0";

#[tokio::test(start_paused = true)]
async fn visitor_keeps_a_workload_awake_with_the_form_of_the_page() {
    let mut fixture = Fixture::new(Value::Null);
    fixture.show_wake("2h; keep 8h", 2);
    let page = "GET /cart?a=b HTTP/1.1\r\nHost: dev.example.com\r\nAccept: text/html\r\n\r\n";
    let page = fixture.answer(page).await;
    let form_of_page =
        "<form method=\"post\" action=\"./cart/dayshift-keep-awake\"><button>Keep it awake until ";
    assert!(page.contains(form_of_page), "{page}");
    assert!(page.contains("form-action 'self'"), "{page}");
    // A browser sends the origin of a form only with this policy.
    assert!(
        page.contains("\r\nReferrer-Policy: same-origin\r\n"),
        "{page}"
    );
    let (mut client, served) = fixture.connect();
    client.write_all(form(FROM_PAGE).as_bytes()).await.unwrap();
    let request = fixture.requests.recv().await.unwrap();
    assert!(request.keeps_awake());
    fixture.show_wake("2h; keep 8h", 8);
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    served.await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 303 See Other\r\n"), "{answer}");
    assert!(
        answer.contains("\r\nLocation: https://dev.example.com/cart?a=b\r\n"),
        "{answer}"
    );
    // Again, and for a program.
    for (headers, expected) in [
        (FROM_PAGE, "HTTP/1.1 303 "),
        ("Origin: https://dev.example.com", "HTTP/1.1 200 "),
        ("Accept: application/json", "HTTP/1.1 200 "),
    ] {
        let answer = fixture.answer(&form(headers)).await;
        assert!(answer.starts_with(expected), "{answer}");
    }
    let json = fixture.answer(&form("Accept: application/json")).await;
    let json: Value = serde_json::from_str(json.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(json["status"], "kept");
    assert!(json["awakeUntil"].is_string(), "{json}");
    assert!(
        fixture.requests.try_recv().is_err(),
        "it is kept awake already"
    );
    assert_eq!(fixture.metric("kept"), 5);
    let page = "GET /cart HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n";
    let page = fixture.answer(page).await;
    assert!(!page.contains("<form"), "{page}");
}

#[tokio::test(start_paused = true)]
async fn another_site_cannot_keep_a_workload_awake() {
    let mut fixture = Fixture::new(Value::Null);
    fixture.show_wake("2h; keep 8h", 2);
    for headers in [
        "Accept: text/html\r\nOrigin: https://evil.example.com",
        "Accept: text/html\r\nOrigin: null",
        "Accept: text/html\r\nSec-Fetch-Site: cross-site\r\nOrigin: https://dev.example.com",
        "Accept: text/html\r\nOrigin: https://dev.example.com\r\nOrigin: https://evil.example.com",
    ] {
        let answer = fixture.answer(&form(headers)).await;
        assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{answer}");
        assert!(answer.ends_with("Only the waiting page of this service can keep it awake\n"));
        assert!(fixture.requests.try_recv().is_err(), "{headers}");
    }
}

#[tokio::test(start_paused = true)]
async fn form_keeps_nothing_awake_before_and_after_a_wake() {
    let mut fixture = Fixture::new(Value::Null);
    for (state, expected) in [
        (TargetState::Off("it is paused"), "503"),
        (TargetState::Asleep, "303"),
        // Its schedule has started it.
        (TargetState::Running, "303"),
    ] {
        fixture.show_with(state, &[], "2h; keep 8h", false);
        let answer = fixture.answer(&form(FROM_PAGE)).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {expected} ")),
            "{answer}"
        );
        let answer = fixture.answer(&form("Accept: application/json")).await;
        assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
        assert!(fixture.requests.try_recv().is_err(), "{state:?}");
    }
    assert_eq!(fixture.metric("kept"), 0);
}

/// For example, because of the limits of overrides.
#[tokio::test(start_paused = true)]
async fn program_learns_that_the_api_server_has_rejected_the_new_end() {
    let mut fixture = Fixture::new(Value::Null);
    fixture.show_wake("2h; keep 8h", 2);
    let since = Instant::now();
    let answer = fixture.answer(&form("Accept: application/json")).await;
    assert!(fixture.requests.try_recv().unwrap().keeps_awake());
    assert_eq!(since.elapsed(), Duration::from_secs(5));
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert!(answer.contains("\r\nRetry-After: 3\r\n"), "{answer}");
    assert!(answer.contains("\"status\":\"not-kept\""), "{answer}");
}

#[tokio::test]
async fn form_of_a_workload_without_keep_reaches_the_pod() {
    let mut fixture = Fixture::new(pod("127.0.0.1", json!({"app": "web"})));
    let (mut client, _served) = fixture.connect();
    let head = form("Origin: https://evil.example.com");
    client.write_all(head.as_bytes()).await.unwrap();
    fixture.requests.recv().await.unwrap();
    fixture.show(TargetState::Running, &[echo().await]);
    let mut got = vec![0; head.len()];
    client.read_exact(&mut got).await.unwrap();
    assert_eq!(got, head.as_bytes());
}

#[tokio::test]
async fn heartbeat_of_a_stopped_workload_gets_a_200_and_wakes_nothing() {
    let mut fixture = Fixture::new(pod("127.0.0.1", json!({"app": "web"})));
    for (method, path, agent) in [
        ("GET", "/ping", "curl/8"),
        ("HEAD", "/ping?token=a", "UptimeRobot/2.0"),
    ] {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: a\r\nUser-Agent: {agent}\r\nAccept: text/html\r\n\r\n"
        );
        let answer = fixture.answer(&head).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(
            answer.ends_with("\r\n\r\n") && answer.contains("Content-Length: 0"),
            "{answer}"
        );
    }
    assert_eq!(fixture.metric("answered"), 2);
    assert!(fixture.requests.try_recv().is_err(), "it is woken");
    // A POST would be lost, and another user or a failing start is not dayshift's stop.
    for (state, method, woken) in [
        (TargetState::Asleep, "POST", true),
        (TargetState::Off("it is paused"), "GET", false),
    ] {
        fixture.show(state, &[]);
        let (mut client, served) = fixture.connect();
        let head = format!("{method} /ping HTTP/1.1\r\nHost: a\r\n\r\n");
        client.write_all(head.as_bytes()).await.unwrap();
        if woken {
            fixture.requests.recv().await.unwrap();
        } else {
            let mut answer = String::new();
            client.read_to_string(&mut answer).await.unwrap();
            assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
        }
        served.abort();
    }
    fixture.show(TargetState::Running, &[]);
    let (mut client, _served) = fixture.connect();
    let head = "GET /ping HTTP/1.1\r\nHost: a\r\n\r\n";
    client.write_all(head.as_bytes()).await.unwrap();
    fixture.show(TargetState::Running, &[echo().await]);
    let mut got = vec![0; head.len()];
    client.read_exact(&mut got).await.unwrap();
    assert_eq!(got, head.as_bytes(), "the pod answers while it runs");
}

#[tokio::test]
async fn concurrent_connections_read_the_pod_once() {
    for (pod, is_served) in [
        (pod("127.0.0.1", json!({"app": "web"})), true),
        (pod("10.0.0.7", json!({"app": "web"})), false),
    ] {
        let mut fixture = Fixture::new(pod);
        let mut crowd = Vec::new();
        for _ in 0..40 {
            let (mut client, served) = fixture.connect();
            client.write_all(b"PING\r\n").await.unwrap();
            fixture.requests.recv().await.unwrap();
            crowd.push((client, served));
        }
        // The connections do not wait for another pod.
        fixture.show(TargetState::Off("it is paused"), &[echo().await]);
        for (mut client, served) in crowd {
            client.shutdown().await.unwrap();
            let mut got = Vec::new();
            client.read_to_end(&mut got).await.unwrap();
            assert_eq!(got == b"PING\r\n", is_served);
            served.await.unwrap();
        }
        assert_eq!(fixture.reads.load(Ordering::Relaxed), 1, "{is_served}");
    }
}

#[tokio::test(start_paused = true)]
async fn browser_gets_the_starting_page_and_wakes() {
    let mut fixture = Fixture::new(Value::Null);
    let page = fixture
        .answer("GET / HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n")
        .await;
    assert!(
        page.contains("This service is starting") && !page.contains("web"),
        "{page}"
    );
    assert!(fixture.requests.try_recv().is_ok());
    assert_eq!(fixture.metric("page"), 1);
}

#[tokio::test(start_paused = true)]
async fn page_shows_the_failure_of_this_start_and_not_of_an_earlier_one() {
    let fixture = Fixture::new(Value::Null);
    for (state, expected) in [(TargetState::Asleep, false), (TargetState::Running, true)] {
        fixture.show(state, &[]);
        let page = fixture
            .answer("GET / HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n")
            .await;
        let is_starting = page.contains("This service is starting");
        assert_eq!(is_starting, !expected, "{page}");
        assert_eq!(page.contains("FailedCreate"), expected, "{page}");
    }
}

#[tokio::test(start_paused = true)]
async fn probes_and_ignored_paths_wake_nothing() {
    let mut fixture = Fixture::new(Value::Null);
    for head in [
        "GET / HTTP/1.1\r\nHost: a\r\nUser-Agent: kube-probe/1.36\r\n\r\n",
        "GET /healthz?full=1 HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n",
    ] {
        let answer = fixture.answer(head).await;
        assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    }
    let (client, served) = fixture.connect();
    drop(client);
    served.await.unwrap();
    assert!(fixture.requests.try_recv().is_err());
    assert_eq!(
        (fixture.metric("ignored"), fixture.metric("silent")),
        (2, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn silent_client_wakes_after_a_second() {
    let mut fixture = Fixture::new(Value::Null);
    let since = Instant::now();
    let (_client, _served) = fixture.connect();
    fixture.requests.recv().await.unwrap();
    assert_eq!(since.elapsed().as_secs(), 1);
}

#[tokio::test(start_paused = true)]
async fn connection_times_out_if_no_pod_becomes_ready() {
    let fixture = Fixture::new(Value::Null);
    let since = Instant::now();
    let answer = fixture.answer("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert!(
        answer.contains("This service did not become ready in time") && !answer.contains("web"),
        "{answer}"
    );
    assert_eq!(since.elapsed(), Duration::from_secs(60));
    assert_eq!(
        (fixture.metric("timed_out"), fixture.shared.limits.open()),
        (1, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn response_contains_the_reason_if_a_workload_cannot_be_woken() {
    let mut fixture = Fixture::new(Value::Null);
    fixture.show(TargetState::Off("it is paused"), &[]);
    let answer = fixture.answer("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert!(
        answer.ends_with("This service is stopped: it is paused\n"),
        "{answer}"
    );
    assert_eq!(fixture.answer("\x16\x03\x01").await, "");
    assert!(fixture.requests.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn deleted_service_ends_its_held_connections() {
    let mut fixture = Fixture::new(Value::Null);
    let (mut client, served) = fixture.connect();
    client.write_all(b"\x16\x03\x01").await.unwrap();
    fixture.requests.recv().await.unwrap();
    fixture.routes.send_replace(Arc::default());
    assert_eq!(client.read(&mut [0; 10]).await.unwrap(), 0);
    served.await.unwrap();
}

#[tokio::test]
async fn connection_to_a_ready_pod_is_forwarded_before_the_client_sends() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let fixture = Fixture::new(pod("127.0.0.1", json!({"app": "web"})));
    fixture.show(TargetState::Running, &[listener.local_addr().unwrap()]);
    let (mut client, _served) = fixture.connect();
    let (mut accepted, _): (TcpStream, _) = listener.accept().await.unwrap();
    accepted.write_all(b"I speak first").await.unwrap();
    let mut got = [0; 13];
    client.read_exact(&mut got).await.unwrap();
    assert_eq!(&got, b"I speak first");
}

#[tokio::test(start_paused = true)]
async fn disconnected_clients_release_their_permits_at_once() {
    let mut fixture = Fixture::new(Value::Null);
    let since = Instant::now();
    for _ in 0..200 {
        let mut crowd = Vec::new();
        for number in 0..50 {
            let (mut client, served) = fixture.connect();
            let request = match number % 3 {
                0 => "\x16\x03\x01",
                1 => "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
                _ => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            };
            client.write_all(request.as_bytes()).await.unwrap();
            fixture.requests.recv().await.unwrap();
            crowd.push((client, served));
        }
        for (client, served) in crowd {
            drop(client);
            served.await.unwrap();
        }
    }
    assert_eq!(
        (fixture.metric("left"), fixture.shared.limits.open()),
        (10_000, 0)
    );
    assert_eq!(since.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn silent_client_that_disconnects_releases_its_permit() {
    let mut fixture = Fixture::new(Value::Null);
    let (client, served) = fixture.connect();
    fixture.requests.recv().await.unwrap();
    drop(client);
    let since = Instant::now();
    served.await.unwrap();
    assert_eq!(
        (since.elapsed(), fixture.metric("left")),
        (Duration::ZERO, 1)
    );
}

#[tokio::test]
async fn client_that_closes_its_sending_side_stays_held() {
    let mut fixture = Fixture::new(pod("127.0.0.1", json!({"app": "web"})));
    let (mut client, _served) = fixture.connect();
    client.write_all(b"PING\r\n").await.unwrap();
    fixture.requests.recv().await.unwrap();
    client.write_all(b"QUIT\r\n").await.unwrap();
    client.shutdown().await.unwrap();
    for _ in 0..10 {
        yield_now().await;
    }
    fixture.show(TargetState::Running, &[echo().await]);
    let mut got = String::new();
    client.read_to_string(&mut got).await.unwrap();
    assert_eq!(got, "PING\r\nQUIT\r\n");
}

#[tokio::test(start_paused = true)]
async fn reading_from_a_held_client_is_limited() {
    let mut fixture = Fixture::new(Value::Null);
    let (mut client, _served) = fixture.connect();
    let mut sent = 0;
    let talk = async {
        loop {
            client.write_all(b"PING\r\n").await.unwrap();
            sent += 6;
        }
    };
    assert!(timeout(Duration::from_secs(5), talk).await.is_err());
    fixture.requests.recv().await.unwrap();
    // The in-memory stream buffers some more.
    assert!((16 * 1024..18 * 1024).contains(&sent), "{sent}");
}

/// The activator must not bypass a NetworkPolicy that denies the client access to the pod.
#[tokio::test(start_paused = true)]
async fn direct_connection_to_a_running_service_is_refused_after_the_grace() {
    let fixture = Fixture::new(pod("127.0.0.1", json!({"app": "web"})));
    fixture.show(TargetState::Running, &["127.0.0.1:9".parse().unwrap()]);
    let routes = Arc::clone(&fixture.shared.routes.borrow());
    fixture.shared.ready_since.note(&routes);
    advance(Duration::from_secs(31)).await;
    for request in ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "\x16\x03\x01"] {
        assert_eq!(fixture.answer(request).await, "");
    }
    assert_eq!(fixture.metric("refused"), 2);
    assert_eq!(fixture.reads.load(Ordering::Relaxed), 0);
    // When no pod is ready again, the port serves.
    fixture.show(TargetState::Off("it is paused"), &[]);
    let routes = Arc::clone(&fixture.shared.routes.borrow());
    fixture.shared.ready_since.note(&routes);
    let answer = fixture.answer("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert!(answer.contains("it is paused"), "{answer}");
}

#[tokio::test]
async fn port_that_cannot_be_opened_leaves_the_others_open() {
    let used = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let [used_port, free_port] =
        [&used, &free].map(|listener| listener.local_addr().unwrap().port());
    drop(free);
    let mut fixture = Fixture::new(Value::Null);
    let mut settings = settings();
    settings.bind = Some("127.0.0.1".parse().unwrap());
    fixture.shared.settings = Arc::new(settings);
    let mut route = Route::clone(&fixture.shared.routes.borrow()[&web()]);
    route.ports = [("used".into(), used_port), ("free".into(), free_port)].into();
    let routes = Routes::from([(web(), Arc::new(route))]);
    let mut listeners = Listeners::default();
    assert_eq!(listeners.follow(&routes, &fixture.shared), 1);
    assert_eq!(listeners.count(), 1);
    let mut client = TcpStream::connect(("127.0.0.1", free_port)).await.unwrap();
    client.write_all(b"\x16\x03\x01").await.unwrap();
    assert!(fixture.requests.recv().await.is_some());
    // A later attempt can open it.
    drop(used);
    assert_eq!(listeners.follow(&routes, &fixture.shared), 0);
}

/// An API server with this one pod.
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
    json!({
        "metadata": {"uid": "p", "labels": labels},
        "status": {"phase": "Running", "podIPs": [{"ip": ip}]},
    })
}

pub(crate) fn web() -> ServiceName {
    ServiceName {
        namespace: "dev".into(),
        name: "web".into(),
    }
}

/// An activator with one Service and one workload.
pub(crate) struct Fixture {
    pub(crate) shared: ConnectionContext,
    pub(crate) routes: watch::Sender<Arc<Routes>>,
    pub(crate) requests: mpsc::Receiver<WakeRequest>,
    /// The number of times that the pod was read.
    pub(crate) reads: Arc<AtomicUsize>,
}

impl Fixture {
    pub(crate) fn new(pod: Value) -> Self {
        let (routes_in, routes) = watch::channel(Arc::<Routes>::default());
        let (requests_in, requests) = mpsc::channel(100);
        let reads = Arc::<AtomicUsize>::default();
        let fixture = Self {
            shared: ConnectionContext {
                routes,
                requests: requests_in,
                limits: ConnectionLimits::new(1_000, 50),
                ready_since: ReadySince::default(),
                heads: HeadMemory::default(),
                logs: LogLimit::new(10),
                pods: PodVerifier::new(client(pod, Arc::clone(&reads)), LogLimit::new(10)),
                start_times: StartTimes::default(),
                telemetry: Arc::default(),
                settings: Arc::new(settings()),
                clock: Clock::system(),
            },
            routes: routes_in,
            requests,
            reads,
        };
        fixture.show(TargetState::Asleep, &[]);
        fixture
    }

    pub(crate) fn show(&self, state: TargetState, ready: &[SocketAddr]) {
        self.show_with(state, ready, "2h", false);
    }

    /// Shows a workload with `while-used` that runs because of a wake.
    fn show_awake(&self, ready: &[SocketAddr], observes_use: bool) {
        self.show_with(TargetState::Running, ready, "30m; while-used", observes_use);
    }

    /// Shows a workload that runs because of a wake from an hour ago until this many hours after its beginning.
    fn show_wake(&self, wake: &str, hours: i64) {
        let began = Utc::now() - TimeDelta::hours(1);
        self.show_changed(TargetState::Running, &[], wake, false, |target| {
            target.began = Some(began);
            target.until = Some(began + TimeDelta::hours(hours));
        });
    }

    fn show_with(&self, state: TargetState, ready: &[SocketAddr], wake: &str, observes_use: bool) {
        self.show_changed(state, ready, wake, observes_use, |_| {});
    }

    fn show_changed(
        &self,
        state: TargetState,
        ready: &[SocketAddr],
        wake: &str,
        observes_use: bool,
        change: impl FnOnce(&mut WakeTarget),
    ) {
        let object = json!({
            "metadata": {"name": "web", "namespace": "dev", "uid": "u"}, "spec": {"replicas": 0},
        });
        let workload: dayshift_cluster::Workload = serde_json::from_value(object).unwrap();
        let observed: Observed = workload.observe(&Kind::DEPLOYMENT, &settings().prefix);
        let wake = WakeOnRequest::parse(wake).unwrap();
        let rules = RequestRules {
            effect: KnownEffect::default(),
            wake,
            ignored: IgnoredPaths::parse("/healthz").unwrap(),
            answered: AnsweredPaths::parse("/ping").unwrap(),
            zone: Zone::UTC,
            after: None,
        };
        let mut target = WakeTarget {
            observed,
            rules: Arc::new(rules),
            state,
            since: DateTime::<Utc>::from_timestamp(0, 0),
            until: None,
            began: None,
            next_start: None,
            failure: Some(StartFailure {
                reason: "FailedCreate".into(),
                message: "".into(),
            }),
            starts_until: None,
        };
        change(&mut target);
        let pod = PodName {
            namespace: "dev".into(),
            name: "web-1".into(),
            uid: "p".into(),
        };
        let pods = ready.iter().map(|address| ReadyPods {
            number: address.port(),
            pods: Arc::new([(address.ip(), pod.clone())].into()),
        });
        let pods: Vec<_> = pods.collect();
        let route = Route {
            ports: BTreeMap::from([("tcp".into(), 20000)]),
            targets: vec![Arc::new(target)],
            ready: (!pods.is_empty())
                .then(|| ("tcp".into(), pods))
                .into_iter()
                .collect(),
            selector: BTreeMap::from([("app".to_owned(), "web".to_owned())]),
            stages: Vec::new(),
            observes_use,
        };
        let routes = Routes::from([(web(), Arc::new(route))]);
        self.routes.send_replace(Arc::new(routes));
    }

    /// Connects a client. The task serves the connection.
    pub(crate) fn connect(&self) -> (DuplexStream, JoinHandle<()>) {
        self.connect_from([10, 0, 0, 1])
    }

    pub(crate) fn connect_from(&self, address: [u8; 4]) -> (DuplexStream, JoinHandle<()>) {
        let (client, server) = duplex(1024);
        let from = SocketAddr::from((address, 1000));
        let place = self.shared.limits.take(&web(), from.ip()).unwrap();
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

    /// The response to a client that sends only this.
    pub(crate) async fn answer(&self, request: &str) -> String {
        let (mut client, served) = self.connect();
        client.write_all(request.as_bytes()).await.unwrap();
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

/// A pod that echoes its input.
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
