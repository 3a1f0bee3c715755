//! A cluster and a file in which all text is malicious.

use std::{
    io::{Read, Write},
    net::TcpStream,
    process::Stdio,
    sync::{Arc, Mutex},
    thread,
};

use super::words::EVIL;
use crate::{
    fake_server::Cluster,
    program::{Running, wait_until},
};

/// All text in it is malicious.
pub const FILE: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata:
  name: "web\e[31m\a\u202E\x9B\nG::error::H"
  namespace: "dev\e[31m\a\u202E"
  annotations:
    dayshift/stop: "19:00\e]8;;http://example.com\a\u202E\u200B\nG::error::H"
    "dayshift/str\e[31mat\n": "\e[31m"
    dayshift/timezone: "Asia/\e[31mTokyo\u202E"
    dayshift/replicas: "\e[31m3\u202E"
spec:
  replicas: 3
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: "good\e[31m\u202E"
  labels:
    "dayshift/st\e[31mart": "x"
  annotations:
    dayshift/hours: "09:00-19:00"
    dayshift/lint-ignore: "\e[31m: \u202E"
---
apiVersion: autoscaling/v2
kind: "Stateful\e[31mSet\u202E"
metadata:
  name: "x\e[31m"
  annotations:
    dayshift/hours: "\e[31m\u202E"
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: "scaler\e[31m\u202E"
spec:
  scaleTargetRef: {kind: Deployment, name: "good\e[31m\u202E"}
"#;

pub fn hostile_cluster() -> Cluster {
    let cluster = Cluster::new();
    cluster.deployment("bad", 2, &[("stop", EVIL), ("start", EVIL)]);
    cluster.deployment("zone", 2, &[("stop", "19:00"), ("timezone", EVIL)]);
    cluster.deployment("counts", 2, &[("stop", "19:00"), ("replicas", EVIL)]);
    cluster.deployment("pause", 2, &[("stop", "19:00"), ("pause", EVIL)]);
    cluster.deployment("typo", 2, &[("stop", "19:00"), ("strat", EVIL)]);
    cluster.deployment("error", 2, &[("hours", "09:00-19:00"), ("error", EVIL)]);
    cluster.deployment("web", 2, &[("hours", "09:00-19:00")]);
    cluster
}

/// Malicious overrides.
pub fn overridden(cluster: &Cluster) {
    for key in ["wake-until", "sleep-until", "pause"] {
        let key = format!("dayshift/{key}");
        cluster
            .api
            .annotate("dev", "web", &key, Some(EVIL))
            .unwrap();
    }
}

/// `dayshift run` with its log.
pub struct LoggedController {
    _child: Running,
    log: Arc<Mutex<String>>,
}

impl LoggedController {
    pub fn start(cluster: &Cluster, arguments: &[&str]) -> Self {
        let mut child = cluster
            .command()
            .args(["run", "--listen=127.0.0.1:0"])
            .args(arguments)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        thread::spawn({
            let log = Arc::clone(&log);
            move || {
                let mut part = [0; 65_536];
                let mut bytes = Vec::new();
                while let Ok(length @ 1..) = stderr.read(&mut part) {
                    bytes.extend_from_slice(&part[..length]);
                    *log.lock().unwrap() = String::from_utf8_lossy(&bytes).into_owned();
                }
            }
        });
        let controller = Self {
            _child: Running(child),
            log,
        };
        wait_until("listening", || controller.log().contains("listen"));
        controller
    }

    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// The complete response to a GET.
    pub fn get(&self, path: &str) -> String {
        let log = self.log();
        let (_, rest) = log.split_once("listen").unwrap();
        let (_, port) = rest.split_once("127.0.0.1:").unwrap();
        let port: String = port.chars().take_while(char::is_ascii_digit).collect();
        let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}
