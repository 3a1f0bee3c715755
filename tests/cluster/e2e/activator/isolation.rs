//! Attempts of users of one namespace to affect another: with many ports and connections, with slices that
//! claim the port of another team, with the address of a deleted pod, and with a Service that runs again.
//!
//! Each activator watches only the namespaces of its test, with the shipped ServiceAccount and policies.

use std::fs::{self, Permissions};
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::PermissionsExt as _;
use std::thread;
use std::time::Duration;

use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use serde_json::{Value, json};
use tokio::net::TcpSocket;

use crate::e2e::activator::stand_ins::{await_stand_in, install, service};
use crate::e2e::test_namespace::TestNamespace;
use crate::support::{
    ControlPlane, Dayshift, DeploymentBuilder, Parts, Scenario, block_on, deployment, eventually,
    scenarios, wait_until,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Pods;
        one_namespace_cannot_use_up_ports_and_connections_of_others,
        slice_that_claims_the_port_of_another_team_gets_none_of_its_connections,
        address_of_a_deleted_pod_gets_no_connections,
        addresses_of_one_client_cannot_use_up_the_connections_of_a_stopped_service,
    ]
}

/// A Deployment as the controller leaves it after a stop. Without a controller nothing starts it.
fn stopped(name: &str) -> DeploymentBuilder {
    asking(name).replicas(0).label("dayshift/state", "stopped")
}

fn asking(name: &str) -> DeploymentBuilder {
    let asking = deployment(name).hours("00:00-24:00");
    asking.annotation("dayshift/wake-on-request", "2h")
}

/// An activator for these namespaces on these ports of the loopback interface.
fn arguments(ports: &str, teams: [&TestNamespace<'_>; 2]) -> Vec<String> {
    let namespaces = teams.map(|team| team.name().to_owned()).join(",");
    [
        "activator",
        "--listen=127.0.0.1:0",
        "--bind=127.0.0.1",
        "--hold=3s",
        &format!("--ports={ports}"),
        &format!("--namespace={namespaces}"),
    ]
    .map(str::to_owned)
    .to_vec()
}

fn port_of(slice: &Value) -> u16 {
    u16::try_from(slice["ports"][0]["port"].as_u64().unwrap()).unwrap()
}

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let limit = Some(Duration::from_secs(20));
    stream.set_read_timeout(limit).unwrap();
    stream
}

/// The response to a browser. If the activator resets the connection, the part before it.
fn ask(port: u16) -> String {
    exchange(connect(port))
}

fn exchange(mut stream: TcpStream) -> String {
    let limit = Some(Duration::from_secs(20));
    stream.set_read_timeout(limit).unwrap();
    let request = "GET / HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n";
    let mut answer = String::new();
    if stream.write_all(request.as_bytes()).is_ok() {
        let _ = stream.read_to_string(&mut answer);
    }
    answer
}

fn metric(program: &Dayshift, name: &str) -> u64 {
    let (_, text) = program.get("/metrics").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.map_or(0, |count| count.trim().parse().unwrap())
}

/// An attacker creates a dozen Services with 100 ports each and many silent connections; the activator may
/// open 1,024 files.
fn one_namespace_cannot_use_up_ports_and_connections_of_others(plane: &ControlPlane) {
    const SERVICES: usize = 12;
    let activator = install(plane);
    let greedy = TestNamespace::without_controller(plane, "greedy");
    let team = TestNamespace::without_controller(plane, "beside");
    greedy.create(stopped("web"));
    let port = |number: usize| json!({"name": format!("p{number}"), "port": 1_000 + number});
    let many = (0..SERVICES).map(|number| {
        json!({
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": format!("s{number:03}")},
            "spec": {"selector": {"app": "web"}, "ports": (0..100).map(port).collect::<Vec<_>>()},
        })
    });
    let many = json!({"apiVersion": "v1", "kind": "List", "items": many.collect::<Vec<_>>()});
    greedy.create_all(&many.to_string());

    let directory = tempfile::tempdir().unwrap();
    let limited = directory.path().join("limited");
    let program = env!("CARGO_BIN_EXE_dayshift");
    let script = format!("#!/bin/sh\nulimit -n 1024\nexec '{program}' \"$@\"\n");
    fs::write(&limited, script).unwrap();
    fs::set_permissions(&limited, Permissions::from_mode(0o755)).unwrap();
    let arguments = arguments("22000-22999", [&greedy, &team]);
    let arguments: Vec<_> = arguments.iter().map(|text| &**text).collect();
    let mut program = Dayshift::run_program(&limited, &activator, &arguments);
    program.wait_ready();
    let first = await_stand_in(&greedy, "s000", true);
    eventually("the missing ports are reported", || {
        let events = greedy.read("apis/events.k8s.io/v1", "events").unwrap();
        let found = events["items"].as_array()?.iter().any(|event| {
            event["reason"] == "NoActivatorPort"
                && event["type"] == "Warning"
                && event["regarding"]["kind"] == "Service"
        });
        found.then_some(())
    });
    let missing = metric(&program, "dayshift_activator_ports_missing");
    assert!(missing > 100 * SERVICES as u64 / 2, "{missing} ports");

    // More connections than the namespace may hold.
    let silent: Vec<_> = (0..300).map(|_| connect(port_of(&first))).collect();
    wait_until("the namespace has its share of connections", || {
        let full = "dayshift_activator_connections_total{outcome=\"full\"}";
        metric(&program, full) > 0
    });
    // A Service that another team creates later.
    team.create(stopped("web"));
    team.apply(&service("web"));
    let later = await_stand_in(&team, "web", true);
    for _ in 0..10 {
        let page = ask(port_of(&later));
        assert_contains!(page, "This service is starting");
        for path in ["/healthz", "/readyz"] {
            assert_eq!(
                program.get(path).map(|(status, _)| status),
                Some(200),
                "{path}"
            );
        }
    }
    let lines = program.log().lines().count();
    assert!(lines < 100, "{lines} lines");
    drop(silent);
    program.kill();
}

