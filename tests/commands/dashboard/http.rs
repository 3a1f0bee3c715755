//! Access to the dashboard over HTTP.

use std::io::{Read as _, Write as _};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use ring::digest::{SHA256, digest};

use super::browser::{Page, SCRIPT, Served};
use crate::{
    fake_server::Cluster,
    program::{dayshift, dayshift_with},
};

const PATHS: [&str; 9] = [
    "/",
    "/timeline",
    "/object/dev/deploy/web",
    "/object/dev/deploy/gone",
    "/style.css",
    "/icon.svg",
    "/nothing",
    "/%ff",
    "/object/..%2f..%2fetc/passwd/x",
];

fn cluster() -> Cluster {
    let cluster = Cluster::new();
    cluster.deployment("web", 2, &[("hours", "Mon-Fri 09:00-17:00")]);
    cluster
}

#[test]
fn every_response_has_security_headers() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    let host = served.address;
    let hash = digest(&SHA256, SCRIPT.as_bytes());
    let hash = BASE64_STANDARD.encode(hash);
    let script = format!("; script-src 'sha256-{hash}'; ");
    let mut answers: Vec<_> = PATHS.iter().map(|path| served.get(path)).collect();
    answers.push(served.ask("GET / HTTP/1.1\r\nhost: evil.example"));
    answers.push(served.ask(&format!(
        "POST / HTTP/1.1\r\nhost: {host}\r\ncontent-length: 0"
    )));
    for answer in &answers {
        let policy = answer.header("content-security-policy").unwrap();
        assert_starts_with!(policy, "default-src 'none'; ");
        assert_contains!(policy, "frame-ancestors 'none'");
        assert_contains!(policy, "base-uri 'none'");
        // No other script runs.
        assert_contains!(policy, script);
        assert_eq!(policy.matches("script-src").count(), 1, "{policy}");
        assert_lacks!(policy, "unsafe");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{name}");
        }
    }
}

#[test]
fn unknown_paths_are_404_and_other_methods_405() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    let host = served.address;
    let statuses: Vec<_> = PATHS.iter().map(|path| served.get(path).status).collect();
    assert_eq!(statuses, [200, 200, 200, 404, 200, 200, 404, 404, 404]);
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
        let answer = served.ask(&format!(
            "{method} /timeline HTTP/1.1\r\nhost: {host}\r\ncontent-length: 0"
        ));
        assert_eq!(answer.status, 405, "{method}");
        assert_eq!(answer.header("allow"), Some("GET, HEAD"), "{method}");
    }
}

#[test]
fn rejects_dns_rebinding() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    served.page("/");
    let port = served.address.port();
    for (host, expected) in [
        (format!("127.0.0.1:{port}"), 200),
        (format!("localhost:{port}"), 200),
        (format!("[::1]:{port}"), 200),
        (format!("evil.example:{port}"), 403),
        (format!("127.0.0.1.evil.example:{port}"), 403),
        (format!("localhost:{port}.evil.example"), 403),
        ("127.0.0.1".to_owned(), 403),
        ("127.0.0.1:1".to_owned(), 403),
    ] {
        for path in ["/", "/timeline", "/object/dev/deploy/web", "/style.css"] {
            let answer = served.ask(&format!("GET {path} HTTP/1.1\r\nhost: {host}"));
            assert_eq!(answer.status, expected, "{host} {path}");
            if expected == 403 {
                assert_lacks!(answer.body, "web");
                Page::read(&answer.body);
            }
        }
    }
    let nameless = served.ask("GET / HTTP/1.0");
    assert_eq!(nameless.status, 403, "{}", nameless.body);
}

#[test]
fn slow_or_many_clients_do_not_delay_others() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    let host = served.address;
    // One client that sends a slow request, one that reads no response, and many that send nothing.
    let mut slow = served.connect();
    write!(slow, "GET / HTTP/1.1\r\nhost:").unwrap();
    let mut deaf = served.connect();
    for _ in 0..50 {
        write!(deaf, "GET /style.css HTTP/1.1\r\nhost: {host}\r\n\r\n").unwrap();
    }
    let silent: Vec<_> = (0..200).map(|_| served.connect()).collect();
    for _ in 0..20 {
        served.page("/timeline");
    }
    drop(silent);
    // A connection that is closed to make space for others gets no response.
    let mut rest = Vec::new();
    let _ = slow.read_to_end(&mut rest);
    assert!(
        rest.is_empty() || rest.starts_with(b"HTTP/1.1 4"),
        "{rest:?}"
    );
}

#[test]
fn listens_only_on_loopback() {
    for listen in [
        "0.0.0.0:0",
        "[::]:0",
        "192.0.2.1:8000",
        "localhost",
        "8000",
        "127.0.0.1",
    ] {
        let refused = dayshift(&["dashboard", "--address", listen]);
        assert_eq!(refused.status, 2, "{refused:?}");
        refused.assert_err("loopback");
        let refused = dayshift_with(&[], &["sandbox", "--dashboard", listen], "");
        assert_eq!(refused.status, 2, "{refused:?}");
    }
}

#[test]
fn a_missing_permission_ends_the_dashboard() {
    let refused = dayshift(&["dashboard", "--kubeconfig", "/nonexistent/config"]);
    assert_eq!(refused.status, 3, "{refused:?}");
    assert_eq!(refused.out, "");
}
