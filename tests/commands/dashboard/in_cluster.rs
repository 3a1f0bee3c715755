//! `dayshift run --dashboard-listen` with malicious clients.

use std::{io::Write as _, net::TcpListener, time::Instant};

use super::browser::{Page, Served};
use crate::rows::words;
use crate::{
    fake_server::Cluster,
    program::{dayshift, dayshift_with},
};

const PATHS: [&str; 4] = ["/", "/timeline", "/object/dev/deploy/web", "/ns/dev"];

fn cluster() -> Cluster {
    let cluster = Cluster::new();
    cluster.deployment("web", 2, &[("hours", "00:00-24:00")]);
    cluster
}

/// The dashboard after the controller has read the cluster.
fn served(cluster: &Cluster, listen: &str) -> Served {
    let served = Served::by_run(cluster, listen);
    let begun = Instant::now();
    while !served.get("/").body.contains("</span> not acted on yet") {
        assert!(begun.elapsed().as_secs() < 60, "{}", served.get("/").body);
    }
    served
}

/// The lists and watches for each resource.
fn reads(cluster: &Cluster) -> Vec<(&'static str, String)> {
    let requests = cluster.api.requests().into_iter();
    let mut reads: Vec<_> = requests
        .filter(|it| !matches!(it.verb, "patch" | "create"))
        .map(|it| (it.verb, it.resource))
        .collect();
    reads.sort();
    reads
}

#[test]
fn pages_use_the_state_of_the_controller() {
    let cluster = cluster();
    let served = served(&cluster, "127.0.0.1:0");
    let before = reads(&cluster);
    for path in PATHS {
        for _ in 0..5 {
            served.page(path);
        }
    }
    assert_eq!(reads(&cluster), before);
    for resource in ["deployments", "statefulsets", "cronjobs", "namespaces"] {
        let watches = before.iter().filter(|(_, it)| it == resource).count();
        assert!(watches <= 2, "{resource}: {before:?}");
    }
    // This dashboard is read-only.
    let host = served.address;
    for path in PATHS.iter().chain(&["/confirm", "/act"]) {
        let head = format!("POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: 0");
        assert!([404, 405].contains(&served.ask(&head).status), "{path}");
        let page = served.get(path).body;
        assert!(!page.contains("method=\"post\""), "{path}");
        Page::read(&page);
    }
    // A page without forms refreshes itself, and a reader can turn that off.
    for path in ["/", "/timeline", "/object/dev/deploy/web", "/ns/dev"] {
        let refresh = |path: &str| served.get(path).header("refresh").map(str::to_owned);
        assert_eq!(refresh(path).as_deref(), Some("10"), "{path}");
        assert_eq!(refresh(&format!("{path}?refresh=off")), None, "{path}");
    }
    // The controller counts savings, and a dashboard without a controller does not.
    let counted = "saved since the controller started to count";
    assert_contains!(served.page("/").text(), counted);
    let asking = Served::of(&cluster, &[]);
    assert_lacks!(asking.page("/").text(), counted);
}

#[test]
fn slow_clients_do_not_delay_transitions() {
    let cluster = cluster();
    let served = served(&cluster, "127.0.0.1:0");
    let host = served.address;
    let mut slow = served.connect();
    write!(slow, "GET / HTTP/1.1\r\nhost:").unwrap();
    let mut deaf: Vec<_> = (0..40).map(|_| served.connect()).collect();
    for stream in &mut deaf {
        for _ in 0..20 {
            // The connection might be closed to make space for others.
            let _ = write!(stream, "GET /timeline HTTP/1.1\r\nhost: {host}\r\n\r\n");
        }
    }
    // The controller carries out each command, and the command waits for it.
    for command in ["sleep", "wake", "sleep", "wake"] {
        let ran = cluster.dayshift(&[command, "deploy/web", "--for", "2h"]);
        assert_eq!(ran.status, 0, "{command}: {ran:?}");
    }
    drop((slow, deaf));
}

#[test]
fn accepts_port_forwarding_but_rejects_dns_rebinding() {
    let cluster = cluster();
    for (listen, others) in [("127.0.0.1:0", 403), ("0.0.0.0:0", 200)] {
        let served = served(&cluster, listen);
        for (host, expected) in [
            ("localhost:8000", 200),
            ("127.0.0.1:9", 200),
            ("evil.example:8000", others),
            ("dayshift.svc", others),
        ] {
            let answer = served.ask(&format!("GET /timeline HTTP/1.1\r\nhost: {host}"));
            assert_eq!(answer.status, expected, "{listen} {host}");
        }
    }
}

