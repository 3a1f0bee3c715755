//! The cost of listing every Deployment once, compared with the time until `ready`.
//!
//! Each method runs in a process of its own, so that its memory can be measured.

use std::{
    env,
    path::Path,
    process::{self, Command},
    time::Instant,
};

use clap::ValueEnum;
use dayshift_cluster::{
    Workload,
    connect::{Connection, compact, connect},
};
use futures::StreamExt as _;
use k8s_openapi::api::apps::v1::Deployment as WholeDeployment;
use kube::{
    Client,
    api::{ListParams, ObjectList, WatchEvent, WatchParams},
    core::Request as Requests,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::runtime;

use super::{baseline::http1, process::Process};

/// A method to list all Deployments.
#[derive(Clone, Copy, Debug, ValueEnum, Serialize, Deserialize)]
pub(crate) enum Way {
    /// JSON in pages of 500, decoded completely, as kube and k8s-openapi do.
    Whole,
    /// JSON in pages of 500, decoded into dayshift's type.
    Json500,
    /// JSON in pages of 100, decoded into dayshift's type.
    Json100,
    /// JSON as a stream (`WatchList`), decoded into dayshift's type.
    JsonStream,
    /// Protobuf in pages of 500.
    Protobuf500,
    /// Protobuf in pages of 100, as dayshift lists if the server does not stream.
    Protobuf100,
    /// Protobuf in pages of 100, over HTTP/1.1.
    ProtobufHttp1,
    /// Protobuf as a stream over HTTP/2, as dayshift lists.
    ProtobufStream,
}

/// The result of one list.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Listing {
    pub(crate) way: Way,
    pub(crate) deployments: usize,
    /// From the start of the process's work until the last object, in milliseconds.
    pub(crate) took: f64,
    /// CPU time of the client until then, in milliseconds.
    pub(crate) cpu: f64,
    /// Peak resident memory, and resident memory before the first request, in bytes.
    pub(crate) peak: u64,
    pub(crate) before: u64,
}

/// Measures each method, one after another.
pub(crate) fn all(kubeconfig: &Path) -> Vec<Listing> {
    let ways = Way::value_variants().iter();
    ways.map(|way| in_a_process(*way, kubeconfig)).collect()
}

fn in_a_process(way: Way, kubeconfig: &Path) -> Listing {
    let name = way.to_possible_value().unwrap();
    let output = Command::new(env::current_exe().unwrap())
        .args(["--bench", "--list", name.get_name(), "--kubeconfig"])
        .arg(kubeconfig)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{way:?}: {errors}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Measures one method, and prints the result.
pub(crate) fn one(way: Way, kubeconfig: &Path) {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let listing = runtime.block_on(async {
        let connection = Connection {
            kubeconfig: Some(kubeconfig.to_owned()),
            ..Connection::default()
        };
        let (client, _) = connect(&connection).await.unwrap();
        match way {
            Way::Whole => list::<WholeDeployment>(way, client, Some(500)).await,
            Way::Json500 => list::<Workload>(way, client, Some(500)).await,
            Way::Json100 => list::<Workload>(way, client, Some(100)).await,
            Way::JsonStream => list::<Workload>(way, client, None).await,
            Way::Protobuf500 => list::<Workload>(way, compact(client), Some(500)).await,
            Way::Protobuf100 => list::<Workload>(way, compact(client), Some(100)).await,
            Way::ProtobufHttp1 => {
                let client = compact(http1(kubeconfig).await);
                list::<Workload>(way, client, Some(100)).await
            }
            Way::ProtobufStream => list::<Workload>(way, compact(client), None).await,
        }
    });
    println!("{}", serde_json::to_string(&listing).unwrap());
}

/// The requests for all Deployments.
fn deployments() -> Requests {
    Requests::new("/apis/apps/v1/deployments")
}

/// Lists in pages of `page`, or as a stream.
async fn list<D>(way: Way, client: Client, page: Option<u32>) -> Listing
where
    D: Clone + DeserializeOwned,
{
    let process = Process(process::id());
    let (before, began) = (process.peak_memory(), Instant::now());
    let deployments = match page {
        Some(limit) => in_pages::<D>(&client, limit).await,
        None => as_stream::<D>(&client).await,
    };
    Listing {
        way,
        deployments,
        took: began.elapsed().as_secs_f64() * 1e3,
        cpu: process.cpu().as_secs_f64() * 1e3,
        peak: process.peak_memory(),
        before,
    }
}

async fn in_pages<D>(client: &Client, limit: u32) -> usize
where
    D: Clone + DeserializeOwned,
{
    let mut params = ListParams::default().limit(limit);
    let mut listed = 0;
    loop {
        let request = deployments().list(&params).unwrap();
        let page: ObjectList<D> = client.request(request).await.unwrap();
        listed += page.items.len();
        params.continue_token = page.metadata.continue_.filter(|it| !it.is_empty());
        if params.continue_token.is_none() {
            return listed;
        }
    }
}

async fn as_stream<D>(client: &Client) -> usize
where
    D: Clone + DeserializeOwned,
{
    let params = WatchParams::default().initial_events();
    let request = deployments().watch(&params, "0").unwrap();
    let mut events = Box::pin(client.request_events::<D>(request).await.unwrap());
    let mut listed = 0;
    loop {
        match events.next().await.unwrap().unwrap() {
            WatchEvent::Bookmark(it)
                if it
                    .metadata
                    .annotations
                    .contains_key("k8s.io/initial-events-end") =>
            {
                return listed;
            }
            WatchEvent::Added(_) => listed += 1,
            _ => {}
        }
    }
}
