//! toxiproxy between dayshift and the API server, controlled by its HTTP API.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::ChildGuard;

/// A running toxiproxy, which all cases share: each has its own proxies.
pub(crate) struct Toxiproxy {
    _program: ChildGuard,
    _directory: TempDir,
    api: SocketAddr,
    names: AtomicU32,
}

/// A port of 127.0.0.1 that forwards to the API server.
pub(crate) struct Proxy<'a> {
    toxiproxy: &'a Toxiproxy,
    scheme: String,
    name: String,
    listen: String,
    upstream: String,
}

impl Toxiproxy {
    pub(crate) fn start(program: &Path) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let api = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let api = api.local_addr().unwrap();
        let log = File::create(directory.path().join("log")).unwrap();
        let mut command = Command::new(program);
        command
            .args(["-host", "127.0.0.1", "-port", &api.port().to_string()])
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        let program = ChildGuard::spawn(&mut command, Some(directory.path())).unwrap();
        let begin = Instant::now();
        while TcpStream::connect(api).is_err() {
            assert!(begin.elapsed() < Duration::from_secs(30), "no toxiproxy");
            thread::sleep(Duration::from_millis(20));
        }
        Self {
            _program: program,
            _directory: directory,
            api,
            names: AtomicU32::new(0),
        }
    }

    /// A new proxy to `url`.
    pub(crate) fn to(&self, url: &str) -> Proxy<'_> {
        let name = format!("api-{}", self.names.fetch_add(1, Ordering::Relaxed));
        let (scheme, upstream) = url.split_once("://").unwrap();
        let made = self.ask(
            "POST",
            "/proxies",
            &json!({"name": name, "listen": "127.0.0.1:0", "upstream": upstream, "enabled": true}),
        );
        Proxy {
            toxiproxy: self,
            scheme: scheme.to_owned(),
            name,
            listen: made["listen"].as_str().unwrap().to_owned(),
            upstream: upstream.to_owned(),
        }
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let length = body.len();
        let mut stream = TcpStream::connect(self.api).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.0\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(" 20"), "{method} {path}: {answer}");
        serde_json::from_str(body).unwrap_or_default()
    }
}

impl Proxy<'_> {
    pub(crate) fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.listen)
    }

    /// Disturbs the responses of the server with a toxic of
    /// <https://github.com/Shopify/toxiproxy#toxics>, on open and on new connections.
    pub(crate) fn disturb(&self, kind: &str, attributes: &Value) {
        self.toxiproxy.ask(
            "POST",
            &format!("/proxies/{}/toxics", self.name),
            &json!({"name": kind, "type": kind, "stream": "downstream", "attributes": attributes}),
        );
    }

    /// Disturbs the requests of dayshift in the same way.
    pub(crate) fn disturb_requests(&self, kind: &str, attributes: &Value) {
        let name = format!("{kind}-up");
        self.toxiproxy.ask(
            "POST",
            &format!("/proxies/{}/toxics", self.name),
            &json!({"name": name, "type": kind, "stream": "upstream", "attributes": attributes}),
        );
    }

    /// Closes all connections and rejects new ones, or forwards them again.
    pub(crate) fn open(&self, open: bool) {
        let path = format!("/proxies/{}", self.name);
        let body = json!({"enabled": open, "listen": self.listen, "upstream": self.upstream});
        self.toxiproxy.ask("POST", &path, &body);
    }

    /// Ends all disturbances.
    pub(crate) fn heal(&self) {
        let path = format!("/proxies/{}/toxics", self.name);
        let toxics = self.toxiproxy.ask("GET", &path, &Value::Null);
        for toxic in toxics.as_array().unwrap() {
            let name = toxic["name"].as_str().unwrap();
            let path = format!("{path}/{name}");
            self.toxiproxy.ask("DELETE", &path, &Value::Null);
        }
    }
}
