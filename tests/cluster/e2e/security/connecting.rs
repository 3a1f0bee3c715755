//! How a client connects to the API server, and as which user: `--as`, `--as-group`, and the proxy
//! and server name of a kubeconfig.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::e2e::test_namespace::TestNamespace;
use crate::rows::words;
use crate::support::{
    ControlPlane, Dayshift, Parts, Scenario, dayshift, deployment, scenarios, soon,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Server;
        command_impersonates_the_given_user_and_groups,
        run_impersonates_the_given_user,
        every_request_uses_the_proxy_of_the_kubeconfig,
        proxy_variables_apply_as_for_kubectl,
        certificate_must_match_the_server_name_of_the_kubeconfig,
    ]
}

/// A namespace with `web`, which a controller has adopted, because `status` reports unadopted workloads as a
/// problem.
fn adopted<'a>(plane: &'a ControlPlane, name: &str) -> TestNamespace<'a> {
    let team = TestNamespace::new(plane, name);
    team.create(deployment("web").replicas(2).hours("00:00-24:00"));
    team.await_label("web", "dayshift/state", "adopted");
    team
}

/// A user whose only permissions come from the group `night-shift`, which may read and patch here.
fn allow_night_shift(team: &TestNamespace<'_>) {
    let verbs = "--verb=get,list,watch,patch";
    let resources = "--resource=deployments,statefulsets,cronjobs";
    team.kubectl(&["create", "role", "night", verbs, resources])
        .success();
    let bind = ["create", "rolebinding", "night", "--role=night"];
    team.kubectl(&[&bind[..], &["--group=night-shift"]].concat())
        .success();
}

fn command_impersonates_the_given_user_and_groups(plane: &ControlPlane) {
    let team = adopted(plane, "impersonated");
    allow_night_shift(&team);
    let admin = plane.kubeconfig();
    let reported = |line: &[&str]| dayshift(&admin, &[line, &["-n", team.name()]].concat());

    // The admin of the kubeconfig may do everything, and jane nothing.
    reported(&["status"]).success();
    for line in [&["status"][..], &["sleep", "deploy/web", "--for", "1h"]] {
        let jane = reported(&[line, &["--as", "jane"]].concat());
        assert!(!jane.ok, "{jane:?}");
        assert_contains!(jane.stderr, "User \"jane\" cannot");
        let others = reported(&[line, &["--as", "jane", "--as-group", "day-shift"]].concat());
        assert!(!others.ok, "{others:?}");
    }
    assert_eq!(team.annotation("web", "dayshift/sleep-until"), None);

    // Any of the groups is sufficient.
    let groups = words("--as jane --as-group=day-shift --as-group=night-shift");
    let shown = reported(&[&["status"], &groups[..]].concat()).success();
    assert_contains!(shown, "web");
}

fn run_impersonates_the_given_user(plane: &ControlPlane) {
    plane.install();
    let team = TestNamespace::without_controller(plane, "impersonated-run");
    let stop = soon(6);
    team.create(deployment("web").replicas(2).stop(stop.text()));
    let account = "system:serviceaccount:dayshift:dayshift";
    let arguments = ["run", "-n", team.name(), "--as", account];
    let mark = plane.audit().mark();
    let mut controller = Dayshift::run_as(&plane.kubeconfig(), &arguments);
    controller.wait_ready();
    team.await_stopped("web", stop.plus(20));
    assert!(controller.stop().success());

    let mut asked = plane.audit().since(mark);
    asked.retain(|it| it.user_agent.ends_with("(run)") && it.namespace == team.name());
    assert!(!asked.is_empty());
    for request in asked {
        assert_eq!(request.impersonated, account, "{request:#?}");
    }
}

/// The kubeconfig of the user `admin`, with additional fields of its cluster.
fn kubeconfig_with(plane: &ControlPlane, directory: &Path, cluster: Value) -> PathBuf {
    let text = fs::read_to_string(plane.kubeconfig()).unwrap();
    let mut config: Value = serde_json::from_str(&text).unwrap();
    let known = config["clusters"][0]["cluster"].as_object_mut().unwrap();
    known.extend(cluster.as_object().unwrap().clone());
    let path = directory.join("kubeconfig");
    fs::write(&path, config.to_string()).unwrap();
    path
}

/// A port that leads to `url`.
struct ConnectionMethod {
    address: SocketAddr,
    /// Each `CONNECT` line.
    asked: Arc<Mutex<Vec<String>>>,
}

