//! The controller and the activator in a cluster in memory, and clients on loopback sockets.
//!
//! Simulated time stops while a client waits for its response: tokio advances it only if no
//! blocking thread works.

use std::{
    io::{Read as _, Write as _},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream},
    process,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU16, Ordering},
    },
    time::Duration,
};

use dayshift_activator::{ServiceName, WakeLimits};
use dayshift_cluster::clock::Clock;
use dayshift_controller::Scope;
use dayshift_schedule::Zone;
use dayshift_workload::{Kind, Prefix};
use kube_in_memory::Api;
use serde_json::{Value, json};
use tokio::{
    task::{JoinHandle, spawn_blocking},
    time::sleep,
};

use super::{
    night::{Client, Night, NightStep, NightWorkload},
    oracle::{Answer, Objects, Oracle, Place},
};
use crate::harness::day::{self, cluster_at, on_paused_time, start_controller};

/// The result of a night.
pub(super) struct NightResult {
    pub(super) failure: Option<String>,
    pub(super) trace: Vec<String>,
    pub(super) wakes: usize,
}

const EVENING: &str = "2026-11-24T17:59:00Z";
/// The maximum time of each action.
const SOON: Duration = Duration::from_secs(3);
/// The ports of the Services. Each night uses other ports.
const PORTS: (u16, u16) = (20_000, 59_999);
static NEXT_PORT: AtomicU16 = AtomicU16::new(PORTS.0);

/// An address that no other process uses.
fn address() -> IpAddr {
    let [_, high, middle, low] = process::id().to_be_bytes();
    Ipv4Addr::new(127, 64 + high % 64, middle, low).into()
}

pub(super) fn run(night: &Night) -> NightResult {
    on_paused_time(async {
        let mut world = World::of(night);
        world.evening().await;
        for (pause, step) in &night.steps {
            sleep(Duration::from_secs(*pause)).await;
            world.apply(*step).await;
            sleep(SOON).await;
            let now = world.clock.now();
            world.oracle().check_wakes(now);
        }
        let mut oracle = world.oracle();
        NightResult {
            failure: oracle.failure.take(),
            trace: std::mem::take(&mut oracle.trace),
            wakes: oracle.wakes,
        }
    })
}

struct World<'n> {
    night: &'n Night,
    clock: Clock,
    api: Api,
    oracle: Arc<Mutex<Oracle>>,
    /// The address of the last client.
    client: Arc<Mutex<String>>,
    ports: Vec<u16>,
    activator: Option<JoinHandle<()>>,
}

impl<'n> World<'n> {
    fn of(night: &'n Night) -> Self {
        let (clock, api) = cluster_at(EVENING.parse().unwrap(), &["dev", "test"]);
        api.serve_custom("", "v1", "services", "Service");
        let slices = "discovery.k8s.io";
        api.serve_custom(slices, "v1", "endpointslices", "EndpointSlice");
        let ports = night.objects.iter();
        let ports = ports.map(|_| NEXT_PORT.fetch_add(1, Ordering::Relaxed));
        Self {
            night,
            clock,
            api,
            oracle: Arc::default(),
            client: Arc::default(),
            ports: ports.collect(),
            activator: None,
        }
    }

