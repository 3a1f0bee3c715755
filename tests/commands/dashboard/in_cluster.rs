//! `dayshift run --dashboard-listen`: the real program beside clients that wish it no good.

use std::{io::Write as _, net::TcpListener, time::Instant};

use super::browser::{Page, Served};
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

/// The program once it knows the cluster.
fn served(cluster: &Cluster, listen: &str) -> Served {
    let served = Served::by_run(cluster, listen);
    let begun = Instant::now();
    while !served.get("/").body.contains("</span> adopted") {
        assert!(begun.elapsed().as_secs() < 60, "{}", served.get("/").body);
    }
    served
}

/// How many lists and watches there were, of which resource.
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
fn pages_are_read_from_what_the_controller_knows() {
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
    // Nothing of it can be changed.
    let host = served.address;
    for path in PATHS.iter().chain(&["/confirm", "/act"]) {
        let head = format!("POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: 0");
        assert!([404, 405].contains(&served.ask(&head).status), "{path}");
        let page = served.get(path).body;
        assert!(!page.contains("method=\"post\""), "{path}");
        Page::read(&page);
    }
    // What nothing can be ticked on is read again, and a reader can end that.
    for path in ["/", "/timeline", "/object/dev/deploy/web", "/ns/dev"] {
        let refresh = |path: &str| served.get(path).header("refresh").map(str::to_owned);
        assert_eq!(refresh(path).as_deref(), Some("10"), "{path}");
        assert_eq!(refresh(&format!("{path}?refresh=off")), None, "{path}");
    }
    // It has counted what was saved, and a page that has no controller has not.
    let counted = "saved since the controller began to count";
    assert!(served.page("/").text().contains(counted));
    let asking = Served::of(&cluster, &[]);
    assert!(!asking.page("/").text().contains(counted));
}

#[test]
fn clients_that_are_slow_or_many_delay_no_transition() {
    let cluster = cluster();
    let served = served(&cluster, "127.0.0.1:0");
    let host = served.address;
    let mut slow = served.connect();
    write!(slow, "GET / HTTP/1.1\r\nhost:").unwrap();
    let mut deaf: Vec<_> = (0..40).map(|_| served.connect()).collect();
    for stream in &mut deaf {
        for _ in 0..20 {
            // What is closed for others is written to in vain.
            let _ = write!(stream, "GET /timeline HTTP/1.1\r\nhost: {host}\r\n\r\n");
        }
    }
    // Each of these is done by the controller, and waited for by the command.
    for command in ["sleep", "wake", "sleep", "wake"] {
        let ran = cluster.dayshift(&[command, "deploy/web", "--for", "2h"]);
        assert_eq!(ran.status, 0, "{command}: {ran:?}");
    }
    drop((slow, deaf));
}

#[test]
fn a_port_that_is_led_to_loopback_is_told_from_a_name_that_is_made_to_point_there() {
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
fn an_address_that_is_wrong_or_taken_is_said_at_once() {
    for wrong in [
        "8081",
        "localhost:8081",
        "0.0.0.0",
        "tcp://0.0.0.0:8081",
        "",
    ] {
        let refused = dayshift(&["run", "--dashboard-listen", wrong]);
        assert_eq!(refused.status, 2, "{refused:?}");
        assert!(refused.err.contains("127.0.0.1:8081"), "{refused:?}");
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
    let expected = format!("cannot serve the dashboard on {address}: ");
    assert!(refused.err.contains(&expected), "{refused:?}");
    assert!(refused.err.contains("--dashboard-listen"), "{refused:?}");
    // Both ports the same is no better.
    let args = [
        "run",
        "--listen",
        "127.0.0.1:18471",
        "--dashboard-listen",
        "127.0.0.1:18471",
    ];
    let refused = cluster.dayshift(&args);
    assert_eq!(refused.status, 3, "{refused:?}");
}

#[test]
fn a_login_needs_a_page_a_proxy_and_its_own_identity() {
    let page = "--dashboard-listen=127.0.0.1:0";
    let user = "--user-header=X-Forwarded-User";
    let proxy = "--trusted-proxy=127.0.0.1";
    for (flags, said) in [
        (&[user, proxy][..], "--dashboard-listen"),
        (&[page, user], "--trusted-proxy"),
        (&[page, proxy], "--user-header"),
        (&[page, proxy, "--group-header=X-Groups"], "--user-header"),
        (&[page, user, proxy, "--as=jane"], "--as"),
        (
            &[page, user, "--trusted-proxy=0.0.0.0/0"],
            "trusts every address",
        ),
        (
            &[page, user, "--trusted-proxy=proxy.example"],
            "127.0.0.1, 10.0.0.0/8",
        ),
        (&[page, "--user-header=X Forwarded", proxy], "X Forwarded"),
    ] {
        let refused = dayshift(&[&["run"], flags].concat());
        assert_eq!(refused.status, 2, "{flags:?}: {refused:?}");
        assert!(refused.err.contains(said), "{said}: {refused:?}");
    }
}

/// This API server knows nothing of rights, so nobody is shown anything; and nobody but the proxy is
/// even asked about.
#[test]
fn a_user_of_whom_the_server_does_not_say_what_they_may_see_is_shown_nothing() {
    let cluster = cluster();
    let user = "--user-header=X-Forwarded-User";
    for (proxy, expected) in [("127.0.0.0/8", 503), ("127.0.0.2,10.0.0.0/8", 403)] {
        let flags = [user, "--trusted-proxy", proxy];
        let served = Served::by_run_with(&cluster, "127.0.0.1:0", &flags);
        let host = served.address;
        for path in PATHS {
            let head = format!("GET {path} HTTP/1.1\r\nhost: {host}");
            let nobody = served.ask(&head);
            assert_eq!(nobody.status, 403, "{path}");
            let jane = served.ask(&format!("{head}\r\nx-forwarded-user: jane"));
            assert_eq!(jane.status, expected, "{proxy} {path}: {}", jane.body);
            let is_told = jane.body.contains("manifests/dashboard-login.yaml");
            assert_eq!(is_told, expected == 503, "{}", jane.body);
            for body in [nobody.body, jane.body] {
                assert!(!body.contains("web"), "{body}");
                Page::read(&body);
            }
        }
        drop(served); // What it still asks would be taken for what the next one asks.
        let asked = cluster.api.requests().into_iter();
        let asked = asked.filter(|it| it.resource.contains("selfsubjectaccessreviews"));
        assert_eq!(asked.count() > 0, expected == 503);
        cluster.api.forget_requests();
    }
}
