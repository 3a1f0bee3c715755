//! Connections to a Service through the real kube-proxy, while its workload sleeps, wakes and stops.
//!
//! All programs run in a separate network namespace, in which this binary starts itself again. The addresses
//! of kwok's pods are on its loopback interface, where the test listens instead of the pods, and the two
//! activators listen on the addresses of their own pods.

use std::env;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::{Value, json};

use crate::e2e::activator::clients::{Traffic, measured, ping, protocols, talk};
use crate::e2e::activator::stand_ins::{addresses, await_stand_in, install, service, stand_in};
use crate::e2e::test_namespace::TestNamespace;
use crate::support::{
    Assets, ChildGuard, ControlPlane, Dayshift, Missing, Parts, Stage, assets, deployment,
    eventually, wait_until,
};

const NAME: &str = "e2e::activator::kube_proxy";

/// Set in the network namespace: the mode of kube-proxy.
const MODE: &str = "KUBE_PROXY_MODE";

const NETWORK: &str =
    "ip link set lo up && ip address add 10.99.1.1/24 dev lo && ip route add default dev lo";

/// The modes of kube-proxy, and a command that checks whether the machine supports them.
const MODES: [(&str, &str); 2] = [
    ("iptables", "iptables -t nat -L"),
    ("nftables", "nft list ruleset"),
];

/// The scenario, once for each mode of kube-proxy that the machine supports. Without a network
/// namespace it is ignored with the reason; with `CI` set it fails.
pub(crate) fn trial(stage: &Arc<Stage>) -> Trial {
    let stage = Arc::clone(stage);
    Trial::ignorable_test(NAME, move || {
        if let Ok(mode) = env::var(MODE) {
            run(&mode);
            return Ok(Completion::Completed);
        }
        let _others = stage.among_others();
        match run_in_namespace() {
            Ok(reported) => reported.map(|()| Completion::Completed),
            Err(Missing::NoMeans(reason)) if env::var_os("CI").is_none() => {
                Ok(Completion::ignored_with(reason))
            }
            Err(Missing::NoMeans(reason) | Missing::Failed(reason)) => Err(Failed::from(reason)),
        }
    })
}

fn run_in_namespace() -> Result<Result<(), Failed>, Missing> {
    assets()?.make_pods()?;
    Assets::kube_proxy()?;
    let modes: Vec<_> = MODES
        .into_iter()
        .filter(|(_, has)| {
            let mut try_out = in_network(&format!("{NETWORK} && {has}"));
            let output = try_out.stdout(Stdio::null()).stderr(Stdio::null());
            output.status().is_ok_and(|it| it.success())
        })
        .collect();
    if modes.is_empty() {
        let reason = "no right to a network namespace (`unshare -n`), or neither iptables nor nft";
        return Err(Missing::NoMeans(reason.to_owned()));
    }
    for (mode, _) in modes {
        let mut scenario = in_network(&format!("{NETWORK} && exec \"$0\" \"$@\""));
        scenario
            .arg(env::current_exe().unwrap())
            .args(["--exact", NAME, "--nocapture"])
            .env(MODE, mode);
        let status = scenario.status().unwrap();
        if !status.success() {
            return Ok(Err(format!("with {mode}: {status}").into()));
        }
    }
    Ok(Ok(()))
}

/// A shell with this line in its own network namespace.
fn in_network(line: &str) -> Command {
    let mut command = Command::new("unshare");
    if !rustix::process::getuid().is_root() {
        command.arg("--map-root-user");
    }
    command.args(["--net", "sh", "-c", line]);
    command.stdin(Stdio::null());
    command
}