/// A connection from this address of the loopback interface.
fn connect_from(address: [u8; 4], port: u16) -> TcpStream {
    let stream = block_on(async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from((address, 0))).unwrap();
        let to = SocketAddr::from(([127, 0, 0, 1], port));
        socket.connect(to).await.unwrap().into_std().unwrap()
    });
    stream.set_nonblocking(false).unwrap();
    stream
}

fn addresses_of_one_client_cannot_use_up_the_connections_of_a_stopped_service(
    plane: &ControlPlane,
) {
    let activator = install(plane);
    let team = TestNamespace::without_controller(plane, "crowded");
    let other = TestNamespace::without_controller(plane, "crowded-other");
    team.create(stopped("web"));
    team.apply(&service("web"));
    let mut arguments = arguments("23300-23399", [&team, &other]);
    arguments.push("--max-per-service=20".to_owned());
    let arguments: Vec<_> = arguments.iter().map(|text| &**text).collect();
    let mut program = Dayshift::run_as(&activator, &arguments);
    program.wait_ready();
    let port = port_of(&await_stand_in(&team, "web", true));
    for _ in 0..3 {
        let silent: Vec<_> = (1..=40)
            .map(|last| connect_from([127, 0, 1, last], port))
            .collect();
        let page = exchange(connect_from([127, 0, 2, 1], port));
        assert_contains!(page, STARTING);
        drop(silent);
    }
    let full = "dayshift_activator_connections_total{outcome=\"full\"}";
    assert!(metric(&program, full) >= 20, "the limit was never reached");
    program.kill();
}

/// After this time, the activator no longer gives up an assigned port.
const SETTLED: Duration = Duration::from_secs(35);

/// The response of the attacker's Service, and the response of the other team's.
const STARTING: &str = "This service is starting";
const IGNORED: &str = "this request does not wake it";

/// Asserts that nothing listens on this port, or that the other team's Service answers.
fn assert_is_not_the_attackers(port: u16) {
    if let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) {
        let answer = exchange(stream);
        assert_lacks!(answer, STARTING);
    }
}

/// The policy that lets only the activator write its slices is missing, so its own account can change the
/// slice.
fn slice_that_claims_the_port_of_another_team_gets_none_of_its_connections(plane: &ControlPlane) {
    let activator = install(plane);
    let thief = plane.client_of(&activator);
    // The attacker's namespace is the first one in the order of names.
    let attacker = TestNamespace::without_controller(plane, "attacker");
    let team = TestNamespace::without_controller(plane, "claimed");
    attacker.create(stopped("web"));
    // The response of this Service differs from that of the attacker's.
    team.create(stopped("web").annotation("dayshift/wake-on-request-ignore", "/*"));
    for namespace in [&attacker, &team] {
        namespace.apply(&service("web"));
    }
    let arguments = arguments("23000-23099", [&attacker, &team]);
    let arguments: Vec<_> = arguments.iter().map(|text| &**text).collect();
    let mut program = Dayshift::run_as(&activator, &arguments);
    program.wait_ready();
    let (own, other) = (
        port_of(&await_stand_in(&attacker, "web", true)),
        port_of(&await_stand_in(&team, "web", true)),
    );
    assert_ne!(own, other);
    assert_contains!(ask(own), STARTING);
    let slices: Api<EndpointSlice> = Api::namespaced(thief, attacker.name());
    let claim = |number: u16| {
        let ports = json!({"ports": [{"name": "http", "port": number, "protocol": "TCP"}]});
        let params = PatchParams::default();
        block_on(slices.patch("web-dayshift", &params, &Patch::Merge(&ports))).unwrap();
    };
    // A port that another slice claims right after its assignment is given up, and is not assigned for some
    // time.
    claim(other);
    for _ in 0..60 {
        assert_is_not_the_attackers(other);
    }
    thread::sleep(SETTLED);
    let other = port_of(&await_stand_in(&team, "web", true));
    let mut answered = 0;
    for round in 0..240 {
        if round % 60 == 0 {
            claim(other);
        }
        let answer = ask(other);
        assert_lacks!(answer, STARTING);
        answered += usize::from(answer.contains(IGNORED));
    }
    assert_eq!(answered, 240, "the port of the team does not change");

    // After a restart, the activator knows the ports only from the slices.
    program.kill();
    claim(other);
    let mut program = Dayshift::run_as(&activator, &arguments);
    program.wait_ready();
    for _ in 0..60 {
        assert_is_not_the_attackers(other);
    }
    let now = eventually("the team has a port", || {
        let port = port_of(&await_stand_in(&team, "web", true));
        TcpStream::connect(("127.0.0.1", port))
            .is_ok()
            .then_some(port)
    });
    assert!(ask(now).contains(IGNORED), "{now}");
    program.kill();
}