    fn oracle(&self) -> MutexGuard<'_, Oracle> {
        self.oracle.lock().unwrap()
    }

    /// Creates all objects; they run and are stopped at 18:00.
    async fn evening(&mut self) {
        for workload in &self.night.objects {
            self.api.create(deployment(workload)).unwrap();
            self.api.create(service(workload)).unwrap();
        }
        self.listen();
        let settings = dayshift_controller::Settings {
            scope: Scope {
                kinds: vec![Kind::DEPLOYMENT],
                ..Scope::default()
            },
            seed: self.night.seed,
            ..dayshift_controller::Settings::default()
        };
        start_controller(&self.api, &self.clock, settings);
        sleep(Duration::from_secs(90)).await;
        // The activator starts with ports in its slices, as after a restart, because the API in memory cannot
        // apply slices.
        for (workload, port) in self.night.objects.iter().zip(&self.ports) {
            self.api.create(slice(workload, *port)).unwrap();
        }
        self.start();
        // Wakes end at full seconds. If a request came at the same time, the result would depend on whether the
        // controller stops the workload before or after it.
        sleep(SOON + Duration::from_millis(500)).await;
    }

    fn start(&mut self) {
        let settings = dayshift_activator::Settings {
            kinds: vec![Kind::DEPLOYMENT],
            namespaces: Vec::new(),
            service: ServiceName {
                namespace: "dayshift".into(),
                name: "dayshift-activator".into(),
            },
            prefix: Prefix::default(),
            default_zone: Zone::UTC,
            tzdata: dayshift_schedule::Tzdata::default(),
            kind_table: Arc::default(),
            bind: Some(address()),
            ports: PORTS,
            hold: Duration::from_secs(60),
            wake_limits: WakeLimits::default(),
            max_connections: 100,
            max_per_service: 50,
            ignored_agents: vec!["kube-probe".to_owned()],
            page: dayshift_activator::PageSettings::default(),
            drain: Duration::from_secs(60),
            instance: "activator".to_owned(),
            seed: self.night.seed,
        };
        let (client, clock) = (self.api.client_as("activator"), self.clock.clone());
        let telemetry = Arc::default();
        self.activator = Some(tokio::spawn(async move {
            dayshift_activator::run(client, clock, settings, telemetry, std::future::pending())
                .await;
        }));
    }

    async fn apply(&mut self, step: NightStep) {
        let now = self.clock.now();
        self.oracle().note(now, &format!("{step:?}"));
        match step {
            NightStep::Request(number, client) => self.ask(number, client).await,
            NightStep::Pause(number) => self.annotate(number, "pause", Some("true")),
            NightStep::Resume(number) => {
                self.annotate(number, "pause", None);
                self.annotate(number, "wake-until", None);
            }
            NightStep::Restart => {
                if let Some(activator) = self.activator.take() {
                    activator.abort();
                    drop(activator.await);
                }
                self.start();
            }
        }
    }

    fn annotate(&self, number: usize, key: &str, text: Option<&str>) {
        let workload = &self.night.objects[number];
        let key = format!("dayshift/{key}");
        let set = self
            .api
            .annotate(workload.namespace, &workload.name, &key, text);
        set.unwrap();
    }

    async fn ask(&self, number: usize, client: Client) {
        let (workload, now) = (&self.night.objects[number], self.clock.now());
        let expected = {
            let (objects, place) = (self.objects(), place(workload));
            self.oracle().expect_response(&objects, &place, client, now)
        };
        let path = match client {
            Client::Health => "/healthz",
            Client::Heartbeat => "/ping",
            Client::Browser | Client::Probe => "/a/b",
        };
        let host = format!("{}.example.com", workload.name);
        let agent = if client == Client::Probe {
            "kube-probe/1.36"
        } else {
            "Mozilla/5.0"
        };
        let head = format!(
            "GET {path}?secret=1 HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {agent}\r\nAccept: text/html\r\n\r\n"
        );
        let to = SocketAddr::new(address(), self.ports[number]);
        let called = Arc::clone(&self.client);
        let answer = spawn_blocking(move || {
            let mut stream = TcpStream::connect(to).ok()?;
            let from = stream.local_addr().unwrap().ip();
            *called.lock().unwrap() = from.to_string();
            stream
                .set_read_timeout(Some(Duration::from_secs(60)))
                .unwrap();
            stream.write_all(head.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            Some(answer)
        });
        let answer = answer.await.unwrap();
        if Answer::of(answer.as_deref()) != Some(expected) {
            let why = format!("expected the response {expected:?}, but received {answer:?}");
            self.oracle().fail(now, why);
        }
    }

    fn objects(&self) -> Objects {
        let all = self.night.objects.iter().map(|workload| {
            let object = self
                .api
                .get("Deployment", workload.namespace, &workload.name);
            (place(workload), (workload.clone(), object.unwrap()))
        });
        all.collect()
    }

    /// Passes each accepted wake and Event to the oracle.
    fn listen(&self) {
        let (oracle, client, clock) =
            (self.oracle.clone(), self.client.clone(), self.clock.clone());
        self.api.on_admission(move |admission| {
            let now = clock.now();
            let until = |object: &Value| {
                let until = &object["metadata"]["annotations"]["dayshift/wake-until"];
                until.as_str().map(str::to_owned)
            };
            if admission.resource == "events" {
                let client = client.lock().unwrap();
                oracle
                    .lock()
                    .unwrap()
                    .check_event(admission.new, &client, now);
            } else if admission.resource == "deployments"
                && let Some(new) = until(admission.new)
                && admission.old.and_then(until).as_ref() != Some(&new)
            {
                let place = (admission.namespace.to_owned(), admission.name.to_owned());
                oracle.lock().unwrap().wrote(&place, &new, now);
            }
            None
        });
    }
}

fn place(workload: &NightWorkload) -> Place {
    (workload.namespace.to_owned(), workload.name.clone())
}

fn deployment(workload: &NightWorkload) -> Value {
    let mut annotations = json!({"dayshift/hours": "09:00-18:00"});
    if let Some(wake) = workload.wake {
        annotations["dayshift/wake-on-request"] = json!(wake);
    }
    if workload.ignores_health && workload.wake.is_some() {
        annotations["dayshift/wake-on-request-ignore"] = json!("/healthz");
    }
    if workload.answers_ping && workload.wake.is_some() {
        annotations["dayshift/wake-on-request-answer"] = json!("/ping");
    }
    if !workload.after.is_empty() {
        let names: Vec<_> = workload
            .after
            .iter()
            .map(|it| format!("deploy/{it}"))
            .collect();
        annotations["dayshift/after"] = json!(format!("{}, 30s", names.join("; ")));
    }
    day::deployment((workload.namespace, &workload.name), 2, &annotations)
}

fn service(workload: &NightWorkload) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"namespace": workload.namespace, "name": workload.name},
        "spec": {
            "selector": {"app": workload.name}, "clusterIP": "10.96.0.1", "ipFamilies": ["IPv4"],
            "ports": [{"name": "http", "port": 80}],
        },
    })
}

fn slice(workload: &NightWorkload, port: u16) -> Value {
    json!({
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "namespace": workload.namespace,
            "name": format!("{}-dayshift", workload.name),
            "labels": {
                "kubernetes.io/service-name": workload.name,
                "endpointslice.kubernetes.io/managed-by": "dayshift",
            },
        },
        "addressType": "IPv4",
        "ports": [{"name": "http", "port": port, "protocol": "TCP"}],
        "endpoints": [],
    })
}