fn run(mode: &str) {
    let plane = ControlPlane::start(assets().unwrap(), Parts::Pods);
    let account = install(&plane);
    let _proxy = kube_proxy(&plane, mode);
    serve_as_pods();
    let mut activators: Vec<_> = addresses(&plane)
        .into_iter()
        .map(|address| Activator::start(&account, address))
        .collect();
    let team = TestNamespace::new(&plane, "proxied");
    let web = deployment("web")
        .replicas(2)
        .hours("00:00-24:00")
        .annotation("dayshift/wake-on-request", "2h");
    team.create(web.annotation("dayshift/sleep-until", "2099-01-01 00:00"));
    team.kubectl_with(&["apply"], &service("web")).success();
    let address = team.kubectl(&["get", "service/web", "-o", "jsonpath={.spec.clusterIP}"]);
    let address: SocketAddr = format!("{}:80", address.success()).parse().unwrap();
    let wakes = || {
        let changes = team.changes_by_others().into_iter();
        let account = "system:serviceaccount:dayshift:dayshift-activator";
        changes.filter(|it| it.user == account).count()
    };

    asleep(&team, "web", address, &activators);
    let begin = Instant::now();
    let through = thread::spawn(move || measured(address));
    let held: Vec<_> = protocols()
        .into_iter()
        .map(|first| thread::spawn(move || talk(address, &first)))
        .collect();
    for client in held {
        client.join().unwrap().unwrap();
    }
    println!(
        "{mode}: held connections were answered, with what they sent, after {:?}",
        begin.elapsed()
    );
    let (answered, rate) = through.join().unwrap().unwrap();
    println!("{mode}: a held one was answered after {answered:?}, then {rate:.0} MB/s came back");
    team.await_label("web", "dayshift/state", "woken");
    wait_until("the audit log has the wake", || wakes() > 0);
    assert_eq!(wakes(), 1, "a wake needs one patch");

    await_stand_in(&team, "web", false);
    team.await_pods("web", 2);
    let before = eventually("kube-proxy sends connections to the pods", || {
        let before = all(&activators, Activator::forwarded);
        ping(address).unwrap();
        (all(&activators, Activator::forwarded) == before).then_some(before)
    });
    let begin = Instant::now();
    for _ in 0..50 {
        ping(address).unwrap();
    }
    println!(
        "{mode}: a direct connection takes {:?}",
        begin.elapsed() / 50
    );
    let (answered, rate) = measured(address).unwrap();
    println!("{mode}: a direct one was answered after {answered:?}, then {rate:.0} MB/s came back");
    let forwarded = all(&activators, Activator::forwarded);
    assert_eq!(
        forwarded, before,
        "connections to ready pods do not pass through the activator"
    );

    let traffic = Traffic::to(address);
    // The sleep continues after the wake ends. The next connection wakes it again.
    team.annotate("web", "dayshift/wake-until", None);
    wait_until("it is woken again", || wakes() == 2);
    team.await_label("web", "dayshift/state", "woken");
    team.await_pods("web", 2);
    await_stand_in(&team, "web", false);
    let (sent, failed) = traffic.end();
    println!("{mode}: {sent} connections through a stop and a wake, {failed:?} failed");
    assert!(sent > 100, "{sent}");
    assert_eq!(failed, Vec::<String>::new());

    use_prolongs_a_wake(mode, &plane, &activators);
    one_is_killed(&plane, &team, address, &mut activators);
}

/// The wake of [`use_prolongs_a_wake`] lasts this long after the last use.
const LASTS: Duration = Duration::from_secs(40);

/// `--prolong-interval` of the activators.
const PROLONG_INTERVAL: Duration = Duration::from_secs(5);