#[test]
fn reports_an_invalid_or_used_address_at_startup() {
    for wrong in [
        "8081",
        "localhost:8081",
        "0.0.0.0",
        "tcp://0.0.0.0:8081",
        "",
    ] {
        let refused = dayshift(&["run", "--dashboard-listen", wrong]);
        assert_eq!(refused.status, 2, "{refused:?}");
        refused.assert_err("127.0.0.1:8081");
        let refused = dayshift_with(&[("DAYSHIFT_DASHBOARD_LISTEN", wrong)], &["run"], "");
        assert_eq!(refused.status, 2, "{refused:?}");
    }
    let cluster = cluster();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let args = [
        "run",
        "--listen=127.0.0.1:0",
        "--dashboard-listen",
        &address,
    ];
    let refused = cluster.dayshift(&args);
    assert_eq!(refused.status, 3, "{refused:?}");
    let expected = format!("cannot listen on {address}: ");
    refused.assert_err(&expected);
    refused.assert_err("--dashboard-listen");
    // The same address for both servers is an error.
    let args = words("run --listen 127.0.0.1:18471 --dashboard-listen 127.0.0.1:18471");
    let refused = cluster.dayshift(&args);
    assert_eq!(refused.status, 3, "{refused:?}");
}

#[test]
fn a_login_requires_a_dashboard_a_proxy_and_no_impersonation() {
    let page = "--dashboard-listen=127.0.0.1:0";
    let user = "--user-header=X-Forwarded-User";
    let proxy = "--trusted-proxy=127.0.0.1";
    for (flags, output) in [
        (&[user, proxy][..], "--dashboard-listen"),
        (&[page, user], "--trusted-proxy"),
        (&[page, user], "--proxy-secret-file"),
        (
            &[page, user, "--trusted-proxy=10.0.0.7"],
            "needs --proxy-secret-file too",
        ),
        (
            &[page, user, proxy, "--proxy-secret-file=/nonexistent"],
            "No such file",
        ),
        (
            &[page, user, proxy, "--proxy-secret-file=/dev/null"],
            "write 16 to 512 ASCII characters",
        ),
        (&[page, proxy], "--user-header"),
        (&[page, proxy, "--group-header=X-Groups"], "--user-header"),
        (&[page, user, proxy, "--as=jane"], "--as"),
        (
            &[page, user, "--trusted-proxy=10.0.0.0/8"],
            "trusts more than 256 addresses",
        ),
        (
            &[page, user, "--trusted-proxy=proxy.example"],
            "127.0.0.1, 10.0.0.0/24",
        ),
        (&[page, "--user-header=X Forwarded", proxy], "X Forwarded"),
    ] {
        let refused = dayshift(&[&["run"], flags].concat());
        assert_eq!(refused.status, 2, "{flags:?}: {refused:?}");
        refused.assert_err(output);
    }
}

/// This API server does not implement authorization, so no user is shown anything. Requests that do
/// not come from the proxy cause no request to it.
#[test]
fn a_user_without_known_permissions_sees_nothing() {
    let cluster = cluster();
    let user = "--user-header=X-Forwarded-User";
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "0123456789abcdef\n").unwrap();
    let secret = format!("--proxy-secret-file={}", file.path().display());
    for (proxy, sends_secret, expected) in [
        ("--trusted-proxy=127.0.0.1", false, 503),
        ("--trusted-proxy=127.0.0.2", false, 403),
        (&*secret, true, 503),
        (&*secret, false, 403),
    ] {
        let flags = [user, proxy];
        let served = Served::by_run_with(&cluster, "127.0.0.1:0", &flags);
        let host = served.address;
        for path in PATHS {
            let head = format!("GET {path} HTTP/1.1\r\nhost: {host}");
            let anonymous = served.ask(&head);
            assert_eq!(anonymous.status, 403, "{path}");
            let secret = if sends_secret {
                "\r\nx-dayshift-proxy-secret: 0123456789abcdef"
            } else {
                ""
            };
            let jane = served.ask(&format!("{head}\r\nx-forwarded-user: jane{secret}"));
            assert_eq!(jane.status, expected, "{proxy} {path}: {}", jane.body);
            let is_told = jane.body.contains("manifests/dashboard-login.yaml");
            assert_eq!(is_told, expected == 503, "{}", jane.body);
            for body in [anonymous.body, jane.body] {
                assert_lacks!(body, "web");
                Page::read(&body);
            }
        }
        drop(served); // otherwise the requests of this server would be counted for the next one
        let asked = cluster.api.requests().into_iter();
        let asked = asked.filter(|it| it.resource.contains("selfsubjectaccessreviews"));
        assert_eq!(asked.count() > 0, expected == 503);
        cluster.api.forget_requests();
    }
}
