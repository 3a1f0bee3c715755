//! The limit: a client that only sends prepared patches, all at once.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::{
    Workload,
    connect::{Connection, compact, connect},
    write::guarded_patch,
};
use dayshift_schedule::Zone;
use dayshift_workload::{Decision, DecisionContext, Kind, Memory, Prefix, decide, read};
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
    load::{self, Fleet},
    support::{ControlPlane, Namespace},
};

/// How the baseline client gets its connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum Transport {
    /// Like dayshift: one HTTP/2 connection, already opened by a watch.
    Http2,
    /// kube's own client: HTTP/1.1, and every connection must still be opened.
    Http1Cold,
    /// kube's own client, with as many open connections as there will be requests in flight.
    Http1Warm,
}

/// A client with its own workloads, which dayshift does not watch.
pub(crate) struct Baseline<'p> {
    plane: &'p ControlPlane,
    kubeconfig: PathBuf,
    teams: Vec<Namespace<'p>>,
    /// The last responses about the workloads, and the latest boundary that they have applied.
    known: Vec<(Kind, Vec<u8>)>,
    now: DateTime<Utc>,
    /// The size of one workload in the server's JSON.
    bytes: usize,
}

const ACCOUNT: &str = "baseline";

impl<'p> Baseline<'p> {
    /// Creates the Namespaces for `count` workloads, and a ServiceAccount with dayshift's
    /// permissions.
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

    /// Extends the admission policy of dayshift's ServiceAccount to this client: the API server needs
    /// as much time for its patches.
    pub(crate) fn extend_policy(&self) {
        let dayshift = "request.userInfo.username == 'system:serviceaccount:dayshift:dayshift'";
        let account = format!("system:serviceaccount:{}:{ACCOUNT}", self.teams[0].name());
        let both = format!("{dayshift} || request.userInfo.username == '{account}'");
        let policy = include_str!("../../manifests/policy/scaler.yaml");
        assert!(policy.contains(dayshift));
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), policy.replace(dayshift, &both)).unwrap();
        let path = file.path().to_str().unwrap();
        self.plane.kubectl(&["apply", "-f", path]).success();
    }

    /// Creates its workloads, and adopts them.
    pub(crate) fn prepare(&mut self, fleet: Fleet, in_flight: usize) {
        self.now = Utc::now();
        let instants = vec![
            self.now + TimeDelta::hours(1),
            self.now + TimeDelta::hours(2),
        ];
        let plan = load::Plan(instants);
        self.known = load::create(self.plane, &self.teams, ACCOUNT, fleet, |_| Some(&plan));
        self.bytes = self.known[0].1.len();
        self.pass(Transport::Http2, in_flight);
    }

    pub(crate) fn namespaces(&self) -> impl Iterator<Item = &str> {
        self.teams.iter().map(Namespace::name)
    }

    /// The size of its first workload in the server's JSON, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.bytes
    }

    /// Sends the next patch for each of its workloads with a new client: first the adoption, then
    /// stops and starts in turn.
    pub(crate) fn pass(&mut self, transport: Transport, in_flight: usize) -> Burst {
        let prefix = Prefix::default();
        let patches: Vec<_> = self
            .known
            .iter()
            .map(|(kind, known)| patch(kind, known, self.now, &prefix))
            .collect();
        let mark = self.plane.audit().mark();
        let kubeconfig = self.kubeconfig.clone();
        // A thread with a single-threaded runtime, like dayshift's.
        let sent = thread::spawn(move || send(&kubeconfig, patches, transport, in_flight));
        let (begun, answers) = sent.join().unwrap();
        let mut requests = self.plane.audit().since(mark);
        requests.retain(|request| {
            request.user.ends_with(&format!(":{ACCOUNT}")) && request.verb == "patch"
        });
        self.known = answers;
        let (kind, first) = &self.known[0];
        self.now = next_boundary(kind, first, &prefix).unwrap_or(self.now);
        Burst::measure(&requests, begun.timestamp_micros())
    }
}

/// The kind, path and body of a patch.
type Prepared = (Kind, String, Vec<u8>);

fn send(
    kubeconfig: &Path,
    patches: Vec<Prepared>,
    transport: Transport,
    in_flight: usize,
) -> (DateTime<Utc>, Vec<(Kind, Vec<u8>)>) {
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
        join_all((0..warm).map(|_| open_connection(&client))).await;
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

pub(crate) async fn http1(kubeconfig: &Path) -> Client {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options);
    let mut config = config.await.unwrap();
    config.default_retry = false;
    Client::try_from(config).unwrap()
}

/// Sends a small request to open a connection.
async fn open_connection(client: &Client) {
    let request = Request::get("/version").body(Body::empty()).unwrap();
    let answer = client.send(request).await.unwrap();
    answer.into_body().collect_bytes().await.unwrap();
}

/// Sends a patch, again after a 429, and returns the resulting object.
async fn send_one(client: &Client, (kind, path, body): Prepared) -> (Kind, Vec<u8>) {
    loop {
        let request = Request::patch(&path)
            .header(header::CONTENT_TYPE, "application/json-patch+json")
            .body(Body::from(body.clone()))
            .unwrap();
        let answer = client.send(request).await.unwrap();
        let status = answer.status();
        let body = answer.into_body().collect_bytes().await.unwrap();
        match status.as_u16() {
            200 => return (kind, body.to_vec()),
            429 => {}
            code => panic!("{code}: {}", String::from_utf8_lossy(&body)),
        }
    }
}

/// The guarded patch that dayshift would send at `now`.
fn patch(kind: &Kind, known: &[u8], now: DateTime<Utc>, prefix: &Prefix) -> Prepared {
    let workload: Workload = serde_json::from_slice(known).unwrap();
    let observed = workload.observe(kind, prefix);
    let context = DecisionContext {
        parsed: &read(&observed.inputs, &Zone::UTC.into()),
        observed: &observed,
        memory: &Memory::new(&observed),
        seen: now,
        catch_up: TimeDelta::hours(72),
        prefix,
    };
    let Decision::Write(change) = decide(&context, now) else {
        panic!("nothing to do for {} at {now}", observed.object);
    };
    let path = format!(
        "/apis/{}/namespaces/{}/{}/{}?fieldManager=dayshift",
        kind.api_version(),
        workload.namespace(),
        kind.plural(),
        workload.name()
    );
    let body = guarded_patch(&observed, &change, prefix);
    (kind.clone(), path, serde_json::to_vec(&body).unwrap())
}

fn next_boundary(kind: &Kind, known: &[u8], prefix: &Prefix) -> Option<DateTime<Utc>> {
    let workload: Workload = serde_json::from_slice(known).unwrap();
    workload.observe(kind, prefix).state().next_at()
}