/// With two pods and two activators, half of the connections pass through an activator while use is observed.
fn use_prolongs_a_wake(mode: &str, plane: &ControlPlane, activators: &[Activator]) {
    let team = TestNamespace::new(plane, "used");
    let shop = deployment("shop")
        .replicas(2)
        .hours("00:00-24:00")
        .annotation("dayshift/notice", "15s")
        .annotation(
            "dayshift/wake-on-request",
            format!("{}s; while-used", LASTS.as_secs()),
        )
        .annotation("dayshift/wake-on-request-ignore", "/healthz");
    team.create(shop.annotation("dayshift/sleep-until", "2099-01-01 00:00"));
    team.kubectl_with(&["apply"], &service("shop")).success();
    let address = team.kubectl(&["get", "service/shop", "-o", "jsonpath={.spec.clusterIP}"]);
    let address: SocketAddr = format!("{}:80", address.success()).parse().unwrap();
    asleep(&team, "shop", address, activators);
    ping(address).unwrap();
    team.await_label("shop", "dayshift/state", "woken");
    team.await_pods("shop", 2);
    let until = || team.annotation("shop", "dayshift/wake-until").unwrap();
    let first_end = until();

    // Requests for an ignored path pass through the activators too, but are no use.
    await_stand_in(&team, "shop", true);
    let forwarded = || all(activators, Activator::forwarded);
    let passes = || {
        let before = forwarded();
        check(address).unwrap();
        forwarded() > before
    };
    wait_until("proxies send connections to the activators", &passes);
    let passed: Vec<_> = (0..100).map(|_| passes()).collect();
    let share = passed.iter().filter(|it| **it).count();
    for count in [1, 2, 3, 5] {
        let missed = passed
            .windows(count)
            .filter(|it| !it.contains(&true))
            .count();
        println!(
            "{mode}: use by {count} connections was missed {missed} times of {}; expected {:.1}",
            passed.len() + 1 - count,
            0.5_f64.powi(i32::try_from(count).unwrap()) * (passed.len() + 1 - count) as f64
        );
    }
    println!("{mode}: {share} of 100 connections passed through an activator");
    assert!((30..=70).contains(&share), "{share}");
    assert_eq!(
        until(),
        first_end,
        "requests for an ignored path prolong nothing"
    );

    let begin = Instant::now();
    let before = forwarded();
    let used_for = LASTS + Duration::from_secs(30);
    let mut count = 0;
    while begin.elapsed() < used_for {
        ping(address).unwrap();
        count += 1;
        thread::sleep(Duration::from_millis(300));
    }
    let last_use = Instant::now();
    assert_eq!(
        team.label("shop", "dayshift/state").as_deref(),
        Some("woken")
    );
    let writes = || {
        let changes = team.changes_by_others().into_iter();
        let account = "system:serviceaccount:dayshift:dayshift-activator";
        let by_activator = changes.filter(|it| it.user == account && it.resource == "deployments");
        by_activator.filter(|it| it.code == 200).count()
    };
    // One of them began the wake.
    let prolonged = eventually("the audit log has the writes", || {
        Some(writes() - 1).filter(|it| *it > 0)
    });
    let most = used_for.as_secs() / PROLONG_INTERVAL.as_secs() + 1;
    assert!(
        u64::try_from(prolonged).unwrap() <= most,
        "{prolonged} writes"
    );
    println!(
        "{mode}: {count} connections in {used_for:?} prolonged the wake with {prolonged} writes; {} passed through \
         an activator",
        forwarded() - before
    );
    wait_until("an Event announces the stop", || {
        let end = until().replace('T', " ").replace('Z', " UTC");
        let mut events = team.events("shop").into_iter();
        events.any(|(reason, note)| reason == "StopsSoon" && note.contains(&end))
    });
    team.await_label("shop", "dayshift/state", "slept");
    let ended = last_use.elapsed();
    println!("{mode}: the wake ended {ended:?} after the last use");
    // A use is not observed if it is at most this long after the previous write, so the wake lasts longer.
    assert!(ended > LASTS - Duration::from_secs(2), "{ended:?}");
    assert!(
        ended < LASTS + PROLONG_INTERVAL + Duration::from_secs(20),
        "{ended:?}"
    );
}

/// A request for an ignored path, which the pod echoes.
fn check(address: SocketAddr) -> io::Result<()> {
    let request = b"GET /healthz HTTP/1.1\r\nHost: shop\r\n\r\n";
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(10))?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.write_all(request)?;
    stream.read_exact(&mut vec![0; request.len()])
}

/// Connections that wait on the other replica are answered, and so are later ones.
fn one_is_killed(
    plane: &ControlPlane,
    team: &TestNamespace<'_>,
    address: SocketAddr,
    activators: &mut Vec<Activator>,
) {
    plane.kubectl(&["cordon", "fake"]).success();
    team.annotate("web", "dayshift/wake-until", None);
    asleep(team, "web", address, activators);
    let open = |all: &[Activator]| all.iter().map(Activator::open).collect::<Vec<_>>();
    let hold = |count: usize| -> Vec<_> {
        let clients = (0..count).map(|_| thread::spawn(move || ping(address)));
        clients.collect()
    };
    let waiting = hold(16);
    let held = eventually("both activators hold connections", || {
        let open = open(activators);
        (open.iter().sum::<usize>() == 16 && !open.contains(&0)).then_some(open)
    });
    let mut killed = activators.remove(0);
    killed.program.kill();
    remove_pod(plane, &killed.address);
    let left = [json!([activators[0].address])];
    eventually("the slice no longer contains the dead activator", || {
        let slice = stand_in(team, "web")?;
        let endpoints = slice["endpoints"].as_array()?.iter();
        let names: Vec<_> = endpoints.map(|it| it["addresses"].clone()).collect();
        (names == left).then_some(())
    });
    // Once kube-proxy has observed the removal, no connection is lost.
    eventually(
        "kube-proxy sends connections only to the other activator",
        || {
            let tries =
                (0..20).map(|_| TcpStream::connect_timeout(&address, Duration::from_millis(300)));
            tries.collect::<io::Result<Vec<_>>>().ok().map(drop)
        },
    );
    let late = hold(5);
    wait_until(
        "the other activator holds the remaining connections",
        || activators[0].open() == held[1] + 5,
    );
    plane.kubectl(&["uncordon", "fake"]).success();
    let answered = |clients: Vec<thread::JoinHandle<io::Result<()>>>| {
        let ended = clients.into_iter().map(|it| it.join().unwrap());
        ended.filter(Result::is_ok).count()
    };
    assert_eq!(answered(waiting), held[1], "of 16, {held:?}");
    assert_eq!(answered(late), 5);
}