impl ConnectionMethod {
    /// A proxy, which leads to `url` for every request.
    fn by_proxy(url: &str) -> Self {
        Self::by(url, Ipv4Addr::LOCALHOST, |mut client| {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                client.read_exact(&mut byte)?;
                head.extend(byte);
            }
            client.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
            let head = String::from_utf8_lossy(&head).into_owned();
            Ok(head.lines().next().unwrap_or_default().to_owned())
        })
    }

    /// Another address of the same server.
    fn by_address(url: &str, host: Ipv4Addr) -> Self {
        Self::by(url, host, |_| Ok(String::new()))
    }

    fn by(url: &str, host: Ipv4Addr, greet: fn(&TcpStream) -> io::Result<String>) -> Self {
        let server = url.strip_prefix("https://").unwrap().to_owned();
        let listener = TcpListener::bind((host, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::<Mutex<Vec<_>>>::default();
        let reported = Arc::clone(&asked);
        let join = move |client: &TcpStream| -> io::Result<()> {
            reported.lock().unwrap().push(greet(client)?);
            let server = TcpStream::connect(&server)?;
            for (mut from, mut to) in [
                (client.try_clone()?, server.try_clone()?),
                (server, client.try_clone()?),
            ] {
                thread::spawn(move || io::copy(&mut from, &mut to));
            }
            Ok(())
        };
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let _ = join(&client);
            }
        });
        Self { address, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// A port of 127.0.0.1 without a listener: a direct connection fails.
const NO_LISTENER: &str = "127.0.0.1:9";

fn every_request_uses_the_proxy_of_the_kubeconfig(plane: &ControlPlane) {
    let team = TestNamespace::without_controller(plane, "proxied");
    let stop = soon(6);
    team.create(deployment("web").replicas(2).stop(stop.text()));
    let directory = tempfile::tempdir().unwrap();
    let proxy = ConnectionMethod::by_proxy(plane.url());
    let cluster = json!({
        "server": format!("https://{NO_LISTENER}"),
        "proxy-url": format!("http://{}", proxy.address),
    });
    let kubeconfig = kubeconfig_with(plane, directory.path(), cluster);

    let shown = dayshift(&kubeconfig, &["status", "-n", team.name()]).success();
    assert_contains!(shown, "web");
    let mut controller = Dayshift::run_as(&kubeconfig, &["run", "-n", team.name()]);
    controller.wait_ready();
    team.await_stopped("web", stop.plus(20));
    assert!(controller.stop().success());

    let asked = proxy.asked();
    assert!(asked.len() > 2, "{asked:?}");
    let tunnel = format!("CONNECT {NO_LISTENER} HTTP/1.1");
    assert!(asked.iter().all(|it| *it == tunnel), "{asked:?}");
}

/// As in Go's net/http: `HTTPS_PROXY`, except for the hosts in `NO_PROXY`.
fn proxy_variables_apply_as_for_kubectl(plane: &ControlPlane) {
    let team = adopted(plane, "proxied-by-environment");
    let directory = tempfile::tempdir().unwrap();
    let proxy = ConnectionMethod::by_proxy(plane.url());
    let by_proxy = |kubeconfig: &Path, not_for: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_dayshift"))
            .args(["status", "-n", team.name()])
            .env("KUBECONFIG", kubeconfig)
            .env("HTTPS_PROXY", format!("http://{}", proxy.address))
            .env("NO_PROXY", not_for)
            .output();
        let output = output.unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), message)
    };

    let elsewhere = json!({"server": format!("https://{NO_LISTENER}")});
    let elsewhere = kubeconfig_with(plane, directory.path(), elsewhere);
    assert_eq!(by_proxy(&elsewhere, ""), (true, String::new()));
    let asked = proxy.asked().len();
    assert!(asked > 0);

    let direct = plane.kubeconfig();
    assert_eq!(by_proxy(&direct, "127.0.0.0/8"), (true, String::new()));
    assert_eq!(proxy.asked().len(), asked);
}

/// The server's certificate is for 127.0.0.1 and for `kubernetes.default.svc`, and not for
/// 127.0.0.2.
fn certificate_must_match_the_server_name_of_the_kubeconfig(plane: &ControlPlane) {
    let team = adopted(plane, "named");
    let directory = tempfile::tempdir().unwrap();
    let way = ConnectionMethod::by_address(plane.url(), Ipv4Addr::new(127, 0, 0, 2));
    let proxy = ConnectionMethod::by_proxy(plane.url());
    let elsewhere = format!("https://{}", way.address);
    let by_proxy = format!("http://{}", proxy.address);

    for (cluster, takes) in [
        (json!({"server": elsewhere}), false),
        (
            json!({"server": elsewhere, "tls-server-name": "kubernetes.default.svc"}),
            true,
        ),
        (json!({"tls-server-name": "kubernetes.default.svc"}), true),
        (json!({"tls-server-name": "other.example.com"}), false),
        (
            json!({
                "server": "https://cluster.example.com:6443",
                "tls-server-name": "kubernetes.default.svc",
                "proxy-url": by_proxy,
            }),
            true,
        ),
        (
            json!({"server": "https://cluster.example.com:6443", "proxy-url": by_proxy}),
            false,
        ),
    ] {
        let kubeconfig = kubeconfig_with(plane, directory.path(), cluster.clone());
        let shown = dayshift(&kubeconfig, &["status", "-n", team.name()]);
        assert_eq!(shown.ok, takes, "{cluster}: {shown:?}");
        assert_eq!(shown.stdout.contains("web"), takes, "{cluster}: {shown:?}");
        if !takes {
            assert!(shown.stderr.contains("certificate"), "{cluster}: {shown:?}");
        }
    }
}
