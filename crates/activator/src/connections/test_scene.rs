//! A connection to an activator with one Service, with a pod on a loopback socket and an API server that
//! knows it.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use chrono::{DateTime, Utc};
use dayshift_cluster::clock::Clock;
use dayshift_schedule::Zone;
use dayshift_workload::{IgnoredPaths, Kind, Observed, WakeOnRequest};
use http::{Request as HttpRequest, Response};
use kube::{Client, client::Body};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex},
    net::TcpListener,
    sync::{mpsc, watch},
    task::{JoinHandle, spawn},
};
use tower::service_fn;

use crate::{
    connections::{
        connection::{Shared, serve},
        places::Places,
        pods::Pods,
    },
    routes::{Backend, NeededState, Route, Routes, Target},
    service::{PodName, ServiceName},
    telemetry::Telemetry,
    test_cluster::settings,
    waking::wakes::{Request, Took},
};

/// An API server whose one pod is this object.
fn client(pod: Value, reads: Arc<AtomicUsize>) -> Client {
    let service = service_fn(move |request: HttpRequest<Body>| {
        reads.fetch_add(1, Ordering::Relaxed);
        assert_eq!(request.uri().path(), "/api/v1/namespaces/dev/pods/web-1");
        let answer = Response::new(Body::from(pod.to_string().into_bytes()));
        async { Ok::<_, Infallible>(answer) }
    });
    Client::new(service, "dev")
}

#[expect(clippy::needless_pass_by_value, reason = "as json! gives it")]
pub(crate) fn pod(ip: &str, labels: Value) -> Value {
    json!({"metadata": {"uid": "p", "labels": labels}, "status": {"podIPs": [{"ip": ip}]}})
}

pub(crate) fn web() -> ServiceName {
    ServiceName {
        namespace: "dev".into(),
        name: "web".into(),
    }
}

/// An activator with one Service and one workload.
pub(crate) struct Scene {
    pub(crate) shared: Shared,
    pub(crate) routes: watch::Sender<Arc<Routes>>,
    pub(crate) requests: mpsc::Receiver<Request>,
    /// How often the pod was read.
    pub(crate) reads: Arc<AtomicUsize>,
}

impl Scene {
    pub(crate) fn new(pod: Value) -> Self {
        let (routes_in, routes) = watch::channel(Arc::<Routes>::default());
        let (requests_in, requests) = mpsc::channel(100);
        let reads = Arc::<AtomicUsize>::default();
        let scene = Self {
            shared: Shared {
                routes,
                requests: requests_in,
                places: Places::new(100, 50),
                pods: Pods::new(client(pod, Arc::clone(&reads))),
                took: Took::default(),
                telemetry: Arc::default(),
                settings: Arc::new(settings()),
                clock: Clock::system(),
            },
            routes: routes_in,
            requests,
            reads,
        };
        scene.show(NeededState::Asleep, &[]);
        scene
    }

    pub(crate) fn show(&self, standing: NeededState, ready: &[SocketAddr]) {
        let object = json!({
            "metadata": {"name": "web", "namespace": "dev", "uid": "u"}, "spec": {"replicas": 0},
        });
        let workload: dayshift_cluster::Workload = serde_json::from_value(object).unwrap();
        let observed: Observed = workload.observe(Kind::DEPLOYMENT, &settings().prefix);
        let target = Target {
            observed,
            wake: WakeOnRequest::parse("2h").unwrap(),
            ignored: IgnoredPaths::parse("/healthz").unwrap(),
            zone: Zone::UTC,
            standing,
            since: DateTime::<Utc>::from_timestamp(0, 0),
            starts_until: None,
            needs: Vec::new(),
        };
        let backends = ready.iter().map(|address| Backend {
            address: *address,
            pod: PodName {
                namespace: "dev".into(),
                name: "web-1".into(),
                uid: "p".into(),
            },
        });
        let route = Route {
            ports: BTreeMap::from([("tcp".into(), 20000)]),
            targets: vec![Arc::new(target)],
            ready: BTreeMap::from([("tcp".into(), backends.collect())]),
            selector: BTreeMap::from([("app".to_owned(), "web".to_owned())]),
        };
        let routes = Routes::from([(web(), Arc::new(route))]);
        self.routes.send_replace(Arc::new(routes));
    }

    /// A client that has connected, and what serves it.
    pub(crate) fn connect(&self) -> (DuplexStream, JoinHandle<()>) {
        let (client, server) = duplex(1024);
        let from = SocketAddr::from(([10, 0, 0, 1], 1000));
        let place = self.shared.places.take(&web()).unwrap();
        let connection = serve(
            self.shared.clone(),
            web(),
            "tcp".into(),
            server,
            from,
            place,
        );
        (client, spawn(connection))
    }

    /// What a client reads that says this and then nothing more.
    pub(crate) async fn answer(&self, says: &str) -> String {
        let (mut client, served) = self.connect();
        client.write_all(says.as_bytes()).await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        drop(client);
        served.await.unwrap();
        answer
    }

    pub(crate) fn metric(&self, outcome: &str) -> u32 {
        metric(&self.shared.telemetry, outcome)
    }
}

fn metric(telemetry: &Telemetry, outcome: &str) -> u32 {
    let text = telemetry.render();
    let name = format!("dayshift_activator_connections_total{{outcome=\"{outcome}\"}} ");
    let line = text.lines().find_map(|line| line.strip_prefix(&name));
    line.map_or(0, |count| count.parse().unwrap())
}

/// A pod that sends back what it gets.
pub(crate) async fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            spawn(async move {
                let (mut from, mut to) = stream.split();
                tokio::io::copy(&mut from, &mut to).await.unwrap();
                to.shutdown().await.unwrap();
            });
        }
    });
    address
}