/// Waits until the workload sleeps and kube-proxy sends connections to the activators: a connection
/// without data wakes nothing.
fn asleep(team: &TestNamespace<'_>, name: &str, address: SocketAddr, activators: &[Activator]) {
    team.await_label(name, "dayshift/state", "slept");
    team.await_pods(name, 0);
    await_stand_in(team, name, true);
    let before = all(activators, Activator::silent);
    eventually("kube-proxy sends connections to the activators", || {
        TcpStream::connect_timeout(&address, Duration::from_millis(300)).ok()?;
        thread::sleep(Duration::from_millis(100));
        (all(activators, Activator::silent) > before).then_some(())
    });
}

/// The sum of a count over all activators.
fn all(activators: &[Activator], count: fn(&Activator) -> usize) -> usize {
    activators.iter().map(count).sum()
}

/// Deletes one pod of the activator with its address, without a replacement.
fn remove_pod(plane: &ControlPlane, address: &str) {
    let pods = plane.kubectl(&["get", "pods", "-n", "dayshift", "-o", "json"]);
    let pods: Value = serde_json::from_str(&pods.success()).unwrap();
    let mut pods = pods["items"].as_array().unwrap().iter();
    let pod = pods.find(|it| it["status"]["podIP"] == address).unwrap();
    let pod = format!("pod/{}", pod["metadata"]["name"].as_str().unwrap());
    let cost = "controller.kubernetes.io/pod-deletion-cost=-100";
    let n = "--namespace=dayshift";
    plane.kubectl(&["annotate", n, &pod, cost]).success();
    let scale = ["scale", n, "deployment/dayshift-activator", "--replicas=1"];
    plane.kubectl(&scale).success();
}

fn kube_proxy(plane: &ControlPlane, mode: &str) -> ChildGuard {
    let program = Assets::kube_proxy().unwrap_or_else(|why| panic!("{why:?}"));
    let mut command = Command::new(program);
    command
        .arg(format!("--proxy-mode={mode}"))
        .arg(format!("--kubeconfig={}", plane.kubeconfig().display()))
        .args(["--hostname-override=fake", "--cluster-cidr=10.99.1.0/24"])
        .args(["--healthz-bind-address=127.0.0.1:10256"])
        .args(["--metrics-bind-address=127.0.0.1:10249"])
        // The defaults of these settings affect the whole machine.
        .args(["--conntrack-max-per-core=0", "--conntrack-min=0"])
        .args(["--conntrack-tcp-timeout-established=0s"])
        .args(["--conntrack-tcp-timeout-close-wait=0s"])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    ChildGuard::spawn(&mut command, None).unwrap()
}

/// Echoes data on port 80 of every address until the other side closes.
fn serve_as_pods() {
    let listener = TcpListener::bind("0.0.0.0:80").unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                let mut from = stream.try_clone().unwrap();
                let _ = io::copy(&mut from, &mut stream);
            });
        }
    });
}

struct Activator {
    program: Dayshift,
    address: String,
}

impl Activator {
    fn start(account: &std::path::Path, address: String) -> Self {
        let bind = format!("--bind={address}");
        let interval = format!("--prolong-interval={}s", PROLONG_INTERVAL.as_secs());
        let arguments = ["activator", "--listen=127.0.0.1:0", &bind, &interval];
        let mut program = Dayshift::run_as(account, &arguments);
        program.wait_ready();
        Self { program, address }
    }

    fn metric(&self, name: &str) -> usize {
        let (_, metrics) = self.program.get("/metrics").unwrap();
        let mut lines = metrics.lines();
        let line = lines.find_map(|it| it.strip_prefix(&format!("dayshift_activator_{name} ")));
        line.map_or(0, |it| it.parse().unwrap())
    }

    fn open(&self) -> usize {
        self.metric("open_connections")
    }

    fn silent(&self) -> usize {
        self.metric("connections_total{outcome=\"silent\"}")
    }

    /// The number of connections that the activator forwarded to pods.
    fn forwarded(&self) -> usize {
        self.metric("hold_seconds_count")
    }
}
