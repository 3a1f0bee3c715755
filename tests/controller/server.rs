//! The probes over real sockets, as the kubelet and Prometheus request them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    io::{self, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    sync::Arc,
    thread,
    time::Duration,
};

use chrono::Utc;
use dayshift::server::serve;
use dayshift_controller::Telemetry;
use tokio::{net::TcpListener, sync::oneshot};

/// A server with its own thread and port; it ends when it is dropped.
struct Server {
    address: SocketAddr,
    thread: Option<thread::JoinHandle<()>>,
    end: Option<oneshot::Sender<()>>,
}

impl Server {
    fn start() -> Self {
        let (reported, address) = std::sync::mpsc::channel();
        let (end, ended) = oneshot::channel();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
                reported.send(listener.local_addr().unwrap()).unwrap();
                let telemetry = Arc::new(Telemetry::new(Utc::now()));
                serve(listener, telemetry, async { drop(ended.await) }).await;
            });
        });
        Self {
            address: address.recv().unwrap(),
            thread: Some(thread),
            end: Some(end),
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        stream
    }

    fn ask(&self, head: &str) -> String {
        let mut stream = self.connect();
        write!(stream, "{head}\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.end.take());
        self.thread.take().unwrap().join().unwrap();
    }
}

fn is_closed(read: &io::Result<usize>) -> bool {
    match read {
        Ok(length) => *length == 0,
        Err(error) => error.kind() == io::ErrorKind::ConnectionReset,
    }
}

#[test]
fn serves_open_metrics_for_prometheus() {
    let answer = Server::start().ask("GET /metrics HTTP/1.1");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    let content_type = "content-type: application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert!(answer.contains(content_type), "{answer}");
    assert!(
        answer.contains("\ndayshift_invalid_schedules 0\n"),
        "{answer}"
    );
    assert!(answer.ends_with("# EOF\n"), "{answer}");
}

#[test]
fn answers_head_without_a_body() {
    let answer = Server::start().ask("HEAD /healthz HTTP/1.1");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("content-length: 3\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\n"), "{answer}");
}

#[test]
fn hoarded_connections_do_not_block_probes() {
    let server = Server::start();
    let mut hoard: Vec<_> = (0..200)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(b"GET /healthz HTTP/1.1\r\n").unwrap();
            stream
        })
        .collect();
    assert!(
        server
            .ask("GET /healthz HTTP/1.1")
            .starts_with("HTTP/1.1 200 OK\r\n")
    );

    // The oldest were closed to make room; the newest are still open.
    let oldest = hoard.first_mut().unwrap().read(&mut [0; 64]);
    assert!(is_closed(&oldest), "{oldest:?}");
    let newest = hoard.last_mut().unwrap();
    newest.write_all(b"host: x\r\n\r\n").unwrap();
    let mut answer = [0; 15];
    newest.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200 OK");
}

#[test]
fn rejects_large_heads_and_bodies_without_buffering() {
    let server = Server::start();
    let long = format!("GET /healthz HTTP/1.1\r\nx: {}", "x".repeat(64 * 1024));
    let mut stream = server.connect();
    // The server might close the connection before it received everything.
    let _ = stream.write_all(long.as_bytes());
    let mut answer = [0; 12];
    let read = stream.read(&mut answer);
    assert!(
        answer.starts_with(b"HTTP/1.1 431") || is_closed(&read),
        "{read:?}"
    );

    // Ten gigabytes are announced, and the response does not wait for them.
    let answer = server.ask("POST /metrics HTTP/1.1\r\ncontent-length: 10000000000");
    assert!(answer.starts_with("HTTP/1.1 405 "), "{answer}");
}

#[test]
fn shutdown_closes_open_connections() {
    let server = Server::start();
    let mut idle = server.connect();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
        .unwrap();
    assert!(idle.read(&mut [0; 1024]).unwrap() > 0);
    let address = server.address;
    drop(server);
    let after = idle.read(&mut [0; 1024]);
    assert!(is_closed(&after), "{after:?}");
    assert!(TcpStream::connect(address).is_err());
}
