//! The limit: a client that does nothing but send, at once, patches that were prepared before.

use std::{
    path::{Path, PathBuf},
    thread,
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift::{
    cluster::{Connection, Deployment, connect, guarded_patch},
    schedule::Zone,
    workload::{Decision, Memory, Prefix, Situation, decide, read},
};
use futures::{StreamExt as _, stream};
use http::{Request, header};
use kube::{Client, client::Body};
use tokio::runtime;

use super::{
    burst::Burst,
    load,
    support::{ControlPlane, Namespace},
};

/// A client with Deployments of its own, which dayshift does not look at.
pub(crate) struct Bare<'p> {
    plane: &'p ControlPlane,
    kubeconfig: PathBuf,
    teams: Vec<Namespace<'p>>,
    /// The Deployments as they were answered last, and the instant they have come to.
    known: Vec<Vec<u8>>,
    now: DateTime<Utc>,
}

const ACCOUNT: &str = "bare";

impl<'p> Bare<'p> {
    /// Makes `count` Deployments, and a ServiceAccount that may do what dayshift's may.
    pub(crate) fn prepare(plane: &'p ControlPlane, number: usize) -> Self {
        let now = Utc::now();
        let plan = load::Plan(vec![now + TimeDelta::hours(1), now + TimeDelta::hours(2)]);
        let teams = load::create(plane, ACCOUNT, number, Some(&plan));
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
        let known = teams
            .iter()
            .flat_map(Namespace::list)
            .map(|deployment| serde_json::to_vec(&deployment).unwrap());
        Self {
            known: known.collect(),
            kubeconfig: plane.kubeconfig_of(home, ACCOUNT),
            plane,
            teams,
            now,
        }
    }

    /// The Namespaces of its Deployments.
    pub(crate) fn namespaces(&self) -> impl Iterator<Item = &str> {
        self.teams.iter().map(Namespace::name)
    }

    /// The size of one of its Deployments as the server answers it, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.known[0].len()
    }

    /// Sends the patch that is next for each of its Deployments: first the one that adopts it,
    /// then in turns those of a stop and a start. Each time with a new client.
    pub(crate) fn pass(&mut self, in_flight: usize) -> Burst {
        let prefix = Prefix::default();
        let patches: Vec<_> = self
            .known
            .iter()
            .map(|known| patch(known, self.now, &prefix))
            .collect();
        let mark = self.plane.audit().mark();
        let kubeconfig = self.kubeconfig.clone();
        // A thread and a runtime of one thread, as dayshift has.
        let sent = thread::spawn(move || send(&kubeconfig, patches, in_flight));
        let (begun, answers) = sent.join().unwrap();
        let mut requests = self.plane.audit().since(mark);
        requests.retain(|request| request.user.ends_with(&format!(":{ACCOUNT}")));
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
    in_flight: usize,
) -> (DateTime<Utc>, Vec<Vec<u8>>) {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let connection = Connection {
            kubeconfig: Some(kubeconfig.to_owned()),
            ..Connection::default()
        };
        let (client, _) = connect(&connection).await.unwrap();
        let begun = Utc::now();
        let answers = stream::iter(patches)
            .map(|prepared| send_one(&client, prepared))
            .buffer_unordered(in_flight)
            .collect()
            .await;
        (begun, answers)
    })
}

async fn send_one(client: &Client, (path, body): Prepared) -> Vec<u8> {
    let request = Request::patch(path)
        .header(header::CONTENT_TYPE, "application/json-patch+json")
        .body(Body::from(body))
        .unwrap();
    let answer = client.send(request).await.unwrap();
    assert_eq!(answer.status(), 200);
    answer.into_body().collect_bytes().await.unwrap().to_vec()
}

/// The patch that dayshift would send at `now`, guards and all.
fn patch(known: &[u8], now: DateTime<Utc>, prefix: &Prefix) -> Prepared {
    let deployment: Deployment = serde_json::from_slice(known).unwrap();
    let observed = deployment.observe(prefix);
    let situation = Situation {
        reading: &read(&observed.inputs, Zone::UTC),
        observed: &observed,
        memory: &Memory::of(&observed),
        seen: now,
        catch_up: TimeDelta::hours(72),
        prefix,
    };
    let Decision::Write(change) = decide(&situation, now) else {
        panic!("nothing to do for {} at {now}", observed.object);
    };
    let path = format!(
        "/apis/apps/v1/namespaces/{}/deployments/{}?fieldManager=dayshift",
        deployment.namespace(),
        deployment.name()
    );
    let body = guarded_patch(&observed, &change, prefix);
    (path, serde_json::to_vec(&body).unwrap())
}

fn next_boundary(known: &[u8], prefix: &Prefix) -> Option<DateTime<Utc>> {
    let deployment: Deployment = serde_json::from_slice(known).unwrap();
    deployment.observe(prefix).state().next
}
