//! The limit: a client that does nothing but send, at once, patches that were prepared before.

use std::{
    path::{Path, PathBuf},
    thread,
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift::{
    cluster::{Connection, Workload, compact, connect, guarded_patch},
    schedule::Zone,
    workload::{Decision, DecisionContext, Kind, Memory, Prefix, decide, read},
};
use futures::{StreamExt as _, future::join_all, stream};
use http::{Request, header};
use kube::{
    Client, Config,
    client::Body,
    config::{KubeConfigOptions, Kubeconfig},
};
use serde::Serialize;
use tokio::runtime;

use super::{
    burst::Burst,
    load,
    support::{ControlPlane, Namespace},
};

/// How the baseline client comes to its connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum Transport {
    /// As dayshift: one HTTP/2 connection, which the watch has opened before.
    Http2,
    /// kube's own client: HTTP/1.1, with every connection still to be opened.
    Http1Cold,
    /// The same, with as many connections opened before as will be in flight.
    Http1Warm,
}

/// A client with Deployments of its own, which dayshift does not look at.
pub(crate) struct Baseline<'p> {
    plane: &'p ControlPlane,
    kubeconfig: PathBuf,
    teams: Vec<Namespace<'p>>,
    /// The Deployments as they were answered last, and the instant they have come to.
    known: Vec<Vec<u8>>,
    now: DateTime<Utc>,
    /// The size of one of them as the server answers it in JSON.
    bytes: usize,
}

const ACCOUNT: &str = "baseline";

impl<'p> Baseline<'p> {
    /// Makes the Namespaces for `count` Deployments, and a ServiceAccount that may do what
    /// dayshift's may.
    pub(crate) fn new(plane: &'p ControlPlane, count: usize) -> Self {
        let teams = load::namespaces(plane, ACCOUNT, count);
        let home = teams[0].name();
        plane
            .kubectl(&["create", "serviceaccount", ACCOUNT, "-n", home])
            .success();
        plane
            .kubectl(&[
                "create",
                "clusterrolebinding",
                ACCOUNT,
                "--clusterrole=dayshift",
                &format!("--serviceaccount={home}:{ACCOUNT}"),
            ])
            .success();
        Self {
            kubeconfig: plane.kubeconfig_of(home, ACCOUNT),
            plane,
            teams,
            known: Vec::new(),
            now: Utc::now(),
            bytes: 0,
        }
    }

    /// Makes its Deployments, and adopts them.
    pub(crate) fn prepare(&mut self, count: usize, in_flight: usize) {
        self.now = Utc::now();
        let instants = vec![
            self.now + TimeDelta::hours(1),
            self.now + TimeDelta::hours(2),
        ];
        let plan = load::Plan(instants);
        load::create(self.plane, &self.teams, ACCOUNT, count, |_| Some(&plan));
        let listed = self.teams.iter().flat_map(Namespace::list);
        self.known = listed
            .map(|deployment| serde_json::to_vec(&deployment).unwrap())
            .collect();
        self.bytes = self.known[0].len();
        self.pass(Transport::Http2, in_flight);
    }

    /// The Namespaces of its Deployments.
    pub(crate) fn namespaces(&self) -> impl Iterator<Item = &str> {
        self.teams.iter().map(Namespace::name)
    }

    /// The size of one of its Deployments as the server answers it, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.bytes
    }

    /// Sends the patch that is next for each of its Deployments: first the one that adopts it,
    /// then in turns those of a stop and a start. Each time with a new client.
    pub(crate) fn pass(&mut self, transport: Transport, in_flight: usize) -> Burst {
        let prefix = Prefix::default();
        let patches: Vec<_> = self
            .known
            .iter()
            .map(|known| patch(known, self.now, &prefix))
            .collect();
        let mark = self.plane.audit().mark();
        let kubeconfig = self.kubeconfig.clone();
        // A thread and a runtime of one thread, as dayshift has.
        let sent = thread::spawn(move || send(&kubeconfig, patches, transport, in_flight));
        let (begun, answers) = sent.join().unwrap();
        let mut requests = self.plane.audit().since(mark);
        requests.retain(|request| {
            request.user.ends_with(&format!(":{ACCOUNT}")) && request.verb == "patch"
        });
        self.known = answers;
        self.now = next_boundary(&self.known[0], &prefix).unwrap_or(self.now);
        Burst::measure(&requests, begun.timestamp_micros())
    }
}