/// The address of this machine on its network. Kubernetes permits no loopback address in an EndpointSlice.
fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback()).then_some(address)
}

/// A pod with this address, which this test serves. No kubelet runs it.
fn create_pod(team: &TestNamespace<'_>, name: &str, app: &str, address: IpAddr) -> String {
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": app}},
        "spec": {"schedulerName": "none", "containers": [{"name": "a", "image": "a"}]},
    });
    team.create_all(&pod.to_string());
    let status = json!({"status": {
        "phase": "Running", "podIP": address, "podIPs": [{"ip": address}],
        "conditions": [{"type": "Ready", "status": "True"}],
    }});
    team.patch("api/v1", &format!("pods/{name}/status"), &status);
    let pod = team.read("api/v1", &format!("pods/{name}")).unwrap();
    pod["metadata"]["uid"].as_str().unwrap().to_owned()
}

fn address_of_a_deleted_pod_gets_no_connections(plane: &ControlPlane) {
    let Some(address) = own_address() else {
        println!("this machine has no network");
        return;
    };
    let pod = TcpListener::bind((address, 0)).unwrap();
    let port = pod.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in pod.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.write_all(b"a pod");
        }
    });
    let activator = install(plane);
    let team = TestNamespace::without_controller(plane, "deleted-pod");
    let other = TestNamespace::without_controller(plane, "deleted-pod-other");
    team.create(stopped("web"));
    team.apply(&service("web"));
    let uid = create_pod(&team, "web-1", "web", address);
    // A slice of a user, which stays after the pod.
    let slice = json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
        "metadata": {"name": "web-of-a-user", "labels": {
            "kubernetes.io/service-name": "web", "endpointslice.kubernetes.io/managed-by": "me",
        }},
        "addressType": if address.is_ipv4() { "IPv4" } else { "IPv6" },
        "ports": [{"name": "http", "port": port, "protocol": "TCP"}],
        "endpoints": [{"addresses": [address], "targetRef": {
            "kind": "Pod", "namespace": team.name(), "name": "web-1", "uid": uid,
        }}],
    });
    team.create_all(&slice.to_string());
    let arguments = arguments("23100-23199", [&team, &other]);
    let arguments: Vec<_> = arguments.iter().map(|text| &**text).collect();
    let mut program = Dayshift::run_as(&activator, &arguments);
    program.wait_ready();
    let own = port_of(&await_stand_in(&team, "web", false));
    let heard = || {
        let mut answer = String::new();
        let _ = connect(own).read_to_string(&mut answer);
        answer
    };
    wait_until("connections go to the pod", || heard() == "a pod");
    // A pod that has ended still shows its address.
    let ended = json!({"status": {"phase": "Succeeded"}});
    team.patch("api/v1", "pods/web-1/status", &ended);
    create_pod(&other, "other-1", "other", address);
    thread::sleep(Duration::from_millis(2_500));
    assert_eq!(heard(), "");
    // The address now belongs only to a pod of another team.
    team.kubectl(&["delete", "pod", "web-1", "--grace-period=0", "--force"])
        .success();
    thread::sleep(Duration::from_millis(2_500));
    for _ in 0..3 {
        assert_eq!(heard(), "");
    }
    // This also applies if a pod of the team gets the same name again.
    create_pod(&team, "web-1", "web", address);
    thread::sleep(Duration::from_millis(2_500));
    assert_eq!(heard(), "");
    program.kill();
}