/// Path and body.
type Prepared = (String, Vec<u8>);

fn send(
    kubeconfig: &Path,
    patches: Vec<Prepared>,
    transport: Transport,
    in_flight: usize,
) -> (DateTime<Utc>, Vec<Vec<u8>>) {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let client = client(kubeconfig, transport).await;
        let warm = match transport {
            Transport::Http2 => 1,
            Transport::Http1Cold => 0,
            Transport::Http1Warm => in_flight,
        };
        join_all((0..warm).map(|_| look(&client))).await;
        let begun = Utc::now();
        let answers = stream::iter(patches)
            .map(|prepared| send_one(&client, prepared))
            .buffer_unordered(in_flight)
            .collect()
            .await;
        (begun, answers)
    })
}

async fn client(kubeconfig: &Path, transport: Transport) -> Client {
    if transport == Transport::Http2 {
        let connection = Connection {
            kubeconfig: Some(kubeconfig.to_owned()),
            ..Connection::default()
        };
        return compact(connect(&connection).await.unwrap().0);
    }
    compact(http1(kubeconfig).await)
}

/// kube's own client.
pub(crate) async fn http1(kubeconfig: &Path) -> Client {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options);
    let mut config = config.await.unwrap();
    config.default_retry = false;
    Client::try_from(config).unwrap()
}

/// A small request that opens a connection.
async fn look(client: &Client) {
    let request = Request::get("/version").body(Body::empty()).unwrap();
    let answer = client.send(request).await.unwrap();
    answer.into_body().collect_bytes().await.unwrap();
}

/// Sends it, again where there were too many at once, and returns what the object became.
async fn send_one(client: &Client, (path, body): Prepared) -> Vec<u8> {
    loop {
        let request = Request::patch(&path)
            .header(header::CONTENT_TYPE, "application/json-patch+json")
            .body(Body::from(body.clone()))
            .unwrap();
        let answer = client.send(request).await.unwrap();
        let status = answer.status();
        let body = answer.into_body().collect_bytes().await.unwrap();
        match status.as_u16() {
            200 => return body.to_vec(),
            429 => {}
            code => panic!("{code}: {}", String::from_utf8_lossy(&body)),
        }
    }
}

/// The patch that dayshift would send at `now`, guards and all.
fn patch(known: &[u8], now: DateTime<Utc>, prefix: &Prefix) -> Prepared {
    let workload: Workload = serde_json::from_slice(known).unwrap();
    let observed = workload.observe(Kind::Deployment, prefix);
    let context = DecisionContext {
        parsed: &read(&observed.inputs, &Zone::UTC.into()),
        observed: &observed,
        memory: &Memory::of(&observed),
        seen: now,
        catch_up: TimeDelta::hours(72),
        prefix,
    };
    let Decision::Write(change) = decide(&context, now) else {
        panic!("nothing to do for {} at {now}", observed.object);
    };
    let path = format!(
        "/apis/apps/v1/namespaces/{}/deployments/{}?fieldManager=dayshift",
        workload.namespace(),
        workload.name()
    );
    let body = guarded_patch(&observed, &change, prefix);
    (path, serde_json::to_vec(&body).unwrap())
}

fn next_boundary(known: &[u8], prefix: &Prefix) -> Option<DateTime<Utc>> {
    let workload: Workload = serde_json::from_slice(known).unwrap();
    workload.observe(Kind::Deployment, prefix).state().next
}
